import { once } from "node:events";
import { Agent } from "node:http";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { isFull } from "../../fixtures/depth.ts";
import { modern, send } from "../../fixtures/gateway/wire.ts";
import { NexusWorld } from "../../fixtures/nexus.ts";
import { hasPostgres, PostgresServer } from "../../fixtures/postgres.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";
import { onBothEngines, StoreWorld } from "../../fixtures/store-world.ts";
import { NexusGateway } from "../../security/nexus-gateway.ts";

const SOON = { timeout: 30_000, interval: 50 };

/** Gateways in processes of their own, on one database. */
class Gateways implements AsyncDisposable {
  readonly #nexus: NexusWorld;
  readonly #database: string;
  readonly #running: NexusGateway[] = [];

  static async open(database: string): Promise<Gateways> {
    const nexus = await NexusWorld.open();
    await nexus.configure({ kit: stdioFixture() });
    return new Gateways(nexus, database);
  }

  private constructor(nexus: NexusWorld, database: string) {
    this.#nexus = nexus;
    this.#database = database;
  }

  async start(): Promise<NexusGateway> {
    const gateway = await NexusGateway.start(this.#nexus, ["--database", this.#database]);
    this.#running.push(gateway);
    return gateway;
  }

  async run(...args: string[]): Promise<{ id: string; key: string }> {
    const { code, stdout, stderr } = await this.#nexus.run([...args, "--database", this.#database, "--json"]);
    expect([code, stderr]).toEqual([0, ""]);
    return JSON.parse(stdout) as { id: string; key: string };
  }

  create(...args: string[]): Promise<{ id: string; key: string }> {
    return this.run("keys", "create", "k", "--allow", "*", ...args);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running.map((gateway) => gateway[Symbol.asyncDispose]()));
    await this.#nexus[Symbol.asyncDispose]();
  }
}

/** How many of so many concurrent requests get through; the others are refused because of the limit. */
async function through(gateways: readonly NexusGateway[], key: string, requests: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const request = { ...modern("tools/list", {}, { headers: { authorization: `Bearer ${key}` } }), agent };
  const answers = await Promise.all(
    Array.from({ length: requests }, async (_, index) => {
      const { url } = gateways[index % gateways.length] ?? {};
      return (await send(url ?? "", request)).status;
    }),
  );
  agent.destroy();
  const [passed, refused] = [200, 429].map((status) => answers.filter((each) => each === status).length);
  expect((passed ?? 0) + (refused ?? 0)).toBe(requests);
  return passed ?? 0;
}

async function kill(gateway: NexusGateway): Promise<void> {
  const ended = once(gateway.child, "close");
  gateway.child.kill("SIGKILL");
  await ended;
}

onBothEngines("limits of a gateway that is started again", (world) => {
  test("X7: the limit of a day holds across a clean stop and a kill, and never lets more through", async () => {
    await using gateways = await Gateways.open(await world().newAddressText());
    const { key } = await gateways.create("--per-day", "12");
    const [first, other] = [await gateways.start(), await gateways.create("--rate", "1000/h")];
    expect(await through([first], key, 4)).toBe(4);
    await first[Symbol.asyncDispose]();
    const second = await gateways.start();
    expect(await through([second], key, 5)).toBe(5);
    await kill(second);
    const third = await gateways.start();
    expect(await through([third], key, 8)).toBe(3);
    expect(await through([third], key, 2)).toBe(0);
    const { json, headers } = await third.post(key, "tools/list");
    expect(json.error?.data).toMatchObject({
      code: "RATE_LIMITED",
      limit: { name: "per-day", max: 12, windowMs: 86_400_000 },
    });
    expect(Number(headers["retry-after"])).toBeGreaterThan(80_000);
    expect(await through([third], other.key, 5)).toBe(5);
  }, 120_000);

  test("X7: limits of a tenant hold for all its keys together, and changes apply while a gateway runs", async () => {
    await using gateways = await Gateways.open(await world().newAddressText());
    const keys = [await gateways.create(), await gateways.create()].map(({ key }) => key);
    const gateway = await gateways.start();
    await gateways.run("tenants", "limit", "default", "--rate", "6/h", "--per-day", "100");
    // Nothing that counts is sent until the limits hold.
    const large = { name: "kit__echo", arguments: { text: "x".repeat(4_000) } };
    await gateways.run("tenants", "limit", "default", "--max-request", "2kB");
    await expect.poll(async () => (await gateway.post(keys[0], "tools/call", large)).status, SOON).toBe(413);
    const used = await Promise.all(keys.map((key) => through([gateway], key, 8)));
    const before = used.reduce((sum, count) => sum + count, 0);
    expect(before).toBeLessThanOrEqual(6);
    const { json } = await gateway.post(keys[1], "tools/list");
    expect(json.error).toMatchObject({
      message: expect.stringContaining("The limit of this tenant is reached: 6 requests per hour"),
      data: { limit: { name: "tenant-rate", max: 6, windowMs: 3_600_000 } },
    });
    await gateways.run("tenants", "limit", "default", "--rate", "none");
    await expect.poll(async () => (await gateway.post(keys[1], "tools/list")).status, SOON).toBe(200);
  }, 120_000);
});

const hasShared = inject("postgres") !== "";

describe.each(hasShared ? (["sqlite", "postgres"] as const) : (["sqlite"] as const))(
  `limits of two gateways on one database (%s${hasShared ? "" : "; PostgreSQL is not installed: not tried"})`,
  (kind) => {
    let stores: StoreWorld;
    let gateways: Gateways;
    let both: NexusGateway[];
    beforeAll(async () => {
      stores = await StoreWorld.open(kind);
      gateways = await Gateways.open(await stores.newAddressText());
      both = [await gateways.start(), await gateways.start()];
    });
    afterAll(async () => {
      await gateways[Symbol.asyncDispose]();
      await stores[Symbol.asyncDispose]();
    });

    test("X7: a limit of 100 lets exactly 100 of 1,000 concurrent requests through", async () => {
      const { key } = await gateways.create("--rate", "100/h");
      expect(await through(both, key, 1_000)).toBe(100);
      const day = await gateways.create("--per-day", "30");
      expect(await through(both, day.key, 100)).toBe(30);
    }, 120_000);

    test("X10: small limits of keys and tenants hold for both together, and the answer says when to come again", async () => {
      const { key } = await gateways.create("--rate", "5/h");
      expect(await through(both, key, 10)).toBe(5);
      const once = await gateways.create("--rate", "1/h");
      expect(await through(both, once.key, 6)).toBe(1);
      for (const gateway of both) {
        const { status, headers } = await gateway.post(once.key, "tools/list");
        expect([status, Number(headers["retry-after"]) > 3_400]).toEqual([429, true]);
      }
      await gateways.run("tenants", "create", "shop");
      const keys = [await gateways.create("--tenant", "shop"), await gateways.create("--tenant", "shop")];
      await gateways.run("tenants", "limit", "shop", "--rate", "7/h", "--max-request", "2kB");
      const large = { name: "kit__echo", arguments: { text: "x".repeat(4_000) } };
      for (const gateway of both) {
        await expect.poll(async () => (await gateway.post(keys[0]?.key, "tools/call", large)).status, SOON).toBe(413);
      }
      const used = await Promise.all(keys.map((each) => through(both, each.key, 8)));
      expect(used.reduce((sum, count) => sum + count, 0)).toBe(7);
    }, 120_000);

    test("X7: a limit that is raised leaves room for what was not used, though many were refused", async () => {
      const { id, key } = await gateways.create("--rate", "10/h");
      expect(await through(both, key, 60)).toBe(10);
      await gateways.run("keys", "limit", id, "--rate", "15/h");
      let more = 0;
      await expect.poll(async () => (more += await through(both, key, 4)), SOON).toBe(5);
      expect(await through(both, key, 20)).toBe(0);
    }, 120_000);
  },
);

/** With a database server of its own; what a counter does then is tried without one in stored-counter.test.ts. */
describe.skipIf(!hasPostgres || !isFull)("a gateway whose PostgreSQL is away", () => {
  test("X7: counts alone, refuses what is too much, and counts together again when it is back", async () => {
    await using postgres = await PostgresServer.start();
    await using gateways = await Gateways.open(postgres.url);
    const both = [await gateways.start(), await gateways.start()];
    const { key } = await gateways.create("--rate", "40/h");
    expect(await through(both, key, 10)).toBe(10);
    await postgres.stop();
    for (const gateway of both) expect(await through([gateway], key, 10)).toBe(10);
    const [first] = both;
    expect(await through(first ? [first] : [], key, 60)).toBeLessThanOrEqual(30);
    await postgres.startAgain();
    const statuses = () => Promise.all(both.map(async (each) => (await each.post(key, "tools/list")).status));
    await expect.poll(statuses, SOON).toEqual([429, 429]);
  }, 120_000);
});
