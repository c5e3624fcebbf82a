import { INVALID_REQUEST, type ErrorObject } from "../../protocol/json-rpc.ts";

/** How a server refused a request that named a session. */
export interface SessionRefusal {
  status?: number | undefined;
  rpc?: ErrorObject | undefined;
  /** The body where it was no JSON-RPC error. */
  text?: unknown;
}

/** The codes that servers use for "no such session"; an error of the method itself has another one. */
const SESSION_CODES = new Set([INVALID_REQUEST, -32_000, -32_001]);
const NAMES_SESSION = /\bsession\b|\bnot initialized\b/i;

/**
 * Whether the server does not know the session any more. The specification says 404. Servers made after the example of the
 * official SDK answer 400, which only their words tell from a request that is wrong.
 */
export function isSessionForgotten({ status, rpc, text }: SessionRefusal): boolean {
  if (status === 404) return true;
  if (status !== 400) return false;
  if (rpc) return SESSION_CODES.has(rpc.code) && NAMES_SESSION.test(rpc.message);
  return typeof text === "string" && NAMES_SESSION.test(text);
}
