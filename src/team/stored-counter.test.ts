import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isFull } from "../../test/fixtures/depth.ts";
import { onBothEngines, StoreWorld } from "../../test/fixtures/store-world.ts";
import type { ExceededLimit } from "../gateway/operation/allowance.ts";
import type { Rates } from "../store/keep/rates.ts";
import { SILENT } from "../text/logger.ts";
import { GrowingPart, StoredCounter, type StoredCounterOptions, type WindowUse } from "./stored-counter.ts";

const HOUR = 3_600_000;
const limit = (max: number, windowMs = HOUR): ExceededLimit => ({ name: "rate", max, windowMs });

/** A counter that asks for each request, unless the options say otherwise. */
function counter(rates: StoredCounterOptions["rates"], max: number, options: Partial<StoredCounterOptions> = {}) {
  const given = { key: "key:k", rates, block: () => 1, isAway: () => false, logger: SILENT, ...options };
  return new StoredCounter(limit(max), given);
}

async function takeEach(counters: readonly StoredCounter[], requests: number): Promise<number> {
  const taken = await Promise.all(
    Array.from({ length: requests }, async (_, index) => counters[index % counters.length]?.take(1) ?? 0),
  );
  return taken.reduce((sum, count) => sum + count, 0);
}

onBothEngines("a counter in the database", (world) => {
  test("is exact for all that share the database", async () => {
    const address = await world().newAddress();
    const [one, other] = [await world().openStore({ address }), await world().openStore({ address })];
    expect(await takeEach([counter(one.rates, 25), counter(other.rates, 25)], 100)).toBe(25);
    expect(await takeEach([counter(one.rates, 25)], 3)).toBe(0);
  });

  test("takes as many of several requests as there is room for", async () => {
    const { rates } = await world().openStore();
    const it = counter(rates, 5);
    expect(await Promise.all([it.take(3), it.take(3), it.take(3)])).toEqual([3, 2, 0]);
  });

  test("that counts ahead gives back what it did not use, and never lets more through when it could not", async () => {
    const address = await world().newAddress();
    const { rates } = await world().openStore({ address });
    const block = () => 10;
    const first = counter(rates, 30, { block });
    expect(await takeEach([first], 12)).toBe(12);
    await first.close();
    expect(await takeEach([counter(rates, 30, { block })], 3)).toBe(3);
    // The last one was killed: seven that it had counted ahead are lost.
    expect(await takeEach([counter(rates, 30, { block })], 30)).toBe(8);
  });

  test("begins again when its window is over", async () => {
    const { rates } = await world().openStore();
    const second = new StoredCounter(limit(2, 1_000), {
      key: "key:s",
      rates,
      block: () => 1,
      isAway: () => false,
      logger: SILENT,
    });
    expect(await takeEach([second], 3)).toBe(2);
    expect(second.retryAfterMs).toBeLessThanOrEqual(1_000);
    await expect.poll(() => second.take(1), { interval: 50, timeout: 20_000 }).toBe(1);
  });
});

test("X10: several processes on one file never let more through, whatever they count ahead, lose or give back", async () => {
  await using world = await StoreWorld.open("sqlite");
  const step = fc.record({
    process: fc.nat({ max: 2 }),
    act: fc.constantFrom("take", "take", "take", "burst", "wait", "end", "crash", "back"),
    amount: fc.integer({ min: 1, max: 40 }),
  });
  const max = fc.constantFrom(1, 5, 60, 1_000);
  let now = Date.parse("2026-01-01");
  const { rates } = await world.openStore({ now: () => now });
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(max, fc.array(step, { maxLength: 40 }), async (most, steps) => {
      now += 10 * HOUR;
      const key = `key:${runs++}`;
      const passed = new Map<number, number>();
      const open = () => {
        const part = new GrowingPart();
        const options = { key, rates, block: (use: WindowUse) => part.next(use), isAway: () => false, logger: SILENT };
        return new StoredCounter(limit(most, 60_000), { ...options, now: () => now });
      };
      const processes = [open(), open(), open()];
      for (const { process, act, amount } of steps) {
        const one = processes[process] ?? open();
        if (act === "wait") now += amount * 1_000;
        // A clock that is set back lets nobody wait for longer than a window.
        if (act === "back") now -= amount * 1_000;
        if (act === "end") await one.close();
        if (act === "end" || act === "crash") processes[process] = open();
        const takes = act === "burst" ? amount : act === "take" ? 1 : 0;
        for (let count = 0; count < takes; count++) {
          const taken = await one.take(count === 0 ? amount : 1);
          expect(one.retryAfterMs).toBeLessThanOrEqual(60_000);
          if (taken > 0) passed.set(one.window, (passed.get(one.window) ?? 0) + taken);
        }
      }
      for (const count of passed.values()) expect(count).toBeLessThanOrEqual(most);
    }),
    { numRuns: isFull ? 200 : 40 },
  );
});

test("X10: a limit that is lowered holds at once, also for what was counted ahead, and a raised one has room again", async () => {
  await using world = await StoreWorld.open("sqlite");
  const { rates } = await world.openStore();
  const [it, other] = [counter(rates, 1_000, { block: () => 200 }), counter(rates, 1_000)];
  expect(await takeEach([it, other], 20)).toBe(20);
  for (const each of [it, other]) each.setMax(25);
  expect(await takeEach([it, other], 300)).toBe(5);
  for (const each of [it, other]) each.setMax(40);
  expect(await takeEach([it, other], 300)).toBe(15);
});

test("X10: a limit that is lowered while the database counts for the old one holds for what was counted", async () => {
  await using world = await StoreWorld.open("sqlite");
  const { rates } = await world.openStore();
  const it = counter(rates, 1_000, { block: () => 200 });
  const first = it.take(1);
  it.setMax(3);
  expect(await first).toBe(1);
  expect(await takeEach([it], 300)).toBe(2);
});

test("X10: what a process counted ahead and does not use is there for others after a second", async () => {
  await using world = await StoreWorld.open("sqlite");
  const { rates } = await world.openStore();
  const idle = counter(rates, 10, { block: () => 8, idleMs: 20 });
  expect(await idle.take(1)).toBe(1);
  const other = () => counter(rates, 10).take(9);
  const taken = await other();
  expect(taken).toBeLessThanOrEqual(9);
  let sum = taken;
  await expect.poll(async () => (sum += await counter(rates, 10).take(9 - sum))).toBe(9);
  expect(await counter(rates, 10).take(1)).toBe(0);
});

test("X10: what another counter refuses is there for other processes after a second", async () => {
  await using world = await StoreWorld.open("sqlite");
  const { rates } = await world.openStore();
  const idle = counter(rates, 1, { idleMs: 20 });
  expect(await idle.take(1)).toBe(1);
  idle.giveBack(1, idle.window);
  await expect.poll(() => counter(rates, 1).take(1)).toBe(1);
  expect(await idle.take(1)).toBe(0);
});

test("a limit costs few writes while one process uses much of it, and the last requests are counted one by one", () => {
  const part = new GrowingPart();
  let [free, writes, now] = [1_000_000, 0, 0];
  const sizes: number[] = [];
  while (free > 0) {
    const size = part.next({ max: 1_000_000, free, isShared: false, now: now++ });
    [free, writes] = [free - Math.min(free, size), writes + 1];
    sizes.push(size);
  }
  expect(writes).toBeLessThan(130);
  expect(sizes.slice(-7)).toEqual([1, 1, 1, 1, 1, 1, 1]);
  // Slow callers are counted one by one.
  expect(part.next({ max: 1_000, free: 1_000, isShared: false, now: now + 5_000 })).toBe(1);
});

describe("a counter whose database is away", () => {
  /** Counts as the database does, while it is there. */
  class TestRates implements Pick<Rates, "take" | "giveBack"> {
    isAway = false;
    used = 0;
    asked = 0;
    window = Date.now() + HOUR;

    async take(_key: string, requests: number, { max }: { max: number }) {
      this.asked++;
      if (this.isAway) throw new Error("The database is away");
      const granted = Math.max(0, Math.min(requests, max - this.used));
      this.used += granted;
      return { granted, used: this.used, window: this.window, leftMs: this.window - Date.now() };
    }

    async giveBack(_key: string, requests: number) {
      this.used -= requests;
    }
  }

  test("goes on from what it knows, and the database counts it when it is back", async () => {
    const rates = new TestRates();
    const it = counter(rates, 10);
    expect(await takeEach([it], 4)).toBe(4);
    rates.isAway = true;
    expect(await takeEach([it], 3)).toBe(3);
    expect(rates.used).toBe(4);
    rates.isAway = false;
    expect(await takeEach([it], 1)).toBe(1);
    expect(rates.used).toBe(8);
    expect(await takeEach([it], 5)).toBe(2);
  });

  test("refuses what is too much, and does not ask while it is known to be away", async () => {
    const rates = new TestRates();
    let isAway = false;
    const it = counter(rates, 5, { isAway: () => isAway });
    await it.take(2);
    isAway = rates.isAway = true;
    const asked = rates.asked;
    expect([it.take(2), it.take(2)]).toEqual([2, 1]);
    expect([it.take(1), rates.asked - asked]).toEqual([0, 0]);
    isAway = rates.isAway = false;
    expect(await it.take(1)).toBe(0);
    expect(rates.used).toBe(5);
  });

  test("answers after a while though the database never does, and what that counts late is not counted twice", async () => {
    const rates = new TestRates();
    let answer: () => void = () => {};
    const held = new Promise<void>((resolve) => (answer = resolve));
    const slow: StoredCounterOptions["rates"] = {
      take: async (...given) => held.then(() => rates.take(...given)),
      giveBack: (key, requests) => rates.giveBack(key, requests),
    };
    const it = counter(slow, 10, { patienceMs: 20 });
    expect(await it.take(2)).toBe(2);
    // It does not wait again.
    expect(it.take(3)).toBe(3);
    answer();
    await expect.poll(() => rates.used).toBe(2);
    expect(await it.take(1)).toBe(1);
    expect(rates.used).toBe(6);
  });
});
