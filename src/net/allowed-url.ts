import { NexusError } from "../errors/nexus-error.ts";

/**
 * The address, if it begins with one of the allowed ones: the same origin, and a path that ends where a segment ends.
 * What readers of addresses understand differently (`..`, backslashes, encoded slashes, blanks, names before an @, one
 * slash or three before the host) is refused, so that nothing is allowed here and means something else there.
 * Complaints are without the query.
 */
export function allowedUrl(text: string, allow: readonly string[]): URL {
  const url = parsed(text);
  if (!url) throw refused("is not a URL", "The address");
  const shown = url.origin + url.pathname;
  const beforeQuery = text.split(/[?#]/, 1)[0] ?? "";
  // oxlint-disable-next-line no-control-regex
  if (/[\\\s\u0000-\u001f\u007f]/.test(text))
    throw refused("contains a backslash, a space or a control character", shown);
  if (/%(?:2f|5c|00)/i.test(beforeQuery)) throw refused("contains an encoded slash", shown);
  // Some servers take off what follows a semicolon, and then see the dots.
  if (/\/(?:\.|%2e){1,2}(?:[/;]|%3b|$)/i.test(beforeQuery)) throw refused(`contains a segment "." or ".."`, shown);
  // Fewer or more slashes are put right in silence, and would hide a name before the host from the next line.
  if (!/^[a-z]+:\/\/[^/]/i.test(text)) throw refused("does not have two slashes before its host", shown);
  if (/^[^/]*\/\/[^/]*@/.test(beforeQuery)) throw refused("contains a user name or a password", url.origin);
  if (text.includes("#")) throw refused("has a fragment", shown);
  if (!allow.some((prefix) => beginsWith(url, prefix))) {
    throw refused("is not in the list of allowed addresses", shown);
  }
  return url;
}

/** An address with a path that ends with a slash, in which nothing has to be understood first. */
const PLAIN = /^https?:\/\/[a-z0-9.-]+(?::\d+)?\/(?:[\w.~-]+\/)*$/i;

function beginsWith(url: URL, allowed: string): boolean {
  // What is read is written in one way only: where it begins with the very text, there is no need to read that, too.
  if (PLAIN.test(allowed) && url.href.startsWith(allowed)) return true;
  const place = parsed(allowed);
  if (!place) return false;
  const { origin, pathname } = place;
  if (url.origin !== origin || origin === "null") return false;
  return url.pathname === pathname || url.pathname.startsWith(pathname.endsWith("/") ? pathname : `${pathname}/`);
}

function parsed(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function refused(problem: string, shown: string): NexusError {
  return new NexusError("ADDRESS_REFUSED", `${shown} ${problem}`, { phase: "connect", mayHaveReached: false });
}
