import type { ErrorCode, NexusError } from "../../src/index.ts";
import type { Fault } from "./fault.ts";
import type { Plan } from "./plan.ts";
import { getServerKind } from "./server-kind.ts";
import type { Step } from "./step.ts";

/** How a step ended: with its right answer, with one whose bytes were changed on the way, or with a right error. */
export type Ending = "right answer" | "changed answer" | ErrorCode;

/** Changed bytes can look like nearly anything, except like something that is the client's own affair. */
const CHANGED_BYTES: readonly ErrorCode[] = [
  "TIMEOUT",
  "CONNECTION_LOST",
  "CONNECTION_FAILED",
  "HTTP_STATUS",
  "AUTH_REQUIRED",
  "FORBIDDEN",
  "REDIRECT_REFUSED",
  "NOT_MCP",
  "PROTOCOL_VIOLATION",
  "VERSION_UNSUPPORTED",
  "MESSAGE_TOO_LARGE",
  "CAPABILITY_MISSING",
  "SERVER_ERROR",
];

/**
 * Which errors a fault explains. What merely takes time, cuts bytes differently or says things twice explains none:
 * then only the right answer will do.
 */
const EXPLAINED: Record<Fault["kind"], readonly ErrorCode[]> = {
  delay: [],
  split: [],
  "duplicate-event": [],
  "reorder-events": [],
  stall: ["TIMEOUT"],
  cut: ["CONNECTION_LOST", "CONNECTION_FAILED"],
  // A server that gets half a request may say so: 400. To the probe that is the answer of a legacy server, and a modern
  // one then refuses `initialize`; where an event stream was to be opened, the server looks like none of MCP.
  "half-close": ["CONNECTION_LOST", "CONNECTION_FAILED", "HTTP_STATUS", "SERVER_ERROR", "NOT_MCP"],
  "duplicate-bytes": CHANGED_BYTES,
  "reorder-bytes": CHANGED_BYTES,
};

export function isBreaking({ kind }: Fault): boolean {
  return kind === "cut" || kind === "half-close" || kind === "stall";
}

/** TCP promises that this does not happen; where it does, no client can tell a changed text from the right one. */
export function isCorrupting({ kind }: Fault): boolean {
  return kind === "duplicate-bytes" || kind === "reorder-bytes";
}

/** Whether something may be waited for that never comes. All else has to be right, or wrong, without a clock. */
export function mayWaitInVain({ server, faults }: Plan): boolean {
  if (faults.some((fault) => fault.kind === "stall" || isCorrupting(fault))) return true;
  // Legacy streams are taken up again until the call's clock says otherwise; and the answer to a legacy server's
  // question is a message of its own: when it is lost, the server waits, and so does the call.
  const { era, oneStream } = getServerKind(server);
  return era === "legacy" && !oneStream && faults.some(isBreaking);
}

export interface Circumstances {
  plan: Plan;
  /** What had happened by the time the step ended. */
  struck: readonly Fault[];
  /** Undefined for connecting. */
  step: Step | undefined;
}

/** Whether something that happened explains the error of a step. */
export function isExplained({ code }: NexusError, { plan, struck, step }: Circumstances): boolean {
  const explained = new Set<ErrorCode>(struck.flatMap(({ kind }) => EXPLAINED[kind]));
  if (step?.kind === "abort") explained.add("CANCELLED");
  // With a short clock, a busy machine alone is enough.
  if (mayWaitInVain(plan)) explained.add("TIMEOUT");
  return explained.has(code);
}
