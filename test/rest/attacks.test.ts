import { once } from "node:events";
import { createServer, get, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeResponse } from "../../src/rest/http/node-exchange.ts";
import { RestWorld } from "./rest-world.ts";

let world: RestWorld;
let admin: string;
beforeAll(async () => {
  world = await RestWorld.open();
  admin = await world.newKey("admin");
});
afterAll(() => world[Symbol.asyncDispose]());

const KEYS = "/tenants/default/keys";

test("a caller that signs in a thousand times ends nobody's session but its own", async () => {
  const [owner, caller] = [await world.signIn(), await world.newKey("caller")];
  const first = await world.call("POST", "/session", { body: { key: caller } });
  for (let round = 0; round < 20; round++) {
    const body = { key: caller };
    await Promise.all(Array.from({ length: 51 }, () => world.call("POST", "/session", { body })));
  }
  const statusWith = async (cookie: string) => (await world.call("GET", "/session", { headers: { cookie } })).status;
  expect(await statusWith(owner.cookie)).toBe(200);
  expect(await statusWith(String(first.headers["set-cookie"]).split(";")[0] ?? "")).toBe(401);
});

test("a key cannot expire at a time that has no date, so the list of keys stays readable", async () => {
  const body = { name: "x", allow: ["*"], expires: "100000000d" };
  expect((await world.call("POST", KEYS, { key: admin, body })).status).toBe(400);
  const { items } = (await world.call("GET", KEYS, { key: admin })).body as { items: { id: string }[] };
  const rotation = { key: admin, body: { overlap: "100000000d" } };
  expect((await world.call("POST", `${KEYS}/${items[0]?.id}/rotate`, rotation)).status).toBe(400);
});

test.each(["a\u001b[2J", "a\u0000", "a\ud800", "a\u202eb"])("a key cannot be called %j", async (name) => {
  const answer = await world.call("POST", KEYS, { key: admin, body: { name, allow: ["*"] } });
  expect(answer).toMatchObject({ status: 400, body: { errors: [{ at: "body/name" }] } });
});

test("a set cannot have so many patterns that comparing them delays other tenants", async () => {
  const body = { name: "many", allow: Array.from({ length: 201 }, () => "everything") };
  expect((await world.call("POST", "/tenants/default/sets", { key: admin, body })).status).toBe(400);
});

test.each(["tools", "prompts"])(
  "a set cannot show so many %s in another way that reading it delays other tenants (X15)",
  async (kind) => {
    const items = Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`everything.t${at}`, {}]));
    const body = { name: "wide", allow: ["everything"], [kind]: items };
    const answer = await world.call("POST", "/tenants/default/sets", { key: admin, body });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ at: `body/${kind}` }] } });
  },
);

test("a server's entry that is too long to be kept is refused before its variables are filled in (X15)", async () => {
  await world.store.tenants.create("long");
  const key = await world.newKey("admin", "long");
  const body = { name: "a", entry: { url: `https://one.example/\${NOT_FILLED_IN}${"/a".repeat(300_000)}` } };
  const answer = await world.call("POST", "/tenants/long/servers", { key, body });
  expect(answer).toMatchObject({ status: 400, body: { detail: 'The entry of server "a" is too long' } });
});

test("a stranger can send a few kilobytes, and is refused after that", async () => {
  const big = JSON.stringify({ key: "x".repeat(5000) });
  expect((await world.call("POST", "/session", { body: big })).status).toBe(413);
  const form = { "content-type": "application/x-www-form-urlencoded", origin: world.origin };
  expect((await world.call("POST", "/console/login", { body: `key=${big}`, headers: form })).status).toBe(413);
});

test("a body with too many values is refused before it is parsed, and of many mistakes 50 are reported", async () => {
  const allow = (count: number) => ({ name: "many", allow: Array.from({ length: count }, () => 1) });
  const post = (body: unknown) => world.call("POST", "/tenants/default/sets", { key: admin, body });
  const values = { code: "MESSAGE_TOO_LARGE", detail: "The body has more than 200000 values" };
  expect(await post(allow(200_001))).toMatchObject({ status: 413, body: values });
  const wrong = await post(allow(150));
  expect(wrong).toMatchObject({ status: 400, body: { code: "ARGUMENTS_INVALID" } });
  expect((wrong.body as { errors: unknown[] }).errors).toHaveLength(50);
  expect(await post("[".repeat(200) + "]".repeat(200))).toMatchObject({
    status: 400,
    body: { errors: [{ at: "body", message: "is nested deeper than 128 levels" }] },
  });
});

test("keys cannot be guessed unrecorded through the REST API and the console", async () => {
  const key = `nxs_${"x".repeat(16)}_guess`;
  expect((await world.call("GET", "/session", { key })).status).toBe(401);
  expect((await world.call("POST", "/session", { body: { key } })).status).toBe(401);
  const form = { "content-type": "application/x-www-form-urlencoded", origin: world.origin };
  expect((await world.call("POST", "/console/login", { body: `key=${key}`, headers: form })).status).toBe(401);
  // Nobody tried a key here.
  expect((await world.call("GET", "/console")).status).toBe(401);
  await expect.poll(() => world.refused.length).toBe(3);
  expect(world.refused[0]?.authorization).toBe(`Bearer ${key}`);
});

test("the method TRACE is refused as others are", async () => {
  expect(await world.call("TRACE", "/session")).toMatchObject({ status: 405, headers: { allow: "GET, POST, DELETE" } });
  expect((await world.call("TRACE", "/nothing")).status).toBe(404);
});

test("requests with HEAD do not use up the event streams of a key", async () => {
  const key = await world.newKey("operator");
  for (let count = 0; count < 10; count++) expect((await world.call("HEAD", "/events", { key })).status).toBe(200);
});

test("a stream that nobody reads is ended: after HEAD, and after the client has left", async () => {
  const ended: string[] = [];
  const answer = (what: string) =>
    new Response(new ReadableStream({ cancel: () => void ended.push(what) }), {
      headers: { "content-type": "text/event-stream" },
    });
  const server = createServer((_req, res) => void writeResponse(res, answer("HEAD"), false)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const [res] = (await once(get({ port, method: "HEAD" }), "response")) as [NodeJS.ReadableStream];
  res.resume();
  server.close();
  await writeResponse({ destroyed: true } as ServerResponse, answer("left"));
  expect(ended).toEqual(["HEAD", "left"]);
});
