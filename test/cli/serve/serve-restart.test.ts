import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LegacyWire } from "../../gateway/legacy/legacy-wire.ts";
import { NexusWorld } from "../../fixtures/nexus.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";

let world: NexusWorld;
beforeAll(async () => {
  world = await NexusWorld.open();
  await world.configure({ everything: stdioFixture() });
});
afterAll(() => world[Symbol.asyncDispose]());

async function start(port = "0"): Promise<{ url: URL; child: ChildProcess }> {
  const { child, output } = world.start(["serve", "--port", port]);
  await expect.poll(() => output.stdout).toContain("listening on");
  return { url: new URL(/http:\/\/[\d.:]+\/mcp/.exec(output.stdout)?.[0] ?? ""), child };
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, "close");
  child.kill("SIGTERM");
  await ended;
}

const TRANSPORTS = {
  "/mcp": (url: URL) => new StreamableHTTPClientTransport(url),
  "/sse": (url: URL) => new SSEClientTransport(url),
};

test.each(["/mcp", "/sse"] as const)(
  "B1: the official SDK's client at %s goes on with its session after the gateway was started again",
  async (path) => {
    const before = await start();
    const client = new Client({ name: "sdk", version: "1" }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: "decline" }));
    await client.connect(TRANSPORTS[path](new URL(path, before.url)));
    const add = () => client.callTool({ name: "everything__add_numbers", arguments: { a: 2, b: 3 } });
    expect(await add()).toMatchObject({ structuredContent: { sum: 5 } });
    await end(before.child);

    const { child } = await start(before.url.port);
    // Over HTTP+SSE its EventSource takes a while to come back.
    const sum = () => add().catch(() => undefined);
    await expect.poll(sum).toMatchObject({ structuredContent: { sum: 5 } });
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    if (path === "/mcp") {
      const asked = await client.callTool({ name: "everything__test_elicitation", arguments: { message: "Who?" } });
      expect(JSON.stringify(asked.content)).toContain("decline");
    }
    await client.close();
    await end(child);
  },
);

test("B1: a session that was deleted before the gateway was started again is still unknown", async () => {
  const before = await start();
  const { href, port } = before.url;
  const [kept, deleted] = [await LegacyWire.open(href, "2025-11-25"), await LegacyWire.open(href, "2025-11-25")];
  expect((await deleted.delete()).status).toBe(204);
  await end(before.child);
  const { child } = await start(port);
  expect((await deleted.request("ping")).status).toBe(404);
  expect((await kept.request("ping")).status).toBe(200);
  await end(child);
});
