import type { IncomingHttpHeaders } from "node:http";
import { afterEach, beforeEach, expect, test } from "vitest";
import { failure } from "../../test/fixtures/failure.ts";
import { onBothEngines } from "../../test/fixtures/store-world.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { ANYBODY, type Principal } from "../server/core/principal.ts";
import type { NewApiKey } from "../store/keep/api-keys.ts";
import type { Store } from "../store/store.ts";
import { SILENT } from "../text/logger.ts";
import { KeyDoor, type KeyDoorOptions } from "./key-door.ts";

const ADA: NewApiKey = {
  tenant: "default",
  name: "ada",
  role: "caller",
  grants: { allow: ["github"], deny: ["github.delete*"], readOnly: false },
};
const tool = (name: string) => ({ kind: "tool", server: "github", name }) as const;

onBothEngines("the door of a gateway", (world) => {
  let store: Store;
  let time = 0;
  const doors: KeyDoor[] = [];
  const expelled: Principal[] = [];

  beforeEach(async () => {
    time = Date.now();
    store = await world().openStore({ now: () => time });
  });
  afterEach(() => {
    for (const door of doors.splice(0)) door[Symbol.dispose]();
    expelled.length = 0;
  });

  async function open(options: Partial<KeyDoorOptions> = {}): Promise<KeyDoor> {
    const door = await KeyDoor.open({ store, needs: "keys", logger: SILENT, now: () => time, ...options });
    door.onExpelled((principal) => expelled.push(principal));
    doors.push(door);
    return door;
  }

  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const authenticate = async (door: KeyDoor, headers: IncomingHttpHeaders) => door.authenticate(headers);
  /** The id that the key stands for, or the code of the refusal. */
  const comesIn = (door: KeyDoor, key: string) =>
    authenticate(door, bearer(key)).then(
      ({ id }) => id,
      ({ code }: { code: string }) => code,
    );

  test("a key opens it for its own tenant, and nothing else does", async () => {
    await store.tenants.create("shop");
    const { key, about } = await store.keys.create({ ...ADA, tenant: "shop" });
    const door = await open();
    expect(await door.authenticate(bearer(key))).toEqual({ id: about.id, tenant: "shop" });
    expect(await door.authenticate({ authorization: `bearer  ${key} ` })).toEqual({ id: about.id, tenant: "shop" });
    const wrong = [undefined, "", key, `Basic ${key}`, "Bearer", "Bearer x", `Bearer ${key}x`, `Bearer ${key} ${key}`];
    for (const authorization of wrong) {
      const { code, message } = await failure(authenticate(door, { authorization }));
      expect(code).toBe("AUTH_REQUIRED");
      expect(message).not.toContain(about.id);
    }
  });

  test("each key may see and use what its rules say", async () => {
    const [ada, all] = await Promise.all([
      store.keys.create(ADA),
      store.keys.create({ ...ADA, grants: { allow: ["*"], deny: [], readOnly: true } }),
    ]);
    const door = await open();
    const [one, other] = [await door.authenticate(bearer(ada.key)), await door.authenticate(bearer(all.key))];
    const kinds = (principal: Principal, ...targets: Parameters<NonNullable<typeof door.decide>>[2][]) =>
      targets.map((target) => door.decide?.(principal, "use", target).kind);
    const readOnly = { ...tool("search"), annotations: { readOnlyHint: true } };
    expect(kinds(one, tool("search"), tool("delete_all"), { ...tool("x"), server: "mail" })).toEqual([
      "allowed",
      "denied",
      "denied",
    ]);
    expect(kinds(other, tool("search"), readOnly, { ...tool("x"), kind: "method" })).toEqual([
      "denied",
      "allowed",
      "denied",
    ]);
    expect(kinds({ id: "somebody", tenant: "default" }, readOnly)).toEqual(["denied"]);
  });

  test("a key that is revoked in another process is refused within a second, and whoever used it is expelled", async () => {
    const { key, about } = await store.keys.create(ADA);
    const door = await open();
    const principal = await door.authenticate(bearer(key));
    await store.keys.revoke(about.id);
    await expect.poll(() => comesIn(door, key)).toBe("AUTH_REQUIRED");
    expect(expelled).toEqual([principal]);
    expect(door.decide?.(principal, "use", tool("search")).kind).toBe("denied");
  });

  test("after a rotation both secrets work until the overlap is over, and nobody is expelled", async () => {
    const { key, about } = await store.keys.create(ADA);
    const door = await open();
    await door.authenticate(bearer(key));
    const rotated = await store.keys.rotate(about.id, 60_000);
    expect([await comesIn(door, key), await comesIn(door, rotated?.key ?? "")]).toEqual([about.id, about.id]);
    await expect
      .poll(
        async () => {
          // Known before the rotation, it is verified again.
          time += 20_000;
          return comesIn(door, key);
        },
        { timeout: 30_000 },
      )
      .toBe("AUTH_REQUIRED");
    expect(await comesIn(door, rotated?.key ?? "")).toBe(about.id);
    expect(expelled).toEqual([]);
  });

  test("of many keys those are forgotten that were not used lately and have nothing open, until they are used again", async () => {
    const made = await Promise.all(
      ["idle", "open", "recent", "new"].map((name) => store.keys.create({ ...ADA, name })),
    );
    const [idle, open_, recent, new_] = made.map(({ key }) => key);
    const door = await open({ maxKnown: 3 });
    const principals = [await door.authenticate(bearer(idle ?? "")), await door.authenticate(bearer(open_ ?? ""))];
    door.onExpelled(
      () => {},
      () => principals.slice(1),
    );
    time += 120_000;
    principals.push(await door.authenticate(bearer(recent ?? "")), await door.authenticate(bearer(new_ ?? "")));
    const uses = () => principals.map((principal) => door.decide?.(principal, "use", tool("search")).kind);
    expect(uses()).toEqual(["denied", "allowed", "allowed", "allowed"]);
    expect(await comesIn(door, idle ?? "")).toBe(principals[0]?.id);
    expect(uses()).toEqual(["allowed", "allowed", "allowed", "allowed"]);
    expect(expelled).toEqual([]);
  });

  test("whoever came in with a secret that was replaced is named when it stops working; those with the new one are not", async () => {
    const { key, about } = await store.keys.create(ADA);
    const door = await open();
    const replaced: Principal[] = [];
    door.onReplaced((principal) => replaced.push(principal));
    const first = await door.authenticate(bearer(key));
    expect(await door.authenticate(bearer(key))).toBe(first);
    const { key: next = "" } = (await store.keys.rotate(about.id, 60_000)) ?? {};
    const second = await door.authenticate(bearer(next));
    expect(second).toEqual(first);
    expect(await door.authenticate(bearer(key))).toBe(first);
    // The second rotation ends the first secret, whose overlap is not over, and the third one the second at once.
    const { key: third = "" } = (await store.keys.rotate(about.id, 60_000)) ?? {};
    await expect.poll(() => replaced).toEqual([first]);
    expect(replaced[0]).toBe(first);
    await store.keys.rotate(about.id, 0);
    await expect.poll(() => replaced.length).toBe(2);
    expect(replaced[1]).toBe(second);
    expect([await comesIn(door, next), await comesIn(door, third)]).toEqual(["AUTH_REQUIRED", "AUTH_REQUIRED"]);
    expect(expelled).toEqual([]);
  });

  test("a key that expires is refused at once, and whoever used it is expelled", async () => {
    const { key } = await store.keys.create({ ...ADA, expiresAt: time + 50 });
    const door = await open();
    const principal = await door.authenticate(bearer(key));
    time += 50;
    expect(await comesIn(door, key)).toBe("AUTH_REQUIRED");
    await expect.poll(() => expelled).toEqual([principal]);
  });

  test("keys stay required after the tenant of the only key was removed, also for a door that opens later", async () => {
    await store.tenants.create("shop");
    const before = await open({ needs: "when-there-are-keys" });
    expect(before.isNeeded).toBe(false);
    await store.tenants.remove("shop");
    expect((await open({ needs: "when-there-are-keys" })).isNeeded).toBe(false);
    await store.tenants.create("shop");
    await store.keys.create({ ...ADA, tenant: "shop" });
    await store.tenants.remove("shop");
    expect(await store.keys.count()).toBe(0);
    expect((await open({ needs: "when-there-are-keys" })).isNeeded).toBe(true);
    await expect.poll(() => before.isNeeded).toBe(true);
  });

  test("until the first key is created everybody may come in; then a key is needed, and everybody else is expelled", async () => {
    const door = await open({ needs: "when-there-are-keys" });
    expect(door.isNeeded).toBe(false);
    expect(door.decide).toBeUndefined();
    expect(await door.authenticate({})).toBe(ANYBODY);
    expect(await door.authenticate({ authorization: "Bearer of-something-else" })).toBe(ANYBODY);
    // A key is a way in of its own, which is not replaced by another one.
    expect(await comesIn(door, "nxs_a_b")).toBe("AUTH_REQUIRED");
    const { key, about } = await store.keys.create(ADA);
    await expect.poll(() => door.isNeeded).toBe(true);
    // A notice and a look at the store may both say so.
    expect(expelled[0]).toEqual(ANYBODY);
    expect(expelled.filter(({ id }) => id !== ANYBODY.id)).toEqual([]);
    expect(await comesIn(door, key)).toBe(about.id);
    expect((await failure(authenticate(door, {}))).code).toBe("AUTH_REQUIRED");
    await store.keys.revoke(about.id);
    await expect.poll(() => comesIn(door, key)).toBe("AUTH_REQUIRED");
    expect(door.isNeeded).toBe(true);
  });

  test("the first use of the first key counts at once, also before the notice of the change", async () => {
    const door = await open({ needs: "when-there-are-keys" });
    const { key } = await store.keys.create(ADA);
    await door.authenticate(bearer(key));
    expect(door.isNeeded).toBe(true);
    expect(door.decide).toBeDefined();
  });

  test("metrics are for operators and admins", async () => {
    const door = await open();
    const sees = async (role: NewApiKey["role"]) => {
      const { key } = await store.keys.create({ ...ADA, role });
      return door.seesMetrics(await door.authenticate(bearer(key)));
    };
    expect([await sees("caller"), await sees("operator"), await sees("admin")]).toEqual([false, true, true]);
    expect((await open({ needs: "when-there-are-keys" })).seesMetrics(ANYBODY)).toBe(false);
  });

  test("the last use of a key is written down, though not for each call", async () => {
    const { key, about } = await store.keys.create(ADA);
    const door = await open();
    await door.authenticate(bearer(key));
    await expect.poll(async () => (await store.keys.find(about.id))?.usedAt).toBe(time);
    const first = time;
    time += 1_000;
    await door.authenticate(bearer(key));
    expect((await store.keys.find(about.id))?.usedAt).toBe(first);
  });

  test("while the database is away, keys that were verified work for a while, and unknown ones get STORE_UNAVAILABLE at once", async () => {
    const [known, unknown] = [await store.keys.create(ADA), await store.keys.create(ADA)];
    let silentSince: number | undefined;
    const changes = {
      of: () => async () => () => {},
      get silentSince() {
        return silentSince;
      },
    };
    const away = { keys: store.keys, changes: changes as unknown as Store["changes"] };
    const door = await open({ store: away, believedMs: 60_000 });
    await door.authenticate(bearer(known.key));
    silentSince = performance.now();
    expect(await comesIn(door, known.key)).toBe(known.about.id);
    expect(await comesIn(door, unknown.key)).toBe("STORE_UNAVAILABLE");
    expect(door.isOpen).toBe(true);
    silentSince = performance.now() - 60_001;
    expect(await comesIn(door, known.key)).toBe("STORE_UNAVAILABLE");
    expect(door.isOpen).toBe(false);
    silentSince = undefined;
    expect(door.isOpen).toBe(true);
    expect([await comesIn(door, known.key), await comesIn(door, unknown.key)]).toEqual([
      known.about.id,
      unknown.about.id,
    ]);
  });

  test("whoever comes with a key while the database fails is not told where the database is (R8)", async () => {
    const { key } = await store.keys.create(ADA);
    const findByText = async () => {
      throw new NexusError("STORE_UNAVAILABLE", "The database postgres://nexus@db.internal/nexus is not available");
    };
    const failing = { keys: { findByText } as unknown as Store["keys"], changes: store.changes };
    const error = await failure(authenticate(await open({ store: failing }), bearer(key)));
    expect(error).toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: "API keys cannot be verified: the database of the gateway is away",
    });
  });
});
