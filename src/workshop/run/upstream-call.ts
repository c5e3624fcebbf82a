import { setImmediate as nextTurn } from "node:timers/promises";
import type { CancelSignal } from "../../async/cancellation.ts";
import type { QueuePlace } from "../../async/fair-queue.ts";
import { instanceKey } from "../../auth/server-instance.ts";
import { asNexusError, NexusError, type ErrorCode } from "../../errors/nexus-error.ts";
import type { Content } from "../../protocol/mcp.ts";
import type { Success } from "./response-reader.ts";
import { accessToken, withToken } from "./access-token.ts";
import type { Scope } from "../expression/expression.ts";
import type { Unread } from "./answer-task.ts";
import { ANSWER_THREADS, type AnswerAsked } from "./answer-threads.ts";
import { attempts } from "./attempts.ts";
import type { Tracing } from "./call-trace.ts";
import { credentialsFor, NO_CREDENTIALS, type Credentials } from "./secrets/credentials.ts";
import { Failure, type FailureOptions } from "./failure.ts";
import { showing, type Show } from "./completed-values.ts";
import type { RunnerParts, Signer } from "./runner-parts.ts";
import type { TokenGrant } from "./secrets/upstream-tokens.ts";
import { stepValue, type Told } from "./told-answer.ts";
import type { ToolPlan } from "./tool-plan.ts";
import type { OutgoingRequest, UpstreamResponse } from "./upstream.ts";
import type { SecretsSpec } from "../file/model/tool-file.ts";
import { signedHeaders } from "./signing/built-in-signer.ts";

const LATER = "Try again later.";
const WORDS: Partial<Record<ErrorCode, (title: string) => Words>> = {
  TIMEOUT: (title) => ({ text: `${title} did not respond in time.`, again: LATER }),
  CONNECTION_FAILED: (title) => ({ text: `${title} could not be reached; the request was not sent.`, again: LATER }),
  CONNECTION_LOST: (title) => ({
    text: `${title} closed the connection before its response was complete.`,
    again: LATER,
  }),
  MESSAGE_TOO_LARGE: (title) => ({
    text: `${title} sent a response that is larger than the limit.`,
    again: "Ask for less at once.",
  }),
  ADDRESS_REFUSED: (title) => ({
    text: `${title} has an address that may not be reached; the request was not sent.`,
    hint: `The author of the tool file has to check its address. An internal one is allowed where the server is configured, in "public_only" of its entry; what was published over the network cannot have one.`,
  }),
  REDIRECT_REFUSED: (title) => ({
    text: `${title} responded with a redirect, which is not followed.`,
    hint: "The author of the tool file has to check its address.",
  }),
};

type Value = Record<string, unknown>;

/** A request that is ready, and its input with computed fields. */
export interface PreparedRequest {
  input: Value;
  request: OutgoingRequest;
  /** Signs the finished request, again for each attempt. */
  sign?: Signer | undefined;
  /** How its access token was obtained. */
  grant?: TokenGrant | undefined;
}

export interface SendingFacts {
  trace: Tracing;
  signal: CancelSignal | undefined;
  /** Default: that of the tool. */
  timeoutMs?: number | undefined;
}

/** The outcome of a request; `answer` is undefined if there was none. */
export interface UpstreamOutcome {
  reading: Success | Failure;
  answer?: UpstreamResponse;
  /** Of all pages. */
  bytes?: number;
}

/** The same, or an answer that was told, with what came if the caller wants it. */
export type CallOutcome =
  | (UpstreamOutcome & { payload?: undefined })
  | { reading: Told | Failure; answer?: undefined; payload: Content | undefined };

interface PreparingFacts {
  /** Makes the value of `request_key()`. */
  key: () => string;
  signal: CancelSignal | undefined;
  /** Ends the turn of the event loop between steps that take long. */
  endTurn?: (() => Promise<void>) | undefined;
}

/** Computes fields, looks up secrets and writes the request. If it throws, nothing was sent. */
export async function prepare(
  parts: RunnerParts,
  plan: ToolPlan,
  given: Value,
  { key, signal, endTurn }: PreparingFacts,
): Promise<PreparedRequest> {
  const { upstream, clock, settings } = parts;
  const input = completed(parts, plan, given, key);
  if (endTurn) await endTurn();
  const base = upstream.baseOf(plan.spec.request.base);
  const credentials = plan.secrets ? await credentialsOf(parts, plan, input, base) : NO_CREDENTIALS;
  const { grant } = credentials;
  const sign = signerFor(parts, plan.secrets?.sign, credentials);
  const scope = { now: clock.now, today: clock.today, request_key: key, settings, input };
  const written = plan.write(input, { base, credentials, scope });
  const request = grant ? withToken(written, await accessToken(parts, plan, grant, { signal })) : written;
  return { input, request, sign, grant };
}

/** A secret is for the origin that the request goes to. */
function credentialsOf(parts: RunnerParts, plan: ToolPlan, input: Value, base: string): Promise<Credentials> {
  const { instance, findSecret: find, hidden, upstream } = parts;
  const tokenUrl = (address: string) => upstream.addressOf(address);
  if (!plan.secrets) return Promise.resolve(NO_CREDENTIALS);
  return credentialsFor(plan.secrets, input, {
    places: plan.secretPlaces,
    server: instance.server,
    origin: upstream.originOf(base),
    tokenUrl,
    find,
    hidden,
  });
}

/** The input with computed fields. */
export function completed(parts: RunnerParts, plan: ToolPlan, given: Value, key: () => string): Value {
  return parts.inputs.complete(plan.spec.input, given, scopeOf(parts, key));
}

function scopeOf({ clock, settings }: RunnerParts, key: () => string): Scope {
  return { now: clock.now, today: clock.today, request_key: key, settings };
}

/** Sends a request, repeats it if its tool allows that, and interprets the answer. */
export function callUpstream(
  parts: RunnerParts,
  plan: ToolPlan,
  prepared: PreparedRequest,
  facts: SendingFacts,
): Promise<UpstreamOutcome> {
  return sent(parts, plan, prepared, facts, (answer, how) =>
    goesApart(answer.body.length) ? readApart(parts, plan, answer, how) : readHere(plan, answer, how),
  );
}

/** The same for a call that ends with the answer. */
export function callAndTell(
  parts: RunnerParts,
  plan: ToolPlan,
  prepared: PreparedRequest,
  facts: SendingFacts & { wantsPayload: boolean },
): Promise<CallOutcome> {
  const { wantsPayload } = facts;
  return sent<CallOutcome>(parts, plan, prepared, facts, (answer, how) =>
    goesApart(answer.body.length)
      ? tellApart(parts, plan, answer, { ...how, wantsPayload })
      : readHere(plan, answer, how),
  );
}

/** From here on, an answer is read in a turn of the event loop of its own, so that others are served before and after, */
const LARGE_BYTES = 64 * 1024;
/** and from here on in another thread, because some that are as large take longer than a turn may. */
const VERY_LARGE_BYTES = 128 * 1024;

function goesApart(bytes: number): boolean {
  return bytes >= VERY_LARGE_BYTES && ANSWER_THREADS.isBuilt;
}

function readHere(
  plan: ToolPlan,
  answer: UpstreamResponse,
  how: ReadingFacts,
): UpstreamOutcome | Promise<UpstreamOutcome> {
  const read = () => ({ reading: outcomeOf(plan, answer, how), answer });
  return answer.body.length < LARGE_BYTES ? read() : inOwnTurn(read);
}

async function inOwnTurn<T>(work: () => T): Promise<T> {
  await nextTurn();
  const done = work();
  await nextTurn();
  return done;
}

interface ReadingFacts {
  input: Value;
  show: Show;
  trace: Tracing;
  title: string;
  /** That of a read: what became of a write is found out also when its caller has left. */
  signal: CancelSignal | undefined;
}

/** Not an async function, which keeps all its values while it waits. */
function sent<T>(
  parts: RunnerParts,
  plan: ToolPlan,
  { request: written, input, sign, grant }: PreparedRequest,
  { trace, signal, timeoutMs = plan.spec.limits.timeoutMs }: SendingFacts,
  read: (answer: UpstreamResponse, how: ReadingFacts) => T | Promise<T>,
): Promise<T | UpstreamOutcome> {
  const { effect, limits } = plan.spec;
  const { retries } = limits;
  const { upstream, now, pause } = parts;
  const { title } = parts.api.file;
  // The header of a tool file wins: it may be what the API recognises a repetition by.
  const headers = { "x-request-id": trace.correlation, ...written.headers };
  const request = { ...written, headers };
  // The path of the file: values in it may be secret.
  trace.note("info", "Sending a request", { method: request.method, path: plan.spec.request.path, target: plan.name });
  const waiting =
    effect === "read" ? "Waiting for the answer" : `Sending. If no answer comes: ${plan.outcomeUnknown({ input })}`;
  const show = showing(parts.hidden, input);
  const deliver = sign
    ? async (outgoing: OutgoingRequest, leftMs: number) => upstream.send(await sign(outgoing), leftMs, signal)
    : (outgoing: OutgoingRequest, leftMs: number) => upstream.send(outgoing, leftMs, signal);
  const send = grant
    ? sendWithToken(parts, plan, { request, grant, deliver, signal })
    : (leftMs: number) => deliver(request, leftMs);
  return attempts(send, { effect, retries, timeoutMs, signal, pause, now, trace, waiting }).then((attempted) => {
    const how = { input, show, trace, title, signal: effect === "read" ? signal : undefined };
    if (attempted.kind !== "answered") return { reading: requestFailure(attempted.error, how) };
    const { answer } = attempted;
    trace.reached(0.9, "Reading the answer");
    trace.note("info", "The request was answered", { status: answer.status, bytes: answer.body.length });
    return read(answer, how);
  });
}

function requestFailure(error: NexusError, { show, trace, title }: ReadingFacts): Failure {
  trace.note("warn", "The request failed", { code: error.code, reason: error.message });
  return failureOf(error, title, show);
}

function outcomeOf(plan: ToolPlan, answer: UpstreamResponse, how: ReadingFacts): Success | Failure {
  try {
    return plan.read(answer, how.input, how.show);
  } catch (error) {
    return notUnderstood(asNexusError(error).message, how);
  }
}

/** The request was sent: the outcome must not be reported as not sent. */
function notUnderstood(reason: string, { trace, title }: Pick<ReadingFacts, "trace" | "title">): Failure {
  trace.note("error", "The answer could not be understood", { reason });
  return new Failure(`${title} responded, but the response could not be understood.`, { outcome: "unknown" });
}

async function readApart(
  parts: RunnerParts,
  plan: ToolPlan,
  answer: UpstreamResponse,
  how: ReadingFacts,
): Promise<UpstreamOutcome> {
  const read = await ANSWER_THREADS.read(asked(parts, plan, answer, how), placeOf(parts, plan));
  return { reading: read.kind === "problem" ? notRead(read, how) : read, answer };
}

async function tellApart(
  parts: RunnerParts,
  plan: ToolPlan,
  answer: UpstreamResponse,
  { wantsPayload, ...how }: ReadingFacts & { wantsPayload: boolean },
): Promise<CallOutcome> {
  const told = await ANSWER_THREADS.tell({ ...asked(parts, plan, answer, how), wantsPayload }, placeOf(parts, plan));
  return "problem" in told ? { reading: notRead(told, how), payload: undefined } : told;
}

/** What the caller gets of pages that were read. */
export async function tellPages(
  parts: RunnerParts,
  plan: ToolPlan,
  input: Value,
  outcome: UpstreamOutcome,
  { signal, wantsPayload, trace }: SendingFacts & { wantsPayload: boolean },
): Promise<CallOutcome> {
  const { reading, answer, bytes = 0 } = outcome;
  if (reading.kind === "failure" || !goesApart(bytes)) return outcome;
  const about = asked(parts, plan, wantsPayload ? answer : undefined, { input, signal });
  const told = await ANSWER_THREADS.tell({ ...about, success: reading, wantsPayload }, placeOf(parts, plan));
  if (!("problem" in told)) return told;
  return { reading: notRead(told, { trace, title: parts.api.file.title }), payload: undefined };
}

/** What the steps of a tool see of an answer. What became of a write is told to the end, as it is read. */
export async function readForStep(
  parts: RunnerParts,
  plan: ToolPlan,
  { reading, answer, bytes = answer?.body.length ?? 0 }: UpstreamOutcome,
  { signal, trace }: SendingFacts,
): Promise<Success | Failure> {
  if (reading.kind === "failure") return reading;
  if (!goesApart(bytes)) return { ...reading, value: stepValue(parts.telling, plan, reading) };
  const leaving = plan.spec.effect === "read" ? signal : undefined;
  const about = { ...asked(parts, plan, undefined, { input: {}, signal: leaving }), success: reading };
  const read = await ANSWER_THREADS.read(about, placeOf(parts, plan), "step");
  return read.kind === "problem" ? notRead(read, { trace, title: parts.api.file.title }) : read;
}

function asked(
  parts: RunnerParts,
  plan: ToolPlan,
  answer: UpstreamResponse | undefined,
  { input, signal }: Pick<ReadingFacts, "input" | "signal">,
): AnswerAsked {
  return { telling: parts.telling, plan, answer, input, wantsPayload: false, signal };
}

/** APIs take turns, and in each of them its tools. */
function placeOf({ instance }: RunnerParts, { name }: ToolPlan): QueuePlace {
  return { group: instanceKey(instance), member: name };
}

/** What is a limit is told to the caller. */
function notRead({ problem, isLimit }: Unread, how: Pick<ReadingFacts, "trace" | "title">): Failure {
  const failure = notUnderstood(problem, how);
  if (!isLimit) return failure;
  const text = `${how.title} sent a response that could not be read: ${problem}.`;
  return new Failure(text, { again: "Ask for less at once.", outcome: "unknown" });
}

/** The signer of a request: a built-in one, or one that the program provides. Its failures say that nothing was sent. */
function signerFor(
  { signers, settings, now }: RunnerParts,
  spec: SecretsSpec["sign"],
  { signing }: Credentials,
): Signer | undefined {
  if (spec === undefined) return undefined;
  const values = { secret: (name: string) => signing.get(name) ?? "", settings };
  const signer: Signer | undefined =
    typeof spec === "string"
      ? signers[spec]
      : (request) => ({ ...request, headers: signedHeaders(spec, request, values, now()) });
  if (!signer) return undefined;
  return async (request) => {
    try {
      return await signer(request);
    } catch (cause) {
      const name = typeof spec === "string" ? spec : spec.kind;
      throw new NexusError("INTERNAL", `The request could not be signed (${name})`, { cause, mayHaveReached: false });
    }
  };
}

type Words = Pick<Failure, "text"> & Omit<FailureOptions, "outcome">;

/** The failure for a request without an answer. The address is not shown, because its query may have credentials. */
function failureOf(error: NexusError, title: string, show: Show): Failure {
  const outcome = error.details.mayHaveReached === false ? "refused" : "unknown";
  const words = WORDS[error.code]?.(title) ?? { text: show(`${error.message}.`), hint: error.hint };
  const { text, ...options } = words;
  return new Failure(text, { ...options, outcome });
}

/** Sends a request; once more with a new token if the API does not accept the first, which it may have revoked. */
function sendWithToken(
  parts: RunnerParts,
  plan: ToolPlan,
  given: {
    request: OutgoingRequest;
    grant: TokenGrant;
    deliver: (request: OutgoingRequest, leftMs: number) => Promise<UpstreamResponse>;
    signal: CancelSignal | undefined;
  },
): (leftMs: number) => Promise<UpstreamResponse> {
  const { grant, deliver, signal } = given;
  let { request } = given;
  let isRenewed = false;
  return async (leftMs) => {
    const until = parts.now() + leftMs;
    const answer = await deliver(request, leftMs);
    if (answer.status !== 401 || isRenewed) return answer;
    isRenewed = true;
    const refused = request.headers["authorization"]?.replace(/^Bearer /, "") ?? "";
    const left = () => Math.max(1, until - parts.now());
    // Without a new token, the answer of the API says what is wrong.
    const token = await accessToken(parts, plan, grant, { refused, leftMs: left(), signal }).catch(() => undefined);
    if (token === undefined || token === refused) return answer;
    request = withToken(request, token);
    return deliver(request, left());
  };
}
