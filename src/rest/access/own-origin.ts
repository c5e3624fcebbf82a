import type { IncomingHttpHeaders } from "node:http";

/** The origin of the gateway as the client reached it: a proxy that ends TLS adds a header, which no page can send elsewhere. */
export function ownOrigin({ host = "", "x-forwarded-proto": proto }: IncomingHttpHeaders): string | undefined {
  const url = `${proto === "https" ? "https" : "http"}://${host}`;
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

export function isSafe(method: string): boolean {
  return SAFE_METHODS.has(method);
}

/**
 * Whether a request with a cookie comes from a page of exactly this gateway. Browsers send a cookie to every port of a host, so
 * another program on the same machine counts as foreign. What changes something has to name its origin; a request that only
 * reads may come without any of these headers, because nobody but its sender can read the answer.
 */
export function isFromOwnPage(method: string, headers: IncomingHttpHeaders): boolean {
  const own = ownOrigin(headers);
  const { origin, referer } = headers;
  if (own === undefined) return false;
  if (origin !== undefined) return origin === own;
  if (!isSafe(method)) return false;
  const site = headers["sec-fetch-site"];
  // "none": a person opened the address.
  if (site !== undefined) return site === "same-origin" || site === "none";
  return referer === undefined || (URL.canParse(referer) && new URL(referer).origin === own);
}
