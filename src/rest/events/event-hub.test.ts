import { expect, test } from "vitest";
import { StoreWorld } from "../../../test/fixtures/store-world.ts";
import { storeUnavailable } from "../../store/engine/store-failure.ts";
import { SILENT } from "../../text/logger.ts";
import { MACHINE_OWNER } from "../../operations/actor.ts";
import { EventHub } from "./event-hub.ts";

test("a stream that the database refused does not keep later ones from hearing of changes", async () => {
  await using world = await StoreWorld.open("sqlite");
  const store = await world.openStore();
  const { changes } = store;
  const listen = changes.listen.bind(changes);
  changes.listen = () => Promise.reject(storeUnavailable("the database", new Error("away")));
  using hub = new EventHub({ store, logger: SILENT });
  await expect(hub.open(MACHINE_OWNER, undefined)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  changes.listen = listen;
  const stream = (await hub.open(MACHINE_OWNER, undefined)) as ReadableStream<Uint8Array>;
  const reader = stream.getReader();
  const next = async () => new TextDecoder().decode((await reader.read()).value);
  expect(await next()).toContain("event: ready");
  await store.sets.put({ tenant: "default", name: "new", definition: '{"allow":["*"]}' });
  expect(await next()).toContain('{"topic":"sets","tenant":"default"}');
});

test("one tenant with many keys does not use up the streams of another tenant", async () => {
  await using world = await StoreWorld.open("sqlite");
  using hub = new EventHub({ store: await world.openStore(), logger: SILENT });
  const open = (tenant: string, id: string) =>
    hub.open({ principal: { tenant, id }, role: "admin", allTenants: false, keyId: id }, undefined);
  const isOpen = async (tenant: string, id: string) => (await open(tenant, id)) !== undefined;
  for (let key = 0; key < 40; key++) for (let count = 0; count < 8; count++) await isOpen("busy", `key ${key}`);
  expect(await isOpen("busy", "key 40")).toBe(false);
  for (let count = 0; count < 8; count++) expect(await isOpen("calm", "key")).toBe(true);
  expect(await isOpen("calm", "key")).toBe(false);
});
