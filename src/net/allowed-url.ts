import { NexusError } from "../errors/nexus-error.ts";

/**
 * The URL, if it begins with one of the allowed ones: the same origin, and complete segments of the path. Parts that URL
 * parsers read differently (`..`, backslashes, encoded slashes, blanks, a user before an @, one or three slashes before
 * the host) are refused, so that an allowed URL cannot mean something else to another program. Errors do not contain the
 * query.
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
  // Some servers remove what follows a semicolon, and then see the dots.
  if (/\/(?:\.|%2e){1,2}(?:[/;]|%3b|$)/i.test(beforeQuery)) throw refused(`contains a segment "." or ".."`, shown);
  // Other numbers of slashes are silently corrected, and would hide a user name from the next check.
  if (!/^[a-z]+:\/\/[^/]/i.test(text)) throw refused("does not have two slashes before its host", shown);
  if (/^[^/]*\/\/[^/]*@/.test(beforeQuery)) throw refused("contains a user name or a password", url.origin);
  if (text.includes("#")) throw refused("has a fragment", shown);
  if (!allow.some((prefix) => beginsWith(url, prefix))) {
    throw refused("is not in the list of allowed addresses", shown, HOW_TO_LIST);
  }
  return url;
}

/** A URL whose path ends with a slash and that needs no normalisation. */
const PLAIN = /^https?:\/\/[a-z0-9.-]+(?::\d+)?\/(?:[\w.~-]+\/)*$/i;

/** Segments that do not begin with a dot, and a query, of characters that every parser leaves as they are. */
const PLAIN_REST = /(?:[\w~-][\w.~-]*(?:\/[\w~-][\w.~-]*)*\/?)?(?:\?[\w.~%&=+,-]+)?$/y;

/** The parts of an allowed address that a request needs. */
interface AllowedAddress {
  host: Pick<URL, "protocol" | "hostname">;
  origin: string;
  /** With the query. */
  path: string;
  /** Without the query. */
  shown: string;
}

/** Prefixes of allowed addresses that are parsed once, so that most addresses need not be parsed. */
export class AllowedPrefixes {
  readonly #all: readonly string[];
  readonly #plain: readonly (Pick<AllowedAddress, "host" | "origin"> & { prefix: string })[];

  constructor(allow: readonly string[]) {
    this.#all = allow;
    this.#plain = allow.flatMap((prefix) => {
      const url = PLAIN.test(prefix) ? parsed(prefix) : undefined;
      if (url?.href !== prefix) return [];
      // Copied: a URL cuts them out of its text each time.
      const { protocol, hostname, origin } = url;
      return [{ prefix, host: { protocol, hostname }, origin }];
    });
  }

  /** Throws as `allowedUrl` does. */
  get(text: string): AllowedAddress {
    for (const { prefix, host, origin } of this.#plain) {
      if (!text.startsWith(prefix)) continue;
      PLAIN_REST.lastIndex = prefix.length;
      if (!PLAIN_REST.test(text)) continue;
      const query = text.indexOf("?");
      return { host, origin, path: text.slice(origin.length), shown: query === -1 ? text : text.slice(0, query) };
    }
    const url = allowedUrl(text, this.#all);
    const { origin, pathname, search } = url;
    return { host: url, origin, path: pathname + search, shown: origin + pathname };
  }
}

function beginsWith(url: URL, allowed: string): boolean {
  // A parsed URL has one spelling: if it begins with exactly this text, the text need not be parsed.
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

const HOW_TO_LIST = `If it is intended, add its beginning to "allow" below "upstream" in the tool file, and approve the file again.`;

function refused(problem: string, shown: string, hint?: string): NexusError {
  return new NexusError("ADDRESS_REFUSED", `${shown} ${problem}`, { phase: "connect", hint, mayHaveReached: false });
}
