import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FairShares, type Share } from "./fair-shares.ts";

/** Takes as many as it gets. */
function takeAll(shares: FairShares, share: Share): number {
  let taken = 0;
  while (shares.tryTake(share)) taken++;
  return taken;
}

describe("Fair shares", () => {
  test("give everything to a single holder, and its part to one of several", () => {
    const shares = new FairShares(8, 0.25);
    const [alice, bob] = [shares.of("alice"), shares.of("bob")];
    expect(takeAll(shares, alice)).toBe(8);
    shares.give(alice, 8);
    expect(shares.tryTake(bob)).toBe(true);
    expect(takeAll(shares, alice)).toBe(2);
    expect(takeAll(shares, bob)).toBe(1);
    shares.give(bob, 2);
    expect(takeAll(shares, alice)).toBe(6);
  });

  test("count what some of the holders have together", () => {
    const shares = new FairShares(8);
    for (const [key, amount] of [
      ["a1", 2],
      ["a2", 1],
      ["b1", 4],
    ] as const)
      shares.take(shares.of(key), amount);
    expect(shares.usedBy((key) => key.startsWith("a"))).toBe(3);
    shares.give(shares.of("a1"), 2);
    expect([shares.usedBy((key) => key.startsWith("a")), shares.usedBy(() => true)]).toEqual([1, 5]);
  });

  test("give at least one to each holder, even if there is little", () => {
    const shares = new FairShares(2, 0.25);
    expect([shares.tryTake(shares.of("alice")), shares.tryTake(shares.of("bob"))]).toEqual([true, true]);
  });

  test("do not count a holder as competing if all its items are idle", () => {
    const shares = new FairShares(8, 0.25);
    const [alice, bob] = [shares.of("alice"), shares.of("bob")];
    shares.take(bob);
    shares.rest(bob);
    expect(takeAll(shares, alice)).toBe(7);
    shares.give(alice, 7);
    shares.stir(bob);
    expect(takeAll(shares, alice)).toBe(2);
  });

  test("serve waiting holders in turn, and each in its own order", () => {
    const shares = new FairShares(1, 0.25);
    const served: string[] = [];
    const wait = (key: string, name: string) => shares.wait(shares.of(key), () => served.push(name));
    shares.take(shares.of("alice"));
    for (const name of ["a1", "a2", "a3"]) wait("alice", name);
    const giveUp = wait("bob", "b1");
    wait("bob", "b2");
    wait("carol", "c1");
    giveUp();
    for (const key of ["alice", "alice", "bob", "carol", "alice"]) shares.give(shares.of(key));
    expect(served).toEqual(["a1", "b2", "c1", "a2", "a3"]);
    expect(shares.used).toBe(1);
  });

  test("serve a waiting holder that has its part as soon as no one competes with it", () => {
    const shares = new FairShares(4, 0.25);
    const [alice, bob] = [shares.of("alice"), shares.of("bob")];
    let served = 0;
    shares.take(alice);
    shares.take(bob);
    for (let count = 0; count < 5; count++) shares.wait(alice, () => served++);
    expect([served, shares.waitingFor(bob), shares.waitingFor(alice)]).toEqual([0, 0, 5]);
    shares.give(bob);
    expect([served, shares.used]).toEqual([3, 4]);
  });

  test("name the holders that give something up: first those with too much, then the holder itself, then larger ones", () => {
    const shares = new FairShares(12, 0.25);
    const [alice, bob, carol, dave] = ["alice", "bob", "carol", "dave"].map((key) => shares.of(key));
    if (!alice || !bob || !carol || !dave) throw new Error("there are four");
    shares.take(alice, 7);
    shares.take(bob, 3);
    shares.take(carol, 2);
    expect(shares.losersFor(carol).map(({ key }) => key)).toEqual(["alice", "carol", "bob"]);
    expect(shares.losersFor(bob)).toEqual([bob]);
    expect(shares.losersFor(alice)).toEqual([alice]);
    expect(shares.losersFor(dave).map(({ key }) => key)).toEqual(["alice", "dave", "bob", "carol"]);
    expect(shares.overfullFor(dave)).toEqual([alice]);
  });

  test("never exceed the total, and let no one wait who could be served", () => {
    const keys = ["a", "b", "c"];
    const step = fc.record({ key: fc.constantFrom(...keys), act: fc.constantFrom("take", "wait", "give", "leave") });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.array(step, { maxLength: 60 }), (total, steps) => {
        const shares = new FairShares(total, 0.25);
        const leaving = new Map<string, (() => void)[]>(keys.map((key) => [key, []]));
        for (const { key, act } of steps) {
          const share = shares.of(key);
          if (act === "take") shares.tryTake(share);
          else if (act === "wait") leaving.get(key)?.push(shares.wait(share, () => {}));
          else if (act === "leave") leaving.get(key)?.pop()?.();
          else if (share.held > 0) shares.give(share);
          const all = keys.map((each) => shares.of(each));
          expect(shares.used).toBe(all.reduce((sum, { held }) => sum + held, 0));
          expect(shares.used).toBeLessThanOrEqual(total);
          expect(all.filter((each) => each.waiting.size > 0 && shares.hasRoom(each))).toEqual([]);
        }
      }),
    );
  });
});
