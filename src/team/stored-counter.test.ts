import { describe, expect, test } from "vitest";
import { onBothEngines } from "../../test/fixtures/store-world.ts";
import type { ExceededLimit } from "../gateway/operation/allowance.ts";
import type { Rates } from "../store/keep/rates.ts";
import { SILENT } from "../text/logger.ts";
import { StoredCounter, type StoredCounterOptions } from "./stored-counter.ts";

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

describe("a counter whose database is away", () => {
  /** Counts as the database does, while it is there. */
  class TestRates implements Pick<Rates, "take" | "giveBack"> {
    isAway = false;
    used = 0;
    asked = 0;
    endsAt = Date.now() + HOUR;

    async take(_key: string, requests: number, { max }: { max: number }) {
      this.asked++;
      if (this.isAway) throw new Error("The database is away");
      const granted = Math.max(0, Math.min(requests, max - this.used));
      this.used += granted;
      return { granted, used: this.used, endsAt: this.endsAt };
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
