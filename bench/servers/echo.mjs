const MODERN = "2026-07-28";
/** With this word on its command line a server knows older revisions alone. */
const isLegacy = process.argv.includes("legacy");
const serverInfo = { name: "echo", version: "1" };
const capabilities = { tools: {} };
const cacheable = { ttlMs: 3_600_000, cacheScope: "public" };
const tools = [
  {
    name: "echo",
    description: "Says it again",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  },
  { name: "cpu", description: "Tells how much CPU this process has used", inputSchema: { type: "object" } },
];

/** The text of the answer to one message, none for a notification. Modern requests are known by their `_meta`. */
export function respond(message) {
  return message.id === undefined ? undefined : JSON.stringify(answer(message));
}

function answer({ id, method, params }) {
  const modern = !isLegacy && params?._meta?.["io.modelcontextprotocol/protocolVersion"] === MODERN;
  const result = resultOf(method, params, modern);
  if (!result) return { jsonrpc: "2.0", id, error: { code: -32601, message: `no method "${method}"` } };
  return { jsonrpc: "2.0", id, result: modern ? { resultType: "complete", ...result } : result };
}

function resultOf(method, params, modern) {
  switch (method) {
    case "tools/call":
      return { content: [{ type: "text", text: params.name === "cpu" ? cpuUs() : params.arguments.text }] };
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

/** Microseconds since the process began, its start included. */
function cpuUs() {
  const { user, system } = process.cpuUsage();
  return String(user + system);
}
