import { once } from "node:events";
import { Agent } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Store } from "../../../src/store/store.ts";
import { isFull } from "../../fixtures/depth.ts";
import { modern, send } from "../../fixtures/gateway/wire.ts";
import { NexusWorld } from "../../fixtures/nexus.ts";
import { addressOf, onBothEngines } from "../../fixtures/store-world.ts";

const MASTER = { NEXUS_MASTER_KEY: Buffer.alloc(32, 5).toString("base64") };
const CALLS = Number(process.env["NEXUS_AUDIT_CALLS"] ?? (isFull ? 1_000 : 300));
const CRASHES = Number(process.env["NEXUS_AUDIT_CRASHES"] ?? (isFull ? 2 : 1));
const CALLERS = 24;
const WAIT = { timeout: 60_000, interval: 20 };

onBothEngines("the audit after a crash", (world) => {
  async function serve(nexus: NexusWorld, database: string) {
    const config = await nexus.write("audit.json", { gateway: { audit: { onFailure: "closed" } } });
    const args = ["serve", "--demo", "--port", "0", "--json", "--config", config, "--database", database];
    const { child, output } = nexus.start(args, { env: MASTER });
    await expect.poll(() => output.stdout, WAIT).toContain("\n");
    return { child, url: (JSON.parse(output.stdout) as { url: string }).url };
  }

  /** The correlation ids of the calls that were answered, until there are so many, or the gateway is gone. */
  async function callAll(url: string, count: number, onAnswer: (answered: number) => void): Promise<string[]> {
    const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
    const answered: string[] = [];
    let asked = 0;
    const request = { ...modern("tools/call", { name: "demo__echo", arguments: { text: "a" } }), agent };
    const call = async () => {
      while (asked++ < count) {
        const { json } = await send(url, request);
        answered.push(String(json.result?._meta?.["dev.nexus/correlationId"]));
        onAnswer(answered.length);
      }
    };
    await Promise.allSettled(Array.from({ length: CALLERS }, call));
    agent.destroy();
    return answered;
  }

  async function recorded(store: Store): Promise<Set<string>> {
    const ids = new Set<string>();
    for await (const lines of store.audit.lines("default")) {
      for (const [, id = ""] of lines.matchAll(/"correlationId":"([^"]*)"/g)) ids.add(id);
    }
    return ids;
  }

  /** Calls a gateway until it is killed, at a random moment. */
  async function callUntilKilled({ child, url }: Awaited<ReturnType<typeof serve>>, count: number): Promise<string[]> {
    const ended = once(child, "close");
    const killAt = Math.ceil(count * (0.1 + 0.8 * Math.random()));
    const kill = async () => {
      // In the middle of something.
      for (let turn = Math.floor(Math.random() * 10); turn > 0; turn--) await nextTurn();
      child.kill("SIGKILL");
    };
    const answered = await callAll(url, count, (so) => void (so === killAt && kill()));
    await ended;
    expect(answered.length).toBeGreaterThanOrEqual(killAt);
    return answered;
  }

  test(
    `closed: two gateways write one chain, and every answered call is in it after SIGKILL at random moments of ${CALLS} calls, ${CRASHES} times`,
    { timeout: 120_000 + CRASHES * CALLS * 20 },
    async () => {
      await using nexus = await NexusWorld.open();
      const database = await world().newAddressText();
      const masterKey = world().keyIn("audit", MASTER);
      const all: string[] = [];
      for (let crash = 0; crash < CRASHES; crash++) {
        const gateways = await Promise.all([serve(nexus, database), serve(nexus, database)]);
        const answered = await Promise.all(gateways.map((gateway) => callUntilKilled(gateway, CALLS / 2)));
        all.push(...answered.flat());
        const verified = await nexus.run(["audit", "verify", "--database", database], { env: MASTER });
        expect(verified).toMatchObject({ code: 0 });
      }
      const store = await world().openStore({ address: addressOf(database), masterKey });
      const ids = await recorded(store);
      expect(all.filter((id) => !ids.has(id))).toEqual([]);
    },
  );
});
