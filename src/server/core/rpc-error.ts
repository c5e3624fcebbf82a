import { asNexusError, NexusError, type ErrorCode } from "../../errors/nexus-error.ts";
import type { Logger } from "../../text/logger.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, type ErrorObject } from "../../protocol/json-rpc.ts";

/** The JSON-RPC code of each failure that has none of its own. */
export const RPC_CODES: Record<ErrorCode, number> = {
  CONFIG_INVALID: INTERNAL_ERROR,
  ARGUMENTS_INVALID: INVALID_PARAMS,
  COMMAND_NOT_FOUND: INTERNAL_ERROR,
  PERMISSION_DENIED: INTERNAL_ERROR,
  SERVER_EXITED: INTERNAL_ERROR,
  CONNECTION_FAILED: INTERNAL_ERROR,
  CONNECTION_LOST: INTERNAL_ERROR,
  AUTH_REQUIRED: INTERNAL_ERROR,
  FORBIDDEN: INTERNAL_ERROR,
  HTTP_STATUS: INTERNAL_ERROR,
  ADDRESS_REFUSED: INTERNAL_ERROR,
  REDIRECT_REFUSED: INTERNAL_ERROR,
  NOT_MCP: INTERNAL_ERROR,
  PROTOCOL_VIOLATION: INTERNAL_ERROR,
  VERSION_UNSUPPORTED: INTERNAL_ERROR,
  MESSAGE_TOO_LARGE: INTERNAL_ERROR,
  CAPABILITY_MISSING: METHOD_NOT_FOUND,
  NAME_UNKNOWN: INVALID_PARAMS,
  DENIED: INVALID_PARAMS,
  DEFINITION_CHANGED: INVALID_PARAMS,
  UNTRUSTED: INTERNAL_ERROR,
  SERVER_ERROR: INTERNAL_ERROR,
  INPUT_FAILED: INTERNAL_ERROR,
  TIMEOUT: INTERNAL_ERROR,
  BUSY: INTERNAL_ERROR,
  RATE_LIMITED: INTERNAL_ERROR,
  CANCELLED: INTERNAL_ERROR,
  CLOSED: INTERNAL_ERROR,
  STORE_UNAVAILABLE: INTERNAL_ERROR,
  DATA_DAMAGED: INTERNAL_ERROR,
  INTERNAL: INTERNAL_ERROR,
};

/** A failure that the client gets as this JSON-RPC error. */
export function rpcError(code: number, message: string, data?: unknown): NexusError {
  const rpc = data === undefined ? { code, message } : { code, message, data };
  return new NexusError("SERVER_ERROR", message, { rpc });
}

/** A failure as the client reads it: as its JSON-RPC error where it has one. What is a bug is for the log alone. */
export function rpcErrorOf(thrown: unknown): ErrorObject {
  const error = asNexusError(thrown);
  const { rpc } = error.details;
  if (rpc) return rpc.data === undefined ? { code: rpc.code, message: rpc.message } : { ...rpc };
  const message = error.code === "INTERNAL" ? failedToAnswer(error.details.method) : error.message;
  return { code: RPC_CODES[error.code], message, data: failureData(error) };
}

/** Logs what is a bug of the server; most of it `rpcErrorOf` keeps from the client. */
export function logHidden(thrown: unknown, method: string, logger: Logger): void {
  const error = asNexusError(thrown);
  if (error.code !== "INTERNAL") return;
  logger.error(`${method} failed: ${error.message}`, { error: error.cause ?? error });
}

function failedToAnswer(method = "the request"): string {
  return `The server failed to answer ${method}. Retry later, or ask the operator of the server: its log has the reason.`;
}

/** What programs read of a failure: which server, whether the request may have been carried out, and where the log says more. */
export function failureData({ code, details }: NexusError): Record<string, unknown> {
  const { server, status, mayHaveReached, retryAfterMs, correlationId } = details;
  return Object.fromEntries(
    Object.entries({ code, server, status, mayHaveReached, retryAfterMs, correlationId }).filter(
      ([, value]) => value !== undefined,
    ),
  );
}
