import { atLeast } from "./revisions.ts";

/** The headers of a POST or GET to a legacy server after `initialize`. */
export function legacyHeaders(version: string, sessionId: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  // Revisions before 2025-06-18 have no such header, and some of their servers reject what they do not know.
  if (atLeast(version, "2025-06-18")) headers["mcp-protocol-version"] = version;
  if (sessionId !== undefined) headers["mcp-session-id"] = sessionId;
  return headers;
}
