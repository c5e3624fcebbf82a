import type { IncomingHttpHeaders } from "node:http";
import { ownOrigin } from "./own-origin.ts";

/** Neither scripts nor pages of other sites get it. */
const ATTRIBUTES = "Path=/; HttpOnly; SameSite=Strict";

/** The id of the session in the request's cookie. */
export function sessionIdIn(headers: IncomingHttpHeaders): string | undefined {
  const start = `${nameFor(headers)}=`;
  const found = headers.cookie?.split(/; */).filter((pair) => pair.startsWith(start)) ?? [];
  // Another program on this machine may add a second one.
  return found.length === 1 ? found[0]?.slice(start.length) : undefined;
}

export function setCookie(headers: IncomingHttpHeaders, id: string): string {
  return `${nameFor(headers)}=${id}; ${attributesFor(headers)}`;
}

export function clearCookie(headers: IncomingHttpHeaders): string {
  return `${nameFor(headers)}=; ${attributesFor(headers)}; Max-Age=0`;
}

/** Cookies are the same for all ports of a host, so the name has the port. With TLS no other host can set it. */
function nameFor(headers: IncomingHttpHeaders): string {
  const { port } = new URL(ownOrigin(headers) ?? "http://localhost");
  return isSecure(headers) ? "__Host-nexus_session" : `nexus_session_${port === "" ? "80" : port}`;
}

function attributesFor(headers: IncomingHttpHeaders): string {
  return isSecure(headers) ? `${ATTRIBUTES}; Secure` : ATTRIBUTES;
}

function isSecure(headers: IncomingHttpHeaders): boolean {
  return ownOrigin(headers)?.startsWith("https:") === true;
}
