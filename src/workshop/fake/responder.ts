import { isUtf8 } from "node:buffer";
import { messageOf } from "../../errors/nexus-error.ts";
import { rulesFor } from "../check/rules.ts";
import { requestBodyFor } from "../codec/body/request-body.ts";
import { PartsReader } from "../codec/parameter/parts-reader.ts";
import type { FakeFailure, RequestToolSpec, ToolFile } from "../file/model/tool-file.ts";
import { FakeResponses, type UnencodedResponse } from "./fake-responses.ts";
import { isAccepted, maskedBody, maskedQuery } from "./credentials.ts";
import type { Failures } from "./failures.ts";
import { offSchema } from "./off-schema.ts";
import { receive, type Arrival, type Received, type RequestReading } from "./received.ts";
import type { FakeReply } from "./reply.ts";
import type { SignableRequest } from "../run/signing/signable-request.ts";
import { FakeTokens } from "./tokens.ts";
import { responseWriterFor, type ResponseWriter } from "./response-writer.ts";
import { Routes, type FakeRoute } from "./routes.ts";

/** A received request without its credentials. */
export interface SeenRequest {
  /** Undefined if no tool has the address. */
  tool: string | undefined;
  method: string;
  /** Path and query, secrets masked. */
  address: string;
  body: string;
  /** Present if the body is not text. */
  encoding?: "base64";
  /** Its content, as far as it could be read. */
  input: Record<string, unknown>;
  status: number;
}

export interface RequestOutcome {
  seen: SeenRequest;
  reply: FakeReply;
  /** The failure while the reply is sent. */
  failure: FakeFailure | undefined;
}

/** Answers requests as the file describes. */
export class Responder {
  readonly #file: ToolFile;
  readonly #failures: Failures;
  readonly #routes: Routes;
  readonly #answers: FakeResponses;
  /** Made when a request of the tool comes first: a file may have hundreds of tools. */
  readonly #plans = new Map<string, ToolPlan>();
  readonly #tokens: FakeTokens;

  constructor(file: ToolFile, failures: Failures) {
    this.#file = file;
    this.#failures = failures;
    this.#routes = new Routes(file);
    this.#answers = new FakeResponses(file);
    this.#tokens = new FakeTokens(file);
  }

  /** Forgets what answers remembered. */
  forget(): void {
    this.#answers.forget();
  }

  respond(method: string, path: string, arrival: Arrival): RequestOutcome {
    const token = this.#tokens.answer(method, path, arrival);
    if (token) {
      // The body has the credentials of the client.
      const seen = { tool: undefined, method, address: path, body: "", input: {}, status: token.status };
      return { seen, reply: token, failure: undefined };
    }
    const found = this.#routes.find(method, path);
    const arrived = found && this.#bestOf(found, arrival);
    const failure = arrived && this.#failures.next(arrived.route.tool);
    const { reply, input } = arrived ? this.#toTool(arrived, arrival, failure) : nowhere(found !== undefined);
    const query = maskedQuery(this.#file, arrived?.route.spec, arrival.query);
    const address = query === "" ? path : `${path}?${query}`;
    const content = shownBody(arrival.body);
    const shown = maskedBody(this.#file, arrived?.route.spec, content.body, input);
    return {
      seen: { tool: arrived?.route.tool, method, address, ...content, ...shown, status: reply.status },
      reply,
      failure,
    };
  }

  /** Of several tools with the same address, the one whose constants are right, then the one with the fewest problems. */
  #bestOf(routes: readonly FakeRoute[], arrival: Arrival): Arrived | undefined {
    let best: Arrived | undefined;
    for (const route of routes) {
      const received = receive(route, arrival, this.#plan(route).reading);
      if (best && differenceOf(received) >= differenceOf(best.received)) continue;
      best = { route, received };
    }
    return best;
  }

  #toTool({ route, received }: Arrived, arrival: Arrival, failure: FakeFailure | undefined): Replied {
    const { input, problems } = received;
    if (failure && "status" in failure) return { reply: unreachable(failure.status), input };
    try {
      const answer = this.#answer(route, arrival, { input, problems });
      return { reply: spoiled(this.#encoded(route, answer), failure), input };
    } catch (error) {
      // The answer in the file does not match its type: its author should see that.
      return { reply: { status: 500, type: "text/plain", body: `The fake: ${messageOf(error)}\n` }, input };
    }
  }

  #answer(
    { tool, spec }: FakeRoute,
    arrival: Arrival,
    { input, problems }: { input: Record<string, unknown>; problems: string[] },
  ): UnencodedResponse {
    const check = { signable: () => signable(spec.request.method, arrival), isIssued: this.#isIssued };
    if (!isAccepted(this.#file, spec, arrival, input, check)) return this.#answers.refused(tool, input);
    if (problems.length === 0) return this.#answers.to(tool, input);
    return this.#answers.invalid(tool, input, problems.slice(0, MOST_PROBLEMS).join("; "));
  }

  readonly #isIssued = (set: string, authorization: unknown) => this.#tokens.accepts(set, authorization);

  #plan({ tool, spec }: FakeRoute): ToolPlan {
    const known = this.#plans.get(tool);
    if (known) return known;
    const made = planOf(this.#file, spec);
    this.#plans.set(tool, made);
    return made;
  }

  #encoded(route: FakeRoute, { status, value }: UnencodedResponse): FakeReply {
    const { respond } = this.#plan(route);
    return { ...respond(value, status), status };
  }
}

function signable(method: string, { url, headers, body }: Arrival): SignableRequest {
  const texts = Object.entries(headers).map(([name, value]) => [name, [value ?? ""].flat().join(", ")]);
  return { method, url, headers: Object.fromEntries(texts) as Record<string, string>, body };
}

const MOST_PROBLEMS = 3;

/** Prepared once for each tool. */
interface ToolPlan {
  reading: RequestReading;
  respond: ResponseWriter;
}

/** A request as one tool reads it. */
interface Arrived {
  route: FakeRoute;
  received: Received;
}

interface Replied {
  reply: FakeReply;
  input: Record<string, unknown>;
}

/** A wrong constant says that another tool is meant. */
function differenceOf({ problems, wrongConstants }: Received): number {
  return wrongConstants * 1_000 + problems.length;
}

/** Bytes that are not text are shown as base64. */
function shownBody(bytes: Uint8Array): Pick<SeenRequest, "body" | "encoding"> {
  return isUtf8(bytes)
    ? { body: Buffer.from(bytes).toString("utf8") }
    : { body: Buffer.from(bytes).toString("base64"), encoding: "base64" };
}

function nowhere(isOtherMethod: boolean): Replied {
  const status = isOtherMethod ? 405 : 404;
  return { reply: { status, type: "text/plain", body: "No tool has this address.\n" }, input: {} };
}

/** A page as proxies send it for servers that are away. */
function unreachable(status: number): FakeReply {
  return { status, type: "text/html", body: `<html><body>${status}</body></html>` };
}

function spoiled(reply: FakeReply, failure: FakeFailure | undefined): FakeReply {
  if (failure && "broken" in failure) {
    return { ...reply, body: reply.body.slice(0, Math.ceil(reply.body.length * 0.7)) };
  }
  if (failure && "offSchema" in failure && reply.as) return { ...reply, body: offSchema(String(reply.body), reply.as) };
  return reply;
}

function planOf(file: ToolFile, spec: RequestToolSpec): ToolPlan {
  return {
    reading: {
      parts: new PartsReader(file, spec),
      body: requestBodyFor(file, spec),
      rules: rulesFor(file, spec.input),
    },
    respond: responseWriterFor(file, spec),
  };
}
