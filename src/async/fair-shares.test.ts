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
    const shares = new FairShares(8, { share: 0.25 });
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
    const shares = new FairShares(2, { share: 0.25 });
    expect([shares.tryTake(shares.of("alice")), shares.tryTake(shares.of("bob"))]).toEqual([true, true]);
  });

  test("do not count a holder as competing if all its items are idle", () => {
    const shares = new FairShares(8, { share: 0.25 });
    const [alice, bob] = [shares.of("alice"), shares.of("bob")];
    shares.take(bob);
    shares.rest(bob);
    expect(takeAll(shares, alice)).toBe(7);
    shares.give(alice, 7);
    shares.stir(bob);
    expect(takeAll(shares, alice)).toBe(2);
  });

  test("serve waiting holders in turn, and each in its own order", () => {
    const shares = new FairShares(1, { share: 0.25 });
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
    const shares = new FairShares(4, { share: 0.25 });
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
    const shares = new FairShares(12, { share: 0.25 });
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

  describe("of what cannot be taken away", () => {
    const GROUPED = { isBounded: true, hasReserve: true, groupOf: ([tenant = ""]: string) => tenant };

    test("leave a quarter for others, even if nobody competes, unless there is nobody else", () => {
      const shares = new FairShares(1024, { isBounded: true, isEverybody: (key) => key === "everybody" });
      const alice = shares.of("alice");
      expect(takeAll(shares, alice)).toBe(768);
      expect(takeAll(shares, shares.of("bob"))).toBe(256);
      shares.give(shares.of("bob"), 256);
      shares.give(alice, 768);
      expect(takeAll(shares, shares.of("everybody"))).toBe(1024);
    });

    test("give a few to every holder beside three that take as many as they get", () => {
      const shares = new FairShares(1024, { isBounded: true, hasReserve: true });
      const greedy = ["a", "b", "c"].map((key) => takeAll(shares, shares.of(key)));
      expect(greedy).toEqual([768, 256, 8]);
      for (let count = 0; count < 31; count++) expect(takeAll(shares, shares.of(`calm ${count}`))).toBe(8);
      // What is reserved is limited, too.
      expect(takeAll(shares, shares.of("late"))).toBe(0);
      shares.give(shares.of("calm 7"));
      expect(shares.tryTake(shares.of("b"))).toBe(false);
      expect(shares.tryTake(shares.of("late"))).toBe(true);
    });

    test("leave a quarter for other groups, however many holders one group has", () => {
      const shares = new FairShares(1024, GROUPED);
      const takeWith = (group: string, holders: number) =>
        Array.from({ length: holders }, (_, index) => takeAll(shares, shares.of(`${group}${index}`))).reduce(
          (sum, taken) => sum + taken,
        );
      // Three quarters of what there is, and of what is reserved.
      expect(takeWith("A", 200)).toBe(768 + 192);
      expect(takeWith("B", 200)).toBe(256);
      for (const group of ["C", "D", "E"]) expect(takeAll(shares, shares.of(`${group}1`))).toBe(8);
    });

    test("serve a waiting holder from the reserve as soon as it has few", () => {
      const shares = new FairShares(32, GROUPED);
      expect([takeAll(shares, shares.of("A1")), takeAll(shares, shares.of("B1"))]).toEqual([24, 8]);
      const calm = shares.of("C1");
      expect(takeAll(shares, calm)).toBe(8);
      let served = 0;
      shares.wait(calm, () => served++);
      expect(served).toBe(0);
      shares.give(calm);
      expect([served, calm.held, shares.used]).toEqual([1, 8, 40]);
    });
  });

  test("serve waiting groups in turn, however many holders one of them has", () => {
    const shares = new FairShares(1, { groupOf: ([tenant = ""]: string) => tenant });
    const served: string[] = [];
    const keys = ["A1", "A2", "A3", "B1", "B1"];
    shares.take(shares.of("A0"));
    for (const key of keys) shares.wait(shares.of(key), () => served.push(key));
    for (const key of ["A0", ...keys]) shares.give(shares.of(served.at(-1) ?? key));
    expect(served).toEqual(["A1", "B1", "A2", "B1", "A3"]);
  });

  test("name holders of the group that has most, and of their own group only where that has as much as it may", () => {
    const shares = new FairShares(16, { isBounded: true, groupOf: ([tenant = ""]: string) => tenant });
    for (const [key, amount] of [
      ["A1", 4],
      ["A2", 4],
      ["A3", 3],
      ["B1", 5],
    ] as const)
      shares.take(shares.of(key), amount);
    const names = (found: Share[]) => found.map(({ key }) => key);
    expect(names(shares.overfullFor(shares.of("C1")))).toEqual(["A1", "A2", "A3", "B1"]);
    expect(names(shares.overfullFor(shares.of("A4")))).toEqual([]);
    shares.take(shares.of("A3"));
    expect(names(shares.losersFor(shares.of("A4")))).toEqual(["A4", "A1", "A2", "A3"]);
  });

  test("count a holder once, although it had nothing while very many others came", () => {
    const shares = new FairShares(4096, { isBounded: true, groupOf: ([tenant = ""]: string) => tenant });
    const before = shares.of("A1");
    for (let count = 0; count < 3_000; count++) shares.of(`B${count}`);
    const others = Array.from({ length: 3_000 }, (_, count) => shares.of(`C${count}`));
    shares.take(before, 3_000);
    expect(others).toHaveLength(3_000);
    // What it has counts for itself and for its group.
    expect([shares.tryTake(shares.of("A1"), 100), shares.tryTake(shares.of("A2"), 100)]).toEqual([false, false]);
    expect(shares.usedBy((key) => key === "A1")).toBe(3_000);
  });

  test("never exceed the total, and let no one wait who could be served", () => {
    const keys = ["a", "b", "c"];
    const step = fc.record({ key: fc.constantFrom(...keys), act: fc.constantFrom("take", "wait", "give", "leave") });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.array(step, { maxLength: 60 }), (total, steps) => {
        const shares = new FairShares(total, { share: 0.25 });
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
