import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { NexusError } from "../../src/errors/nexus-error.ts";
import { listOfTools } from "./contract-examples.ts";
import { RestWorld } from "./rest-world.ts";

let world: RestWorld;
let admin: string;
beforeAll(async () => {
  world = await RestWorld.open();
  admin = await world.newKey("admin", "default", { allTenants: true });
});
afterAll(() => world[Symbol.asyncDispose]());

/** The newest records of a tenant, the oldest of them first. */
async function newest(tenant: string, limit: number) {
  const { items } = await world.store.audit.list(tenant, {}, { limit });
  return items.toReversed();
}

function idOf(key: string): string {
  return key.split("_")[1] ?? "";
}

test("changes through the REST API are in the audit of their tenant, with who made them", async () => {
  const keys = "/tenants/shop/keys";
  const { body } = await world.call("POST", keys, { key: admin, body: { name: "ci", allow: ["*"] } });
  const id = String(body["id"]);
  await world.call("PATCH", `${keys}/${id}/limits`, { key: admin, body: { rate: "5/s" } });
  await world.call("DELETE", `${keys}/${id}`, { key: admin });
  await world.call("POST", "/tenants/shop/sets", { key: admin, body: { name: "help", allow: ["*"] } });
  await world.store.definitions("shop").record(listOfTools("everything", { echo: "one" }));
  await world.call("POST", "/tenants/shop/changes/accept", { key: admin, body: { server: "everything" } });
  await world.call("GET", keys, { key: admin });
  const made = { tenant: "shop", keyId: idOf(admin), decision: "allowed", outcome: "ok", errorCode: null };
  expect(await newest("shop", 100)).toMatchObject([
    { ...made, method: "rest/createKey", target: "ci" },
    { ...made, method: "rest/changeLimits", target: id },
    { ...made, method: "rest/revokeKey", target: id },
    { ...made, method: "rest/createSet", target: "help" },
    { ...made, method: "rest/acceptChanges", target: "everything" },
  ]);
  const all = JSON.stringify(await newest("shop", 100));
  expect(all).not.toContain("nxs_");
});

test("refused and failed changes of a known key are in the audit of a tenant that it may enter", async () => {
  const operator = await world.newKey("operator", "shop");
  await world.call("POST", "/tenants/shop/keys", { key: operator, body: { name: "own", allow: ["*"] } });
  await world.call("DELETE", "/tenants/default/keys/x1", { key: operator });
  const own = await world.newKey("admin", "shop");
  await world.call("DELETE", "/tenants/default/keys/x2", { key: own });
  await world.call("POST", "/tenants/shop/sets", { key: own, body: { name: "help", allow: ["*"] } });
  const refused = { tenant: "shop", decision: "denied", outcome: "refused" };
  expect(await newest("shop", 4)).toMatchObject([
    { ...refused, keyId: idOf(operator), method: "rest/createKey", errorCode: "FORBIDDEN" },
    { ...refused, keyId: idOf(operator), method: "rest/revokeKey", target: "x1", errorCode: "FORBIDDEN" },
    { ...refused, keyId: idOf(own), method: "rest/revokeKey", target: "x2", errorCode: "NAME_UNKNOWN" },
    { keyId: idOf(own), method: "rest/createSet", target: "help", outcome: "error" },
  ]);
  expect(await newest("default", 100)).toEqual([]);
});

test("tenants that are created, removed or unknown are recorded for the one who asked", async () => {
  await world.call("POST", "/tenants", { key: admin, body: { name: "desk" } });
  await world.call("DELETE", "/tenants/desk", { key: admin });
  await world.call("DELETE", "/tenants/none/keys/x", { key: admin });
  expect(await newest("default", 3)).toMatchObject([
    { tenant: "default", method: "rest/createTenant", target: "desk", outcome: "ok" },
    { tenant: "default", method: "rest/removeTenant", target: "desk", outcome: "ok" },
    { tenant: "default", method: "rest/revokeKey", target: "x", outcome: "refused" },
  ]);
  expect(await world.store.audit.tenants()).not.toContain("none");
});

test("a repeated request with an idempotency key is recorded once, and one of a stranger as a refused credential only", async () => {
  const before = (await newest("shop", 100)).length;
  const request = { key: admin, body: { name: "once", allow: ["*"] }, headers: { "idempotency-key": "a" } };
  await world.call("POST", "/tenants/shop/keys", request);
  await world.call("POST", "/tenants/shop/keys", request);
  await world.call("POST", "/tenants/shop/keys", { key: "nxs_wrong", body: request.body });
  expect((await newest("shop", 100)).length).toBe(before + 1);
});

test("where changes have to be recorded, none is made while that is not possible", async () => {
  const { audit } = world.store;
  const append = vi.spyOn(audit, "append").mockImplementation(async () => {
    throw new NexusError("STORE_UNAVAILABLE", "The database does not answer");
  });
  const create = (name: string) =>
    world.call("POST", "/tenants/shop/sets", { key: admin, body: { name, allow: ["*"] } });
  try {
    expect((await create("first")).status).toBe(503);
    const refused = await create("second");
    expect(refused).toMatchObject({ status: 503, body: { code: "STORE_UNAVAILABLE" } });
    expect(refused.headers["retry-after"]).toBeDefined();
    expect((await world.store.sets.list("shop")).map(({ name }) => name)).not.toContain("second");
    expect((await world.call("GET", "/tenants/shop/sets", { key: admin })).status).toBe(200);
  } finally {
    append.mockRestore();
  }
  await expect.poll(async () => (await create("third")).status, { timeout: 20_000 }).toBe(201);
});
