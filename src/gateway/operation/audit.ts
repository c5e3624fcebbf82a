import type { Era } from "../../protocol/revisions.ts";
import type { Principal } from "../../server/core/principal.ts";

/** How a call ended, for counting and for the record. */
export const OUTCOMES = ["ok", "tool_error", "input_required", "task", "error", "cancelled", "refused"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The record of one call: who, what, duration, outcome. It never contains arguments or results. */
export interface AuditRecord {
  /** Milliseconds since 1970. */
  at: number;
  principal: Principal;
  era: Era;
  /** Empty if the call is not for a single server. */
  server: string;
  method: string;
  /** The set at whose endpoint it was. */
  set?: string;
  /** The tool, prompt, resource or task, with the name that the caller used; in a set, with the full name. */
  target: string | undefined;
  outcome: Outcome;
  durationMs: number;
}

/** Called once for every finished call. */
export type Audit = (record: AuditRecord) => void;
