import { STATUS_CODES } from "node:http";
import type { ErrorCode, NexusError } from "../../errors/nexus-error.ts";
import { wordsFor } from "../../gateway/operation/caller-error.ts";
import { HTTP_STATUSES } from "../../gateway/edge/http-statuses.ts";

/** A member of a request that is not valid. */
export interface InvalidMember {
  /** `body`, `query` or `path`, and a JSON pointer: `body/allow/0`. */
  at: string;
  message: string;
}

/** Why a request failed, as RFC 9457 writes it. */
export interface HttpProblem {
  status: number;
  /** For programs. */
  code: ErrorCode | "CONFLICT" | "PRECONDITION_FAILED" | "IDEMPOTENCY_KEY_REUSED" | "RATE_LIMITED";
  detail: string;
  hint?: string | undefined;
  errors?: readonly InvalidMember[] | undefined;
  /** The id of the entry in the gateway's log that has the details. */
  correlationId?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
}

/** An answer of an operation that failed in a way that no error code describes. */
export class Failed {
  readonly problem: HttpProblem;

  constructor(problem: HttpProblem) {
    this.problem = problem;
  }
}

export function conflict(detail: string, hint?: string): Failed {
  return new Failed({ status: 409, code: "CONFLICT", detail, hint });
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

/** Failures whose texts are for the log alone. */
const HELD_BACK: ReadonlySet<ErrorCode> = new Set(["INTERNAL", "STORE_UNAVAILABLE", "DATA_DAMAGED"]);

export function isHeldBack({ code }: NexusError): boolean {
  return HELD_BACK.has(code);
}

export function problemOf(error: NexusError): HttpProblem {
  const { code, details } = error;
  const status = STATUSES[code];
  const seconds = details.retryAfterMs === undefined ? 1 : Math.ceil(details.retryAfterMs / 1000);
  const headers = {
    // The rest of its body is not read.
    ...(status === 413 ? { connection: "close" } : {}),
    ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
    ...(status === 503 || status === 429 ? { "retry-after": String(seconds) } : {}),
  };
  const { correlationId } = details;
  if (isHeldBack(error)) return { status, code, detail: wordsFor(error), correlationId, headers };
  return { status, code, detail: error.message, hint: error.hint, headers };
}

export function problemResponse({ headers, status, ...rest }: HttpProblem): Response {
  const title = STATUS_CODES[status] ?? "Error";
  return new Response(JSON.stringify({ type: "about:blank", title, status, ...rest }), {
    status,
    headers: { "content-type": "application/problem+json", "cache-control": "no-store", ...headers },
  });
}
