// Calls an echo tool through a gateway as fast as it answers: one request at a time on each of many connections.
import { Pool } from "undici";
import { obey } from "../client/obey.mjs";

const clientInfo = { name: "bench", version: "1" };
const ACCEPT = "application/json, text/event-stream";
let pool;
let call;

obey({
  /** Connects; older callers share one session, as the many connections of one client do. */
  async open({ url, era, version, capabilities, connections, bytes, key }) {
    const { origin, pathname: path } = new URL(url);
    pool = new Pool(origin, { connections });
    const headers = { "content-type": "application/json", accept: ACCEPT, "mcp-protocol-version": version };
    if (key !== undefined) headers.authorization = `Bearer ${key}`;
    const params = { name: "echo", arguments: { text: "x".repeat(bytes) } };
    if (era === "modern") {
      headers["mcp-method"] = "tools/call";
      headers["mcp-name"] = "echo";
      params._meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": clientInfo,
      };
    } else {
      const opened = await post(path, headers, {
        id: 1,
        method: "initialize",
        params: { protocolVersion: version, capabilities, clientInfo },
      });
      headers["mcp-session-id"] = opened.session;
      await post(path, headers, { method: "notifications/initialized" });
    }
    const before = `{"jsonrpc":"2.0","id":`;
    const after = `,"method":"tools/call","params":${JSON.stringify(params)}}`;
    let lastId = 1;
    call = async () => {
      const { statusCode, body } = await pool.request({
        path,
        method: "POST",
        headers,
        body: `${before}${++lastId}${after}`,
      });
      const text = await body.text();
      if (statusCode !== 200 || !text.includes("xxxx")) throw new Error(`HTTP ${statusCode}: ${text.slice(0, 500)}`);
    };
    await call();
  },

  async run({ durationMs, connections }) {
    const startedAt = performance.now();
    let calls = 0;
    const lane = async () => {
      while (performance.now() - startedAt < durationMs) {
        await call();
        calls++;
      }
    };
    await Promise.all(Array.from({ length: connections }, lane));
    return { calls, ms: performance.now() - startedAt };
  },

  close: () => pool?.close(),
});

async function post(path, headers, message) {
  const {
    statusCode,
    headers: said,
    body,
  } = await pool.request({
    path,
    method: "POST",
    headers,
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
  const text = await body.text();
  if (statusCode >= 400) throw new Error(`HTTP ${statusCode}: ${text.slice(0, 500)}`);
  return { session: said["mcp-session-id"] };
}
