const MODERN = "2026-07-28";
const serverInfo = { name: "echo", version: "1" };
const capabilities = { tools: {} };
const cacheable = { ttlMs: 3_600_000, cacheScope: "public" };
const tools = [
  {
    name: "echo",
    description: "Says it again",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  },
];

/** The response to one message, none for a notification. Modern requests are known by their `_meta`. */
export function answer({ id, method, params }) {
  if (id === undefined) return undefined;
  const modern = params?._meta?.["io.modelcontextprotocol/protocolVersion"] === MODERN;
  const result = resultOf(method, params, modern);
  if (!result) return { jsonrpc: "2.0", id, error: { code: -32601, message: `no method "${method}"` } };
  return { jsonrpc: "2.0", id, result: modern ? { resultType: "complete", ...result } : result };
}

function resultOf(method, params, modern) {
  switch (method) {
    case "tools/call":
      return { content: [{ type: "text", text: params.arguments.text }] };
    case "tools/list":
      return modern ? { tools, ...cacheable } : { tools };
    case "server/discover":
      return modern
        ? {
            supportedVersions: [MODERN],
            capabilities,
            ...cacheable,
            _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
          }
        : undefined;
    case "initialize":
      return { protocolVersion: params.protocolVersion, capabilities, serverInfo };
    case "ping":
      return {};
    default:
      return undefined;
  }
}
