import type { IncomingHttpHeaders } from "node:http";
import type * as z from "zod";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { exceededLimit } from "../../json/nesting.ts";
import { SERVER_LIMITS } from "../../server/core/limits.ts";
import type { Principal } from "../../server/core/principal.ts";
import { unknownTenant } from "../../store/keep/tenants.ts";
import { mayEnter, mayUse } from "../access/actor.ts";
import type { Identified } from "../access/identification.ts";
import { entityTag, matchesTag, matchesVersion } from "./entity-tag.ts";
import { HeadedAnswer, type RestOperation } from "./operation.ts";
import { Failed, isHeldBack, problemOf, problemResponse, type InvalidMember, type HttpProblem } from "./problem.ts";
import { isRecorded, outcomeOf, targetOf, type RecordedChange } from "./recorded-change.ts";
import type { KeptAnswer, RepeatedRequests } from "./repeated-requests.ts";

/** A request before it is checked. */
export interface OperationRequest {
  headers: IncomingHttpHeaders;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  /** Reads the body. */
  body: () => Promise<string>;
  signal: AbortSignal;
}

export interface OperationRunOptions<Api> {
  api: Api;
  /** Throws where the caller is not known. */
  identify: (method: string, headers: IncomingHttpHeaders) => Promise<Identified>;
  /** Counts a request against the limits of its sender; rejects with RATE_LIMITED. */
  admit?: ((principal: Principal) => Promise<void>) | undefined;
  repeated: RepeatedRequests;
  /** The operation that reads what another one at the same path changes. */
  readerOf: (operation: RestOperation<Api>) => RestOperation<Api> | undefined;
  /** Logs a failure whose text is not for callers; returns it with the id of the entry. */
  report: (error: NexusError, operation: RestOperation<Api>) => NexusError;
  /** Throws where no change can be recorded now and none may be made without. */
  requireRecordable?: (() => void) | undefined;
  /** Records a change. Where it rejects, the caller gets that error instead of the answer. */
  record?: ((change: RecordedChange) => Promise<void>) | undefined;
}

/** What becomes known of a request while it runs. */
interface Attempt {
  caller?: Identified;
  body?: unknown;
  /** It got the answer of an earlier one, and had no effect. */
  isRepeated: boolean;
  /** It was refused because it could not be recorded. */
  isUnrecordable: boolean;
}

/** Runs operations: who calls, what they may do, whether the request is valid, and what is answered. */
export class OperationRun<Api> {
  readonly #options: OperationRunOptions<Api>;

  constructor(options: OperationRunOptions<Api>) {
    this.#options = options;
  }

  async run(operation: RestOperation<Api>, request: OperationRequest): Promise<Response> {
    const attempt: Attempt = { isRepeated: false, isUnrecordable: false };
    const [at, start] = [Date.now(), performance.now()];
    const response = await this.#run(operation, request, attempt).catch((thrown) => this.#toProblem(operation, thrown));
    const { caller, body, isRepeated, isUnrecordable } = attempt;
    const { record } = this.#options;
    if (!record || !caller || isRepeated || isUnrecordable || !isRecorded(operation)) return response;
    const { params } = request;
    const { tenant } = params;
    const change: RecordedChange = {
      tenant: tenant !== undefined && mayEnter(caller.actor, tenant) ? tenant : undefined,
      actor: caller.actor,
      method: `rest/${operation.id}`,
      target: targetOf(params, body),
      ...(await outcomeOf(response)),
      at,
      durationMs: performance.now() - start,
    };
    return record(change).then(
      () => response,
      (thrown: unknown) => this.#toProblem(operation, thrown),
    );
  }

  #toProblem(operation: RestOperation<Api>, thrown: unknown): Response {
    const error = asNexusError(thrown);
    const problem = problemOf(isHeldBack(error) ? this.#options.report(error, operation) : error);
    // Its hint is for the command line.
    const isUnknown = error.code === "NAME_UNKNOWN";
    return problemResponse(isUnknown ? { ...problem, hint: listHint(operation.path) } : problem);
  }

  async #run(operation: RestOperation<Api>, request: OperationRequest, attempt: Attempt): Promise<Response> {
    const { access, method, path, query, body } = operation;
    const { headers, params } = request;
    const caller = access === "public" ? undefined : await this.#options.identify(method, headers);
    if (caller) {
      attempt.caller = caller;
      await this.#options.admit?.(caller.actor.principal);
    }
    if (caller && !mayUse(caller.actor, access)) throw roleTooLow(access);
    const { tenant } = params;
    if (caller && tenant !== undefined && path.includes("{tenant}") && !mayEnter(caller.actor, tenant)) {
      throw unknownTenant(tenant);
    }
    const problems = [...withNul("path", params), ...withNul("query", request.query)];
    const asked = query ? checked(query, request.query, "query", problems) : {};
    const text = body ? await this.#bodyOf(request) : "";
    const sent = body ? checked(body, parsed(text, problems), "body", problems) : undefined;
    attempt.body = sent;
    if (isRecord(sent)) problems.push(...withNul("body", sent));
    if (problems.length > 0) return problemResponse(invalid(problems));
    if (isRecorded(operation)) this.#requireRecordable(attempt);
    const call = { ...request, query: asked, body: sent };
    const answer = () => this.#answer(operation, call, caller);
    const key = headers["idempotency-key"];
    if (method !== "POST" || typeof key !== "string" || !caller) return answer();
    const { principal } = caller.actor;
    const content = [method, path, JSON.stringify(params), text];
    attempt.isRepeated = true;
    const kept = await this.#options.repeated.run({ principal, key, content }, async () => {
      attempt.isRepeated = false;
      return keep(await answer());
    });
    return "detail" in kept ? problemResponse(kept) : new Response(kept.body === "" ? null : kept.body, kept);
  }

  #requireRecordable(attempt: Attempt): void {
    attempt.isUnrecordable = true;
    this.#options.requireRecordable?.();
    attempt.isUnrecordable = false;
  }

  async #bodyOf({ headers, body }: OperationRequest): Promise<string> {
    const type = headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
    if (type === "application/json") return body();
    throw new NexusError("ARGUMENTS_INVALID", "The body has to be JSON", {
      hint: "Send the header Content-Type: application/json.",
      mayHaveReached: false,
    });
  }

  async #answer(
    operation: RestOperation<Api>,
    call: CheckedRequest,
    caller: Identified | undefined,
  ): Promise<Response> {
    const { headers } = call;
    const expected = headers["if-match"];
    if (expected !== undefined && CHANGING.has(operation.method)) {
      const reader = this.#options.readerOf(operation);
      const now = reader && (await this.#tagOf(reader, call, caller));
      if (now !== undefined && !matchesVersion(expected, now)) return problemResponse(CHANGED);
    }
    const outcome = await this.#handle(operation, call, caller);
    if (outcome instanceof Failed) return problemResponse(outcome.problem);
    if (outcome instanceof Response) return outcome;
    const given = outcome instanceof HeadedAnswer ? outcome : new HeadedAnswer(outcome, {});
    const { status, schema } = operation.answer;
    if (!schema) return new Response(null, { status, headers: { ...NOT_STORED, ...given.headers } });
    const tag = operation.method === "GET" ? entityTag(given.value, operation.volatile) : undefined;
    const known = headers["if-none-match"];
    const extra = { ...NOT_STORED, ...(tag === undefined ? {} : { etag: tag }), ...given.headers };
    if (tag !== undefined && known !== undefined && matchesTag(known, tag)) {
      return new Response(null, { status: 304, headers: extra });
    }
    return new Response(JSON.stringify(given.value), {
      status,
      headers: { "content-type": "application/json", ...extra },
    });
  }

  async #tagOf(reader: RestOperation<Api>, call: CheckedRequest, caller: Identified | undefined) {
    const value = await this.#handle(reader, { ...call, body: undefined }, caller);
    return entityTag(value instanceof HeadedAnswer ? value.value : value, reader.volatile);
  }

  #handle(operation: RestOperation<Api>, call: CheckedRequest, caller: Identified | undefined): Promise<unknown> {
    const { api } = this.#options;
    // An operation for everybody does not look at its actor.
    const { actor, session } = caller ?? ({} as Identified);
    return operation.handle({ ...call, api, actor, session });
  }
}

type CheckedRequest = Omit<OperationRequest, "query" | "body"> & { query: unknown; body: unknown };

const CHANGING: ReadonlySet<string> = new Set(["PUT", "PATCH", "DELETE"]);
const NOT_STORED = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

const CHANGED: HttpProblem = {
  status: 412,
  code: "PRECONDITION_FAILED",
  detail: "It was changed since it was read",
  hint: "Read it again, and repeat the change with its new entity tag.",
};

/** What is not valid is added to the problems. */
function checked(schema: z.ZodType, value: unknown, where: string, problems: InvalidMember[]): unknown {
  if (value === NOT_JSON) return undefined;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const { path, message } of result.error.issues.slice(0, MOST_PROBLEMS)) {
    problems.push({ at: [where, ...path.map(String)].join("/"), message });
  }
  return undefined;
}

const NOT_JSON = Symbol("not JSON");
const MOST_PROBLEMS = 50;

function parsed(text: string, problems: InvalidMember[]): unknown {
  const { jsonDepth: depth, jsonValues: values, jsonMembers: members } = SERVER_LIMITS;
  const exceeded = exceededLimit(text, { depth, values, members });
  if (exceeded === "values" || exceeded === "members") {
    const most = exceeded === "values" ? `${values} values` : `${members} members in one object`;
    const message = `The body has more than ${most}`;
    throw new NexusError("MESSAGE_TOO_LARGE", message, { hint: "Send it in smaller parts.", mayHaveReached: false });
  }
  if (exceeded === "depth") {
    problems.push({ at: "body", message: `It is nested deeper than ${depth} levels` });
    return NOT_JSON;
  }
  try {
    return JSON.parse(text);
  } catch {
    problems.push({ at: "body", message: "It is not valid JSON" });
    return NOT_JSON;
  }
}

function invalid(errors: readonly InvalidMember[]): HttpProblem {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return {
    status: 400,
    code: "ARGUMENTS_INVALID",
    detail: `The request is not valid: ${first?.at}: ${first?.message}${more}`,
    hint: "GET /api/v1/openapi.json describes every operation.",
    errors,
  };
}

/** Where the names are that would be known; undefined where that is not for everybody. */
function listHint(path: string): string | undefined {
  const [, list] = /^(.+\/[^/{]+)\/\{\w+\}/.exec(path) ?? [];
  return list === undefined || list === "/tenants" ? undefined : `GET /api/v1${list} lists those that are known.`;
}

/** The character U+0000 is in no name, and databases refuse it. */
function withNul(where: string, values: Readonly<Record<string, unknown>>): InvalidMember[] {
  const found = Object.entries(values).filter(([, value]) => typeof value === "string" && value.includes("\0"));
  return found.map(([name]) => ({ at: `${where}/${name}`, message: "It contains the character U+0000" }));
}

async function keep(response: Response): Promise<KeptAnswer> {
  return { status: response.status, headers: [...response.headers], body: await response.text() };
}

function roleTooLow(access: string): NexusError {
  const needed = access === "all-tenants" ? "an admin of all tenants" : `the role ${access}`;
  return new NexusError("FORBIDDEN", `This needs ${needed}`, { mayHaveReached: false });
}
