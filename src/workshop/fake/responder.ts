import { isUtf8 } from "node:buffer";
import { messageOf } from "../../errors/nexus-error.ts";
import { rulesFor, type RuleProblem } from "../check/rules.ts";
import { requestBodyFor, type RequestBody } from "../codec/body/request-body.ts";
import { PartsReader } from "../codec/parameter/parts-reader.ts";
import type { FakeFailure, RequestToolSpec, ToolFile, FieldSpec, UpstreamOAuthSpec } from "../file/model/tool-file.ts";
import { FakeResponses, type UnencodedResponse } from "./fake-responses.ts";
import { isAccepted, maskedBody, maskedQuery, placeholderSecrets } from "./credentials.ts";
import type { Failures } from "./failures.ts";

import type { SignableRequest } from "../run/signing/signable-request.ts";
import { Routes, type FakeRoute } from "./routes.ts";
import { bytesIn } from "../codec/body/data-url.ts";
import { codecFor } from "../codec/codec-for.ts";
import { scalarOf } from "../codec/record/scalar.ts";
import { isRecord } from "../../json/is-record.ts";

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

interface RequestOutcome {
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

const WRONG_NUMBER = "many";
/** An element with only text. */
const LEAF = /<([\w:.-]+)>([^<>]+)<\/\1>/g;
const NUMBER = /^\s*-?\d+(\.\d+)?\s*$/;

/**
 * A readable document that differs from the documentation: one number is a word, one value is missing, and one member
 * is unknown.
 */
export function offSchema(body: string, as: "xml" | "json"): string {
  return as === "xml" ? offSchemaXml(body) : offSchemaJson(body);
}

function offSchemaXml(body: string): string {
  const leaves = [...body.matchAll(LEAF)];
  const number = leaves.find(([, , text = ""]) => NUMBER.test(text));
  const missing = leaves.find((leaf) => leaf !== number && !NUMBER.test(leaf[2] ?? ""));
  let spoiled = body;
  if (number) spoiled = spoiled.replace(number[0], `<${number[1]}>${WRONG_NUMBER}</${number[1]}>`);
  if (missing) spoiled = spoiled.replace(missing[0], "");
  // Documents with only attributes lose their last one.
  else spoiled = spoiled.replace(/^([^]*) [\w:.-]+="[^"]*"/, "$1");
  return spoiled.replace(/<\/[\w:.-]+>\s*$|\/>\s*$/, (end) =>
    end.startsWith("</") ? `<unexpected>news</unexpected>${end}` : end,
  );
}

function offSchemaJson(body: string): string {
  const value: unknown = JSON.parse(body);
  const record = firstRecord(value);
  if (!record) return body;
  const number = Object.keys(record).find((key) => typeof record[key] === "number");
  const missing = Object.keys(record).find((key) => key !== number && typeof record[key] === "string");
  if (number !== undefined) record[number] = WRONG_NUMBER;
  if (missing !== undefined) delete record[missing];
  record["unexpected"] = "news";
  return JSON.stringify(value);
}

/** The first object with a single value. */
function firstRecord(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const members = Object.values(value);
  const isRecord = !Array.isArray(value) && members.some((member) => typeof member !== "object");
  if (isRecord) return value as Record<string, unknown>;
  for (const member of members) {
    const found = firstRecord(member);
    if (found) return found;
  }
  return undefined;
}

/** Writes a value of a tool's answer as the upstream would; a text is written as text. */
type ResponseWriter = (value: unknown, status: number) => Omit<FakeReply, "status">;

const TYPES = { xml: "application/xml; charset=utf-8", json: "application/json" } as const;
const TEXT = "text/plain; charset=utf-8";

function responseWriterFor(file: ToolFile, { response }: RequestToolSpec): ResponseWriter {
  const { as, type, headers = {} } = response;
  const fields = type === undefined ? {} : (file.types[type]?.fields ?? {});
  const format = as === "auto" ? "json" : as;
  const codec =
    type !== undefined && (format === "xml" || format === "json")
      ? { as: format, ...codecFor(file, type, format, { side: "output" }) }
      : undefined;
  return (value, status) => {
    if (typeof value === "string") return ofText(value, as === "binary" && status < 300);
    if (!isRecord(value)) return { type: TEXT, body: "" };
    const written = headersOf(headers, fields, value);
    const { content } = value;
    if (!codec) return { ...ofText(typeof content === "string" ? content : "", as === "binary"), headers: written };
    return { type: TYPES[codec.as], body: codec.encode(value), as: codec.as, headers: written };
  };
}

/** A binary answer is given as base64 or as a data URL. */
function ofText(text: string, isBinary: boolean): Omit<FakeReply, "status"> {
  const given = isBinary ? bytesIn(text) : undefined;
  if (!given) return { type: TEXT, body: text };
  return { type: given.contentType ?? "application/octet-stream", body: given.bytes };
}

/** The fields that stand in headers. */
function headersOf(
  headers: Readonly<Record<string, string>>,
  fields: Readonly<Record<string, FieldSpec>>,
  value: Record<string, unknown>,
): Record<string, string> {
  const written = Object.entries(headers).flatMap(([header, field]) => {
    const given = value[field];
    const shape = fields[field]?.shape;
    const inner = shape?.kind === "list" ? shape.of : shape;
    if (given === undefined || given === null || inner?.kind !== "scalar") return [];
    const scalar = scalarOf(inner);
    const texts = [given].flat().map((each) => scalar.write(each));
    return [[header, texts.filter((text) => typeof text === "string").join(", ")] as const];
  });
  return Object.fromEntries(written);
}

const LIFETIME_S = 3600;

/** The token endpoints of a fake: they check the client, and issue the tokens that the tools need. */
class FakeTokens {
  readonly #file: ToolFile;
  /** Tokens by the set of secrets for which they were issued. */
  readonly #issued = new Map<string, Set<string>>();

  constructor(file: ToolFile) {
    this.#file = file;
  }

  /** The answer of a token endpoint; undefined if the address is not one. */
  answer(method: string, path: string, arrival: Arrival): FakeReply | undefined {
    const sets = Object.entries(this.#file.secrets).flatMap(([set, { oauth }]) =>
      oauth && new URL(oauth.tokenUrl).pathname === path ? [{ set, oauth }] : [],
    );
    if (sets.length === 0 || method !== "POST") return undefined;
    const form = new URLSearchParams(Buffer.from(arrival.body).toString("utf8"));
    // Several sets may use one endpoint: the request tells which one.
    const problems = sets.map(({ set, oauth }) => ({ set, problem: this.#problemOf(oauth, form, arrival) }));
    const right = problems.find(({ problem }) => problem === undefined);
    return right ? this.#issue(right.set) : refused(problems[0]?.problem ?? "invalid_request");
  }

  /** Whether the header Authorization has a token that was issued for this set. */
  accepts(set: string, authorization: unknown): boolean {
    if (typeof authorization !== "string" || !authorization.startsWith("Bearer ")) return false;
    return this.#issued.get(set)?.has(authorization.slice("Bearer ".length)) === true;
  }

  #issue(set: string): FakeReply {
    const issued = this.#issued.get(set) ?? new Set();
    this.#issued.set(set, issued);
    const token = `demo-token-${set}-${issued.size + 1}`;
    issued.add(token);
    const answer = { access_token: token, token_type: "Bearer", expires_in: LIFETIME_S };
    return { status: 200, type: "application/json", body: JSON.stringify(answer) };
  }

  #problemOf(oauth: UpstreamOAuthSpec, form: URLSearchParams, { headers }: Arrival): string | undefined {
    const known = placeholderSecrets(this.#file);
    const is = (given: string | null | undefined, name: string | undefined) =>
      name === undefined ||
      (given !== undefined && given !== null && Object.hasOwn(known, name) && given === known[name]);
    const client = clientOf(oauth, form, headers["authorization"]);
    if (!is(client.id, oauth.clientId) || !is(client.secret, oauth.clientSecret)) return "invalid_client";
    if (form.get("grant_type") !== oauth.grant) return "unsupported_grant_type";
    if (!is(form.get("refresh_token"), oauth.refreshToken)) return "invalid_grant";
    if ((form.get("scope") ?? "") !== (oauth.scope ?? []).join(" ")) return "invalid_scope";
    return (form.get("audience") ?? undefined) === oauth.audience ? undefined : "invalid_target";
  }
}

function refused(error: string): FakeReply {
  const body = JSON.stringify({ error, error_description: "The fake did not expect this token request." });
  return { status: error === "invalid_client" ? 401 : 400, type: "application/json", body };
}

interface ClientPair {
  id: string | null | undefined;
  secret: string | null | undefined;
}

/** The client, where the file says that it authenticates. */
function clientOf(
  { client, clientSecret }: UpstreamOAuthSpec,
  form: URLSearchParams,
  authorization: string | string[] | undefined,
): ClientPair {
  if (client === "post" || clientSecret === undefined)
    return { id: form.get("client_id"), secret: form.get("client_secret") };
  const [, pair = ""] = /^Basic (.+)$/.exec(String(authorization ?? "")) ?? [];
  const [id = "", secret = ""] = Buffer.from(pair, "base64").toString("utf8").split(":").map(formDecoded);
  return { id, secret };
}

/** RFC 6749, section 2.3.1: both are encoded as in a form. */
function formDecoded(text: string): string {
  return new URLSearchParams(`text=${text}`).get("text") ?? "";
}

/** How the requests of one tool are read. */
interface RequestReading {
  parts: PartsReader;
  /** Undefined if it has no body. */
  body: RequestBody | undefined;
  rules: (value: Record<string, unknown>) => RuleProblem[];
}

/** Reads a request strictly: every deviation from the file is a problem. */
function receive(route: FakeRoute, arrival: Arrival, { parts, body, rules }: RequestReading): Received {
  const { query, headers } = arrival;
  const content = bodyIn(arrival, body);
  const parameters = parts.read({ path: route.places, query: [...query], headers }, content.input);
  const input = { ...content.input, ...parameters.input };
  const problems = [...parameters.problems, ...content.problems, ...differences(content.input, parameters.input)];
  const { wrongConstants = 0 } = parameters;
  if (problems.length > 0) return { input, problems, wrongConstants };
  const broken = rules(input).map(({ path, say }) => (path === "" ? say : `${path}: ${say}`));
  return { input, problems: broken, wrongConstants };
}

function bodyIn({ headers, body }: Arrival, how: RequestBody | undefined): Omit<Received, "wrongConstants"> {
  if (how) return how.read(body, String(headers["content-type"] ?? ""));
  return { input: {}, problems: body.length === 0 ? [] : ["the request has a body, and takes none"] };
}

/** A value that occurs twice in a request must be the same. */
function differences(body: Record<string, unknown>, parameters: Record<string, unknown>): string[] {
  return Object.entries(parameters)
    .filter(([field, value]) => body[field] !== undefined && JSON.stringify(body[field]) !== JSON.stringify(value))
    .map(([field]) => `${field}: not the same in the address and in the body`);
}

/** A request as it came. */
interface Arrival {
  /** The complete address, as its client wrote it. */
  url: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Uint8Array;
}

/** The content of a request and its problems, each with its field. */
interface Received {
  input: Record<string, unknown>;
  problems: string[];
  /** How many parameters differ from the constants of the file. */
  wrongConstants: number;
}

/** The answer to a request. */
export interface FakeReply {
  status: number;
  type: string;
  body: string | Uint8Array;
  headers?: Record<string, string>;
  /** The format of the body, if it is a document of the file. */
  as?: "xml" | "json";
}
