import { NexusError, type ErrorCode } from "../errors/nexus-error.ts";
import { HTTP_STATUSES } from "../gateway/edge/http-statuses.ts";

/** Refusals that HTTP tells apart from other invalid requests. */
export type RefusalKind = "CONFLICT" | "PRECONDITION_FAILED" | "IDEMPOTENCY_KEY_REUSED";

const REFUSAL_STATUSES: Record<RefusalKind, number> = {
  CONFLICT: 409,
  PRECONDITION_FAILED: 412,
  IDEMPOTENCY_KEY_REUSED: 422,
};

/** A request that is refused in a way of its own. */
export function refusal(kind: RefusalKind, message: string, hint?: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", message, { refusal: kind, hint, mayHaveReached: false });
}

/** What is about credentials is about those of the caller here, and what is invalid was in the request. */
const STATUSES: Record<ErrorCode, number> = {
  ...HTTP_STATUSES,
  AUTH_REQUIRED: 401,
  FORBIDDEN: 403,
  CONFIG_INVALID: 400,
  MESSAGE_TOO_LARGE: 413,
  DEFINITION_CHANGED: 409,
};

/** The status of a failure over HTTP. */
export function statusOf({ code, details: { refusal: kind } }: NexusError): number {
  return kind === undefined ? STATUSES[code] : REFUSAL_STATUSES[kind];
}

/** The code of a failure in problems and records. What is damaged is told as such, also where it only refuses a change. */
export function writtenCode({ code, details: { refusal: kind } }: NexusError): ErrorCode | RefusalKind {
  return kind === undefined || code === "DATA_DAMAGED" ? code : kind;
}

/** Failures whose texts are for the log alone. */
const HELD_BACK: ReadonlySet<ErrorCode> = new Set(["INTERNAL", "STORE_UNAVAILABLE", "DATA_DAMAGED"]);

export function isHeldBack({ code, details }: NexusError): boolean {
  return HELD_BACK.has(code) && details.refusal === undefined;
}
