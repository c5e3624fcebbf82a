import type { IncomingHttpHeaders } from "node:http";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import { exceededLimit } from "../../json/nesting.ts";
import type { Actor } from "../../operations/actor.ts";
import { isHeldBack, refusal } from "../../operations/failure.ts";
import { withRestHint } from "../../operations/hint-words.ts";
import { invalidInput, readInput, type GivenInput } from "../../operations/input.ts";
import type { OperationRunner, RunningOperation } from "../../operations/run-operation.ts";
import { SERVER_LIMITS } from "../../server/core/limits.ts";
import type { Identified } from "../access/identification.ts";
import { HeadedAnswer, type RestCall, type RestOperation, type RestServices } from "../rest-operation.ts";
import { entityTag, matchesTag, matchesVersion } from "./entity-tag.ts";
import { problemOf, problemResponse } from "./problem.ts";
import type { KeptAnswer, RepeatedRequests } from "./repeated-requests.ts";

/** A request before it is checked. */
interface HttpRequest {
  headers: IncomingHttpHeaders;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  /** Reads the body. */
  body: () => Promise<string>;
  signal: AbortSignal;
}

interface ServedOptions {
  services: RestServices;
  runner: OperationRunner<RestServices, RestCall>;
  repeated: RepeatedRequests;
  /** The operation that reads what another one at the same path changes. */
  readerOf: (operation: RestOperation) => RestOperation | undefined;
  /** Logs a failure whose text is not for callers; returns it with the id of the entry. */
  report: (error: NexusError, operation: RestOperation) => NexusError;
}

/** Operations over HTTP: reads requests, compares entity tags, repeats answers, and writes answers and problems. */
export class ServedOperations {
  readonly #options: ServedOptions;

  constructor(options: ServedOptions) {
    this.#options = options;
  }

  async serve(operation: RestOperation, request: HttpRequest): Promise<Response> {
    const { services, runner } = this.#options;
    const { headers, params, query, signal } = request;
    const { method } = operation.http;
    let caller: Identified | undefined;
    let text = "";
    const answered = runner.run(operation, {
      params,
      identify: async () => {
        caller = await services.identification.identify(method, headers);
        return caller.actor;
      },
      read: async () => {
        if (operation.input && method !== "GET") text = await readText(request);
        return readInput(operation, { params, query, ...bodyOf(operation, text) }, { network: true });
      },
      call: () => ({ signal, headers, session: caller?.session }),
      answer: (run) => this.#answer(operation, request, { run, text, session: caller?.session }),
    });
    return answered.catch((thrown: unknown) => this.#toProblem(operation, request, thrown));
  }

  async #toProblem(operation: RestOperation, request: HttpRequest, thrown: unknown): Promise<Response> {
    const error = asNexusError(thrown);
    const told = isHeldBack(error) ? this.#options.report(error, operation) : error;
    return problemResponse(problemOf(await withRestHint(told, request)));
  }

  async #answer(
    operation: RestOperation,
    { headers, params, signal }: HttpRequest,
    running: Running,
  ): Promise<Response> {
    const { run, text } = running;
    const { actor } = run;
    const { method, path } = operation.http;
    const answer = async () => {
      const call = { signal, headers, session: running.session };
      await this.#requireUnchanged(operation, params, { actor, call });
      return this.#written(operation, await run.handle(), headers);
    };
    const key = headers["idempotency-key"];
    if (method !== "POST" || typeof key !== "string" || !actor) return answer();
    const content = [method, path, JSON.stringify(params), text];
    run.isUnrecorded = true;
    const kept = await this.#options.repeated.run({ principal: actor.principal, key, content }, async () => {
      run.isUnrecorded = false;
      return keep(await answer());
    });
    return new Response(kept.body === "" ? null : kept.body, kept);
  }

  /** Throws where the entity tag of the request is that of another version. */
  async #requireUnchanged(
    operation: RestOperation,
    params: Readonly<Record<string, string>>,
    { actor, call }: { actor: Actor | undefined; call: RestCall },
  ): Promise<void> {
    const expected = call.headers["if-match"];
    const reader = expected !== undefined && CHANGING.has(operation.http.method) && this.#options.readerOf(operation);
    if (expected === undefined || !reader || !actor) return;
    // What is read is named by the same path.
    const value = await reader.handle(this.#options.services, actor, params as never, call);
    if (matchesVersion(expected, entityTag(value, reader.volatile))) return;
    const hint = "Read it again, and repeat the change with its new entity tag.";
    throw refusal("PRECONDITION_FAILED", "It was changed since it was read", hint);
  }

  #written(operation: RestOperation, outcome: unknown, requested: IncomingHttpHeaders): Response {
    const { method, status, mediaType } = operation.http;
    if (mediaType !== undefined) return streamOf(outcome, mediaType);
    const given = outcome instanceof HeadedAnswer ? outcome : new HeadedAnswer(outcome, {});
    if (!operation.output) return new Response(null, { status, headers: { ...NOT_STORED, ...given.headers } });
    const tag = method === "GET" ? entityTag(given.value, operation.volatile) : undefined;
    const known = requested["if-none-match"];
    const headers = { ...NOT_STORED, ...(tag === undefined ? {} : { etag: tag }), ...given.headers };
    if (tag !== undefined && known !== undefined && matchesTag(known, tag)) {
      return new Response(null, { status: 304, headers });
    }
    return new Response(JSON.stringify(given.value), {
      status,
      headers: { "content-type": "application/json", ...headers },
    });
  }
}

interface Running {
  run: RunningOperation;
  text: string;
  session: Identified["session"];
}

const CHANGING: ReadonlySet<string> = new Set(["PUT", "PATCH", "DELETE"]);
const NOT_STORED = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

async function readText({ headers, body }: HttpRequest): Promise<string> {
  const type = headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type === "application/json") return body();
  throw new NexusError("ARGUMENTS_INVALID", "The body has to be JSON", {
    hint: "Send the header Content-Type: application/json.",
    mayHaveReached: false,
  });
}

function bodyOf({ input, http: { method } }: RestOperation, text: string): Pick<GivenInput, "body"> {
  return input && method !== "GET" ? { body: parsed(text) } : {};
}

function parsed(text: string): unknown {
  const { jsonDepth: depth, jsonValues: values, jsonMembers: members } = SERVER_LIMITS;
  const exceeded = exceededLimit(text, { depth, values, members });
  if (exceeded === "values" || exceeded === "members") {
    const most = exceeded === "values" ? `${values} values` : `${members} members in one object`;
    const message = `The body has more than ${most}`;
    throw new NexusError("MESSAGE_TOO_LARGE", message, { hint: "Send it in smaller parts.", mayHaveReached: false });
  }
  if (exceeded === "depth") throw invalidInput([{ at: "body", message: `is nested deeper than ${depth} levels` }]);
  try {
    return JSON.parse(text);
  } catch {
    throw invalidInput([{ at: "body", message: "is not valid JSON" }]);
  }
}

async function keep(response: Response): Promise<KeptAnswer> {
  return { status: response.status, headers: [...response.headers], body: await response.text() };
}

/** What was not asked for by a browser's script is not kept by anything in between either. */
const STREAMED = { "cache-control": "no-store", "x-accel-buffering": "no" };

/** Lines or events, as fast as the client takes them. */
function streamOf(outcome: unknown, mediaType: string): Response {
  const headers = { "content-type": mediaType, ...STREAMED };
  if (outcome instanceof ReadableStream) return new Response(outcome, { headers });
  const lines = outcome as AsyncGenerator<string>;
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await lines.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await lines.return(undefined);
    },
  });
  return new Response(stream, { headers });
}
