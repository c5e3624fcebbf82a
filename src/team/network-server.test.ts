import { beforeEach, expect, test } from "vitest";
import { failure } from "../../test/fixtures/failure.ts";
import { onBothEngines } from "../../test/fixtures/store-world.ts";
import { NexusError } from "../errors/nexus-error.ts";
import type { Store } from "../store/store.ts";
import { addNetworkServer } from "./network-server.ts";
import { defineTenantServers } from "./tenant-definitions.ts";

const POSTED = "A server definition posted to a gateway ran a command";
const SSRF = "SSRF through URLs, redirects, OAuth discovery, $ref, imported documents";

const url = "https://example.com/mcp";
const HERE = { home: "/", platform: process.platform };

onBothEngines("servers that are added over the network", (world) => {
  let store: Store;
  beforeEach(async () => {
    store = await world().openStore();
    await store.tenants.create("shop");
    await store.tenants.create("bank");
  });

  const add = (entry: object, tenant = "shop") =>
    addNetworkServer(store, tenant, { name: "posted", entry: entry as Record<string, unknown> });

  test(`${POSTED}: entries with a command, a file or a tool file are refused and not stored`, async () => {
    const entries = [
      { command: "sh", args: ["-c", "id"] },
      { url, command: "sh" },
      { transport: { command: "sh" } },
      { url, env: { A: "b" } },
      { url, ca: "/etc/hostname" },
      { api: "/srv/shop.nexus.yaml" },
    ];
    for (const entry of entries)
      expect(await failure(add(entry)), JSON.stringify(entry)).toMatchObject({ code: "DENIED" });
    expect((await store.servers("shop").list()).servers).toEqual([]);
  });

  test(`${SSRF}: internal addresses are refused and not stored, whatever the entry allows`, async () => {
    const addresses = [
      "127.0.0.1:8080",
      "localhost",
      "[::1]",
      "10.0.0.1",
      "169.254.169.254",
      "0x7f.1",
      "[::ffff:10.0.0.1]",
    ];
    for (const address of addresses) {
      const entry = { url: `http://${address}/mcp`, public_only: { allow: [address] } };
      expect(await failure(add(entry)), address).toMatchObject({
        code: "ADDRESS_REFUSED",
        hint: expect.stringContaining("The operator of the gateway can add it") as string,
      });
    }
    expect((await store.servers("shop").list()).servers).toEqual([]);
  });

  test("invalid entries are refused, and so are tenants that do not exist or that have configuration files", async () => {
    expect(await failure(add({}))).toMatchObject({ code: "CONFIG_INVALID" });
    expect(await failure(add({ url: "example" }))).toMatchObject({ code: "CONFIG_INVALID" });
    expect(await failure(add({ url: "ftp://example.com/" }))).toMatchObject({ code: "ADDRESS_REFUSED" });
    expect(await failure(add({ url }, "nobody"))).toMatchObject({ code: "NAME_UNKNOWN" });
    expect(await failure(add({ url }, "default"))).toMatchObject({ code: "DENIED" });
  });

  test("a public address is stored, also before the secret that it needs", async () => {
    await add({ url, headers: { authorization: "Bearer ${secret:token}" } });
    const define = () =>
      defineTenantServers(store.servers("shop"), { ...HERE, variables: {}, secrets: store.secrets("shop") });
    expect((await define())[0]?.problem?.message).toContain('the secret "token" is not stored');
    await store.secrets("shop").set("token", "for-the-test");
    const [server] = await define();
    expect(server?.entry?.reach).toMatchObject({ url, headers: { authorization: "Bearer for-the-test" } });
    expect(server?.entry?.network).toMatchObject({ publicOnly: { allow: [] } });
  });

  test("while the database does not give a secret, nothing is said about the servers that need it", async () => {
    await add({ url, headers: { authorization: "Bearer ${secret:token}" } });
    const away = { get: () => Promise.reject(new NexusError("STORE_UNAVAILABLE", "The database is not available")) };
    const defining = defineTenantServers(store.servers("shop"), { ...HERE, variables: {}, secrets: away });
    expect(await failure(defining)).toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  test(`${POSTED}: what got into the store in another way has no effect either when it is opened`, async () => {
    const servers = store.servers("shop");
    await servers.put({ name: "shell", entry: { command: "sh" }, origin: "network" });
    await servers.put({ name: "inside", entry: { url: "http://127.0.0.1:1/mcp" }, origin: "network" });
    await servers.put({ name: "reader", entry: { url, headers: { a: "${TOKEN}" } }, origin: "network" });
    const variables = { TOKEN: "hidden value" };
    const defined = await defineTenantServers(servers, { ...HERE, variables, secrets: store.secrets("shop") });
    const [inside, reader, shell] = defined;
    expect(shell).toMatchObject({ id: "shell", problem: { code: "DENIED" } });
    expect(shell?.entry).toBeUndefined();
    expect(inside?.entry?.network).toMatchObject({ publicOnly: { allow: [] } });
    expect(reader?.entry).toBeUndefined();
    expect(JSON.stringify(defined)).not.toContain("hidden value");
  });

  test("a secret is found by the entries of its own tenant only, from wherever they came", async () => {
    await store.secrets("bank").set("pin", "secret of the bank");
    await store.secrets("bank").set("files.pin", "secret of the bank");
    await store.secrets("default").set("pin", "secret of the operator");
    const servers = store.servers("shop");
    for (const origin of ["local", "network"] as const) {
      const headers = { a: "${secret:pin}", b: "${secret:files.pin:-none}", c: "${pin:-none}", d: "${env:pin:-none}" };
      await servers.put({ name: origin, entry: { url, headers }, origin });
    }
    const defined = await defineTenantServers(servers, { ...HERE, variables: {}, secrets: store.secrets("shop") });
    expect(defined.map(({ problem }) => problem?.message)).toEqual([
      'Server "local": the secret "pin" is not stored',
      'Server "network": the secret "pin" is not stored',
    ]);
    expect(JSON.stringify(defined)).not.toContain("secret of");
    await store.secrets("shop").set("pin", "secret of the shop");
    const again = await defineTenantServers(servers, { ...HERE, variables: {}, secrets: store.secrets("shop") });
    const headers = { a: "secret of the shop", b: "none", c: "none", d: "none" };
    for (const { entry } of again) expect(entry?.reach).toMatchObject({ headers });
  });
});
