import { NexusError } from "../errors/nexus-error.ts";

/**
 * The address, if it begins with one of the allowed ones: the same origin, and a path that ends where a segment ends.
 * What readers of addresses understand differently (`..`, backslashes, encoded slashes, blanks, names before an @) is
 * refused, so that nothing is allowed here and means something else there. Complaints are without the query.
 */
export function allowedUrl(text: string, allow: readonly string[]): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) throw refused("is no address", "The address");
  const shown = url.origin + url.pathname;
  const beforeQuery = text.split(/[?#]/, 1)[0] ?? "";
  // oxlint-disable-next-line no-control-regex
  if (/[\\\s\u0000-\u001f\u007f]/.test(text))
    throw refused("contains a backslash, a blank or a control character", shown);
  if (/%(?:2f|5c|00)/i.test(beforeQuery)) throw refused("contains an encoded slash", shown);
  if (/\/(?:\.|%2e){1,2}(?:\/|$)/i.test(beforeQuery)) throw refused(`contains a segment "." or ".."`, shown);
  if (/^[^/]*\/\/[^/]*@/.test(beforeQuery)) throw refused("contains a name or a password before its host", url.origin);
  if (url.hash !== "") throw refused("has a fragment", shown);
  if (!allow.some((prefix) => beginsWith(url, prefix))) {
    throw refused("is not among the addresses that may be reached", shown);
  }
  return url;
}

function beginsWith(url: URL, allowed: string): boolean {
  if (!URL.canParse(allowed)) return false;
  const { origin, pathname } = new URL(allowed);
  if (url.origin !== origin || origin === "null") return false;
  return url.pathname === pathname || url.pathname.startsWith(pathname.endsWith("/") ? pathname : `${pathname}/`);
}

function refused(problem: string, shown: string): NexusError {
  return new NexusError("ADDRESS_REFUSED", `${shown} ${problem}`, { phase: "connect", mayHaveReached: false });
}
