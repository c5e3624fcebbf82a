import { expect, test } from "vitest";
import { storeUnavailable } from "../../../src/store/engine/store-failure.ts";
import type { AuditLog } from "../../../src/store/audit/audit-log.ts";
import type { Store } from "../../../src/store/store.ts";
import { checkAudit } from "../../../src/store/audit/audit-check.ts";
import { StoreWorld } from "../../fixtures/store-world.ts";
import { AuditedGateway } from "./audited-gateway.ts";

const SOON = { timeout: 15_000, interval: 20 };

/** A store whose audit cannot be written while it is away. */
function failable(store: Store) {
  const state = { isAway: false, attempts: 0, store };
  const { audit } = store;
  const append: AuditLog["append"] = async (tenant, entries) => {
    state.attempts++;
    if (state.isAway) throw storeUnavailable("the database", new Error("away"));
    return audit.append(tenant, entries);
  };
  const failing = {
    append,
    wasAppended: audit.wasAppended.bind(audit),
    lines: audit.lines.bind(audit),
    tenants: audit.tenants.bind(audit),
  };
  state.store = Object.create(store, { audit: { value: failing } }) as Store;
  return state;
}

test("arguments and results are recorded as the settings say: hashed, redacted, in full, or shortened", async () => {
  await using world = await StoreWorld.open("sqlite");
  const store = await world.openStore();
  const args = { text: "hello", password: "tulip", deep: { token: "rose" } };
  for (const detail of ["hashed", "redacted", "full"] as const) {
    const gateway = await AuditedGateway.open(store, { settings: { arguments: detail, results: detail } });
    await gateway.call("look", detail === "full" ? { ...args, text: "long ".repeat(5000) } : args);
    if (detail === "full") await gateway.call("look", args);
    await gateway[Symbol.asyncDispose]();
  }
  await using it = await AuditedGateway.open(store);
  const [hashed, redacted, long, full] = await it.records();
  const HMAC = expect.stringMatching(/^hmac-sha256:[0-9a-f]{64}$/) as string;
  expect(hashed).toMatchObject({ arguments: HMAC, result: HMAC });
  expect(redacted).toMatchObject({ arguments: { text: "hello", password: "•••", deep: { token: "•••" } } });
  expect(long).toMatchObject({ arguments: { truncated: true }, result: { truncated: true } });
  expect(full).toMatchObject({ arguments: args, result: { content: [{ text: "hello" }] } });
  expect((await checkAudit(store.audit, "default")).damage).toBeUndefined();
});

test("open: what does not fit into the queue is dropped, counted, and the count is recorded", async () => {
  await using world = await StoreWorld.open("sqlite");
  const store = await world.openStore();
  const gateway = await AuditedGateway.open(store, { maxWaiting: 5, collectMs: 60_000 });
  await using it = gateway;
  for (let call = 0; call < 12; call++) expect(await it.call("look")).toMatchObject({ result: {} });
  const { text } = await it.world.get("/metrics", "ada");
  expect(text).toContain("\nnexus_audit_records_waiting 5\n");
  expect(text).toContain("\nnexus_audit_records_dropped_total 7\n");
  await gateway[Symbol.asyncDispose]();
  const records = await it.records();
  expect(records).toHaveLength(6);
  expect(records.at(-1)).toMatchObject({ method: "nexus/audit", outcome: "dropped", count: 7 });
});

test("open: calls are answered while the store is away, and recorded when it is back", async () => {
  await using world = await StoreWorld.open("sqlite");
  const store = await world.openStore();
  const failing = failable(store);
  await using it = await AuditedGateway.open(failing.store, { collectMs: 1 });
  failing.isAway = true;
  expect(await it.call("look")).toMatchObject({ result: {} });
  await expect.poll(() => failing.attempts, SOON).toBeGreaterThan(1);
  failing.isAway = false;
  await expect.poll(() => it.records(), SOON).toHaveLength(1);
});

test("closed: a call whose record cannot be written is not answered, and the next ones do not begin", async () => {
  await using world = await StoreWorld.open("sqlite");
  const store = await world.openStore();
  const failing = failable(store);
  await using it = await AuditedGateway.open(failing.store, { settings: { onFailure: "closed" } });
  const readiness = async () => (await it.world.get("/readyz", "ada")).text;
  expect(await it.call("look")).toMatchObject({ result: {} });
  expect(await readiness()).toBe('{"status":"ready"}');
  expect(await it.records()).toHaveLength(1);
  failing.isAway = true;
  const unrecorded = { code: "STORE_UNAVAILABLE", mayHaveReached: true };
  expect(await it.call("look")).toMatchObject({
    error: { message: expect.stringContaining("audit"), data: unrecorded },
  });
  expect(await readiness()).toBe('{"status":"unavailable"}');
  const before = failing.attempts;
  expect(await it.call("look")).toMatchObject({ error: { data: { ...unrecorded, mayHaveReached: false } } });
  const session = await it.world.session();
  expect((await session.answerTo("tools/list")).error).toMatchObject({ data: { code: "STORE_UNAVAILABLE" } });
  failing.isAway = false;
  await expect.poll(async () => "result" in (await it.call("look")), SOON).toBe(true);
  expect(await readiness()).toBe('{"status":"ready"}');
  expect(before).toBeGreaterThan(0);
  expect((await checkAudit(store.audit, "default")).damage).toBeUndefined();
});
