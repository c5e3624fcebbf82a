import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connect, type ConnectOptions } from "../../src/index.ts";
import { ScriptedError, ScriptedServer } from "../../src/testing/index.ts";
import { failure } from "../fixtures/failure.ts";
import { startHttpFixture } from "../fixtures/servers/http-fixture.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";

const FAST: ConnectOptions = { retry: { backoffMs: 1 }, probeTimeoutMs: 100 };

/** Refuses a request with this code. */
const refuse = (code: number, data?: unknown) => (): never => {
  throw new ScriptedError(code, "no", data);
};

test("a dual server is modern, at the first try (G1)", async () => {
  const server = new ScriptedServer({ era: "both" });
  await using client = await connect(server.transport, FAST);
  expect(client.verdict).toEqual({ era: "modern", how: "probed", remember: "modern" });
  expect(server.methods).toEqual(["server/discover"]);
});

test.each([-32601, -32602, -32000, -32600, 7])("any other error, such as %d, means legacy", async (code) => {
  const server = new ScriptedServer({ era: "legacy" }).on("server/discover", refuse(code));
  await using client = await connect(server.transport, FAST);
  expect(client.verdict).toEqual({ era: "legacy", how: "probed", remember: "legacy" });
  expect(server.methods).toEqual(["server/discover", "initialize", "notifications/initialized"]);
});

test("a version error that names our version is asked again once, not for ever", async () => {
  const refusal = refuse(-32022, { supported: ["2026-07-28"], requested: "x" });
  const once = new ScriptedServer({ era: "modern" }).once("server/discover", refusal);
  await using client = await connect(once.transport, FAST);
  expect(client.era).toBe("modern");

  const always = new ScriptedServer({ era: "modern" }).on("server/discover", refusal);
  expect((await failure(connect(always.transport, FAST))).code).toBe("SERVER_ERROR");
  expect(always.methods).toHaveLength(2);
});

test("a version error that names legacy versions only leads to initialize with the newest common one", async () => {
  const refusal = refuse(-32022, { supported: ["2025-06-18", "2024-11-05"] });
  const server = new ScriptedServer({ era: "legacy" }).on("server/discover", refusal);
  await using client = await connect(server.transport, FAST);
  expect(client.protocolVersion).toBe("2025-06-18");
  expect(server.received).toMatchObject([
    { method: "server/discover" },
    { method: "initialize", params: { protocolVersion: "2025-06-18" } },
    { method: "notifications/initialized" },
  ]);
});

test("no common version fails, naming both lists", async () => {
  const server = new ScriptedServer().on("server/discover", refuse(-32022, { supported: ["2031-01-01"] }));
  const refused = await failure(connect(server.transport, FAST));
  expect(refused.code).toBe("VERSION_UNSUPPORTED");
  expect(refused.message).toContain("2031-01-01");
  expect(refused.message).toContain("2026-07-28");
});

test.each([-32020, -32021])("%d is a modern server's error", async (code) => {
  const server = new ScriptedServer().on("server/discover", refuse(code, {}));
  await using client = await connect(server.transport, FAST);
  expect(client.era).toBe("modern");
});

test("a modern server without server/discover is found by listing its tools", async () => {
  const server = new ScriptedServer({ era: "modern" }).on("server/discover", refuse(-32601));
  await using client = await connect(server.transport, FAST);
  expect(client.era).toBe("modern");
  expect(server.methods).toEqual(["server/discover", "initialize", "tools/list"]);
});

test("a server that refuses everything is reported with its own words", async () => {
  const server = new ScriptedServer()
    .on("server/discover", refuse(-32601))
    .on("initialize", refuse(-32000))
    .on("tools/list", refuse(-32000));
  expect(await failure(connect(server.transport, FAST))).toMatchObject({
    code: "SERVER_ERROR",
    details: { rpc: { code: -32000 }, phase: "handshake" },
  });
});

test("an initialize refused with a list of versions is tried once more with one of them", async () => {
  const server = new ScriptedServer().once("initialize", refuse(-32602, { supported: ["2024-11-05"] }));
  await using client = await connect(server.transport, { era: "legacy" });
  expect(client.protocolVersion).toBe("2024-11-05");
});

test("an initialize answered with an unknown version ends the connection", async () => {
  const server = new ScriptedServer().on("initialize", () => ({ protocolVersion: "1999-01-01", capabilities: {} }));
  expect((await failure(connect(server.transport, { era: "legacy" }))).code).toBe("VERSION_UNSUPPORTED");
});

test("a revision can be pinned: nothing is probed, and another answer is an error (P1.7)", async () => {
  const modern = new ScriptedServer();
  await using client = await connect(modern.transport, { protocolVersion: "2026-07-28" });
  expect(client.verdict).toEqual({ era: "modern", how: "pinned" });
  expect(modern.methods).toEqual([]);

  const other = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "s", version: "1" } };
  const legacy = new ScriptedServer().on("initialize", () => other);
  expect((await failure(connect(legacy.transport, { protocolVersion: "2024-11-05" }))).code).toBe(
    "VERSION_UNSUPPORTED",
  );
  expect((await failure(connect(modern.transport, { protocolVersion: "1" }))).code).toBe("VERSION_UNSUPPORTED");
});

test("an era that was passed in is used without a probe, and a stale one fails loudly", async () => {
  const legacy = new ScriptedServer({ era: "legacy" });
  await using client = await connect(legacy.transport, { era: "legacy" });
  expect(client.verdict).toEqual({ era: "legacy", how: "given" });
  expect(legacy.methods[0]).toBe("initialize");

  expect((await failure(connect(legacy.transport, { era: "modern" }))).code).toBe("SERVER_ERROR");
});

test("a server that ends on the probe is started once more and spoken to in the legacy way", async () => {
  await using client = await connect(stdioFixture(["--misbehave", "die-on-probe"]), FAST);
  expect(client.verdict).toEqual({ era: "legacy", how: "probed", remember: "legacy" });
  expect(await client.callTool("echo", { text: "hi" })).toMatchObject({ content: [{ text: "hi" }] });
});

test("a server that ignores the probe is spoken to in the legacy way, on the same pipe", async () => {
  const folder = await mkdtemp(join(tmpdir(), "nexus-"));
  try {
    const transcript = join(folder, "transcript.jsonl");
    await using client = await connect(stdioFixture(["--misbehave", "silent-probe", "--transcript", transcript]), FAST);
    expect(client.verdict).toEqual({ era: "legacy", how: "probed", remember: "legacy" });
    const methods = (await readFile(transcript, "utf8")).match(/"method":"[^"]+"/g);
    expect(methods?.slice(0, 2)).toEqual([`"method":"server/discover"`, `"method":"initialize"`]);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});

test("a slow dual server goes on as legacy, and modern is remembered for the next start", async () => {
  await using client = await connect(stdioFixture(["--misbehave", "slow-start", "--delay", "400"]), FAST);
  expect(client.era).toBe("legacy");
  await expect.poll(() => client.verdict.remember).toBe("modern");
});

test("a slow modern-only server is found by its late answer", async () => {
  const flags = ["--misbehave", "slow-start", "--delay", "400", "--revision", "2026-07-28"];
  await using client = await connect(stdioFixture(flags), FAST);
  expect(client.era).toBe("modern");
});

test("over HTTP each kind of server is found", async () => {
  for (const [revision, era] of [
    ["both", "modern"],
    ["2026-07-28", "modern"],
    ["legacy", "legacy"],
    ["2025-03-26", "legacy"],
  ] as const) {
    await using server = await startHttpFixture({ revision });
    await using client = await connect({ url: server.url }, FAST);
    expect(client.verdict).toEqual({ era, how: "probed", remember: era });
  }
});

test("over HTTP a modern server without server/discover is found (D20)", async () => {
  await using server = await startHttpFixture({ revision: "2026-07-28", misbehave: ["no-discover"] });
  await using client = await connect({ url: server.url }, FAST);
  expect(client.era).toBe("modern");
});

test("401 and a broken server are no verdict: they are reported, and nothing else is tried", async () => {
  for (const [misbehave, code] of [
    ["probe-401", "AUTH_REQUIRED"],
    ["probe-500", "HTTP_STATUS"],
    ["html", "NOT_MCP"],
  ] as const) {
    await using server = await startHttpFixture({ misbehave: [misbehave] });
    expect((await failure(connect({ url: server.url }, FAST))).code).toBe(code);
    const methods = server.transcript.messages("in").map((message) => (message as { method?: string }).method);
    expect(new Set(methods)).toEqual(new Set(misbehave === "html" ? methods : ["server/discover"]));
    expect(methods).not.toContain("initialize");
  }
});

test("429 to the probe is waited out, and then it is asked again", async () => {
  await using server = await startHttpFixture({ misbehave: ["probe-429-once"] });
  await using client = await connect({ url: server.url }, FAST);
  expect(client.era).toBe("modern");
});

test("500 with a JSON-RPC error is worth one initialize, which is not remembered", async () => {
  const initialized = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "s", version: "1" } };
  const server = createServer((request, response) => {
    void bodyOf(request).then((message) => {
      const send = (status: number, body: object) => {
        response
          .writeHead(status, { "Content-Type": "application/json" })
          .end(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...body }));
      };
      if (message.method === "initialize") send(200, { result: initialized });
      else if (message.method === "server/discover") send(500, { error: { code: -32603, message: "no" } });
      else response.writeHead(202).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await using client = await connect({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }, FAST);
    expect(client.verdict).toEqual({ era: "legacy", how: "probed" });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

async function bodyOf(request: IncomingMessage): Promise<{ id?: unknown; method?: string }> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text === "" ? {} : (JSON.parse(text) as { id?: unknown; method?: string });
}
