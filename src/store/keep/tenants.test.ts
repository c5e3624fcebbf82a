import { sql } from "kysely";
import { expect, inject, test } from "vitest";
import { onBothEngines, StoreWorld } from "../../../test/fixtures/store-world.ts";
import type { NewApiKey } from "./api-keys.ts";

const KEY: NewApiKey = {
  tenant: "shop",
  name: "ada",
  role: "caller",
  grants: { allow: ["*"], deny: [], readOnly: false },
};

onBothEngines("tenants of a store", (world) => {
  test("nothing can be stored for a tenant that was removed, and the error says so", async () => {
    const store = await world().openStore();
    await store.tenants.create("shop");
    const [secrets, writes] = [
      store.secrets("shop"),
      store.writes({ tenant: "shop", server: "s", instance: "default" }),
    ];
    await secrets.set("pin", "4711");
    expect(await store.tenants.remove("shop")).toBe(true);
    expect(await store.tenants.remove("shop")).toBe(false);
    const unknown = { code: "NAME_UNKNOWN", hint: expect.stringContaining("{listTenants}") };
    await expect(secrets.set("pin", "4711")).rejects.toMatchObject(unknown);
    await expect(writes.begin("a", 9e15)).rejects.toMatchObject(unknown);
    await expect(store.keys.create(KEY)).rejects.toMatchObject(unknown);
    expect(await secrets.list()).toEqual({ secrets: [], unreadable: 0 });
  });
});

test.skipIf(inject("postgres") === "")(
  "a key that is created while its tenant is removed is removed with it",
  async () => {
    await using world = await StoreWorld.open("postgres");
    const store = await world.openStore();
    const { db } = store.engine;
    await store.tenants.create("shop");
    await store.keys.create(KEY);
    const row = await db.deleteFrom("nexus_api_keys").returningAll().executeTakeFirstOrThrow();
    let removing: Promise<boolean> | undefined;
    await db.transaction().execute(async (transaction) => {
      await transaction.insertInto("nexus_api_keys").values(row).execute();
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction);
      removing = store.tenants.remove("shop");
      const waiting = sql<{ count: number }>`select count(*) as count from pg_stat_activity
      where ${rows[0]?.pid} = any(pg_blocking_pids(pid))`;
      await expect.poll(async () => (await waiting.execute(db)).rows[0]?.count).toBe(1);
    });
    expect(await removing).toBe(true);
    expect(await store.keys.count()).toBe(0);
    expect(await store.tenants.find("shop")).toBeUndefined();
  },
);
