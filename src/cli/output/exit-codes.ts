import type { ErrorCode, NexusError } from "../../errors/nexus-error.ts";

/**
 * Exit codes of the command line: 3 configuration, 4 server unavailable, 5 error of the server, 7 timeout, 8 denied, 9
 * needs an answer, 10 damage.
 */
const EXIT_CODES: Record<ErrorCode, number> = {
  ARGUMENTS_INVALID: 2,
  CONFIG_INVALID: 3,
  COMMAND_NOT_FOUND: 4,
  PERMISSION_DENIED: 8,
  SERVER_EXITED: 4,
  CONNECTION_FAILED: 4,
  CONNECTION_LOST: 4,
  HTTP_STATUS: 4,
  REDIRECT_REFUSED: 4,
  NOT_MCP: 4,
  PROTOCOL_VIOLATION: 4,
  VERSION_UNSUPPORTED: 4,
  MESSAGE_TOO_LARGE: 4,
  BUSY: 4,
  RATE_LIMITED: 4,
  CLOSED: 4,
  STORE_UNAVAILABLE: 4,
  SERVER_ERROR: 5,
  CAPABILITY_MISSING: 6,
  NAME_UNKNOWN: 6,
  TIMEOUT: 7,
  AUTH_REQUIRED: 8,
  DENIED: 8,
  DEFINITION_CHANGED: 8,
  UNTRUSTED: 8,
  FORBIDDEN: 8,
  ADDRESS_REFUSED: 8,
  INPUT_FAILED: 9,
  DATA_DAMAGED: 10,
  CANCELLED: 130,
  INTERNAL: 1,
};

export function exitCodeOf({ code, details }: NexusError): number {
  // A program without permission is a server that cannot be started; an unreadable file of ours is not.
  if (code === "PERMISSION_DENIED" && details.phase === "start") return 4;
  return EXIT_CODES[code];
}
