import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { defineTenantServers } from "./tenant-definitions.ts";

test("a configuration file that is named relative to the current folder counts for the servers of a tenant", async () => {
  const folder = await mkdtemp(join(tmpdir(), "nexus-tenant-"));
  const file = join(folder, "conf.json");
  await writeFile(file, JSON.stringify({ mcpServers: {}, network: { allowPrivate: true } }));
  const servers = [{ name: "shop", entry: { url: "http://127.0.0.1:1/mcp" }, origin: "local" as const }];
  const options = {
    home: folder,
    platform: process.platform,
    variables: {},
    secrets: { get: async () => undefined },
    config: relative(process.cwd(), file),
  };
  const [server] = await defineTenantServers({ list: async () => ({ servers, unreadable: [] }) }, options);
  await rm(folder, { recursive: true });
  expect([server?.id, server?.problem]).toEqual(["shop", undefined]);
});
