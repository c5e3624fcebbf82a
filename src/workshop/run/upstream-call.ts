import type { CancelSignal } from "../../async/cancellation.ts";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import type { Success } from "./response-reader.ts";
import { attempts } from "./attempts.ts";
import type { Tracing } from "./call-trace.ts";
import { credentialsFor, NO_CREDENTIALS } from "./secrets/credentials.ts";
import { Failure, failureOf } from "./failure.ts";
import type { RunnerParts, Signer } from "./runner-parts.ts";
import type { ToolPlan } from "./tool-plan.ts";
import type { OutgoingRequest, UpstreamResponse } from "./upstream.ts";

type Value = Record<string, unknown>;

/** A request that is ready, and the input it was made of, with what is computed. */
export interface PreparedRequest {
  input: Value;
  request: OutgoingRequest;
}

/** What came of a request; without an answer where none came. */
export interface UpstreamOutcome {
  reading: Success | Failure;
  answer?: UpstreamResponse;
}

/** Computes what is computed, looks up what is secret and writes the request. Nothing has left when it throws. */
export async function prepare(
  parts: RunnerParts,
  plan: ToolPlan,
  given: Value,
  key: () => string,
): Promise<PreparedRequest> {
  const input = completed(parts, plan, given, key);
  const { instance, findSecret: find, redaction, upstream } = parts;
  const options = { server: instance.server, origin: upstream.origin, find, redaction };
  const credentials = plan.secrets ? await credentialsFor(plan.secrets, input, options) : NO_CREDENTIALS;
  return { input, request: plan.write(upstream.base, input, credentials) };
}

/** The input with what is computed. */
export function completed(parts: RunnerParts, plan: ToolPlan, given: Value, key: () => string): Value {
  const { now, today } = parts.clock;
  const scope = { now, today, request_key: key, settings: parts.settings };
  return parts.values.complete(plan.spec.input, given, scope);
}

/** Sends a request, as often as its tool may be sent, and tells what the answer means. */
export async function callUpstream(
  parts: RunnerParts,
  plan: ToolPlan,
  { request, input }: PreparedRequest,
  { trace, signal }: { trace: Tracing; signal: CancelSignal | undefined },
): Promise<UpstreamOutcome> {
  const { effect, limits } = plan.spec;
  const { retries, timeoutMs } = limits;
  const { upstream, now, pause } = parts;
  // The path as the file has it: what stands in its places may be anything.
  trace.note("info", "Sending a request", { method: request.method, path: plan.spec.request.path, target: plan.name });
  const waiting =
    effect === "read" ? "Waiting for the answer" : `Sending. If no answer comes: ${plan.outcomeUnknown({ input })}`;
  const show = parts.redaction.showing(input);
  const sign = signerOf(parts, plan);
  const send = sign
    ? async (leftMs: number) => upstream.send(await sign(request), leftMs, signal)
    : (leftMs: number) => upstream.send(request, leftMs, signal);
  const attempted = await attempts(send, { effect, retries, timeoutMs, signal, pause, now, trace, waiting });
  if (attempted.kind === "failed") {
    trace.note("warn", "The request failed", { code: attempted.error.code, reason: attempted.error.message });
    return { reading: failureOf(attempted.error, parts.api.file.title, show) };
  }
  const { answer } = attempted;
  trace.reached(0.9, "Reading the answer");
  trace.note("info", "The request was answered", { status: answer.status, bytes: answer.body.length });
  try {
    return { reading: plan.read(answer, input, show), answer };
  } catch (error) {
    // It was sent all the same: whoever asks what became of it must not hear that it was not.
    trace.note("error", "The answer could not be understood", { reason: asNexusError(error).message });
    const text = `${parts.api.file.title} responded, but the response could not be understood.`;
    return { reading: new Failure(text, { outcome: "unknown" }), answer };
  }
}

function signerOf({ signers }: RunnerParts, { secrets }: ToolPlan): Signer | undefined {
  const name = secrets?.sign;
  const signer = name === undefined ? undefined : signers[name];
  if (!signer) return undefined;
  return async (request) => {
    try {
      return await signer(request);
    } catch (cause) {
      throw new NexusError("INTERNAL", `The request could not be signed (${name})`, { cause, mayHaveReached: false });
    }
  };
}
