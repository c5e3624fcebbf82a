import { STATUS_CODES } from "node:http";
import type { ErrorCode, NexusError } from "../../errors/nexus-error.ts";
import { wordsFor } from "../../gateway/operation/caller-error.ts";
import { isHeldBack, statusOf, writtenCode, type RefusalKind } from "../../operations/failure.ts";
import type { InvalidMember } from "../../operations/input.ts";

/** Why a request failed, as RFC 9457 writes it. */
interface HttpProblem {
  status: number;
  /** For programs. */
  code: ErrorCode | RefusalKind;
  detail: string;
  hint?: string | undefined;
  errors?: readonly InvalidMember[] | undefined;
  /** The id of the entry in the gateway's log that has the details. */
  correlationId?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
}

export function problemOf(error: NexusError): HttpProblem {
  const { details } = error;
  const [status, code] = [statusOf(error), writtenCode(error)];
  const seconds = details.retryAfterMs === undefined ? 1 : Math.ceil(details.retryAfterMs / 1000);
  const headers = {
    // The rest of its body is not read.
    ...(status === 413 ? { connection: "close" } : {}),
    ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
    ...(status === 503 || status === 429 ? { "retry-after": String(seconds) } : {}),
  };
  const { correlationId, invalid: errors } = details;
  if (isHeldBack(error)) return { status, code, detail: wordsFor(error), correlationId, headers };
  return { status, code, detail: error.message, hint: error.hint, errors, headers };
}

export function problemResponse({ headers, status, ...rest }: HttpProblem): Response {
  const title = STATUS_CODES[status] ?? "Error";
  return new Response(JSON.stringify({ type: "about:blank", title, status, ...rest }), {
    status,
    headers: { "content-type": "application/problem+json", "cache-control": "no-store", ...headers },
  });
}
