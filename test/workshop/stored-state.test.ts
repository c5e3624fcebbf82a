import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { storedState } from "../../src/compose/stored-state.ts";
import { trustStore } from "../../src/host/servers/load-options.ts";
import { Host } from "../../src/host/host.ts";
import type { CallToolResult } from "../../src/protocol/mcp.ts";
import { readEnvironment } from "../../src/environment.ts";
import type { DatabaseAddress } from "../../src/store/engine/database-address.ts";
import { startFake, type Fake } from "../../src/workshop/fake/fake.ts";
import { exampleSettings } from "../../src/workshop/run/setting-values.ts";
import { exampleFile } from "../fixtures/workshop/example.ts";
import { NexusWorld } from "../fixtures/nexus.ts";
import { addressOf, onBothEngines } from "../fixtures/store-world.ts";
import { booking } from "./capcorn/capcorn-stay.ts";

const SECRETS = { user: "partner", password: "word", system: "21", "pin-9100": "k-81-k" };
const FILE = fileURLToPath(new URL("../../api/capcorn/capcorn.nexus.yaml", import.meta.url));
const MASTER = Buffer.alloc(32, 3).toString("base64");

onBothEngines("the servers of tool files on a database", (world) => {
  let fake: Fake;
  let text: string;
  let address: DatabaseAddress;
  let entry: { api: string; upstream: string; settings: Record<string, string> };
  const hosts: Host[] = [];

  beforeEach(async () => {
    const file = structuredClone(await exampleFile("capcorn"));
    file.fake.secrets = SECRETS;
    fake = await startFake(file);
    entry = { api: FILE, upstream: fake.url, settings: exampleSettings(file) };
    text = await world().newAddressText();
    address = addressOf(text);
  });
  afterEach(async () => {
    await Promise.all(hosts.splice(0).map((host) => host.close()));
    await fake.close();
  });

  const openStore = () =>
    world().openStore({ address, masterKey: world().keyIn("state", { NEXUS_MASTER_KEY: MASTER }) });

  /** The host of a tenant as in a process of its own: with its own connections, and its own folder. */
  async function openHost(tenant: string): Promise<Host> {
    const store = await openStore();
    const surroundings = readEnvironment();
    const stateFolder = join(world().folder, `state${hosts.length}`);
    const state = storedState(store, tenant, trustStore(surroundings, stateFolder));
    const host = await Host.start({ servers: { capcorn: entry }, stateFolder, ...state }, surroundings);
    hosts.push(host);
    return host;
  }

  async function storeSecrets(tenant: string): Promise<void> {
    const secrets = (await openStore()).secrets(tenant);
    const origin = new URL(fake.url).origin;
    for (const [name, value] of Object.entries(SECRETS)) await secrets.set(`capcorn.${name}`, value, [origin]);
  }

  const book = async (host: Host, reference: string) => {
    const { content }: CallToolResult = await host.callTool("capcorn.create_reservation", booking({ reference }));
    return content.map((part) => part.text).join("\n");
  };
  const sent = () => fake.requests.filter(({ tool }) => tool === "create_reservation").length;

  test("X15: two gateways send a write once; another tenant has writes and secrets of its own", async () => {
    await (await openStore()).tenants.create("shop");
    await storeSecrets("default");
    const [one, other] = [await openHost("default"), await openHost("default")];
    expect(await book(one, "same")).toContain("Booked");
    expect(await book(other, "same")).toContain("already done");
    expect(sent()).toBe(1);

    const shop = await openHost("shop");
    await expect(book(shop, "same")).resolves.toContain("capcorn.");
    expect(sent()).toBe(1);
    await storeSecrets("shop");
    expect(await book(shop, "same")).toContain("Booked");
    expect(sent()).toBe(2);
  });

  test("writes with unknown outcome are listed and settled by tenant", async () => {
    await using nexus = await NexusWorld.open();
    const env = { NEXUS_DATABASE: text, NEXUS_MASTER_KEY: MASTER };
    const run = (...args: string[]) => nexus.run([...args, "--json"], { env });
    const store = await openStore();
    await store.tenants.create("shop");
    const ids = { default: "AAAA", shop: "BBBB" };
    for (const [tenant, id] of Object.entries(ids)) {
      const ledger = store.writes({ tenant, server: "capcorn", instance: "default" });
      await ledger.settle(id, { kind: "unknown" });
    }
    const items = async (...args: string[]) =>
      (JSON.parse((await run("api", "writes", ...args)).stdout) as { items: { id: string }[] }).items.map(
        ({ id }) => id,
      );
    expect(await items()).toEqual(["AAAA"]);
    expect(await items("--tenant", "shop")).toEqual(["BBBB"]);
    expect((await run("api", "settle", "BBBB", "--happened", "yes")).code).toBe(6);
    expect((await run("api", "settle", "BBBB", "--happened", "yes", "--tenant", "shop")).code).toBe(0);
    expect([await items(), await items("--tenant", "shop")]).toEqual([["AAAA"], []]);
  });
});
