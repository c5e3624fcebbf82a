import type { IncomingMessage, ServerResponse } from "node:http";
import { VERSION } from "../../protocol/version.ts";
import { escapeHtml, htmlPage, pageHeaders } from "./html-page.ts";

const HEADERS = { ...pageHeaders(), vary: "Accept" };

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
  return htmlPage(
    "Nexus gateway",
    `<h1>Nexus gateway</h1>
<p>This is a gateway for the Model Context Protocol (Nexus ${escapeHtml(VERSION)}). It serves MCP clients and has no user interface for browsers.</p>
<h2>Addresses</h2>
<p>All servers: ${code(url)}</p>
<p>Clients of 2024-11-05 (HTTP+SSE): ${code(`${origin}/sse`)}</p>
${list}
<h2>To connect a client</h2>
<pre>${escapeHtml(`nexus mcp install claude-code --url ${url}`)}</pre>
<p>Use the name of another client, or add the address to the client's configuration:</p>
<pre>${escapeHtml(JSON.stringify({ mcpServers: { nexus: { type: "http", url } } }, undefined, 2))}</pre>
<h2>To try it</h2>
<pre>${escapeHtml(`nexus mcp tools --url ${url}`)}</pre>`,
  );
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
  return `<code>${escapeHtml(text)}</code>`;
}
