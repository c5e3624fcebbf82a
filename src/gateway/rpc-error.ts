import { asNexusError, type ErrorCode, type ErrorPhase, type NexusError } from "../errors/nexus-error.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, type ErrorObject } from "../protocol/json-rpc.ts";

/** What callers are told of one kind of failure. */
interface Kind {
  rpc: number;
  /** Fixed words about the server. Absent: the message is about the caller's own request, and is passed on. */
  words?: (server: string, details: NexusError["details"]) => string;
}

/**
 * Commands, paths, variables, addresses and the last words of a program are none of a caller's business, so what is
 * wrong with a server or this machine is told in fixed words; the log has the rest. A server's own error is passed on.
 */
const KINDS: Record<ErrorCode, Kind> = {
  CONFIG_INVALID: { rpc: INTERNAL_ERROR, words: (server) => `${server} is not configured correctly` },
  ARGUMENTS_INVALID: { rpc: INVALID_PARAMS },
  COMMAND_NOT_FOUND: { rpc: INTERNAL_ERROR, words: (server) => `${server} could not be started` },
  PERMISSION_DENIED: { rpc: INTERNAL_ERROR, words: (server) => `${server} could not be started` },
  SERVER_EXITED: { rpc: INTERNAL_ERROR, words: (server) => `${server} stopped` },
  CONNECTION_FAILED: { rpc: INTERNAL_ERROR, words: unreachable },
  CONNECTION_LOST: { rpc: INTERNAL_ERROR, words: (server) => `The connection to ${named(server)} was lost` },
  AUTH_REQUIRED: {
    rpc: INTERNAL_ERROR,
    words: (server) => `${server} needs credentials that the gateway does not have`,
  },
  FORBIDDEN: { rpc: INTERNAL_ERROR, words: (server) => `${server} refused the credentials of the gateway` },
  HTTP_STATUS: { rpc: INTERNAL_ERROR, words: (server) => `${server} answered with an HTTP error` },
  ADDRESS_REFUSED: {
    rpc: INTERNAL_ERROR,
    words: (server) => `${server} has an address that the gateway does not reach`,
  },
  REDIRECT_REFUSED: { rpc: INTERNAL_ERROR, words: (server) => `${server} redirects to another address` },
  NOT_MCP: { rpc: INTERNAL_ERROR, words: (server) => `${server} does not answer as an MCP server` },
  PROTOCOL_VIOLATION: { rpc: INTERNAL_ERROR, words: (server) => `${server} did not follow the protocol` },
  VERSION_UNSUPPORTED: { rpc: INTERNAL_ERROR, words: (server) => `${server} supports no known protocol version` },
  MESSAGE_TOO_LARGE: { rpc: INTERNAL_ERROR, words: (server) => `${server} sent a message that is too large` },
  CAPABILITY_MISSING: { rpc: METHOD_NOT_FOUND },
  NAME_UNKNOWN: { rpc: INVALID_PARAMS },
  DENIED: { rpc: INVALID_PARAMS },
  UNTRUSTED: { rpc: INTERNAL_ERROR, words: (server) => `${server} is not approved by the operator of the gateway` },
  SERVER_ERROR: { rpc: INTERNAL_ERROR, words: (server) => `${server} answered with an error` },
  INPUT_FAILED: { rpc: INTERNAL_ERROR },
  TIMEOUT: { rpc: INTERNAL_ERROR, words: (server) => `${server} did not answer in time` },
  CANCELLED: { rpc: INTERNAL_ERROR },
  CLOSED: { rpc: INTERNAL_ERROR },
  INTERNAL: { rpc: INTERNAL_ERROR, words: () => "The gateway failed" },
};

/** Before a request of the caller's was sent: whatever was said then was said to the gateway. */
const BEFORE_REQUEST: ReadonlySet<ErrorPhase | undefined> = new Set<ErrorPhase>([
  "config",
  "start",
  "connect",
  "handshake",
]);

/** A failure as its caller reads it. */
export function rpcErrorOf(thrown: unknown): ErrorObject {
  const error = asNexusError(thrown);
  const { rpc } = error.details;
  if (rpc && isOfRequest(error)) return rpc.data === undefined ? { code: rpc.code, message: rpc.message } : { ...rpc };
  return { code: KINDS[error.code].rpc, message: wordsFor(error), data: dataFor(error) };
}

/** Whether its caller reads less than there is to know. */
export function isHeldBack(error: NexusError): boolean {
  return !(error.details.rpc && isOfRequest(error)) && KINDS[error.code].words !== undefined;
}

/** The words for a failure, whatever the server itself said of it. */
export function wordsFor({ code, message, details }: NexusError): string {
  const { server } = details;
  return KINDS[code].words?.(server === undefined ? "The server" : `Server "${server}"`, details) ?? message;
}

/** For programs: which server, whether the request may have been carried out, and where the log tells more. */
export function dataFor(error: NexusError): Record<string, unknown> {
  const { code, details } = error;
  const { server, status, retryAfterMs, correlationId } = details;
  const mayHaveReached = isOfRequest(error) ? details.mayHaveReached : false;
  return Object.fromEntries(
    Object.entries({ code, server, status, mayHaveReached, retryAfterMs, correlationId }).filter(
      ([, value]) => value !== undefined,
    ),
  );
}

function isOfRequest({ details: { phase } }: NexusError): boolean {
  return !BEFORE_REQUEST.has(phase);
}

/** It may be too busy, or about to be tried again. */
function unreachable(server: string, { retryAfterMs }: NexusError["details"]): string {
  return retryAfterMs === undefined ? `${server} could not be reached` : `${server} cannot be reached now; retry later`;
}

/** In the middle of a sentence. */
function named(server: string): string {
  return server.charAt(0).toLowerCase() + server.slice(1);
}
