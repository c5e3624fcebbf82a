import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { approvedFile } from "./contract-examples.ts";
import { RestWorld } from "./rest-world.ts";

let world: RestWorld;
let admin: string;
beforeAll(async () => {
  world = await RestWorld.open();
  admin = await world.newKey("admin", "shop");
});
afterAll(() => world[Symbol.asyncDispose]());

const APIS = "/tenants/shop/apis";
const publish = (body: unknown, key = admin) => world.call("POST", APIS, { key, body });

test("operators see what is published; only admins of the tenant change it (X15)", async () => {
  const body = approvedFile("roles");
  expect((await publish(body)).status).toBe(201);
  const [operator, caller] = [await world.newKey("operator", "shop"), await world.newKey("caller", "shop")];
  const foreign = await world.newKey("admin", "default");
  const reads = [APIS, `${APIS}/roles/versions`, `${APIS}/roles/instances`];
  const changes = [
    ["POST", APIS, body],
    ["PATCH", `${APIS}/roles/versions/1.0.0`, { state: "retired" }],
    ["PATCH", `${APIS}/roles/instances/test`, { upstream: "fake" }],
    ["POST", `${APIS}/roles/instances/live/rollback`, {}],
    ["DELETE", `${APIS}/roles/instances/live`, undefined],
  ] as const;
  for (const path of reads) {
    expect((await world.call("GET", path, { key: operator })).status, path).toBe(200);
    expect((await world.call("GET", path, { key: caller })).status, path).toBe(403);
    // Another tenant is unknown, whether it has published something or not.
    expect((await world.call("GET", path, { key: foreign })).status, path).toBe(404);
    expect((await world.call("GET", path)).status, path).toBe(401);
  }
  for (const [method, path, sent] of changes) {
    const statusFor = async (key?: string) => (await world.call(method, path, { key, body: sent })).status;
    expect([await statusFor(operator), await statusFor(caller), await statusFor(foreign), await statusFor()]).toEqual([
      403, 403, 404, 401,
    ]);
  }
  expect((await world.call("GET", `${APIS}/roles/instances`, { key: operator })).body).toMatchObject({
    items: [{ name: "live", version: "1.0.0", upstream: null }],
  });
});

test("texts that are kept with a version are bounded, and can be seen", async () => {
  const body = approvedFile("bounded");
  const { approval } = body;
  const many = Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`s${at}`, "x"]));
  const wrong: [string, unknown][] = [
    ["body/approval/by", { ...body, approval: { ...approval, by: "x".repeat(201) } }],
    ["body/approval/by", { ...body, approval: { ...approval, by: "Ada\u202e\u001b[2J" } }],
    ["body/approval/by", { ...body, approval: { ...approval, by: "  " } }],
    ["body/approval/at", { ...body, approval: { ...approval, at: "yesterday" } }],
    ["body/approval/hash", { ...body, approval: { ...approval, hash: `sha256:${"x".repeat(5000)}` } }],
    ["body/approval/version", { ...body, approval: { ...approval, version: "1".repeat(101) } }],
    ["body/as", { ...body, as: "1".repeat(33) }],
    ["body/instance", { ...body, instance: "x".repeat(33) }],
    ["body/server", { ...body, server: "../x" }],
    ["body/upstream", { ...body, upstream: `https://test.example/${"x".repeat(2000)}` }],
    ["body/addresses", { ...body, addresses: many }],
    ["body/settings", { ...body, settings: many }],
    ["body/settings/region", { ...body, settings: { region: "x".repeat(10_001) } }],
    ["body/documents", { ...body, documents: many }],
  ];
  for (const [at, sent] of wrong) {
    const answer = await publish(sent);
    expect([at, answer.status, (answer.body["errors"] as { at: string }[] | undefined)?.[0]?.at]).toEqual([
      at,
      400,
      at,
    ]);
  }
  expect((await publish(body)).status).toBe(201);
});

test("an upload that is too large is refused before it is read", async () => {
  const headers = { authorization: `Bearer ${admin}`, "content-type": "application/json" };
  const answerTo = async (more: Record<string, string | number>, write: (req: ReturnType<typeof request>) => void) => {
    const url = new URL(`/api/v1${APIS}`, world.origin);
    const req = request(url, { method: "POST", headers: { ...headers, ...more } }).on("error", () => {});
    write(req);
    const [res] = (await once(req, "response")) as [IncomingMessage];
    res.resume();
    req.destroy();
    return [res.statusCode, res.headers.connection];
  };
  // Nothing of the body is ever sent.
  expect(await answerTo({ "content-length": 33 * 1024 * 1024 }, (req) => req.flushHeaders())).toEqual([413, "close"]);
  const piece = Buffer.alloc(1024 * 1024, 0x20);
  const pieces = (req: ReturnType<typeof request>) => {
    for (let at = 0; at < 33; at++) req.write(piece);
  };
  // Of unknown length: it never ends.
  expect(await answerTo({ "transfer-encoding": "chunked" }, pieces)).toEqual([413, "close"]);
});
