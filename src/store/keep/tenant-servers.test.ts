import { sql } from "kysely";
import { beforeEach, expect, test } from "vitest";
import { onBothEngines } from "../../../test/fixtures/store-world.ts";
import { checkStore } from "../check.ts";
import { backUp, restore } from "../backup.ts";
import type { Store } from "../store.ts";
import { SILENT } from "../../text/logger.ts";
import type { TenantServer } from "./tenant-servers.ts";

const DOCS: TenantServer = {
  name: "docs",
  entry: { url: "https://docs.example/mcp", headers: { authorization: "Bearer not-a-real-token" } },
  origin: "network",
};
const FILES: TenantServer = { name: "My Files", entry: { command: "files", args: ["."] }, origin: "local" };

onBothEngines("servers of tenants", (world) => {
  let store: Store;
  beforeEach(async () => {
    store = await world().openStore();
    await store.tenants.create("shop");
    await store.tenants.create("bank");
  });

  const generation = async () => {
    const { rows } = await sql<{
      value: number;
    }>`select value from nexus_generations where topic = 'servers'`.execute(store.engine.db);
    return rows[0]?.value ?? 0;
  };

  test("a server is found under its name and its id, by its own tenant only", async () => {
    const servers = store.servers("shop");
    await servers.put(FILES);
    await servers.put(DOCS);
    expect(await servers.list()).toEqual({ servers: [FILES, DOCS], unreadable: [] });
    expect(await servers.find("my-files")).toEqual(FILES);
    expect(await servers.find("My Files")).toEqual(FILES);
    expect(await store.servers("bank").list()).toEqual({ servers: [], unreadable: [] });
    expect(await store.servers("bank").find("docs")).toBeUndefined();
    expect(await store.servers("bank").remove("docs")).toBe(false);
    expect(await servers.find("docs")).toEqual(DOCS);
  });

  test("a server is replaced only if that was asked for, also under another name with the same id", async () => {
    const servers = store.servers("shop");
    await servers.put(FILES);
    const other = { ...FILES, name: "my files", entry: { command: "other" } };
    await expect(servers.put(other)).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
      message: 'The tenant "shop" already has a server "my-files"',
    });
    expect((await servers.list()).servers).toEqual([FILES]);
    await servers.put(other, { replace: true });
    expect((await servers.list()).servers).toEqual([other]);
  });

  test("a tenant that does not exist has no servers, and none can be added", async () => {
    await expect(store.servers("nobody").put(DOCS)).rejects.toMatchObject({
      code: "NAME_UNKNOWN",
      hint: expect.stringContaining("{createTenant name=nobody}"),
    });
    expect(await store.servers("nobody").list()).toEqual({ servers: [], unreadable: [] });
  });

  test("a server is disabled and enabled in its entry, and removed", async () => {
    const servers = store.servers("shop");
    await servers.put({ ...DOCS, entry: { ...DOCS.entry, disabled: true } });
    expect((await servers.enable("docs", true))?.entry["disabled"]).toBe(true);
    expect(await servers.find("docs")).toEqual(DOCS);
    await servers.enable("docs", false);
    expect((await servers.find("docs"))?.entry).toEqual({ ...DOCS.entry, enabled: false });
    expect(await servers.enable("other", true)).toBeUndefined();
    expect(await servers.remove("docs")).toBe(true);
    expect(await servers.remove("docs")).toBe(false);
    expect(await servers.find("docs")).toBeUndefined();
  });

  test("every change is announced, and what changes nothing is not", async () => {
    const servers = store.servers("shop");
    const before = await generation();
    await servers.put(DOCS);
    await servers.enable("docs", false);
    await servers.remove("docs");
    expect(await generation()).toBe(before + 3);
    await servers.remove("docs");
    await servers.enable("docs", true);
    await servers.put(DOCS).then(() => servers.put(DOCS).catch(() => {}));
    expect(await generation()).toBe(before + 4);
  });

  test("entries are encrypted, and their origin cannot be changed in the database", async () => {
    const servers = store.servers("shop");
    await servers.put(DOCS);
    const { rows } = await sql<Record<string, unknown>>`select * from nexus_servers`.execute(store.engine.db);
    const stored = JSON.stringify(rows);
    for (const hidden of ["docs.example", "not-a-real-token"]) expect(stored).not.toContain(hidden);
    await sql`update nexus_servers set origin = 'local'`.execute(store.engine.db);
    expect((await servers.find("docs"))?.origin).toBe("network");
    // Nor can it be given to another tenant.
    await sql`update nexus_servers set tenant = 'bank'`.execute(store.engine.db);
    expect(await store.servers("bank").list()).toEqual({ servers: [], unreadable: ["docs"] });
  });

  test("a removed tenant takes its servers with it", async () => {
    await store.servers("shop").put(DOCS);
    await store.tenants.remove("shop");
    await store.tenants.create("shop");
    expect(await store.servers("shop").list()).toEqual({ servers: [], unreadable: [] });
  });

  test("a check finds entries that cannot be decrypted; the others are still listed", async () => {
    const address = await world().newAddress();
    const other = await world().openStore({ address });
    await other.tenants.create("shop");
    const servers = other.servers("shop");
    await servers.put(DOCS);
    await servers.put(FILES);
    const check = () => checkStore({ address, masterKey: world().masterKey, logger: SILENT });
    expect(await check()).toMatchObject({ damage: [], rows: { nexus_servers: 2 } });
    await sql`update nexus_servers set sealed = 'x' where name = 'My Files'`.execute(other.engine.db);
    expect(await check()).toMatchObject({
      damage: ['nexus_servers: server "my-files" of tenant "shop" cannot be decrypted'],
    });
    expect(await servers.list()).toEqual({ servers: [DOCS], unreadable: ["my-files"] });
    await expect(servers.find("My Files")).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    await servers.put(FILES, { replace: true });
    expect(await check()).toMatchObject({ damage: [] });
  });

  test("a backup contains the servers, and no readable entry", async () => {
    await store.servers("shop").put(DOCS);
    const file = `${world().folder}/nexus.backup`;
    await backUp(store, file);
    const address = await world().newAddress();
    const { masterKey } = world();
    await restore({ file, address, masterKey, logger: SILENT, replace: false });
    const restored = await world().openStore({ address });
    expect(await restored.servers("shop").list()).toEqual({ servers: [DOCS], unreadable: [] });
  });
});
