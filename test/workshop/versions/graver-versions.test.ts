import { afterEach, expect, test, vi } from "vitest";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { followedApis, openPublished } from "../../../src/compose/stored-state.ts";
import { readEnvironment } from "../../../src/environment.ts";
import { serve } from "../../../src/gateway/index.ts";
import { Host } from "../../../src/host/host.ts";
import { connect } from "../../../src/index.ts";
import type { CallToolResult } from "../../../src/protocol/mcp.ts";
import { ApiOperations } from "../../../src/operations/apis/api-operations.ts";
import { definePublished, PublishedServers } from "../../../src/team/published-servers.ts";
import { SILENT } from "../../../src/text/logger.ts";
import { compileApi } from "../../../src/workshop/compile/compile.ts";
import { readToolFile } from "../../../src/workshop/file/read-tool-file.ts";
import { onBothEngines } from "../../fixtures/store-world.ts";
import { ShopUpstream } from "./version-world.ts";

const WAIT = { timeout: 30_000, interval: 20 };
const ALLOWED = { kind: "allowed" } as const;
const DENIED = { kind: "denied", reason: "read-only" } as const;

interface ShopTool {
  effect: "read" | "write" | "destructive";
  path: string;
  offer?: "listed" | "search";
}

function shopFile(version: string, tools: Record<string, ShopTool>): string {
  const written = Object.entries(tools).map(([name, { effect, path, offer = "listed" }]) => {
    const method = effect === "read" ? "GET, query: { code: code }" : "POST, body: json";
    const unknown = effect === "read" ? "" : "    outcomeUnknown: Ask the shop.\n";
    return `  ${name}:
    title: ${name}
    description: Does something.
    effect: ${effect}
    offer: ${offer}
    input: Input
    request: { path: ${path}, method: ${method} }
    response: { as: json, type: Done, text: "Done by {by}." }
${unknown}    limits: { retries: 0, result: 4kB }
`;
  });
  return `nexus: 1
api: shop
title: Shop
description: A shop.
version: ${version}
upstream: { base: "https://shop.example/", timeout: 30s }
types:
  Input: { fields: { code: { type: string } } }
  Done: { fields: { by: { type: string } } }
tools:
${written.join("")}`;
}

onBothEngines("callers that may only read, and an earlier version that writes", (world) => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  async function openShop() {
    const upstream = await ShopUpstream.open();
    closing.push(() => upstream[Symbol.asyncDispose]());
    const store = await world().openStore({ address: await world().newAddress() });
    const { source, changes } = followedApis(store, "default");
    const define = () => definePublished(source);
    const published = await PublishedServers.follow({ define, changes, logger: SILENT });
    const config = join(world().folder, "mcp.json");
    await writeFile(config, '{ "mcpServers": {} }');
    const stateFolder = join(world().folder, "state");
    const host = await Host.start(
      { config, beside: published.current, openApi: openPublished(store, "default"), stateFolder },
      readEnvironment(),
    );
    published.applyTo(host);
    const gateway = await serve({
      host,
      port: 0,
      stateFolder,
      decide: (_principal, _operation, { kind, annotations }) =>
        kind === "tool" && annotations?.readOnlyHint !== true ? DENIED : ALLOWED,
    });
    closing.push(
      () => published[Symbol.dispose](),
      () => host.close(),
      () => gateway.close(),
    );
    const apis = new ApiOperations(store.apis("default"), { by: "Ada", origin: "local" });
    const publish = async (version: string, tools: Record<string, ShopTool>, marker: string) => {
      const text = shopFile(version, tools);
      const { file, problems } = readToolFile(text, "shop.nexus.yaml");
      const hash = file && compileApi(file, {}).api?.hash;
      if (hash === undefined) throw new Error(JSON.stringify(problems));
      const approval = { hash, by: "Ada", at: "2026-11-02T09:00:00.000Z", version };
      await apis.publish({ text, documents: {}, approval, as: version, upstream: upstream.url });
      await vi.waitFor(() => expect(host.tools().map(({ tool: { name } }) => name)).toContain(marker), WAIT);
    };
    const call = async (name: string, args: object) => {
      await using client = await connect({ url: new URL("/servers/shop/mcp", gateway.url).href }, { era: "legacy" });
      return (await client.callTool(name, { ...args })) as CallToolResult;
    };
    const url = new URL("/servers/shop/mcp", gateway.url).href;
    return { upstream, publish, call, url };
  }

  test("a tool that only reads now does not write for a caller that saw it when it wrote", async () => {
    const { upstream, publish, url } = await openShop();
    await publish("1.0.0", { sync: { effect: "write", path: "v1" }, first: { effect: "read", path: "f" } }, "first");
    await using client = await connect({ url }, { era: "legacy" });
    expect((await client.listTools()).map(({ name }) => name)).toEqual(["first"]);
    await publish("2.0.0", { sync: { effect: "read", path: "v2" }, second: { effect: "read", path: "f" } }, "second");
    const result = (await client.callTool("sync", { code: "x" })) as CallToolResult;
    expect(upstream.requests).toEqual([]);
    expect(result.content[0]?.text).toMatch(/Refresh the list of tools/);
  });

  test("a removed tool that wrote cannot be called by name where only reading tools can be now", async () => {
    const { upstream, publish, call } = await openShop();
    const find: ShopTool = { effect: "read", path: "f", offer: "search" };
    await publish("1.0.0", { find, erase: { effect: "destructive", path: "v1", offer: "search" } }, "search_tools");
    await publish("2.0.0", { find, second: { effect: "read", path: "v2" } }, "second");
    await expect(call("call_tool", { name: "erase", arguments: { code: "x" } })).rejects.toThrow("There is no tool");
    expect(upstream.requests).toEqual([]);
  });
});
