import { expect, test } from "vitest";
import { onBothEngines } from "../../test/fixtures/store-world.ts";
import { listedDefinitions } from "../host/definitions/listed-definitions.ts";
import type { ReadList } from "../host/definitions/definition-ledger.ts";

const tool = (name: string, description = "") => ({ name, description });

function list(items: readonly object[], about: Partial<ReadList> = {}): ReadList {
  const definitions = listedDefinitions("tools", items);
  return { server: "s", kind: "tools", isCommon: true, isPinned: true, definitions, ...about };
}

onBothEngines("definitions in the store", (world) => {
  test("the first list is accepted; later differences wait with both definitions until they are accepted (B4)", async () => {
    const clock = { now: 1_000 };
    const store = await world().openStore({ now: () => clock.now });
    const ledger = store.ledger("default");
    const definitions = store.definitions("default");
    expect(await ledger.compare(list([tool("a"), tool("b")]))).toEqual([]);
    expect(await definitions.pending()).toEqual([]);
    clock.now = 2_000;
    await ledger.compare(list([tool("a", "new"), tool("c")]));
    const pending = await definitions.pending();
    expect(pending).toMatchObject([
      { name: "a", what: "changed", since: 2_000, accepted: tool("a"), current: tool("a", "new") },
      { name: "b", what: "removed", accepted: tool("b"), current: undefined },
      { name: "c", what: "added", accepted: undefined, current: tool("c") },
    ]);
    expect(await definitions.pending("other")).toEqual([]);
    expect(await definitions.accept(pending)).toHaveLength(3);
    expect(await definitions.pending()).toEqual([]);
    expect((await definitions.names("s")).map(({ name }) => name).toSorted()).toEqual(["a", "c"]);
    expect(await definitions.servers()).toEqual(["s"]);
  });

  test("what changed again since it was read is not accepted", async () => {
    const store = await world().openStore();
    const ledger = store.ledger("default");
    const definitions = store.definitions("default");
    await ledger.compare(list([tool("a")]));
    await ledger.compare(list([tool("a", "second")]));
    const pending = await definitions.pending();
    await ledger.compare(list([tool("a", "third")]));
    expect(await definitions.accept(pending)).toEqual([]);
    expect(await definitions.pending()).toMatchObject([{ name: "a", current: tool("a", "third") }]);
  });

  test("two processes that read the first list at the same time agree on what is accepted", async () => {
    const address = await world().newAddress();
    const [one, other] = [await world().openStore({ address }), await world().openStore({ address })];
    const changes = await Promise.all([
      one.ledger("default").compare(list([tool("a")])),
      other.ledger("default").compare(list([tool("a", "other")])),
    ]);
    expect(changes.flat()).toMatchObject([{ name: "a", what: "changed" }]);
  });

  test("what a gateway holds waits in the store again after another one has read the accepted definition", async () => {
    const address = await world().newAddress();
    const [one, other] = [await world().openStore({ address }), await world().openStore({ address })];
    const [old, changed] = [list([tool("a")]), list([tool("a", "new")])];
    const ledger = one.ledger("default");
    await ledger.compare(old);
    await ledger.compare(changed);
    // Its server has the older version.
    await other.ledger("default").compare(old);
    const definitions = one.definitions("default");
    expect(await definitions.pending()).toEqual([]);
    await ledger.compare(changed);
    const hash = changed.definitions.get("a")?.hash;
    expect(ledger.standingOf({ server: "s", kind: "tools", name: "a", hash })).toBe("changed");
    const pending = await definitions.pending();
    expect(pending).toMatchObject([{ name: "a", what: "changed", current: tool("a", "new") }]);
    expect(await definitions.accept(pending)).toHaveLength(1);
  });

  test("a list without changes is not written, and tenants do not share definitions", async () => {
    const store = await world().openStore();
    await store.tenants.create("shop");
    const ledger = store.ledger("default");
    await ledger.compare(list([tool("a")]));
    await ledger.compare(list([tool("a", "new")]));
    const before = await store.definitions("default").pending();
    await store.ledger("default").compare(list([tool("a", "new")]));
    expect(await store.definitions("default").pending()).toEqual(before);
    expect(await store.ledger("shop").compare(list([tool("a", "new")]))).toEqual([]);
    expect(await store.definitions("shop").pending()).toEqual([]);
    await store.tenants.remove("shop");
    expect(await store.definitions("shop").servers()).toEqual([]);
  });

  test("names and texts with any character are kept as they are", async () => {
    const store = await world().openStore();
    const odd = 'a\u0000"\\\ud800 \u202e';
    const ledger = store.ledger("default");
    await ledger.compare(list([tool(odd)]));
    await ledger.compare(list([tool(odd, "\u0000 new")]));
    expect(await store.definitions("default").pending()).toMatchObject([
      { name: odd, current: { description: "\u0000 new" } },
    ]);
    const large = tool("large", "x".repeat(1_000_000));
    await ledger.compare(list([tool(odd), large]));
    const [added] = await store.definitions("default").pending();
    expect(added).toMatchObject({ name: "large", what: "added", current: { tooLargeToKeep: expect.any(String) } });
    expect(await store.definitions("default").accept(added ? [added] : [])).toHaveLength(1);
    await ledger.compare(list([tool(odd), tool("large", "y".repeat(1_000_000))]));
    const [changed] = await store.definitions("default").pending();
    expect(changed).toMatchObject({ name: "large", what: "changed" });
    expect(changed?.current).not.toEqual(changed?.accepted);
  });

  test("a long list is written at once, and what was compared stays decided while the database is away", async () => {
    const store = await world().openStore();
    const ledger = store.ledger("default");
    const items = Array.from({ length: 1_200 }, (_, index) => tool(`t${index}`));
    await ledger.compare(list(items));
    expect(await store.definitions("default").names("s")).toHaveLength(1_200);
    await store.engine.close();
    expect(await ledger.compare(list(items))).toEqual([]);
    await expect(ledger.compare(list([...items, tool("new")]))).rejects.toThrow();
    const hash = listedDefinitions("tools", [tool("t1")]).get("t1")?.hash;
    expect(ledger.standingOf({ server: "s", kind: "tools", name: "t1", hash })).toBe("accepted");
  });

  test("another process notices within a second what was accepted", async () => {
    const address = await world().newAddress();
    const [gateway, command] = [await world().openStore({ address }), await world().openStore({ address })];
    const ledger = gateway.ledger("default");
    await ledger.compare(list([tool("a")]));
    await ledger.compare(list([tool("a", "new")]));
    const accepted = new Promise<string>((resolve) => ledger.onAccepted(resolve));
    const definitions = command.definitions("default");
    await gateway.changes.listen(() => {});
    await definitions.accept(await definitions.pending());
    expect(await accepted).toBe("s");
    const hash = listedDefinitions("tools", [tool("a", "new")]).get("a")?.hash;
    expect(ledger.standingOf({ server: "s", kind: "tools", name: "a", hash })).toBe("accepted");
  });
});
