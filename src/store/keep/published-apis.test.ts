import { sql } from "kysely";
import { beforeEach, expect, test } from "vitest";
import { onBothEngines } from "../../../test/fixtures/store-world.ts";
import { publishedVersion } from "../../../test/fixtures/workshop/published-version.ts";
import { SILENT } from "../../text/logger.ts";
import type { ApiInstance } from "../../workshop/publish/published.ts";
import { backUp, restore } from "../backup.ts";
import { checkStore } from "../check.ts";
import type { DatabaseAddress } from "../engine/database-address.ts";
import type { Store } from "../store.ts";
import type { PublishedApis } from "./published-apis.ts";

const LIVE: ApiInstance = {
  api: "shop",
  name: "live",
  server: "shop",
  current: "1.0.0",
  former: [],
  settings: { region: "north" },
  origin: "local",
};

onBothEngines("published APIs", (world) => {
  let store: Store;
  let apis: PublishedApis;
  let address: DatabaseAddress;
  beforeEach(async () => {
    address = await world().newAddress();
    store = await world().openStore({ address });
    await store.tenants.create("team");
    apis = store.apis("team");
  });

  const publish = (of: PublishedApis, version: string, title = "Shop") =>
    of.change(async (changed) => {
      await changed.add(publishedVersion({ version, title }));
      await changed.putInstance({ ...LIVE, current: version });
    });

  const generation = async () => {
    const topic = sql<{ value: number }>`select value from nexus_generations where topic = 'apis'`;
    return (await topic.execute(store.engine.db)).rows[0]?.value ?? 0;
  };

  const damageOf = async () => {
    const checked = await checkStore({ address, masterKey: world().masterKey, logger: SILENT });
    return checked.kind === "checked" ? checked.damage : checked;
  };

  test("a version is read as it was published, by its own tenant only", async () => {
    await publish(apis, "1.0.0");
    expect(await apis.version("shop", "1.0.0")).toEqual(publishedVersion({ version: "1.0.0" }));
    expect(await apis.instance("shop")).toEqual(LIVE);
    expect(await apis.instances()).toEqual({ instances: [LIVE], unreadable: [] });
    expect(await apis.apis()).toEqual(["shop"]);
    const others = store.apis("default");
    expect(await others.version("shop", "1.0.0")).toBeUndefined();
    expect(await others.instances()).toEqual({ instances: [], unreadable: [] });
    await expect(publish(store.apis("nobody"), "1.0.0")).rejects.toMatchObject({ code: "NAME_UNKNOWN" });
  });

  test("versions are in the order of their numbers, and a retired one is not served", async () => {
    for (const version of ["1.10.0", "1.9.0", "2.0.0"]) await publish(apis, version);
    expect((await apis.records("shop")).map(({ version }) => version)).toEqual(["1.9.0", "1.10.0", "2.0.0"]);
    expect(await apis.change((changed) => changed.setState("shop", "1.10.0", "retired"))).toBe(true);
    expect(await apis.change((changed) => changed.setState("shop", "3.0.0", "retired"))).toBe(false);
    expect((await apis.published("shop")).map(({ version }) => version)).toEqual(["1.9.0", "2.0.0"]);
    expect(await apis.version("shop", "1.10.0")).toMatchObject({ state: "retired", text: "nexus: 1" });
  });

  test("a change is announced once, and one that fails changes nothing", async () => {
    const before = await generation();
    await publish(apis, "1.0.0");
    expect(await generation()).toBe(before + 1);
    await expect(publish(apis, "1.0.0")).rejects.toThrow();
    await expect(
      apis.change(async (changed) => {
        await changed.putInstance({ ...LIVE, current: "9.0.0" });
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    expect(await generation()).toBe(before + 1);
    expect(await apis.instance("shop")).toEqual(LIVE);
  });

  test("calls of a version are added up, and the latest time is kept", async () => {
    const use = { server: "shop", api: "shop", version: "1.0.0" };
    await apis.countCalls([{ ...use, calls: 3, at: 2_000 }]);
    await apis.countCalls([
      { ...use, calls: 4, at: 1_000 },
      { ...use, version: "1.1.0", calls: 1, at: 3_000 },
    ]);
    expect(await apis.usage("shop")).toEqual([
      { server: "shop", version: "1.0.0", calls: 7, usedAt: 2_000 },
      { server: "shop", version: "1.1.0", calls: 1, usedAt: 3_000 },
    ]);
    expect(await store.apis("default").usage("shop")).toEqual([]);
  });

  test("who can write to the database cannot have another API served than was published", async () => {
    await publish(apis, "1.0.0");
    await publish(apis, "1.1.0", "Other");
    const { db } = store.engine;
    const rows = await db.selectFrom("nexus_api_versions").selectAll().orderBy("version").execute();
    const [first, second] = rows;
    if (!first || !second) throw new Error("not published");
    const changes: Record<string, Partial<typeof first>> = {
      "the content of another version": { content: second.content },
      "the whole row of another version": { content: second.content, record: second.record, mac: second.mac },
      "another record": { record: first.record.replace("Ada", "Eve") },
      "another state": { record: first.record.replace('"published"', '"retired"') },
      "no signature": { mac: "" },
    };
    for (const [what, change] of Object.entries(changes)) {
      await db.updateTable("nexus_api_versions").set(change).where("id", "=", first.id).execute();
      const refused = { code: "PERMISSION_DENIED", message: expect.stringContaining("was changed in the database") };
      await expect(apis.version("shop", "1.0.0"), what).rejects.toMatchObject(refused);
      expect(await damageOf(), what).toEqual([
        'nexus_api_versions: version 1.0.0 of "shop" was changed (tenant "team")',
      ]);
      await db.updateTable("nexus_api_versions").set(first).where("id", "=", first.id).execute();
    }
    expect(await apis.version("shop", "1.0.0")).toMatchObject({ version: "1.0.0" });
    // A version of one tenant is none of another.
    await db.updateTable("nexus_api_versions").set({ tenant: "default" }).execute();
    expect(await store.apis("default").records("shop")).toEqual([]);
    expect(await store.apis("default").published("shop")).toEqual([]);
    expect(await store.apis("default").numbers("shop")).toEqual(["1.0.0", "1.1.0"]);
  });

  test("an instance that was changed in the database is not served, and does not hide the others", async () => {
    await publish(apis, "1.0.0");
    await apis.change((changed) => changed.putInstance({ ...LIVE, name: "test", server: "shop-test" }));
    const { db } = store.engine;
    const definition = JSON.stringify({ ...LIVE, upstream: "https://evil.example/" });
    await db.updateTable("nexus_api_instances").set({ definition }).where("server", "=", "shop").execute();
    const { instances, unreadable } = await apis.instances();
    expect(instances.map(({ server }) => server)).toEqual(["shop-test"]);
    expect(unreadable).toEqual(["shop"]);
    await expect(apis.instance("shop")).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await damageOf()).toEqual(['nexus_api_instances: server "shop" was changed (tenant "team")']);
    await apis.change((changed) => changed.putInstance(LIVE));
    expect(await damageOf()).toEqual([]);
  });

  test("a backup has the versions, the instances and how much they were used", async () => {
    const versions = ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0"];
    for (const version of versions) await publish(apis, version);
    await apis.countCalls([{ server: "shop", api: "shop", version: "1.0.0", calls: 3, at: 2_000 }]);
    const file = `${world().folder}/backup.gz`;
    await backUp(store, file);
    const other = await world().newAddress();
    await restore({ file, address: other, masterKey: world().masterKey, logger: SILENT, replace: false });
    const again = (await world().openStore({ address: other })).apis("team");
    expect((await again.published("shop")).map(({ version }) => version)).toEqual(versions);
    expect(await again.instance("shop")).toEqual({ ...LIVE, current: "1.4.0" });
    expect(await again.usage("shop")).toHaveLength(1);
  });

  test("a removed tenant takes its published APIs with it", async () => {
    await publish(apis, "1.0.0");
    await apis.countCalls([{ server: "shop", api: "shop", version: "1.0.0", calls: 3, at: 2_000 }]);
    await store.tenants.remove("team");
    await store.tenants.create("team");
    expect(await apis.apis()).toEqual([]);
    expect(await apis.instances()).toEqual({ instances: [], unreadable: [] });
    expect(await apis.usage("shop")).toEqual([]);
  });
});
