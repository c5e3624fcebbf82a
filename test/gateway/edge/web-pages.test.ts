import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { send } from "../../fixtures/gateway/wire.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";
import { FaultWorld } from "../faults/faults-world.ts";

let world: FaultWorld;
let port: number;

/** A server that starts when it is first used: what a page must not be able to cause. */
beforeAll(async () => {
  world = await FaultWorld.open(() => ({ lazy: { ...stdioFixture(), auto_start: false } }), {
    allowedOrigins: ["https://console.example"],
  });
  port = world.gateway.port;
});

afterAll(() => world[Symbol.asyncDispose]());

const stateOfLazy = () => world.gateway.host.find("lazy")?.state.kind;
const get = (path: string, headers: Record<string, string>) =>
  send(`http://127.0.0.1:${port}${path}`, { method: "GET", headers });

/** The status line of a request whose header lines are sent exactly as written. */
function statusOf(lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () =>
      socket.end(`GET /healthz HTTP/1.1\r\n${lines.join("\r\n")}\r\nConnection: close\r\n\r\n`),
    );
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString()));
    socket.once("error", reject);
    socket.once("close", () => resolve(text.slice(0, text.indexOf("\r\n"))));
  });
}

test.each(["cross-site", "same-site", "cross-site, none", "something-new"])(
  "A GET that a browser marks %s and that has no Origin is refused and starts no server",
  async (site) => {
    for (const path of ["/servers/lazy/tools", "/mcp", "/sse", "/metrics", "/healthz"]) {
      const answer = await get(path, { "sec-fetch-site": site, accept: "text/event-stream" });
      expect([path, answer.status]).toEqual([path, 403]);
      expect(answer.json.error?.message).toContain("Sec-Fetch-Site");
    }
    expect(stateOfLazy()).toBe("idle");
  },
);

test("An allowed page may send requests that a browser marks cross-site, and a foreign page may not", async () => {
  const crossSite = { "sec-fetch-site": "cross-site" };
  expect((await get("/healthz", { ...crossSite, origin: "https://console.example" })).status).toBe(200);
  expect((await get("/healthz", { "sec-fetch-site": "same-site", origin: "http://localhost:5173" })).status).toBe(200);
  expect((await get("/healthz", { ...crossSite, origin: "https://evil.example" })).status).toBe(403);
});

test.each(["same-origin", "none"])("A request that a browser marks %s is served", async (site) => {
  expect((await get("/healthz", { "sec-fetch-site": site })).status).toBe(200);
});

test.each([
  ["one port after another", (own: string) => [`Host: ${own}:80`]],
  ["a name of its own and then a foreign one", (own: string) => [`Host: ${own}`, "Host: evil.example"]],
  ["the same name twice", (own: string) => [`Host: ${own}`, `host: ${own}`]],
  ["two names in one line", (own: string) => [`Host: ${own}, evil.example`]],
  ["a user", (own: string) => [`Host: user@${own}`]],
  ["a path", (own: string) => [`Host: ${own}/x`]],
  ["a port that is not a number", () => ["Host: localhost:port"]],
  ["an address with an unclosed bracket", () => ["Host: [::1"]],
])("A request whose Host has %s is refused", async (_what, lines) => {
  expect(await statusOf(lines(`localhost:${port}`))).toMatch(/^HTTP\/1\.1 40[03] /);
});

test("A request with two Authorization headers is refused, since a proxy may have checked the other one", async () => {
  const lines = [`Host: localhost:${port}`, "Authorization: Bearer first", "authorization: Bearer second"];
  expect(await statusOf(lines)).toMatch(/^HTTP\/1\.1 400 /);
});

test.each([(own: number) => `localhost:${own}`, (own: number) => `LOCALHOST:${own}`, (own: number) => `[::1]:${own}`])(
  "A request that names the gateway once is served",
  async (host) => {
    expect(await statusOf([`Host: ${host(port)}`])).toBe("HTTP/1.1 200 OK");
  },
);
