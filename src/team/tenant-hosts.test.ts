import { afterEach, beforeEach, expect, test } from "vitest";
import { startHttpFixture, type HttpFixture } from "../../test/fixtures/servers/http-fixture.ts";
import { failure } from "../../test/fixtures/failure.ts";
import { onBothEngines } from "../../test/fixtures/store-world.ts";
import { Host, NexusError } from "../index.ts";
import type { DatabaseAddress } from "../store/engine/database-address.ts";
import type { Store } from "../store/store.ts";
import { SILENT } from "../text/logger.ts";
import { defineTenantServers } from "./tenant-definitions.ts";
import { TenantHosts } from "./tenant-hosts.ts";

/** A change is noticed within a second; a busy machine takes longer. */
const SOON = { timeout: 60_000, interval: 20 };

onBothEngines("hosts of tenants", (world) => {
  let store: Store;
  let address: DatabaseAddress;
  let fixture: HttpFixture;
  let tenants: TenantHosts;
  /** How many more times the database does not answer. */
  let away = 0;
  const hosts: Host[] = [];
  const removed: string[] = [];
  const warnings: string[] = [];

  beforeEach(async () => {
    address = await world().newAddress();
    store = await world().openStore({ address });
    await store.tenants.create("shop");
    fixture = await startHttpFixture();
    tenants = await TenantHosts.follow({
      store,
      logger: { ...SILENT, warn: (message) => void warnings.push(message) },
      start: async (tenant) => {
        const host = await Host.open({ servers: {}, tenant, stateFolder: `${world().folder}/${tenant}` });
        hosts.push(host);
        return host;
      },
      define: async (tenant) => {
        if (away > 0) throw new NexusError("STORE_UNAVAILABLE", `The database is away (${away--})`);
        const secrets = store.secrets(tenant);
        const here = { home: world().folder, platform: process.platform, variables: {} };
        return defineTenantServers(store.servers(tenant), { ...here, secrets });
      },
    });
    tenants.onRemoved((tenant) => removed.push(tenant));
  });
  afterEach(async () => {
    tenants[Symbol.dispose]();
    await Promise.all(hosts.splice(0).map((host) => host.close()));
    await fixture.close();
    removed.length = 0;
    warnings.length = 0;
  });

  const put = (name: string, more: object = {}) =>
    store.servers("shop").put({ name, entry: { url: fixture.url, ...more }, origin: "local" }, { replace: true });
  const states = (host: Host) => Object.fromEntries(host.servers().map(({ id, state }) => [id, state.kind]));

  test("the servers of a tenant follow the store, and unchanged ones keep their connections", async () => {
    await put("first");
    const host = await tenants.open("shop");
    await host.ready();
    expect(states(host)).toEqual({ first: "ready" });
    const connection = host.find("first")?.state;

    // By another process.
    const other = await world().openStore({ address });
    await other.servers("shop").put({ name: "second", entry: { url: fixture.url }, origin: "local" });
    await expect.poll(() => states(host), SOON).toEqual({ first: "ready", second: "ready" });
    expect(host.find("first")?.state).toBe(connection);

    await other.servers("shop").enable("second", false);
    await expect.poll(() => states(host), SOON).toEqual({ first: "ready", second: "disabled" });
    await other.servers("shop").remove("second");
    await expect.poll(() => states(host), SOON).toEqual({ first: "ready" });
    await put("first", { prefix: "other" });
    await expect.poll(() => host.find("first")?.definition.prefix, SOON).toBe("other");
    expect(host.find("first")?.state).not.toBe(connection);
  });

  test("a server that needs a secret starts when it is stored", async () => {
    await put("careful", { headers: { "x-token": "${secret:token}" } });
    const host = await tenants.open("shop");
    expect(states(host)).toEqual({ careful: "failed" });
    await store.secrets("shop").set("token", "for-the-test");
    await expect.poll(() => states(host), SOON).toEqual({ careful: "ready" });
  });

  test("while the database is away the servers go on as they were; the change is applied when it is back", async () => {
    away = 1;
    expect(await failure(tenants.open("shop"))).toMatchObject({ code: "STORE_UNAVAILABLE" });
    await expect(hosts[0]?.setServers({})).rejects.toMatchObject({ code: "CLOSED" });
    await put("first");
    const host = await tenants.open("shop");
    away = 2;
    await put("second");
    await expect.poll(() => warnings.length, SOON).toBe(1);
    expect(Object.keys(states(host))).toEqual(["first"]);
    await expect.poll(() => Object.keys(states(host)), SOON).toEqual(["first", "second"]);
    expect(warnings).toHaveLength(1);
  });

  test("a removed tenant is reported while it is open, and cannot be opened again", async () => {
    await tenants.open("shop");
    await store.tenants.remove("shop");
    await expect.poll(() => removed, SOON).toEqual(["shop"]);
    expect(await failure(tenants.open("shop"))).toMatchObject({ code: "NAME_UNKNOWN" });
    expect(hosts.length).toBe(2);
  });

  test("a host that was closed meanwhile is not followed any more", async () => {
    const host = await tenants.open("shop");
    await host.close();
    await put("first");
    const again = await tenants.open("shop");
    expect(Object.keys(states(again))).toEqual(["first"]);
    await put("second");
    await expect.poll(() => Object.keys(states(again)), SOON).toEqual(["first", "second"]);
    expect(warnings).toEqual([]);
  });
});
