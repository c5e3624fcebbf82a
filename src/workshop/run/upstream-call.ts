import { setImmediate as nextTurn } from "node:timers/promises";
import type { CancelSignal } from "../../async/cancellation.ts";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import type { Success } from "./response-reader.ts";
import { accessToken, sendWithToken, withToken } from "./access-token.ts";
import type { Scope } from "../expression/expression.ts";
import { attempts } from "./attempts.ts";
import type { Tracing } from "./call-trace.ts";
import { type Credentials, credentialsFor, NO_CREDENTIALS } from "./secrets/credentials.ts";
import { Failure, failureOf } from "./failure.ts";
import { showing, type Show } from "./secrets/show.ts";
import type { RunnerParts, Signer } from "./runner-parts.ts";
import type { TokenGrant } from "./secrets/upstream-tokens.ts";
import { withWait } from "./status-failure.ts";
import type { ToolPlan } from "./tool-plan.ts";
import type { OutgoingRequest, UpstreamResponse } from "./upstream.ts";
import type { SecretsSpec } from "../file/model/tool-file.ts";
import { signedHeaders } from "./signing/built-in-signer.ts";

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
}

export interface PreparingFacts {
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
  { request: written, input, sign, grant }: PreparedRequest,
  { trace, signal, timeoutMs = plan.spec.limits.timeoutMs }: SendingFacts,
): Promise<UpstreamOutcome> {
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
  // Not awaited: an async function keeps all its values while it waits.
  return attempts(send, { effect, retries, timeoutMs, signal, pause, now, trace, waiting }).then((attempted) => {
    if (attempted.kind !== "answered") return { reading: requestFailure(attempted.error, { show, trace, title }) };
    const { answer } = attempted;
    const read = () => outcomeOf(plan, answer, { input, show, trace, title });
    return answer.body.length < LARGE_ANSWER_BYTES ? read() : inOwnTurn(read);
  });
}

/** From here on, an answer is read in a turn of the event loop of its own, so that others are served before and after. */
const LARGE_ANSWER_BYTES = 64 * 1024;

async function inOwnTurn<T>(work: () => T): Promise<T> {
  await nextTurn();
  const done = work();
  await nextTurn();
  return done;
}

interface ReadingParts {
  show: Show;
  trace: Tracing;
  title: string;
}

function requestFailure(error: NexusError, { show, trace, title }: ReadingParts): Failure {
  trace.note("warn", "The request failed", { code: error.code, reason: error.message });
  return failureOf(error, title, show);
}

function outcomeOf(
  plan: ToolPlan,
  answer: UpstreamResponse,
  { input, show, trace, title }: ReadingParts & { input: Value },
): UpstreamOutcome {
  trace.reached(0.9, "Reading the answer");
  trace.note("info", "The request was answered", { status: answer.status, bytes: answer.body.length });
  try {
    const reading = plan.read(answer, input, show);
    return { reading: reading.kind === "failure" ? withWait(reading, answer) : reading, answer };
  } catch (error) {
    // The request was sent: the outcome must not be reported as not sent.
    trace.note("error", "The answer could not be understood", { reason: asNexusError(error).message });
    const text = `${title} responded, but the response could not be understood.`;
    return { reading: new Failure(text, { outcome: "unknown" }), answer };
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
