import type { IncomingMessage, ServerResponse } from "node:http";

/** Of an answer, what pages may read beside its body. */
const EXPOSED = "Mcp-Session-Id, Mcp-Protocol-Version, Retry-After, WWW-Authenticate";
/** How long a browser need not ask again, in seconds. */
const REMEMBER_SECONDS = "600";

/**
 * Lets the pages of an origin read the answer, and answers the question that browsers ask before they send one. True where
 * that was all. Only for origins that were allowed by name.
 */
export function answerPage(req: IncomingMessage, res: ServerResponse, origin: string): boolean {
  res.setHeader("access-control-allow-origin", origin);
  res.setHeader("access-control-expose-headers", EXPOSED);
  res.setHeader("vary", "Origin");
  if (req.method !== "OPTIONS" || req.headers["access-control-request-method"] === undefined) return false;
  res.writeHead(204, {
    "access-control-allow-methods": "GET, POST, DELETE",
    // Any: tools name headers of their own.
    "access-control-allow-headers": req.headers["access-control-request-headers"] ?? "",
    "access-control-max-age": REMEMBER_SECONDS,
  });
  res.end();
  return true;
}
