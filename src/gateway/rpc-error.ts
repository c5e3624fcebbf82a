import { asNexusError, type ErrorCode, type NexusError } from "../errors/nexus-error.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, type ErrorObject } from "../protocol/json-rpc.ts";

/** What a caller is told about each kind of failure; a server's own error is passed on instead. */
const RPC_CODES: Record<ErrorCode, number> = {
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
  UNTRUSTED: INTERNAL_ERROR,
  SERVER_ERROR: INTERNAL_ERROR,
  INPUT_FAILED: INTERNAL_ERROR,
  TIMEOUT: INTERNAL_ERROR,
  CANCELLED: INTERNAL_ERROR,
  CLOSED: INTERNAL_ERROR,
  INTERNAL: INTERNAL_ERROR,
};

/** A failure as a caller is told of it: the server's own words where it spoke, else ours with the cause. */
export function rpcErrorOf(thrown: unknown): ErrorObject {
  const error = asNexusError(thrown);
  const { rpc } = error.details;
  if (rpc) return rpc.data === undefined ? { code: rpc.code, message: rpc.message } : { ...rpc };
  return { code: RPC_CODES[error.code], message: messageFor(error), data: dataFor(error) };
}

/** Programs and files of this machine are none of a caller's business; which server, and what to do, is. */
function messageFor({ message, code }: NexusError): string {
  return code === "INTERNAL" ? "The gateway failed; its log says why" : message;
}

function dataFor({ code, details: { server, likelyCause, mayHaveReached } }: NexusError): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries({ code, server, likelyCause, mayHaveReached }).filter(([, value]) => value !== undefined),
  );
}
