import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { VERSION } from "../../protocol/version.ts";

const STYLE =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:42em;margin:3em auto;padding:0 1em;color-scheme:light dark}" +
  "code,pre{font:14px/1.5 ui-monospace,monospace}pre{overflow-x:auto}";

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  // The page loads and runs nothing; only this style is allowed.
  "content-security-policy": `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  vary: "Accept",
};

/** Whether a person looks at it in a browser: programs do not name HTML in `Accept`. */
export function wantsPage({ method, headers: { accept = "" } }: IncomingMessage): boolean {
  return (method === "GET" || method === "HEAD") && accept.toLowerCase().includes("text/html");
}

/** The servers that a reader may see, or why there are none to show. */
export type ShownServers = readonly string[] | keyof typeof NOT_SHOWN;

const NOT_SHOWN = {
  hidden: "Credentials are required to see its servers.",
  unavailable: "Its servers cannot be shown at the moment.",
};

/** What the gateway shows to a person who opens its address. */
export function sendFrontPage(req: IncomingMessage, res: ServerResponse, servers: ShownServers): void {
  const html = frontPage(originOf(req), servers);
  res.writeHead(200, { ...HEADERS, "content-length": Buffer.byteLength(html) });
  res.end(req.method === "HEAD" ? undefined : html);
}

function frontPage(origin: string, servers: ShownServers): string {
  const url = `${origin}/mcp`;
  const list = typeof servers === "string" ? `<p>${NOT_SHOWN[servers]}</p>` : serverList(origin, servers);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Nexus gateway</title><style>${STYLE}</style></head>
<body><h1>Nexus gateway</h1>
<p>This is a gateway for the Model Context Protocol (Nexus ${escaped(VERSION)}). It serves MCP clients and has no user interface for browsers.</p>
<h2>Addresses</h2>
<p>All servers: ${code(url)}</p>
<p>Clients of 2024-11-05 (HTTP+SSE): ${code(`${origin}/sse`)}</p>
${list}
<h2>To connect a client</h2>
<pre>${escaped(`nexus mcp install claude-code --url ${url}`)}</pre>
<p>Use the name of another client, or add the address to the client's configuration:</p>
<pre>${escaped(JSON.stringify({ mcpServers: { nexus: { type: "http", url } } }, undefined, 2))}</pre>
<h2>To try it</h2>
<pre>${escaped(`nexus mcp tools --url ${url}`)}</pre>
</body></html>
`;
}

function serverList(origin: string, servers: readonly string[]): string {
  if (servers.length === 0) return "<p>It has no servers.</p>";
  const rows = servers.map((id) => `<li>${code(`${origin}/servers/${id}/mcp`)}</li>`);
  return `<p>Single servers:</p><ul>${rows.join("")}</ul>`;
}

/** The origin as the reader reached it; a proxy that ends TLS adds a header. */
function originOf({ headers }: IncomingMessage): string {
  const scheme = headers["x-forwarded-proto"] === "https" ? "https" : "http";
  return `${scheme}://${headers.host ?? "localhost"}`;
}

function code(text: string): string {
  return `<code>${escaped(text)}</code>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
