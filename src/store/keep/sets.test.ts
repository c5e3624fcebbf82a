import { expect, test } from "vitest";
import { failure } from "../../../test/fixtures/failure.ts";
import { onBothEngines } from "../../../test/fixtures/store-world.ts";

const set = (name: string, tenant = "default", definition = `{"allow":["hub"]}`) => ({ name, tenant, definition });

onBothEngines("sets in the store", (world) => {
  test("a set belongs to a tenant, is replaced only where that is wanted, and is removed with its tenant", async () => {
    const store = await world().openStore({ now: () => 7 });
    await store.tenants.create("shop");
    expect(await store.sets.put(set("support"), { replace: true })).toMatchObject({ isReplaced: false });
    await store.sets.put(set("finance", "shop"));
    await store.sets.put(set("support", "shop", `{"allow":["box"]}`));
    expect(await store.sets.list()).toEqual([
      { ...set("support"), changedAt: 7 },
      { ...set("finance", "shop"), changedAt: 7 },
      { ...set("support", "shop", `{"allow":["box"]}`), changedAt: 7 },
    ]);
    expect((await failure(store.sets.put(set("support")))).message).toContain(`already has a set "support"`);
    const replaced = await store.sets.put(set("support", "default", `{"allow":["*"]}`), { replace: true });
    expect(replaced.isReplaced).toBe(true);
    expect((await store.sets.get("default", "support")).definition).toBe(`{"allow":["*"]}`);
    expect((await store.sets.list("shop")).map(({ name }) => name)).toEqual(["finance", "support"]);
    await store.tenants.remove("shop");
    expect((await store.sets.list()).map(({ tenant }) => tenant)).toEqual(["default"]);
  });

  test("an unknown set or tenant is NAME_UNKNOWN, with similar names; a wrong name is refused", async () => {
    const store = await world().openStore();
    await store.sets.put(set("support"));
    const unknown = await failure(store.sets.remove("default", "suport"));
    expect(unknown).toMatchObject({ code: "NAME_UNKNOWN", message: `There is no set "suport"` });
    expect(unknown.details.hint).toContain(`Did you mean "support"?`);
    expect(await failure(store.sets.get("shop", "support"))).toMatchObject({ message: `There is no tenant "shop"` });
    expect(await failure(store.sets.put(set("support", "shop")))).toMatchObject({ code: "NAME_UNKNOWN" });
    expect(await failure(store.sets.put(set("Support 1")))).toMatchObject({ code: "ARGUMENTS_INVALID" });
    await store.sets.remove("default", "support");
    expect(await store.sets.list()).toEqual([]);
  });
});
