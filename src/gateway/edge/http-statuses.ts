import type { ErrorCode } from "../../errors/nexus-error.ts";

/** The HTTP status of each error code on paths that do not speak MCP; on MCP endpoints it is a JSON-RPC error. */
export const HTTP_STATUSES: Record<ErrorCode, number> = {
  ARGUMENTS_INVALID: 400,
  DENIED: 403,
  UNTRUSTED: 403,
  ADDRESS_REFUSED: 403,
  CAPABILITY_MISSING: 404,
  NAME_UNKNOWN: 404,
  CANCELLED: 499,
  CONFIG_INVALID: 502,
  // The server requires credentials from the gateway, not from the caller.
  AUTH_REQUIRED: 502,
  FORBIDDEN: 502,
  COMMAND_NOT_FOUND: 502,
  PERMISSION_DENIED: 502,
  SERVER_EXITED: 502,
  CONNECTION_FAILED: 502,
  CONNECTION_LOST: 502,
  HTTP_STATUS: 502,
  REDIRECT_REFUSED: 502,
  NOT_MCP: 502,
  PROTOCOL_VIOLATION: 502,
  VERSION_UNSUPPORTED: 502,
  MESSAGE_TOO_LARGE: 502,
  SERVER_ERROR: 502,
  INPUT_FAILED: 502,
  CLOSED: 503,
  STORE_UNAVAILABLE: 503,
  TIMEOUT: 504,
  DATA_DAMAGED: 500,
  INTERNAL: 500,
};
