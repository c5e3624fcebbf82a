import type { IncomingHttpHeaders } from "node:http";
import type { ErrorCode } from "../../errors/nexus-error.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import type { Era } from "../../protocol/revisions.ts";
import type { ClientName } from "../../server/core/core.ts";
import type { Principal } from "../../server/core/principal.ts";
import type { GatewayResources } from "./gateway-resources.ts";

/** How a call ended, for counting and for the record. */
export const OUTCOMES = ["ok", "tool_error", "input_required", "task", "error", "cancelled", "refused"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The record of one call or refused attempt: who, what, duration, outcome. It never contains arguments or results. */
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
  /** The tool that was asked to call the target, by its own name: `call_tool` of an API. */
  through?: string;
  /** The tool of a search view that was asked to call the target: `call_tool`. */
  via?: string;
  /** The tool, prompt, resource or task, with the name that the caller used; in a set, with the full name. */
  target: string | undefined;
  /** SHA-256 of the definition of the tool or prompt, as its server lists it; undefined where it is not known. */
  definitionHash: string | undefined;
  /** `denied`: by rules or limits, or because there is no such thing. */
  decision: "allowed" | "denied";
  outcome: Outcome;
  errorCode: ErrorCode | undefined;
  durationMs: number;
  /** Of the HTTP body that it came in; undefined where that is not declared. */
  requestBytes: number | undefined;
  /** Undefined where there was no answer, because the caller had left. */
  responseBytes: number | undefined;
}

/** What was asked and answered. Large and private: it must not be kept as it is. */
export interface AuditContent {
  params: Params;
  /** Undefined where it failed. */
  result: Result | undefined;
}

/** Called once for every finished call, and for refused attempts. It may return a promise. */
export type Audit = (record: AuditRecord, content: AuditContent) => void;

/** Records that are not written. */
export interface AuditBacklog {
  /** How many wait to be written. */
  waiting: number;
  /** How many were lost since the start, because too many waited or they could not be written. */
  dropped: number;
}

/** An audit that answers may have to wait for. */
export interface AuditTrail {
  record(record: AuditRecord, content: AuditContent): Promise<void> | undefined;
  /** True: calls are answered after the promise of `record` resolved; where it rejects, the caller gets that error instead of the answer. */
  readonly isClosed: boolean;
  /** Throws where nothing can be recorded and so no call may begin. */
  requireReady(): void;
  /** Records a credential that was refused; `headers` are those of the request. */
  recordRefused?(headers: IncomingHttpHeaders): Promise<void> | undefined;
  /** Of all tenants together. */
  readonly backlog?: AuditBacklog | undefined;
  /** The records of a caller's own calls, as it may read them. */
  readonly ownCalls?: GatewayResources | undefined;
}

export function trailOf(audit: Audit | AuditTrail = () => {}): AuditTrail {
  if (typeof audit !== "function") return audit;
  const record: AuditTrail["record"] = (of, content) => {
    const written: unknown = audit(of, content);
    return written instanceof Promise ? written.then(() => {}) : undefined;
  };
  return { record, isClosed: false, requireReady() {} };
}
