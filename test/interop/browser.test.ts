import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseSync } from "oxc-parser";
import { Host } from "../../src/index.ts";
import { serve, type Gateway } from "../../src/gateway/index.ts";
import { McpServer, serveHttp, type HttpServing } from "../../src/server/index.ts";
import { hasChromium } from "../fixtures/browser/chromium.ts";
import { PageServer, type PageTask } from "../fixtures/browser/page-server.ts";
import { fixture, startServer, type ServerProcess } from "./server-process.ts";

const execFileAsync = promisify(execFile);
const SDK1 = fixture("sdk1-server.mjs");
const SDK2 = fixture("sdk2-server.mjs");

describe.skipIf(!hasChromium)(`nexus-mcp/client in a page${hasChromium ? "" : " (no chromium: not tried)"}`, () => {
  let page: PageServer;
  let gateway: Gateway;
  let notNamed: Gateway;
  let own: HttpServing;
  let servers: ServerProcess[];
  let results: Record<string, Record<string, unknown>>;

  beforeAll(async () => {
    page = await PageServer.start();
    servers = await Promise.all([
      startServer(SDK1, "--http"),
      startServer(SDK2, "--http", "--era", "modern"),
      startServer(SDK2, "--http", "--era", "legacy"),
    ]);
    ["sdk1", "sdk2", "sdk2-legacy"].forEach((name, at) => page.behind.set(name, servers[at]?.url ?? ""));
    own = await serveHttp(greeter(), { port: 0 });
    page.behind.set("protected", own.url);
    gateway = await serve({ host: await hostOf(servers), port: 0, allowedOrigins: [page.origin] });
    notNamed = await serve({ host: await hostOf([]), port: 0 });
    const { origin } = new URL(gateway.url);
    const tasks: PageTask[] = [
      { name: "SDK 1", does: "use", url: "/sdk1" },
      { name: "SDK 2", does: "use", url: "/sdk2" },
      { name: "SDK 2, legacy", does: "use", url: "/sdk2-legacy" },
      { name: "gateway", does: "use", url: gateway.url, prefix: "modern__" },
      { name: "gateway, HTTP+SSE", does: "use", url: `${origin}/sse`, type: "sse", prefix: "modern__" },
      { name: "worker", does: "worker", url: gateway.url },
      { name: "login", does: "protected", url: "/protected" },
      { name: "origin not allowed", does: "use", url: notNamed.url },
    ];
    results = await page.run(tasks);
  });

  afterAll(async () => {
    for (const running of [gateway, notNamed, own, ...(servers ?? []), page]) await running?.[Symbol.asyncDispose]();
  });

  const used = [
    ["SDK 1", { era: "legacy", protocolVersion: "2025-11-25" }],
    ["SDK 2", { era: "modern", protocolVersion: "2026-07-28" }],
    ["SDK 2, legacy", { era: "legacy", protocolVersion: "2025-11-25" }],
    ["gateway", { era: "modern", protocolVersion: "2026-07-28" }],
    ["gateway, HTTP+SSE", { era: "legacy", protocolVersion: "2025-11-25" }],
  ] as const;

  test.each(used)("uses %s: lists, calls, answers its question, ten calls at once (N1, N10)", (name, speaks) => {
    expect(results[name]).toMatchObject({
      ...speaks,
      tools: expect.arrayContaining([expect.stringMatching(/echo$/)]),
      echoed: "Grüße",
      answered: "accept Ada",
      asked: ["What is your name?"],
      many: Array.from({ length: 10 }, (_, index) => `call ${index}`),
    });
  });

  test("works in a worker, where there is no document (N10)", () => {
    expect(results["worker"]).toMatchObject({ era: "modern", tools: expect.any(Number) });
  });

  test("logs in with a redirect handler of the page (N10)", () => {
    expect(results["login"]).toEqual({ text: "Hello, Ada!" });
    expect(page.logins).toEqual(["register", "authorize", "code-of-the-page"]);
  });

  test("says what to do where a server does not allow the page's origin (X2)", () => {
    expect(results["origin not allowed"]?.["error"]).toMatchObject({
      code: "CONNECTION_FAILED",
      message: expect.stringContaining(new URL(notNamed.url).origin),
      details: { likelyCause: expect.stringContaining("CORS"), hint: expect.stringContaining("--allow-origin") },
    });
  });
});

describe("the built nexus-mcp/client", () => {
  test("imports its own files alone, statically and on demand: nothing of Node (N10)", () => {
    const files = graphOf("dist/client/index.js");
    expect(files.size).toBeGreaterThan(3);
    for (const names of files.values()) expect(names.filter((name) => !name.startsWith("./"))).toEqual([]);
  });

  test("has types that need those of browsers alone (X1)", async () => {
    const compiled = await execFileAsync("node_modules/.bin/tsc", ["-p", "test/fixtures/browser/types"]);
    expect(compiled.stdout).toBe("");
  });

  test("is at most 45 kB for connect and Client, compressed; OAuth and YAML come on demand (N10)", () => {
    const files = graphOf("dist/client/index.js", { onDemand: false });
    const whole = [...files.keys()].map((file) => readFileSync(file, "utf8")).join("\n");
    expect(gzipSync(whole, { level: 9 }).length).toBeLessThanOrEqual(45_000);
    expect(whole).not.toContain("authorization_endpoint");
  });
});

/** What each built file imports, beginning with one. */
function graphOf(file: string, { onDemand = true } = {}, found = new Map<string, string[]>()): Map<string, string[]> {
  if (found.has(file)) return found;
  const source = readFileSync(file, "utf8");
  const { module } = parseSync(file, source);
  const exported = module.staticExports.flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest));
  const ahead = [...module.staticImports.map(({ moduleRequest }) => moduleRequest), ...exported];
  const later = module.dynamicImports.map(({ moduleRequest: { start, end } }) => source.slice(start + 1, end - 1));
  const names = [...ahead.flatMap((request) => request?.value ?? []), ...(onDemand ? later : [])];
  found.set(file, [...new Set(names)]);
  for (const name of names) if (name.startsWith(".")) graphOf(join(dirname(file), name), { onDemand }, found);
  return found;
}

function hostOf([legacy, modern]: readonly ServerProcess[]): Promise<Host> {
  return Host.open({
    servers: { ...(legacy && { legacy: { url: legacy.url } }), ...(modern && { modern: { url: modern.url } }) },
  });
}

function greeter(): McpServer {
  const server = new McpServer({ name: "greetings", version: "1.0.0" });
  server.tool({ name: "greet", inputSchema: { type: "object" } }, ({ name }) => `Hello, ${String(name)}!`);
  return server;
}
