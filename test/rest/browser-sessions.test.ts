import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cookieIn, RestWorld } from "./rest-world.ts";

let world: RestWorld;
beforeAll(async () => {
  world = await RestWorld.open();
});
afterAll(() => world[Symbol.asyncDispose]());

const OTHER = "http://127.0.0.1:1";

describe("the one-time link", () => {
  test("signs in once, sets an HttpOnly SameSite=Strict cookie with the port in its name, and redirects without the code", async () => {
    const link = new URL(world.operations.consoleLink(world.origin));
    const path = `${link.pathname}${link.search}`;
    const first = await world.call("GET", path);
    expect(first).toMatchObject({ status: 303, headers: { location: "/console", "cache-control": "no-store" } });
    const [set = ""] = first.headers["set-cookie"] ?? [];
    expect(set).toMatch(new RegExp(`^nexus_session_${link.port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`));
    expect((await world.call("GET", path)).status).toBe(403);
    const session = await world.call("GET", "/session", { headers: { cookie: cookieIn(first.headers) } });
    expect(session.body).toMatchObject({ tenant: "default", role: "admin", allTenants: true, keyId: null });
    const page = await world.call("GET", "/console", { headers: { cookie: cookieIn(first.headers) } });
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining("You are signed in") as string });
  });

  test("is not used up by a wrong code or by a request that only looks", async () => {
    const link = new URL(world.operations.consoleLink(world.origin));
    expect((await world.call("GET", "/console/login?code=wrong")).status).toBe(403);
    expect((await world.call("HEAD", `${link.pathname}${link.search}`)).status).not.toBe(303);
    expect((await world.call("GET", `${link.pathname}${link.search}`)).status).toBe(303);
  });

  test("does not work any more after a newer one was made", async () => {
    const link = new URL(world.operations.consoleLink(world.origin));
    world.operations.consoleLink(world.origin);
    expect((await world.call("GET", `${link.pathname}${link.search}`)).status).toBe(403);
  });
});

describe("the cookie of a session", () => {
  test("reads for pages of the gateway itself and for nobody else", async () => {
    const { cookie } = await world.signIn();
    const ask = async (headers: Record<string, string>) =>
      (await world.call("GET", "/tenants", { headers: { cookie, ...headers } })).status;
    expect(await ask({ origin: world.origin })).toBe(200);
    expect(await ask({ "sec-fetch-site": "same-origin" })).toBe(200);
    expect(await ask({ "sec-fetch-site": "none" })).toBe(200);
    expect(await ask({ referer: `${world.origin}/console` })).toBe(200);
    // Another port of the same host gets the same cookies, and is admitted to MCP.
    expect(await ask({ origin: OTHER })).toBe(403);
    expect(await ask({ origin: world.origin.replace("127.0.0.1", "localhost") })).toBe(403);
    expect(await ask({ origin: world.origin.replace("http:", "https:") })).toBe(403);
    expect(await ask({ origin: "null" })).toBe(403);
    expect(await ask({ "sec-fetch-site": "same-site" })).toBe(403);
    expect(await ask({ "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await ask({ referer: `${OTHER}/` })).toBe(403);
  });

  test("changes something only with the gateway's own Origin and with the CSRF token", async () => {
    const { cookie, token } = await world.signIn();
    const create = async (name: string, headers: Record<string, string>) =>
      (await world.call("POST", "/tenants", { body: { name }, headers: { cookie, ...headers } })).status;
    expect(await create("a1", { origin: world.origin, "x-csrf-token": token })).toBe(201);
    expect(await create("a2", { origin: world.origin })).toBe(403);
    expect(await create("a2", { origin: world.origin, "x-csrf-token": "" })).toBe(403);
    expect(await create("a2", { origin: world.origin, "x-csrf-token": (await world.signIn()).token })).toBe(403);
    expect(await create("a2", { origin: OTHER, "x-csrf-token": token })).toBe(403);
    expect(await create("a2", { "x-csrf-token": token })).toBe(403);
    expect(await create("a2", { referer: `${world.origin}/console`, "x-csrf-token": token })).toBe(403);
    expect(await world.store.tenants.find("a2")).toBeUndefined();
  });

  test("does not count beside a key that is wrong, nor when it is sent twice", async () => {
    const { cookie } = await world.signIn();
    expect((await world.call("GET", "/session", { key: "nxs_wrong", headers: { cookie } })).status).toBe(401);
    expect((await world.call("GET", "/session", { headers: { cookie, authorization: "Basic YTpi" } })).status).toBe(
      401,
    );
    const name = cookie.split("=", 1)[0] ?? "";
    expect((await world.call("GET", "/session", { headers: { cookie: `${name}=x; ${cookie}` } })).status).toBe(401);
    expect((await world.call("GET", "/session", { headers: { cookie: `${name}=forged` } })).status).toBe(401);
  });

  test("is not accepted by MCP", async () => {
    const { cookie } = await world.signIn();
    const answer = await fetch(`${world.origin}/mcp`, { method: "POST", headers: { cookie }, body: "{}" });
    expect(answer.status).toBe(401);
  });

  test("does not work any more after signing out", async () => {
    const { cookie, token } = await world.signIn();
    const headers = { cookie, origin: world.origin, "x-csrf-token": token };
    const out = await world.call("DELETE", "/session", { headers });
    expect(out.status).toBe(204);
    expect(String(out.headers["set-cookie"])).toMatch(/=; .*Max-Age=0/);
    expect((await world.call("GET", "/session", { headers: { cookie } })).status).toBe(401);
  });

  test("is Secure and bound to the host where a proxy ends TLS, and the origin then begins with https", async () => {
    const key = await world.newKey("admin");
    const tls = { "x-forwarded-proto": "https", origin: world.origin.replace("http:", "https:") };
    const signedIn = await world.call("POST", "/session", { body: { key }, headers: tls });
    expect(String(signedIn.headers["set-cookie"])).toMatch(/^__Host-nexus_session=.*; Secure$/);
    const cookie = cookieIn(signedIn.headers);
    expect((await world.call("GET", "/session", { headers: { ...tls, cookie } })).status).toBe(200);
    expect((await world.call("GET", "/session", { headers: { cookie, origin: world.origin } })).status).toBe(401);
  });
});

describe("signing in with a key", () => {
  test("gives a session with the rights of the key, which ends when the key is revoked", async () => {
    const key = await world.newKey("admin", "shop");
    const signedIn = await world.call("POST", "/session", { body: { key } });
    expect(signedIn).toMatchObject({ status: 201, body: { tenant: "shop", role: "admin", allTenants: false } });
    expect(signedIn.text).not.toContain(key);
    const cookie = cookieIn(signedIn.headers);
    const get = async (path: string) => (await world.call("GET", path, { headers: { cookie } })).status;
    expect(await get("/tenants/shop/keys")).toBe(200);
    expect(await get("/tenants/default/keys")).toBe(404);
    await world.store.keys.revoke(String(signedIn.body["keyId"]));
    await expect.poll(() => get("/session")).toBe(401);
  });

  test("ends with the secret that was used, not with the key", async () => {
    const key = await world.newKey("operator");
    const signedIn = await world.call("POST", "/session", { body: { key } });
    const id = String(signedIn.body["keyId"]);
    const rotated = await world.store.keys.rotate(id, 0);
    const headers = { cookie: cookieIn(signedIn.headers) };
    await expect.poll(async () => (await world.call("GET", "/session", { headers })).status).toBe(401);
    expect((await world.call("GET", "/session", { key: rotated?.key })).status).toBe(200);
  });

  test("is refused for pages of other origins, for wrong keys, and for forms of other pages", async () => {
    const key = await world.newKey("admin");
    const from = async (headers: Record<string, string>, given = key) =>
      (await world.call("POST", "/session", { body: { key: given }, headers })).status;
    expect(await from({ origin: OTHER })).toBe(403);
    expect(await from({ origin: world.origin })).toBe(201);
    expect(await from({}, "nxs_wrong")).toBe(401);
    expect(await from({}, "nothing")).toBe(401);
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect(await from({ ...form, origin: world.origin })).toBe(400);
    const login = (headers: Record<string, string>) =>
      world.call("POST", "/console/login", { body: `key=${key}`, headers: { ...form, ...headers } });
    expect((await login({ origin: world.origin })).status).toBe(303);
    const typed = async (text: string) =>
      world.call("POST", "/console/login", { body: text, headers: { ...form, origin: world.origin } });
    // The page says what was wrong, has the form again, and does not repeat the key.
    expect(await typed("key=nxs_wrong%3Cb%3E")).toMatchObject({
      status: 401,
      text: expect.stringMatching(/^(?![^]*nxs_wrong)[^]*role="alert"[^]*API key is not valid[^]*<form/) as string,
    });
    expect((await typed("key=")).text).toContain("Enter an API key.");
    expect((await world.call("GET", "/console/login")).text).not.toContain("alert");
    expect((await login({ origin: OTHER })).status).toBe(403);
    expect((await login({})).status).toBe(403);
  });
});
