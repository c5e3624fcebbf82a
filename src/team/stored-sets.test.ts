import { expect, test, vi } from "vitest";
import { onBothEngines } from "../../test/fixtures/store-world.ts";
import { SILENT } from "../text/logger.ts";
import { StoredSets } from "./stored-sets.ts";

const HUB = { tenant: "default", name: "desk", definition: `{"allow":["hub"]}` };

onBothEngines("the sets that a gateway serves", (world) => {
  test("a set that another process creates, changes or removes is served within a second; what is unchanged is the same object", async () => {
    const address = await world().newAddress();
    const [store, other] = [await world().openStore({ address }), await world().openStore({ address })];
    await store.sets.put({ ...HUB, name: "kept" });
    using sets = await StoredSets.open({ store, logger: SILENT });
    const kept = sets.find("default", "kept");
    expect(kept).toEqual({ allow: ["hub"] });
    let changes = 0;
    sets.onChanged(() => changes++);
    const allowed = () => sets.find("default", "desk")?.allow;
    const noticed = { timeout: 60_000, interval: 20 };
    await other.sets.put(HUB);
    const since = performance.now();
    await expect.poll(allowed, noticed).toEqual(["hub"]);
    expect(performance.now() - since).toBeLessThan(10_000);
    await other.sets.put({ ...HUB, definition: `{"allow":["box"]}` }, { replace: true });
    await expect.poll(allowed, noticed).toEqual(["box"]);
    await other.sets.remove("default", "desk");
    await expect.poll(allowed, noticed).toBeUndefined();
    expect(sets.find("default", "kept")).toBe(kept);
    expect(sets.find("shop", "kept")).toBeUndefined();
    expect(changes).toBe(3);
  });
});

test("a stored set that cannot be used is not served, and the log says why; others are", async () => {
  const kept = [
    { ...HUB, changedAt: 0 },
    { ...HUB, name: "newer", definition: `{"allow":["hub"],"future":true}`, changedAt: 0 },
  ];
  const warnings: string[] = [];
  const store = { sets: { list: async () => kept }, changes: { of: () => async () => () => {} } };
  using sets = await StoredSets.open({
    store: store as unknown as Parameters<typeof StoredSets.open>[0]["store"],
    logger: { ...SILENT, warn: (message) => void warnings.push(message) },
  });
  expect(sets.find("default", "desk")).toBeDefined();
  expect(sets.find("default", "newer")).toBeUndefined();
  expect(warnings).toEqual([`the set "newer" of the tenant "default" is not served: "future" is not known here`]);
});

test("sets that cannot be read are read again until they can be, with one warning, and not after they are closed", async () => {
  vi.useFakeTimers();
  try {
    let [isAway, isSlow, reads] = [false, false, 0];
    const held: ((reason: Error) => void)[] = [];
    let notice: () => void = () => {};
    const list = async () => {
      reads++;
      if (isSlow) return new Promise<never>((_resolve, reject) => held.push(reject));
      if (isAway) throw new Error("away");
      return [{ ...HUB, changedAt: 0 }];
    };
    const listen = async (listener: typeof notice) => {
      notice = listener;
      return () => {};
    };
    const warnings: string[] = [];
    const sets = await StoredSets.open({
      store: { sets: { list }, changes: { of: () => listen } } as unknown as Parameters<
        typeof StoredSets.open
      >[0]["store"],
      logger: { ...SILENT, warn: (message) => void warnings.push(message) },
    });
    isAway = true;
    notice();
    await vi.advanceTimersByTimeAsync(4_000);
    expect(reads).toBeGreaterThan(5);
    expect(warnings).toEqual(["changes of sets could not be read: away"]);
    isSlow = true;
    await vi.advanceTimersByTimeAsync(1_000);
    sets[Symbol.dispose]();
    const before = reads;
    for (const fail of held) fail(new Error("closed"));
    await vi.advanceTimersByTimeAsync(4_000);
    expect({ reads, warnings: warnings.length }).toEqual({ reads: before, warnings: 1 });
  } finally {
    vi.useRealTimers();
  }
});
