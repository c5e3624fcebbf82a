import { asNexusError, type ErrorCode, type ErrorPhase, type NexusError } from "../../errors/nexus-error.ts";
import type { ErrorObject } from "../../protocol/json-rpc.ts";
import { failureData, RPC_CODES, rpcErrorOf } from "../../server/core/rpc-error.ts";

/** A fixed text about a server; undefined if the message is about the caller's own request and is passed on. */
type Words = ((server: string, details: NexusError["details"]) => string) | undefined;

/**
 * Callers must not see commands, paths, variables, addresses or the output of programs. Problems of a server or this
 * machine therefore have fixed texts; the log has the details. A server's own error is passed on.
 */
const WORDS: Record<ErrorCode, Words> = {
  CONFIG_INVALID: (server) => `${server} is not configured correctly`,
  ARGUMENTS_INVALID: undefined,
  COMMAND_NOT_FOUND: (server) => `${server} could not be started`,
  PERMISSION_DENIED: (server) => `${server} could not be started`,
  SERVER_EXITED: (server) => `${server} stopped`,
  CONNECTION_FAILED: unreachable,
  CONNECTION_LOST: (server) => `The connection to ${named(server)} was lost`,
  AUTH_REQUIRED: (server) => `${server} requires credentials that the gateway does not have`,
  FORBIDDEN: (server) => `${server} rejected the credentials of the gateway`,
  HTTP_STATUS: (server) => `${server} answered with an HTTP error`,
  ADDRESS_REFUSED: (server) => `${server} has an address that the gateway may not use`,
  REDIRECT_REFUSED: (server) => `${server} redirects to another address`,
  NOT_MCP: (server) => `${server} does not answer as an MCP server`,
  PROTOCOL_VIOLATION: (server) => `${server} did not follow the protocol`,
  VERSION_UNSUPPORTED: (server) => `${server} supports no known protocol version`,
  MESSAGE_TOO_LARGE: (server) => `${server} sent a message that is too large`,
  CAPABILITY_MISSING: undefined,
  NAME_UNKNOWN: undefined,
  DENIED: undefined,
  DEFINITION_CHANGED: changed,
  UNTRUSTED: (server) => `${server} is not approved by the operator of the gateway`,
  SERVER_ERROR: (server) => `${server} answered with an error`,
  INPUT_FAILED: undefined,
  TIMEOUT: (server) => `${server} did not answer in time`,
  BUSY: undefined,
  RATE_LIMITED: undefined,
  CANCELLED: undefined,
  CLOSED: undefined,
  STORE_UNAVAILABLE: () => "The database of the gateway is not available. Retry later",
  DATA_DAMAGED: () => "The gateway failed",
  INTERNAL: () => "The gateway failed",
};

/** Phases before the caller's request was sent: what the server answered then was for the gateway. */
const BEFORE_REQUEST: ReadonlySet<ErrorPhase | undefined> = new Set<ErrorPhase>([
  "config",
  "start",
  "connect",
  "handshake",
]);

/** The error that the caller gets. */
export function callerErrorOf(thrown: unknown): ErrorObject {
  const error = asNexusError(thrown);
  if (error.details.rpc && isOfRequest(error)) return rpcErrorOf(error);
  return { code: RPC_CODES[error.code], message: wordsFor(error), data: dataFor(error) };
}

/** The same error with the text for callers. */
export function inCallerWords(error: NexusError): NexusError {
  return error.amended({ rpc: callerErrorOf(error) });
}

/** Whether the caller's text leaves out details. */
export function isHeldBack(error: NexusError): boolean {
  return !(error.details.rpc && isOfRequest(error)) && WORDS[error.code] !== undefined;
}

/** The caller's text for a failure, without the server's own message. */
export function wordsFor({ code, message, details }: NexusError): string {
  const { server } = details;
  return WORDS[code]?.(server === undefined ? "The server" : `Server "${server}"`, details) ?? message;
}

/** For programs: before the request was sent, nothing was executed. */
export function dataFor(error: NexusError): Record<string, unknown> {
  return failureData(isOfRequest(error) ? error : error.amended({ mayHaveReached: false }));
}

function isOfRequest({ details: { phase } }: NexusError): boolean {
  return !BEFORE_REQUEST.has(phase);
}

/** The server may be busy, or will be tried again. */
function unreachable(server: string, { retryAfterMs }: NexusError["details"]): string {
  return retryAfterMs === undefined ? `${server} could not be reached` : `${server} cannot be reached. Retry later`;
}

/** How it is accepted is for the operator alone. */
function changed(server: string, { retryAfterMs }: NexusError["details"]): string {
  const what = `The definition that ${named(server)} lists for this`;
  return retryAfterMs === undefined
    ? `${what} is not the accepted one. The operator of the gateway has to accept it`
    : `${what} could not be compared with the accepted one. Retry later`;
}

/** The server's name in the middle of a sentence. */
function named(server: string): string {
  return server.charAt(0).toLowerCase() + server.slice(1);
}
