import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connect, type Client } from "../../../src/index.ts";
import { failure } from "../../fixtures/failure.ts";
import { NexusWorld, type Ran } from "../../fixtures/nexus.ts";
import { startHttpFixture, type HttpFixture } from "../../fixtures/servers/http-fixture.ts";
import { addressOf, onBothEngines } from "../../fixtures/store-world.ts";
import type { Store } from "../../../src/store/store.ts";

const MASTER = Buffer.alloc(32, 9).toString("base64");
/** A change is noticed within a second; a busy machine takes longer. */
const SOON = { timeout: 60_000, interval: 50 };

onBothEngines("nexus serve with tenants", (world) => {
  let nexus: NexusWorld;
  let fixture: HttpFixture;
  let store: Store;
  let database: string;
  let clients: Client[];

  beforeEach(async () => {
    nexus = await NexusWorld.open();
    fixture = await startHttpFixture();
    database = await world().newAddressText();
    const masterKey = world().keyIn("state", { NEXUS_MASTER_KEY: MASTER });
    store = await world().openStore({ address: addressOf(database), masterKey });
    clients = [];
    await nexus.configure({ own: { url: fixture.url } });
  });
  afterEach(async () => {
    await Promise.allSettled(clients.map((client) => client.close()));
    await nexus[Symbol.asyncDispose]();
    await fixture.close();
  });

  const run = (...args: string[]): Promise<Ran> =>
    nexus.run(args, { env: { NEXUS_DATABASE: database, NEXUS_MASTER_KEY: MASTER } });

  async function serve(): Promise<{ url: string; end: () => Promise<string> }> {
    const { child, output } = nexus.start(["serve", "--port", "0", "--json", "--verbose"], {
      env: { NEXUS_DATABASE: database, NEXUS_MASTER_KEY: MASTER },
    });
    await expect.poll(() => output.stdout).toContain("\n");
    const { url } = JSON.parse(output.stdout) as { url: string };
    const end = async () => {
      child.kill("SIGTERM");
      expect(await once(child, "close")).toEqual([0, null]);
      return output.stderr;
    };
    return { url, end };
  }

  async function caller(url: string, tenant: string): Promise<Client> {
    const grants = { allow: ["*"], deny: [], readOnly: false };
    const { key } = await store.keys.create({ tenant, name: "caller", role: "caller", grants });
    const client = await connect({ url, headers: { authorization: `Bearer ${key}` } });
    clients.push(client);
    return client;
  }

  /** The servers whose tools a caller sees. */
  const serversOf = async (client: Client) => {
    const { tools } = (await client.request("tools/list")) as unknown as { tools: { name: string }[] };
    return [...new Set(tools.map(({ name }) => name.split("__")[0] ?? ""))].toSorted();
  };
  const put = (tenant: string, name: string) =>
    store.servers(tenant).put({ name, entry: { url: fixture.url }, origin: "local" });

  test("each tenant has its own servers, which come and go while it runs; a removed tenant is gone (B2)", async () => {
    for (const tenant of ["shop", "bank"]) await store.tenants.create(tenant);
    await put("shop", "goods");
    const added = await run("mcp", "add", "vault", "--tenant", "bank", "--url", fixture.url);
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining("It works") });
    const { url, end } = await serve();
    const [operator, shop, bank] = [
      await caller(url, "default"),
      await caller(url, "shop"),
      await caller(url, "bank"),
    ] as const;
    expect(await serversOf(operator)).toEqual(["own"]);
    expect(await serversOf(shop)).toEqual(["goods"]);
    expect(await serversOf(bank)).toEqual(["vault"]);
    expect((await shop.callTool("goods__echo", { text: "hi" })).content).toMatchObject([{ text: "hi" }]);
    for (const name of ["vault__echo", "own__echo"]) {
      expect((await failure(shop.callTool(name, { text: "hi" }))).message).toMatch(/There is no tool/);
    }

    await put("shop", "parcels");
    await expect.poll(() => serversOf(shop), SOON).toEqual(["goods", "parcels"]);
    await run("mcp", "disable", "goods", "--tenant", "shop");
    await expect.poll(() => serversOf(shop), SOON).toEqual(["parcels"]);
    await run("mcp", "enable", "goods", "--tenant", "shop");
    await run("mcp", "remove", "parcels", "--tenant", "shop");
    await expect.poll(() => serversOf(shop), SOON).toEqual(["goods"]);
    expect(await serversOf(bank)).toEqual(["vault"]);

    await run("tenants", "remove", "shop", "--yes");
    const outcome = () =>
      shop.request("tools/list").then(
        () => "served",
        ({ code }: { code: string }) => code,
      );
    await expect.poll(outcome, SOON).toBe("AUTH_REQUIRED");
    expect(await serversOf(bank)).toEqual(["vault"]);
    const log = await end();
    expect(log).toMatch(/the tenant was opened.*"shop"/);
    expect(log).toMatch(/the tenant was removed.*"shop"/);
    expect(log).not.toContain("nxs_");
  });

  test("a server that fails is reported under the name of its tenant", async () => {
    await store.tenants.create("shop");
    await store.servers("shop").put({
      name: "lost",
      entry: { url: fixture.url, headers: { authorization: "${secret:missing}" } },
      origin: "local",
    });
    const { url, end } = await serve();
    const shop = await caller(url, "shop");
    expect(await serversOf(shop)).toEqual([]);
    await store.secrets("shop").set("missing", "for-the-test");
    await expect.poll(() => serversOf(shop), SOON).toEqual(["lost"]);
    const log = await end();
    expect(log).toContain("shop/lost: failed");
    expect(log).toContain("nexus secrets set missing --tenant shop");
    expect(log).not.toContain("for-the-test");
  });
});
