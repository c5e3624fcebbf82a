import { setImmediate as nextTurn } from "node:timers/promises";
import type { CancelSignal } from "../../async/cancellation.ts";
import { asNexusError, NexusError, type ErrorCode } from "../../errors/nexus-error.ts";
import type { Content } from "../../protocol/mcp.ts";
import type { Success } from "./response-reader.ts";
import { accessToken, withToken } from "./access-token.ts";
import type { Scope } from "../expression/expression.ts";
import type { PackedValue } from "./apart/answer-task.ts";
import { goesApart, notUnderstood, pageApart, tellApart, valueApart } from "./apart/read-apart.ts";
import { attempts } from "./attempts.ts";
import type { Tracing } from "./call-trace.ts";
import { credentialsFor, NO_CREDENTIALS, type Credentials } from "./secrets/credentials.ts";
import { Failure, type FailureOptions } from "./failure.ts";
import { showing, type Show } from "./completed-values.ts";
import type { RunnerParts, Signer } from "./runner-parts.ts";
import type { TokenGrant } from "./secrets/upstream-tokens.ts";
import { type PackedPage, type ListPage, pageIn } from "./pages/page.ts";
import { type ReadValue, readValue, type Told, type ValueUse } from "./told-answer.ts";
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

/** How a call ended: told, or read here and to be told; with what came, if the caller wants it. */
export type CallOutcome =
  | Answered<Success | Failure>
  | { reading: Told | Failure; answer?: undefined; payload: Content | undefined };

/** `answer` is undefined if there was none. */
interface Answered<T> {
  reading: T;
  answer?: UpstreamResponse | undefined;
  payload?: undefined;
}

/** A page, or why it could not be read. */
export type PageOutcome = Answered<ListPage | PackedPage | Failure> & { bytes?: number };

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

/** Sends a request, repeats it if its tool allows that, and interprets the answer for the caller. */
export function callAndTell(
  parts: RunnerParts,
  plan: ToolPlan,
  prepared: PreparedRequest,
  facts: SendingFacts & { wantsPayload: boolean },
): Promise<CallOutcome> {
  const { wantsPayload } = facts;
  return sent<CallOutcome>(parts, plan, prepared, facts, (answer, how) =>
    goesApart(answer.body.length)
      ? tellApart(parts, plan, { ...how, answer, wantsPayload })
      : readHere(parts, plan, answer, how),
  );
}

/** The same for a program that goes on with the value. */
export async function callForValue(
  parts: RunnerParts,
  plan: ToolPlan,
  prepared: PreparedRequest,
  facts: SendingFacts,
  use: ValueUse,
): Promise<ReadValue | PackedValue | Failure> {
  const { reading, answer } = await sent<Answered<Success | PackedValue | Failure>>(
    parts,
    plan,
    prepared,
    facts,
    async (given, how) =>
      goesApart(given.body.length)
        ? { reading: await valueApart(parts, plan, { ...how, answer: given, wantsPayload: false }, use) }
        : readHere(parts, plan, given, how),
  );
  if (reading.kind !== "success") return reading;
  return readValue(parts.telling, plan, reading, { use, bytes: answer?.body.length ?? 0 });
}

/** The same for a page of a list. */
export function callForPage(
  parts: RunnerParts,
  plan: ToolPlan,
  prepared: PreparedRequest,
  facts: SendingFacts & { wantsPayload: boolean },
): Promise<PageOutcome> {
  const { wantsPayload } = facts;
  return sent<PageOutcome>(parts, plan, prepared, facts, async (answer, how) => {
    const bytes = answer.body.length;
    if (goesApart(bytes)) {
      return { reading: await pageApart(parts, plan, { ...how, answer, wantsPayload }), answer, bytes };
    }
    const { reading } = await readHere(parts, plan, answer, how);
    const { status, headers } = answer;
    const page = reading.kind === "failure" ? reading : pageIn(plan, reading, { input: how.input, status, headers });
    return { reading: page, answer, bytes };
  });
}

/** From here on, an answer is read in a turn of the event loop of its own, so that others are served before and after. */
const LARGE_BYTES = 64 * 1024;

function readHere(
  parts: RunnerParts,
  plan: ToolPlan,
  answer: UpstreamResponse,
  how: ReadingFacts,
): Answered<Success | Failure> | Promise<Answered<Success | Failure>> {
  const read = () => ({ reading: outcomeOf(parts, plan, answer, how), answer });
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
): Promise<T | Answered<Failure>> {
  const { effect, limits } = plan.spec;
  const { retries } = limits;
  const { upstream, now, pause } = parts;
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
    const how = { input, show, trace, signal: effect === "read" ? signal : undefined };
    if (attempted.kind !== "answered") return { reading: requestFailure(parts, attempted.error, how) };
    const { answer } = attempted;
    trace.reached(0.9, "Reading the answer");
    trace.note("info", "The request was answered", { status: answer.status, bytes: answer.body.length });
    return read(answer, how);
  });
}

function requestFailure({ api }: RunnerParts, error: NexusError, { show, trace }: ReadingFacts): Failure {
  trace.note("warn", "The request failed", { code: error.code, reason: error.message });
  return failureOf(error, api.file.title, show);
}

function outcomeOf(parts: RunnerParts, plan: ToolPlan, answer: UpstreamResponse, how: ReadingFacts): Success | Failure {
  try {
    return plan.read(answer, how.input, how.show);
  } catch (error) {
    return notUnderstood(parts, asNexusError(error).message, how);
  }
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
