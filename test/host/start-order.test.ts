import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readEnvironment } from "../../src/environment.ts";
import { serve } from "../../src/gateway/index.ts";
import { Host } from "../../src/index.ts";
import { modern, send } from "../fixtures/gateway/wire.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";

let stateFolder: string;
beforeAll(async () => void (stateFolder = await mkdtemp(join(tmpdir(), "nexus-order-"))));
afterAll(() => rm(stateFolder, { recursive: true, force: true, maxRetries: 5 }));

const hangs = { command: process.execPath, args: ["-e", "process.stdin.resume()"], connection_timeout: "10m" };
/** More than may start at once, also where slow ones make room. */
const HANGING = Object.fromEntries(Array.from({ length: 5 }, (_, count) => [`hangs-${count}`, hangs]));
const late = { ...stdioFixture(), auto_start: false };

test("N9: a call does not wait for servers that hang at their start", async () => {
  const servers = { ...HANGING, waiting: stdioFixture(), late };
  await using host = await Host.open({ servers, stateFolder, startAtOnce: 1 });
  const called = (server: string) => host.callTool(`${server}.test_simple_text`);
  // One stands in line already, the other is not started before it is called.
  expect(await Promise.all([called("waiting"), called("late")])).toMatchObject([{ content: [{}] }, { content: [{}] }]);
  expect(host.servers().filter(({ state }) => state.kind === "starting")).toHaveLength(5);
});

test("N9: a call to the gateway does not wait for lists of servers that hang at their start", async () => {
  const options = { servers: { ...HANGING, late }, stateFolder, startAtOnce: 1 };
  await using gateway = await serve({
    host: options,
    surroundings: readEnvironment(),
    port: 0,
    limits: { drainMs: 0 },
  });
  const list = send(gateway.url, modern("tools/list"));
  const { json } = await send(gateway.url, modern("tools/call", { name: "late__test_simple_text" }));
  expect(json.result.content).toHaveLength(1);
  await list;
});
