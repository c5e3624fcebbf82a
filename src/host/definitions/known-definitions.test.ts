import { describe, expect, test } from "vitest";
import type { ReadList } from "./definition-ledger.ts";
import { KnownDefinitions } from "./known-definitions.ts";
import { listedDefinitions } from "./listed-definitions.ts";
import { MemoryLedger } from "./memory-ledger.ts";

const tool = (name: string, description = "") => ({ name, description, inputSchema: { type: "object" } });

function list(items: readonly object[], about: Partial<ReadList> = {}): ReadList {
  const definitions = listedDefinitions("tools", items);
  return { server: "s", kind: "tools", isCommon: true, isPinned: true, definitions, ...about };
}

function standing(ledger: MemoryLedger, item: { name: string }) {
  const hash = listedDefinitions("tools", [item]).get(item.name)?.hash;
  return ledger.standingOf({ server: "s", kind: "tools", name: item.name, hash });
}

describe("hashes of definitions", () => {
  const hash = (item: object) => listedDefinitions("tools", [item]).get("a")?.hash;

  test("do not depend on the order of members, but on every value as it was received", () => {
    expect(hash({ name: "a", x: { b: 1, c: [2, 3] } })).toBe(hash({ x: { c: [2, 3], b: 1 }, name: "a" }));
    expect(hash({ name: "a", x: [2, 3] })).not.toBe(hash({ name: "a", x: [3, 2] }));
    expect(hash({ name: "a", title: null })).not.toBe(hash({ name: "a" }));
    expect(hash({ name: "a", _meta: { hidden: "text" } })).not.toBe(hash({ name: "a" }));
  });

  test("of two definitions with one name contain both, so none can hide behind the other", () => {
    const [first, second] = [tool("a", "one"), tool("a", "two")];
    const both = listedDefinitions("tools", [first, second]).get("a")?.hash;
    expect(both).not.toBe(listedDefinitions("tools", [first]).get("a")?.hash);
    expect(both).not.toBe(listedDefinitions("tools", [second, first]).get("a")?.hash);
  });
});

describe("a ledger", () => {
  test("accepts the first list, also an empty one, and reports what is different later once", async () => {
    const ledger = new MemoryLedger();
    expect(await ledger.compare(list([tool("a"), tool("b")]))).toEqual([]);
    const changed = list([tool("a", "new"), tool("c")]);
    expect(await ledger.compare(changed)).toEqual([
      { server: "s", kind: "tools", name: "a", what: "changed" },
      { server: "s", kind: "tools", name: "c", what: "added" },
      { server: "s", kind: "tools", name: "b", what: "removed" },
    ]);
    expect(await ledger.compare(changed)).toEqual([]);
    expect(["a", "c"].map((name) => standing(ledger, tool(name, name === "a" ? "new" : "")))).toEqual([
      "changed",
      "added",
    ]);
    await ledger.compare(list([], { server: "empty" }));
    expect(await ledger.compare(list([tool("a")], { server: "empty" }))).toMatchObject([{ what: "added" }]);
  });

  test("ends a change when the server lists the accepted definition again", async () => {
    const ledger = new MemoryLedger();
    await ledger.compare(list([tool("a")]));
    await ledger.compare(list([tool("a", "new")]));
    expect(await ledger.compare(list([tool("a")]))).toEqual([]);
    expect(standing(ledger, tool("a"))).toBe("accepted");
    expect(await ledger.compare(list([tool("a", "new")]))).toMatchObject([{ what: "changed" }]);
  });

  test("forgets what was added and never accepted when it is gone, so a server cannot fill it", async () => {
    const ledger = new MemoryLedger();
    await ledger.compare(list([]));
    for (let i = 0; i < 3; i++) {
      expect(await ledger.compare(list([tool(`t${i}`)]))).toMatchObject([{ name: `t${i}`, what: "added" }]);
    }
    expect(standing(ledger, tool("t0"))).toBe("unknown");
  });

  test("keeps a bounded number of definitions that only callers with certain capabilities are shown", async () => {
    const known = new KnownDefinitions();
    const read = (from: number) => {
      const names = Array.from({ length: 6_000 }, (_, index) => `t${from + index}`);
      const definitions = new Map(names.map((name) => [name, { hash: name, received: {} }]));
      const differences = known.differences(list([], { isCommon: false, definitions }));
      for (const { place, now } of differences) known.set(place, now);
      return differences;
    };
    read(0);
    expect(read(0)).toEqual([]);
    read(6_000);
    expect(read(20_000)).toEqual([]);
    // The mark of the list is one more.
    expect(known.all()).toHaveLength(10_001);
    // What is kept is still compared.
    expect(known.differences(list([tool("t0", "new")], { isCommon: false }))).toMatchObject([{ what: "changed" }]);
  });

  test("accepts what is listed now, and says so", async () => {
    const ledger = new MemoryLedger();
    const told: string[] = [];
    const stop = ledger.onAccepted((server) => told.push(server));
    await ledger.compare(list([tool("a"), tool("b")]));
    await ledger.compare(list([tool("a", "new")]));
    ledger.accept("s");
    stop();
    expect(told).toEqual(["s"]);
    expect(standing(ledger, tool("a", "new"))).toBe("accepted");
    expect(standing(ledger, tool("a"))).toBe("changed");
    expect(await ledger.compare(list([tool("a", "new")]))).toEqual([]);
  });

  test("does not take a definition for removed that only callers with certain capabilities miss", async () => {
    const ledger = new MemoryLedger();
    await ledger.compare(list([tool("a"), tool("b")]));
    expect(await ledger.compare(list([tool("a")], { isCommon: false }))).toEqual([]);
    expect(await ledger.compare(list([tool("a"), tool("b")]))).toEqual([]);
  });

  test("accepts nothing by itself that a pinned server adds for callers with certain capabilities", async () => {
    const ledger = new MemoryLedger();
    await ledger.compare(list([tool("a")]));
    const forSome = list([tool("a", "only for some"), tool("ask")], { isCommon: false });
    expect(await ledger.compare(forSome)).toMatchObject([
      { name: "a", what: "changed" },
      { name: "ask", what: "added" },
    ]);
    expect(standing(ledger, tool("a", "only for some"))).toBe("changed");
    expect(standing(ledger, tool("ask"))).toBe("added");
    // Neither list ends what the other one began.
    expect(await ledger.compare(list([tool("a")]))).toEqual([]);
    expect(await ledger.compare(forSome)).toEqual([]);
    ledger.accept("s");
    expect([standing(ledger, tool("a", "only for some")), standing(ledger, tool("a"))]).toEqual([
      "accepted",
      "accepted",
    ]);
  });

  test("accepts the first list for certain capabilities of a server that is not pinned", async () => {
    const ledger = new MemoryLedger();
    await ledger.compare(list([tool("a")], { isPinned: false }));
    expect(await ledger.compare(list([tool("ask")], { isCommon: false, isPinned: false }))).toEqual([]);
    expect(standing(ledger, tool("ask"))).toBe("accepted");
    const changed = list([tool("ask", "new")], { isCommon: false, isPinned: false });
    expect(await ledger.compare(changed)).toMatchObject([{ name: "ask", what: "changed" }]);
  });

  test("compares a first list for certain capabilities with the list for all, by name, also where nothing is pinned", async () => {
    const ledger = new MemoryLedger();
    await ledger.compare(list([tool("a")], { isPinned: false }));
    const forSome = list([tool("a", "new"), tool("ask")], { isCommon: false, isPinned: false });
    expect(await ledger.compare(forSome)).toMatchObject([{ name: "a", what: "changed" }]);
    // The name is held, whichever definition a caller was shown.
    expect([standing(ledger, tool("a")), standing(ledger, tool("a", "new"))]).toEqual(["changed", "changed"]);
    expect(standing(ledger, tool("ask"))).toBe("accepted");
  });

  test("keeps a change once when the list for all shows what callers with certain capabilities saw before", async () => {
    const ledger = new MemoryLedger();
    await ledger.compare(list([tool("a")]));
    const changed = [tool("a", "new"), tool("b")];
    expect(await ledger.compare(list(changed, { isCommon: false }))).toHaveLength(2);
    expect(await ledger.compare(list(changed))).toEqual([]);
    expect(await ledger.compare(list([tool("a")]))).toEqual([]);
    expect([standing(ledger, tool("a")), standing(ledger, tool("b"))]).toEqual(["accepted", "unknown"]);
  });

  test("takes over for all what was accepted for callers with certain capabilities", async () => {
    const ledger = new MemoryLedger();
    await ledger.compare(list([tool("a")]));
    await ledger.compare(list([tool("a", "new")], { isCommon: false }));
    ledger.accept("s");
    expect(await ledger.compare(list([tool("a", "new")]))).toEqual([]);
    expect([standing(ledger, tool("a")), standing(ledger, tool("a", "new"))]).toEqual(["changed", "accepted"]);
  });

  test("compares the list for all with what was accepted of a list for certain capabilities that came first", async () => {
    const ledger = new MemoryLedger();
    await ledger.compare(list([tool("a"), tool("b")], { isCommon: false }));
    expect(await ledger.compare(list([tool("a"), tool("b", "new")]))).toMatchObject([{ name: "b", what: "changed" }]);
    expect([standing(ledger, tool("a")), standing(ledger, tool("b", "new"))]).toEqual(["accepted", "changed"]);
  });
});
