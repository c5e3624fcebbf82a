import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { once } from "node:events";
import { connect } from "../../../src/index.ts";
import { NexusWorld } from "../../fixtures/nexus.ts";
import { addressOf, StoreWorld } from "../../fixtures/store-world.ts";
import { publishShop, ShopUpstream } from "./version-world.ts";

const WAIT = { timeout: 40_000, interval: 50 };
const MASTER = Buffer.alloc(32, 5).toString("base64");

let stores: StoreWorld;
let upstream: ShopUpstream;
beforeAll(async () => {
  stores = await StoreWorld.open(inject("postgres") === "" ? "sqlite" : "postgres");
  upstream = await ShopUpstream.open();
});
afterAll(async () => {
  await upstream?.[Symbol.asyncDispose]();
  await stores?.[Symbol.asyncDispose]();
});

test("X15: a gateway that is killed between two publications serves the newest one when it starts again", async () => {
  await using nexus = await NexusWorld.open();
  const text = await stores.newAddressText();
  const env = { NEXUS_DATABASE: text, NEXUS_MASTER_KEY: MASTER };
  const masterKey = stores.keyIn("key", { NEXUS_MASTER_KEY: MASTER });
  const store = await stores.openStore({ address: addressOf(text), masterKey });
  const start = async () => {
    const { child, output } = nexus.start(["serve", "--port", "0", "--json"], { env });
    await vi.waitFor(() => expect(output.stdout, output.stderr).toContain('"url"'), WAIT);
    const { url } = JSON.parse(output.stdout) as { url: string };
    return { child, url: new URL("/servers/shop/mcp", url).href };
  };
  const publish = (version: string) => publishShop(store, { version, upstream: upstream.url });
  const found = async (url: string) => {
    await using client = await connect({ url });
    await client.listTools();
    return JSON.stringify(await client.callTool("find", { text: "x" }));
  };

  const [one, other] = [await start(), await start()];
  await publish("1.0.0");
  for (const { url } of [one, other]) {
    await vi.waitFor(async () => expect(await found(url)).toContain("Found by v1."), WAIT);
  }
  one.child.kill("SIGKILL");
  await once(one.child, "close");
  await publish("2.0.0");
  await vi.waitFor(async () => expect(await found(other.url)).toContain("Found by v2."), WAIT);
  const again = await start();
  expect(await found(again.url)).toContain("Found by v2.");
  await publish("1.0.0");
  for (const { url } of [again, other]) {
    await vi.waitFor(async () => expect(await found(url)).toContain("Found by v1."), WAIT);
  }
});
