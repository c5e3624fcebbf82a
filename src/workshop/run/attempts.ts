import type { CancelSignal } from "../../async/cancellation.ts";
import { growingPause, retryAfterMs, withJitter } from "../../async/backoff.ts";
import { asNexusError, type NexusError } from "../../errors/nexus-error.ts";
import type { Effect } from "../file/model/tool-file.ts";
import type { Tracing } from "./call-trace.ts";
import type { UpstreamResponse } from "./upstream.ts";
import { isConnectionFailure, isWorthARetry } from "../../errors/error-traits.ts";

/** How one request ended, after all attempts. */
type Attempted = { kind: "answered"; answer: UpstreamResponse } | { kind: "failed"; error: NexusError };

export type Pause = (ms: number, signal: CancelSignal | undefined) => Promise<void>;

interface AttemptOptions {
  effect: Effect;
  retries: number;
  timeoutMs: number;
  signal: CancelSignal | undefined;
  pause: Pause;
  now: () => number;
  trace: Tracing;
  /** Sent with the progress of the first attempt: what the caller needs to know if it gives up before the answer. */
  waiting: string;
}

const PAUSES = { firstMs: 200, longestMs: 5_000 };

/**
 * Sends until there is an answer, or no time or attempt is left. Reads are repeated after temporary failures; writes
 * only if they certainly did not reach the server.
 */
export async function attempts(
  send: (timeoutMs: number) => Promise<UpstreamResponse>,
  options: AttemptOptions,
): Promise<Attempted> {
  const { retries, timeoutMs, signal, pause, now, trace, waiting } = options;
  const deadline = now() + timeoutMs;
  for (let tried = 0; ; tried++) {
    trace.reached(0.75 - 0.5 / (tried + 1), tried === 0 ? waiting : `Trying again (${tried})`);
    const started = now();
    let attempted: Attempted;
    try {
      attempted = { kind: "answered", answer: await send(Math.max(1, deadline - started)) };
    } catch (error) {
      attempted = { kind: "failed", error: asNexusError(error) };
    }
    trace.note("debug", "Upstream answered", gist(attempted, tried + 1, now() - started));
    if (tried >= retries || signal?.aborted || !mayRepeat(attempted, options.effect)) return attempted;
    const waitMs = askedWait(attempted, now()) ?? withJitter(growingPause(tried, PAUSES));
    // If the requested pause exceeds the time limit, no further request is sent.
    if (now() + waitMs >= deadline) return attempted;
    await pause(waitMs, signal);
  }
}

function mayRepeat(attempted: Attempted, effect: Effect): boolean {
  if (attempted.kind === "answered") return effect === "read" && isWorthARetry(attempted.answer.status);
  const { code, details } = attempted.error;
  if (!isConnectionFailure(code)) return false;
  return effect === "read" || details.mayHaveReached === false;
}

function askedWait(attempted: Attempted, now: number): number | undefined {
  return attempted.kind === "answered" ? retryAfterMs(attempted.answer.headers["retry-after"], now) : undefined;
}

function gist(attempted: Attempted, attempt: number, ms: number): Record<string, unknown> {
  if (attempted.kind === "answered") {
    const { status, body } = attempted.answer;
    return { attempt, ms, status, bytes: body.length };
  }
  const { code, message } = attempted.error;
  return { attempt, ms, error: code, reason: message };
}
