import type { HostEntry } from "../../../src/index.ts";

/** How a server makes a list that never ends. */
export type Endless = "same cursor" | "small pages" | "long pages" | "heavy pages" | "long cursors" | "one long page";

/** A server of which every list never ends. */
export function endless(kind: Endless): HostEntry {
  return script(`
    const text = "x".repeat(4_000_000);
    const pages = {
      "same cursor": () => [[{ name: "a" }], "again"],
      "small pages": (n) => [[{ name: "a" + n }], "page " + n],
      "long pages": (n) => [Array.from({ length: 1_000 }, (_, i) => ({ name: "a" + n + "." + i })), "page " + n],
      "heavy pages": (n) => [[{ name: "a" + n, description: text }], "page " + n],
      "long cursors": (n) => [[{ name: "a" + n }], n + text],
      "one long page": () => [Array.from({ length: 101_000 }, (_, i) => ({ name: "a" + i }))],
    };
    const list = (member, item) => ({ params = {} }) => {
      const n = Number(/\\d+/.exec(params.cursor ?? "0")?.[0] ?? 0) + 1;
      const [items, nextCursor] = pages[${JSON.stringify(kind)}](n);
      return { [member]: items.map((each) => ({ ...each, ...item(each.name) })), nextCursor };
    };
    serve({
      "tools/list": list("tools", () => ({ inputSchema: { type: "object" } })),
      "prompts/list": list("prompts", () => ({})),
      "resources/list": list("resources", (name) => ({ uri: "test:///" + name })),
      "resources/templates/list": list("resourceTemplates", (name) => ({ uriTemplate: "test:///" + name + "/{x}" })),
    });`);
}

/** Deeper than anything that recurses can go. */
const LEVELS = 20_000;

/**
 * A server with something that is nested very deeply in every list, beside something that can be used, and tools whose
 * answers, errors, messages and questions are nested.
 */
export function nested(): HostEntry {
  return script(`
    const text = (result) => ({ content: [{ type: "text", text: result }] });
    const inputSchema = { type: "object" };
    const asking = new Map();
    serve({
      "tools/list": () => ({ tools: [
        ...["fine", "result", "error", "notify", "ask"].map((name) => ({ name, inputSchema })),
        { name: "deep-schema", inputSchema: { type: "object", properties: DEEP } },
        { name: "deep-meta", inputSchema, _meta: { x: DEEP } },
      ] }),
      "prompts/list": () => ({ prompts: [{ name: "fine" }, { name: "deep", _meta: { x: DEEP } }] }),
      "resources/list": () => ({ resources: [{ uri: "test:///fine", name: "fine" }, { uri: "test:///deep", name: "deep", annotations: DEEP }] }),
      "resources/templates/list": () => ({ resourceTemplates: [
        { uriTemplate: "test:///fine/{x}", name: "fine" }, { uriTemplate: "test:///deep/{x}", name: "deep", _meta: { x: DEEP } },
      ] }),
      "tools/call": ({ id, params: { name, _meta } }) => {
        if (name === "result") return { ...text("deep"), structuredContent: { x: DEEP } };
        if (name === "error") return { error: { code: -32000, message: "deep", data: DEEP } };
        if (name === "notify") {
          write({ jsonrpc: "2.0", method: "notifications/message", params: { level: "error", data: DEEP } });
          write({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: _meta?.progressToken ?? 0, progress: 1, x: DEEP } });
          return text("notified");
        }
        if (name === "ask") {
          asking.set("q" + id, id);
          write({ jsonrpc: "2.0", id: "q" + id, method: "elicitation/create", params: { message: "?", requestedSchema: { type: "object", properties: { x: DEEP } } } });
          return undefined;
        }
        return text("fine");
      },
    }, ({ id, error }) => {
      write({ jsonrpc: "2.0", id: asking.get(id), result: text(error ? "refused" : "answered") });
    });`);
}

/** A server that says something very deep of itself. */
export function nestedHandshake(): HostEntry {
  return script(`serve({}, () => {}, { experimental: { x: DEEP } });`);
}

function script(body: string): HostEntry {
  const frame = `
    const DEEP = "@deep@";
    const write = (message) => {
      const json = JSON.stringify(message).replaceAll('"@deep@"', () => '{"a":'.repeat(${LEVELS}) + "1" + "}".repeat(${LEVELS}));
      process.stdout.write(json + "\\n");
    };
    const serve = (handlers, hear = () => {}, more = {}) => {
      const capabilities = { tools: { listChanged: true }, prompts: {}, resources: {}, logging: {}, ...more };
      const initialize = () => ({ protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "hostile", version: "1" } });
      require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
        const message = JSON.parse(line);
        const { id, method } = message;
        if (method === undefined) return hear(message);
        if (id === undefined) return;
        const handler = { initialize, ping: () => ({}), "logging/setLevel": () => ({}), ...handlers }[method];
        const result = handler ? handler(message) : { error: { code: -32601, message: "no " + method } };
        if (result !== undefined) write({ jsonrpc: "2.0", id, ...(result.error ? result : { result }) });
      });
    };`;
  return { command: process.execPath, args: ["--eval", frame + body] };
}
