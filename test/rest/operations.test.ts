import { once } from "node:events";
import { cp, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { request, type ClientRequest, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiOperations } from "../../src/operations/apis/api-operations.ts";
import { approvedFile } from "./contract-examples.ts";
import { RestWorld, TOOL_FILE } from "./rest-world.ts";

let world: RestWorld;
let root: string;
beforeAll(async () => {
  world = await RestWorld.open();
  root = await world.newKey("admin", "default", { allTenants: true });
});
afterAll(() => world[Symbol.asyncDispose]());

describe("a repeated POST", () => {
  test("with the same Idempotency-Key has one effect and gets the same answer, for each key apart", async () => {
    const send = (key: string, name: string) =>
      world.call("POST", "/tenants/shop/keys", {
        key,
        body: { name, allow: ["*"] },
        headers: { "idempotency-key": "1" },
      });
    const before = (await world.store.keys.list("shop")).length;
    const [first, second] = await Promise.all([send(root, "ci"), send(root, "ci")]);
    expect(first.status).toBe(201);
    expect(second.text).toBe(first.text);
    expect((await world.store.keys.list("shop")).length).toBe(before + 1);
    expect(await send(root, "other")).toMatchObject({ status: 422, body: { code: "IDEMPOTENCY_KEY_REUSED" } });
    const own = await world.newKey("admin", "shop");
    expect((await send(own, "other")).status).toBe(201);
  });
});

describe("entity tags", () => {
  test("let a change fail that is based on an older version, and ignore what changes by itself", async () => {
    const { body } = await world.call("POST", "/tenants/shop/keys", { key: root, body: { name: "k", allow: ["*"] } });
    const path = `/tenants/shop/keys/${String(body["id"])}`;
    const grants = await world.call("GET", `${path}/grants`, { key: root });
    const tag = String(grants.headers["etag"]);
    const put = (allow: string[], match: string) =>
      world.call("PUT", `${path}/grants`, { key: root, body: { allow }, headers: { "if-match": match } });
    expect((await put(["github"], tag)).status).toBe(200);
    expect(await put(["docs"], tag)).toMatchObject({ status: 412, body: { code: "PRECONDITION_FAILED" } });
    const key = await world.call("GET", path, { key: root });
    await world.store.keys.recordUse(String(body["id"]));
    const headers = { "if-match": String(key.headers["etag"]) };
    expect((await world.call("DELETE", path, { key: root, headers })).status).toBe(200);
  });
});

describe("tool files", () => {
  test("are shown with what was approved, and with what is on the disk now", async () => {
    const list = async () => {
      const { body } = await world.call("GET", "/tenants/default/tool-files", { key: root });
      return body["items"] as Record<string, unknown>[];
    };
    const [missing, hotel] = await list();
    expect(missing).toMatchObject({ server: "draft", file: "draft.nexus.yaml", state: "invalid", hash: null });
    expect(hotel).toMatchObject({
      server: "hotel",
      api: "capcorn",
      state: "approved",
      upstream: "fake",
      problem: null,
    });
    expect(hotel?.["approved"]).toMatchObject({ hash: hotel?.["hash"], version: hotel?.["version"] });

    const draft = join(world.folder, "draft.nexus.yaml");
    await cp(dirname(TOOL_FILE), world.folder, { recursive: true });
    await rename(join(world.folder, "capcorn.nexus.yaml"), draft);
    expect((await list())[0]).toMatchObject({ state: "not approved", hash: hotel?.["hash"], approved: null });
    await rename(join(world.folder, "capcorn.nexus.lock"), join(world.folder, "draft.nexus.lock"));
    const text = await readFile(draft, "utf8");
    await writeFile(draft, text.replace(/^title: .*$/m, "title: Another title"));
    expect((await list())[0]).toMatchObject({
      state: "changed",
      title: "Another title",
      approved: hotel?.["approved"],
    });

    const { body } = await world.call("GET", "/tenants/default/tool-files/hotel", { key: root });
    expect(body).toMatchObject({
      server: "hotel",
      approvals: expect.arrayContaining([hotel?.["approved"]]) as unknown,
    });
    expect((body["definitions"] as { name: string }[]).length).toBe(hotel?.["tools"]);
    expect(body["secrets"]).toContain("hotel.user");
    expect(JSON.stringify(body)).not.toContain(dirname(TOOL_FILE));
    expect((await world.call("GET", "/tenants/default/tool-files/everything", { key: root })).status).toBe(404);
  });
});

describe("messages", () => {
  test("say what to write instead of a text of a wrong form, and name no commands for what is unknown", async () => {
    const create = (body: object) =>
      world.call("POST", "/tenants/shop/keys", { key: root, body: { name: "k", allow: ["*"], ...body } });
    for (const [body, message] of [
      [{ limits: { rate: "fast" } }, '"fast" is not a rate. Use 10/s, 600/m or 5000/h.'],
      [{ expires: "soon" }, '"soon" is not a duration. Use 30s, 12h or 90d.'],
    ] as const) {
      expect(await create(body)).toMatchObject({ status: 400, body: { errors: [{ message }] } });
    }
    const unknown = await world.call("GET", "/tenants/shop/keys/none", { key: root });
    expect(unknown.body["hint"]).toBe('"GET /api/v1/tenants/shop/keys" shows the ids of all keys.');
    for (const path of [
      "/tenants/none",
      "/tenants/none/keys",
      "/tenants/shop/sets/none",
      "/tenants/shop/servers/none",
    ]) {
      const { status, text } = await world.call("GET", path, { key: root });
      expect({ status, text }).toEqual({ status: 404, text: expect.not.stringContaining("nexus ") as string });
    }
  });

  test("refuse the character U+0000, which PostgreSQL does not take, in paths, queries and bodies", async () => {
    const ask = (path: string) => world.call("GET", path, { key: root });
    expect(await ask("/tenants/a%00b")).toMatchObject({ status: 400, body: { errors: [{ at: "path/tenant" }] } });
    expect(await ask("/tenants/shop/keys/%00")).toMatchObject({ status: 400, body: { errors: [{ at: "path/id" }] } });
    expect(await ask("/tenants/shop/audit?server=%00")).toMatchObject({ body: { errors: [{ at: "query/server" }] } });
    const body = { name: "a\0b", entry: { url: "https://docs.example/mcp" } };
    const added = await world.call("POST", "/tenants/shop/servers", { key: root, body });
    expect(added).toMatchObject({ status: 400, body: { errors: [{ at: "body/name" }] } });
  });

  test("show a key whose stored times no date can have", async () => {
    const { about } = await world.store.keys.create({
      tenant: "shop",
      name: "odd",
      role: "caller",
      grants: { allow: ["*"], deny: [], readOnly: false },
      expiresAt: 9_000_000_000_000_000,
    });
    const key = await world.call("GET", `/tenants/shop/keys/${about.id}`, { key: root });
    expect(key).toMatchObject({ status: 200, body: { expires: "+275760-09-13T00:00:00.000Z" } });
    expect((await world.call("GET", "/tenants/shop/keys", { key: root })).status).toBe(200);
  });
});

describe("limits", () => {
  test("of a key count its requests of MCP and of the REST API together, and tell when to come again", async () => {
    const key = await world.newKey("operator", "shop", { limits: { rate: { max: 3, windowMs: 3_600_000 } } });
    // It counts as a list of tools through MCP.
    const askMcp = () => world.call("GET", "/servers/everything/tools", { key });
    const askRest = () => world.call("GET", "/tenants/shop/servers", { key });
    expect((await askRest()).status).toBe(200);
    expect((await askMcp()).status).toBe(200);
    expect((await askRest()).status).toBe(200);
    const refused = await askRest();
    expect(refused).toMatchObject({ status: 429, body: { code: "RATE_LIMITED", status: 429 } });
    expect(refused.headers["content-type"]).toBe("application/problem+json");
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(3000);
    expect((await askMcp()).status).toBe(429);
    expect((await world.call("GET", "/tenants/shop/servers", { key: root })).status).toBe(200);
  });
});

describe("pages", () => {
  test("show every item once, also where some are removed between them", async () => {
    for (const name of ["p1", "p2", "p3", "p4"]) await world.store.tenants.create(name);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const query = `?limit=2${cursor === undefined ? "" : `&cursor=${cursor}`}`;
      const { body } = await world.call("GET", `/tenants${query}`, { key: root });
      const { items, next } = body as { items: { name: string }[]; next: string | null };
      seen.push(...items.map(({ name }) => name));
      if (seen.includes("p2")) await world.store.tenants.remove("p1");
      cursor = next ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toEqual([...new Set(seen)]);
    expect(seen).toEqual(expect.arrayContaining(["default", "p1", "p2", "p3", "p4", "shop"]));
    expect((await world.call("GET", "/tenants?cursor=x", { key: root })).status).toBe(400);
  });
});

describe("rights", () => {
  test("an admin of one tenant does not get a key for all tenants, neither a new one nor an existing one", async () => {
    const admin = await world.newKey("admin");
    const body = { name: "more", role: "admin", allow: ["*"], allTenants: true };
    expect((await world.call("POST", "/tenants/default/keys", { key: admin, body })).status).toBe(403);
    const id = (await world.call("GET", "/session", { key: root })).body["keyId"] as string;
    const path = `/tenants/default/keys/${id}`;
    expect((await world.call("POST", `${path}/rotate`, { key: admin, body: {} })).status).toBe(403);
    expect((await world.call("PUT", `${path}/grants`, { key: admin, body: { allow: ["x"] } })).status).toBe(403);
    expect((await world.call("DELETE", path, { key: admin })).status).toBe(403);
    expect((await world.call("GET", "/session", { key: root })).status).toBe(200);
  });

  test("a caller sees its own audit records and nobody else's", async () => {
    const key = await world.newKey("caller", "shop");
    const id = (await world.call("GET", "/session", { key })).body["keyId"] as string;
    const record = (keyId: string) => {
      const facts = { keyId, server: "s", target: "t", outcome: "ok" };
      const text = JSON.stringify({ at: new Date().toISOString(), tenant: "shop", method: "tools/call", ...facts });
      return { at: Date.now(), text };
    };
    const { seq } = await world.store.audit.append("shop", [record(id), record("other")]);
    const list = await world.call("GET", "/tenants/shop/audit?key=other", { key });
    expect(list.body).toMatchObject({ items: [{ keyId: id }], next: null });
    const exported = await world.call("GET", "/tenants/shop/audit/export", { key });
    expect(exported.text.trim().split("\n")).toHaveLength(1);
    expect((await world.call("GET", `/tenants/shop/audit/${seq}`, { key })).status).toBe(404);
    expect((await world.call("GET", `/tenants/shop/audit/${seq - 1}`, { key })).status).toBe(200);
    const usage = await world.call("GET", "/tenants/shop/usage", { key });
    expect(usage.body["items"]).toEqual([{ keyId: id, server: "s", outcome: "ok", count: 1 }]);
  });
});

describe("servers over the network", () => {
  const add = (entry: object, tenant = "shop", name = "new") =>
    world.call("POST", `/tenants/${tenant}/servers`, { key: root, body: { name, entry } });

  test("start no programs, reach no private addresses, and do not change configuration files", async () => {
    expect((await add({ command: "node" })).status).toBe(403);
    for (const url of ["http://127.0.0.1/mcp", "http://10.0.0.1/mcp", "http://localhost/mcp", "http://[::1]/mcp"]) {
      expect((await add({ url })).status).toBe(403);
    }
    expect((await add({ url: "https://mcp.example/mcp" }, "default")).status).toBe(403);
    expect((await add({ url: 7 })).status).toBe(400);
    const { status } = await world.call("DELETE", "/tenants/default/servers/everything", { key: root });
    expect(status).toBe(403);
  });

  test("show no secrets, and are changed, switched and removed", async () => {
    const secret = "c0ffee-not-shown";
    const entry = { url: `https://mcp.example/mcp?token=${secret}`, headers: { Authorization: `Bearer ${secret}` } };
    const added = await add({ ...entry, auto_start: false });
    expect(added.status).toBe(201);
    const path = "/tenants/shop/servers/new";
    const get = () => world.call("GET", path, { key: root });
    const texts = [added, await get(), await world.call("GET", "/tenants/shop/servers", { key: root })];
    for (const { text } of texts) expect(text).not.toContain(secret);
    expect((await add(entry)).status).toBe(409);
    const changed = await world.call("PUT", path, { key: root, body: { entry: { url: "https://b.example/mcp" } } });
    expect(changed.body).toMatchObject({ url: "https://b.example/mcp", source: "network" });
    expect((await world.call("PUT", path, { key: root, body: { entry: { command: "sh" } } })).status).toBe(403);
    await world.call("PATCH", path, { key: root, body: { enabled: false } });
    expect((await get()).body).toMatchObject({ enabled: false });
    expect((await world.call("DELETE", path, { key: root })).status).toBe(204);
    expect((await get()).status).toBe(404);
  });
});

describe("the event stream", () => {
  test("tells what changes in the tenant of its reader, and nothing of other tenants", async () => {
    await using stream = await EventReader.open(await world.newKey("admin", "shop"));
    await world.store.sets.put({ tenant: "default", name: "hidden", definition: JSON.stringify({ allow: ["*"] }) });
    await world.store.sets.put({ tenant: "shop", name: "seen", definition: JSON.stringify({ allow: ["*"] }) });
    await expect.poll(() => stream.changes()).toContainEqual({ topic: "sets", tenant: "shop" });
    expect(stream.changes().filter(({ tenant }) => tenant !== "shop")).toEqual([]);
  });

  test("tells that an API was published, rolled back or got another address, in its tenant alone", async () => {
    await using stream = await EventReader.open(await world.newKey("operator", "shop"));
    const operate = (tenant: string) => new ApiOperations(world.store.apis(tenant), { by: "Grace", origin: "network" });
    const told = () => stream.changes().filter(({ topic }) => topic === "apis");
    await operate("default").publish(approvedFile("elsewhere"));
    await operate("shop").publish(approvedFile("told"));
    await expect.poll(told).toEqual([{ topic: "apis", tenant: "shop" }]);
    await operate("shop").putInstance("told", "live", { upstream: "https://test.example/" });
    await expect.poll(() => told().length).toBe(2);
    await operate("shop").removeInstance("told", "live");
    await expect.poll(() => told().length).toBe(3);
  });

  test("tells the states of servers, and goes on after the last event that was received", async () => {
    const first = await EventReader.open(root);
    const toggle = (enabled: boolean) =>
      world.call("PATCH", "/tenants/default/servers/everything", { key: root, body: { enabled } });
    await toggle(false);
    const disabled = { topic: "state", tenant: "default", server: "everything", state: "disabled" };
    await expect.poll(() => first.changes()).toContainEqual(disabled);
    await first[Symbol.asyncDispose]();
    await toggle(true);
    await using second = await EventReader.open(root, first.lastId());
    await expect.poll(() => second.changes().map(({ state }) => state)).toContain("ready");
    expect(second.text).not.toContain("event: ready");
    await using third = await EventReader.open(root, "other-1");
    expect(third.text).toContain("event: ready");
  });

  test("ends when the key of its reader is revoked, and is limited for each reader", async () => {
    const key = await world.newKey("operator", "shop");
    const id = (await world.call("GET", "/session", { key })).body["keyId"] as string;
    const streams = await Promise.all(Array.from({ length: 8 }, () => EventReader.open(key)));
    expect((await world.call("GET", "/events", { key })).status).toBe(429);
    await world.store.keys.revoke(id);
    await expect.poll(() => streams.every(({ isEnded }) => isEnded)).toBe(true);
  });
});

/** Reads a stream of events. */
class EventReader implements AsyncDisposable {
  text = "";
  isEnded = false;
  readonly #req: ClientRequest;

  static async open(key: string, lastId?: string): Promise<EventReader> {
    const headers = { authorization: `Bearer ${key}`, ...(lastId === undefined ? {} : { "last-event-id": lastId }) };
    const req = request(new URL("/api/v1/events", world.origin), { headers }).end();
    const [res] = (await once(req, "response")) as [IncomingMessage];
    const reader = new EventReader(req, res);
    if (lastId === undefined || lastId.startsWith("other")) await expect.poll(() => reader.text).toContain("ready");
    return reader;
  }

  private constructor(req: ClientRequest, res: IncomingMessage) {
    this.#req = req;
    res.setEncoding("utf8").on("data", (chunk: string) => (this.text += chunk));
    res.on("end", () => (this.isEnded = true)).on("error", () => {});
  }

  changes(): Record<string, string>[] {
    const lines = this.text.split("\n").filter((line) => line.startsWith("data: ") && line !== "data: {}");
    return lines.map((line) => JSON.parse(line.slice(6)) as Record<string, string>);
  }

  lastId(): string {
    return [...this.text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#req.destroy();
  }
}
