import { retryAfterMs } from "../async/backoff.ts";
import { NexusError, type ErrorCode } from "../errors/nexus-error.ts";
import { MISSING_CLIENT_CAPABILITY } from "../protocol/meta.ts";
import { titleOfPage, wordsOfBody } from "./refused-body.ts";
import type { ResponseHeaders, StreamEnd } from "./transport.ts";

/** The error for an HTTP status outside 2xx. 401 and 403 count more than their body. */
export function refusalError({ status, headers, body, rpc }: StreamEnd & { kind: "refused" }): NexusError {
  const code = codeOf(status, rpc !== undefined);
  const words = wordsOfBody(body);
  // Only the server knows why it lets nobody in who has credentials, or needs none.
  const why = status === 403 && words !== undefined ? `: ${words}` : "";
  return new NexusError(code, rpc && code === "SERVER_ERROR" ? rpc.message : messageForStatus(status) + why, {
    status,
    rpc,
    answer: rpc && code === "SERVER_ERROR" ? undefined : words,
    wwwAuthenticate: challenge(headers),
    retryAfterMs: retryAfterMs(headers["retry-after"]),
    likelyCause: causeOf(status, headers, body),
    hint: rpcHint(rpc?.code) ?? hintFor(status),
    snippet: status === 401 ? `"headers": { "Authorization": "Bearer \${TOKEN}" }` : undefined,
    raw: rpc ? undefined : body.slice(0, 500),
    mayHaveReached: true,
  });
}

/** The hint for errors that MCP defines. */
export function rpcHint(code: number | undefined): string | undefined {
  return code === MISSING_CLIENT_CAPABILITY
    ? `The server needs input from the client: pass an "input" with this capability to connect().`
    : undefined;
}

/** Several challenges may be in several headers. */
function challenge(headers: ResponseHeaders): string | undefined {
  const value = headers["www-authenticate"];
  return Array.isArray(value) ? value.join(", ") : value;
}

function causeOf(status: number, headers: ResponseHeaders, body: string): string | undefined {
  if (status === 401 && challenge(headers)?.includes("resource_metadata")) {
    return "The server requires an OAuth login.";
  }
  if (status === 403 && challenge(headers)?.includes("insufficient_scope")) {
    return "The credentials are valid but lack a required scope.";
  }
  const title = titleOfPage(body);
  if (title === undefined) return undefined;
  return `The answer is a web page${title === "" ? "" : ` titled "${title}"`}. This URL may not be an MCP endpoint.`;
}

function codeOf(status: number, hasRpcError: boolean): ErrorCode {
  if (status === 401) return "AUTH_REQUIRED";
  if (status === 403) return "FORBIDDEN";
  if (status === 508) return "CONFIG_INVALID";
  return hasRpcError ? "SERVER_ERROR" : "HTTP_STATUS";
}

/** What an HTTP status outside 2xx means. */
export function messageForStatus(status: number): string {
  switch (status) {
    case 401:
      return "The server requires credentials (HTTP 401)";
    case 403:
      return "The server denied access (HTTP 403)";
    case 404:
      return "The server has no such endpoint or session (HTTP 404)";
    case 405:
      return "The server does not accept this kind of request at this URL (HTTP 405)";
    case 407:
      return "The proxy requires credentials (HTTP 407)";
    case 429:
      return "The server's rate limit was reached (HTTP 429)";
    case 508:
      return "The server is a gateway that forwards to this one: a loop (HTTP 508)";
    default:
      return `The server answered with HTTP ${status}`;
  }
}

function hintFor(status: number): string | undefined {
  switch (status) {
    case 401:
      return `Add the credentials to the entry's "headers", for example { "Authorization": "Bearer …" }.`;
    case 403:
      return "Check the permissions of the credentials, and whether the server accepts this host and origin.";
    case 404:
    case 405:
      return "Check that the URL is the server's MCP endpoint. It often ends in /mcp, or in /sse for older servers.";
    case 407:
      return "Add the user name and the password to the proxy's address: http://name:password@host:port.";
    case 429:
      return "Wait, or ask the server's operator for a higher limit.";
    case 508:
      return "Remove this entry, or another entry of the loop.";
    default:
      return status >= 500 ? "Check the server's log. The error is on the server's side." : undefined;
  }
}
