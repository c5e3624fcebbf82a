import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openApi } from "../../../src/compose/open-api.ts";
import { FileTrustStore } from "../../../src/config/trust/trust-store.ts";
import { readEnvironment } from "../../../src/environment.ts";
import { serve, type Gateway } from "../../../src/gateway/index.ts";
import { Host } from "../../../src/host/host.ts";
import { connect } from "../../../src/index.ts";
import type { CallToolResult } from "../../../src/protocol/mcp.ts";
import { accept } from "../../../src/workshop/acceptance.ts";
import { loadApi } from "../../../src/workshop/load-api.ts";
import { approve } from "../../../src/workshop/review/lock.ts";
import { ApiRunner } from "../../../src/workshop/run/api-runner.ts";
import { ShopUpstream, shopFile } from "./version-world.ts";

const WAIT = { timeout: 30_000, interval: 20 };

let folder: string;
let path: string;
let upstream: ShopUpstream;
let host: Host;
let gateway: Gateway;
const closed = vi.spyOn(ApiRunner.prototype, "close");

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-served-file-"));
  path = join(folder, "shop.nexus.yaml");
  upstream = await ShopUpstream.open();
  await writeFile(path, shopFile(1));
  await approveIt();
  const servers = { shop: { api: path, upstream: upstream.url } };
  host = await Host.start({ servers, openApi, stateFolder: join(folder, "state") }, readEnvironment());
  await host.ready();
  gateway = await serve({ host, port: 0, stateFolder: join(folder, "state") });
  closed.mockClear();
});
afterEach(async () => {
  await gateway.close();
  await host.close();
  await upstream[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

async function approveIt({ accepts = true } = {}): Promise<void> {
  const { api, problems } = await loadApi(path);
  if (!api) throw new Error(problems.map(({ message }) => message).join("\n"));
  await approve(path, api, { by: "Ada", at: new Date() });
  const trust = new FileTrustStore({ folder: join(folder, "state"), platform: process.platform });
  if (accepts) await accept(path, api, trust);
}

async function release(major: 1 | 2): Promise<void> {
  await writeFile(path, shopFile(major));
  await approveIt();
}

const toolNames = () => host.tools().map(({ tool }) => tool.name);
const textOf = ({ content }: CallToolResult) =>
  content
    .map(({ text }) => text)
    .join("\n")
    .split("\n", 1)[0];
const url = () => new URL("/servers/shop/mcp", gateway.url).href;
const stateOfShop = () => host.find("shop")?.state;

test("a newly approved version is served while 50 calls of the old one are running, and none fails", async () => {
  await using modern = await connect({ url: url() }, { era: "modern" });
  await using legacy = await connect({ url: url() }, { era: "legacy" });
  const told = { modern: 0, legacy: 0 };
  await modern.subscribe({ lists: ["tools"] }, ({ kind }) => (told.modern += kind === "list-changed" ? 1 : 0));
  await legacy.subscribe({ lists: ["tools"] }, ({ kind }) => (told.legacy += kind === "list-changed" ? 1 : 0));
  upstream.hold();
  const calls = Array.from({ length: 50 }, (_, at) => {
    const client = at % 2 === 0 ? modern : legacy;
    return at % 10 === 0
      ? client.callTool("order", { code: `c${at}`, expected: 7 })
      : client.callTool("find", { text: `t${at}` });
  });
  await vi.waitFor(() => expect(upstream.waiting).toBe(50), WAIT);

  await release(2);
  await vi.waitFor(() => expect(toolNames()).toContain("new_stock"), WAIT);
  await vi.waitFor(() => expect([told.modern > 0, told.legacy > 0]).toEqual([true, true]), WAIT);
  expect(closed).not.toHaveBeenCalled();
  const manifest = await fetch(new URL("/servers/shop/tools", gateway.url));
  expect(JSON.stringify(await manifest.json())).toContain("new_stock");

  const newer = [modern.callTool("find", { text: "new" }), legacy.callTool("find", { text: "new" })];
  await vi.waitFor(() => expect(upstream.waiting).toBe(52), WAIT);
  upstream.release();
  for (const [at, result] of (await Promise.all(calls)).entries()) {
    expect(textOf(result)).toBe(at % 10 === 0 ? "Ordered by v1." : "Found by v1.");
  }
  for (const result of await Promise.all(newer)) expect(textOf(result)).toBe("Found by v2.");
  await vi.waitFor(() => expect(closed).toHaveBeenCalledTimes(1), WAIT);

  await release(1);
  await vi.waitFor(() => expect(toolNames()).toContain("old_stock"), WAIT);
  expect(textOf(await modern.callTool("find", { text: "again" }))).toBe("Found by v1.");
  await vi.waitFor(() => expect(closed).toHaveBeenCalledTimes(2), WAIT);
});

test.each(["modern", "legacy"] as const)(
  "the answer of a %s client to a question goes to the version that asked it",
  async (era) => {
    const input = {
      capabilities: { elicitation: {} },
      async handle() {
        await release(2);
        await vi.waitFor(() => expect(toolNames()).toContain("new_stock"), WAIT);
        return { action: "accept" as const, content: { confirm: true } };
      },
    };
    await using client = await connect({ url: url() }, { era, input });
    expect(textOf(await client.callTool("order", { code: era, expected: 5 }))).toContain("Ordered by v1.");
    expect(textOf(await client.callTool("find", { text: era }))).toContain("Found by v2.");
    expect(closed).not.toHaveBeenCalled();
  },
);

test("what was changed and not approved, is invalid, or was approved by somebody else, is not served, and the state says so", async () => {
  await writeFile(path, shopFile(2));
  await vi.waitFor(() => expect(stateOfShop()).toMatchObject({ kind: "degraded" }), WAIT);
  expect(stateOfShop()).toMatchObject({
    error: { message: expect.stringMatching(/has changed since it was approved.*approved before is still served/) },
  });
  await writeFile(path, "nexus: 1\napi: [");
  await vi.waitFor(
    () => expect(stateOfShop()).toMatchObject({ error: { message: expect.stringContaining("mistakes") } }),
    WAIT,
  );
  await rm(path);
  await vi.waitFor(
    () => expect(stateOfShop()).toMatchObject({ error: { message: expect.stringContaining("not a tool file") } }),
    WAIT,
  );
  expect(toolNames()).toContain("old_stock");
  expect(textOf((await host.callTool("shop.find", { text: "x" })) as CallToolResult)).toBe("Found by v1.");

  await writeFile(path, shopFile(2));
  await approveIt({ accepts: false });
  await vi.waitFor(
    () => expect(stateOfShop()).toMatchObject({ error: { message: expect.stringContaining("not by you") } }),
    WAIT,
  );
  expect(toolNames()).toContain("old_stock");
  // No file of the API changes.
  const { api } = await loadApi(path);
  if (api) await accept(path, api, new FileTrustStore({ folder: join(folder, "state"), platform: process.platform }));
  await vi.waitFor(() => expect(stateOfShop()).toMatchObject({ kind: "ready" }), WAIT);
  expect(toolNames()).toContain("new_stock");
});
