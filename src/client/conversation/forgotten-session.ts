import { INVALID_REQUEST, type ErrorObject } from "../../protocol/json-rpc.ts";

/** The answer to a request with a session id that the server refused. */
interface SessionRefusal {
  status?: number | undefined;
  rpc?: ErrorObject | undefined;
  /** The body, if it was not a JSON-RPC error. */
  text?: unknown;
}

/** Codes that servers use for an unknown session. Errors of the method itself have other codes. */
const SESSION_CODES = new Set([INVALID_REQUEST, -32_000, -32_001]);
const NAMES_SESSION = /\bsession\b|\bnot initialized\b/i;

/**
 * Whether the server no longer knows the session. The specification requires 404. Servers based on the example of the
 * official SDK answer 400; only their text distinguishes this from an invalid request.
 */
export function isSessionForgotten({ status, rpc, text }: SessionRefusal): boolean {
  if (status === 404) return true;
  if (status !== 400) return false;
  if (rpc) return SESSION_CODES.has(rpc.code) && NAMES_SESSION.test(rpc.message);
  return typeof text === "string" && NAMES_SESSION.test(text);
}
