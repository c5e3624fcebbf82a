import type { Era } from "../../protocol/revisions.ts";
import type { ClientName } from "../../server/core/core.ts";
import type { Principal } from "../../server/core/principal.ts";

/** How a call ended, for counting and for the record. */
export const OUTCOMES = ["ok", "tool_error", "input_required", "task", "error", "cancelled", "refused"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The record of one call: who, what, duration, outcome. It never contains arguments or results. */
export interface AuditRecord {
  /** Milliseconds since 1970. */
  at: number;
  /** Also in the log, in the result's `_meta` and at the server. */
  correlationId: string;
  /** W3C trace id. */
  traceId: string;
  principal: Principal;
  /** As the client called itself. */
  client: ClientName | undefined;
  era: Era;
  /** The protocol revision of the client. */
  revision: string;
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
