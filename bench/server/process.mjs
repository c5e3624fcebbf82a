// A server with two tools: node process.mjs <variant> <legacy|modern>. `bare` compares nothing.
import * as z from "zod";

const NUMBERS = { a: { type: "number" }, b: { type: "number" }, note: { type: "string", maxLength: 100 } };
const JSON_SCHEMAS = {
  add: {
    input: { type: "object", properties: NUMBERS, required: ["a", "b"], additionalProperties: false },
    output: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
  },
  cpu: { output: { type: "object", properties: { us: { type: "number" } }, required: ["us"] } },
};
const ZOD = {
  add: {
    input: z.object({ a: z.number(), b: z.number(), note: z.string().max(100).optional() }),
    output: z.object({ sum: z.number() }),
  },
  cpu: { output: z.object({ us: z.number() }) },
};

const add = ({ a, b }) => ({ sum: a + b });
const cpu = () => {
  const { user, system } = process.cpuUsage();
  return { us: user + system };
};

const VARIANTS = { bare, ours: (era) => ours(era, JSON_SCHEMAS), "ours, zod": (era) => ours(era, ZOD), sdk };
const [, , variant, era] = process.argv;
await VARIANTS[variant](era);

async function ours(era, schemas) {
  const { McpServer, serveStdio } = await import("../../dist/server/index.js");
  const revisions = [era === "modern" ? "2026-07-28" : "2025-11-25"];
  const server = new McpServer({ name: "bench", version: "1", revisions });
  server.tool("add", schemas.add, add);
  server.tool("cpu", schemas.cpu, cpu);
  await serveStdio(server);
}

/** As its documentation shows it. */
async function sdk(era) {
  const { McpServer } = await import("@modelcontextprotocol/server");
  const { serveStdio, StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
  const result = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value });
  const build = () => {
    const server = new McpServer({ name: "bench", version: "1" });
    const { input: inputSchema, output: outputSchema } = ZOD.add;
    server.registerTool("add", { inputSchema, outputSchema }, async (args) => result(add(args)));
    server.registerTool("cpu", { outputSchema: ZOD.cpu.output }, async () => result(cpu()));
    return server;
  };
  if (era === "legacy") await build().connect(new StdioServerTransport());
  else serveStdio(build, { legacy: "reject" });
}

async function bare() {
  const { serveStdio } = await import("../servers/stdio.mjs");
  const value = { add, cpu };
  serveStdio(({ id, method, params }) => {
    if (id === undefined) return undefined;
    if (method !== "tools/call") return JSON.stringify({ jsonrpc: "2.0", id, result: {} });
    const structuredContent = value[params.name](params.arguments);
    const content = [{ type: "text", text: JSON.stringify(structuredContent) }];
    return JSON.stringify({ jsonrpc: "2.0", id, result: { content, structuredContent } });
  });
}
