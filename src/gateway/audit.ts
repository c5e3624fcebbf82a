import type { Era } from "../protocol/revisions.ts";
import type { Principal } from "../server/core/principal.ts";

/** How a call ended, for counting and for the record. */
export const OUTCOMES = ["ok", "tool_error", "input_required", "task", "error", "cancelled", "refused"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** One call: who, what, how long, how it ended. Never what was said in it. */
export interface AuditRecord {
  /** Milliseconds since 1970. */
  at: number;
  principal: Principal;
  era: Era;
  /** Empty where it concerns no single server. */
  server: string;
  method: string;
  /** The tool, prompt, resource or task, in the caller's own name. */
  target: string | undefined;
  outcome: Outcome;
  durationMs: number;
}

/** Hears of every call once, when it is over. */
export type Audit = (record: AuditRecord) => void;
