import { writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { connect as connectSocket, type AddressInfo, type Server } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { FileSecretStore } from "../../src/auth/secrets.ts";
import { serve } from "../../src/gateway/index.ts";
import type { Host } from "../../src/host/host.ts";
import { connect } from "../../src/index.ts";
import { TRUST_EVERYTHING } from "../../src/config/trust/trust-store.ts";
import { loadApproved } from "../../src/workshop/load-api.ts";
import { exampleSettings } from "../../src/workshop/run/setting-values.ts";
import { modern, send } from "../fixtures/gateway/wire.ts";
import { NexusWorld } from "../fixtures/nexus.ts";
import { selfSigned } from "../fixtures/self-signed.ts";
import { startHttpFixture } from "../fixtures/servers/http-fixture.ts";
import { booking } from "../workshop/capcorn/capcorn-stay.ts";
import { HostWorld, stateOf, toolNames, until } from "./world.ts";

const CAPCORN = fileURLToPath(new URL("../../api/capcorn/capcorn.nexus.yaml", import.meta.url));
const SSRF = "SSRF through URLs, redirects, OAuth discovery, $ref, imported documents";
const FAST = { connection_timeout: "5s", http_max_retries: 0 };

/** A server that failed is tried again, so its state may be another one for a moment. */
async function refused(host: Host, id: string, code: string): Promise<void> {
  await expect.poll(() => stateOf(host, id)).toMatchObject({ kind: "failed", error: { code } });
}

/** A server of a test, closed at its end. */
async function listening(server: Server & { closeAllConnections?: () => void }) {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections?.();
      server.close(() => resolve());
    });
  return { port: (server.address() as AddressInfo).port, [Symbol.asyncDispose]: close };
}

/** Answers every request as a modern server without tools does. */
const modernAnswer: RequestListener = (request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
  request.on("end", () => {
    const { id } = JSON.parse(body || "{}") as { id?: unknown };
    const discovered = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, tools: [{ name: "look" }] };
    const result = { resultType: "complete", ...discovered, serverInfo: { name: "secure", version: "1" } };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
};

test(`${SSRF}: a host for public addresses refuses internal ones, by number and by name, over HTTP and HTTP+SSE (R8)`, async () => {
  await using world = await HostWorld.open();
  await using server = await startHttpFixture();
  const byName = (url: string) => url.replace("127.0.0.1", "localhost");
  const servers = {
    http: { url: server.url, ...FAST },
    named: { url: byName(server.url), ...FAST },
    sse: { url: server.sseUrl, type: "sse", ...FAST },
    "named-sse": { url: byName(server.sseUrl), type: "sse", ...FAST },
    // What the entry allows, its host does not.
    bold: { url: server.url, public_only: { allow: ["127.0.0.1"] }, ...FAST },
    bolder: { url: server.url, public_only: false, ...FAST },
    metadata: { url: "http://169.254.169.254/latest/meta-data/", ...FAST },
    mapped: { url: "http://[::ffff:127.0.0.1]:80/mcp", ...FAST },
  } as const;
  await using host = await world.host(servers, { publicOnly: true });
  await host.ready();
  for (const id of Object.keys(servers)) await refused(host, id, "ADDRESS_REFUSED");
  expect(server.transcript.entries).toEqual([]);
});

test("a host for public addresses reaches internal ones that it allows; without the option all are reached as before", async () => {
  await using world = await HostWorld.open();
  await using server = await startHttpFixture();
  for (const options of [{ publicOnly: { allow: ["127.0.0.1"] } }, {}]) {
    await using host = await world.host({ web: { url: server.url } }, options);
    await until(host, "web", "ready");
  }
});

test(`${SSRF}: an entry that may use public addresses only is refused alone`, async () => {
  await using world = await HostWorld.open();
  await using server = await startHttpFixture();
  const web = { url: server.url, ...FAST };
  await using host = await world.host({ web, guarded: { ...web, public_only: true } });
  await host.ready();
  expect(stateOf(host, "web")?.kind).toBe("ready");
  await refused(host, "guarded", "ADDRESS_REFUSED");
});

test(`${SSRF}: callers of a gateway reach no internal address through it, and read none in its answers`, async () => {
  await using world = await HostWorld.open();
  await using server = await startHttpFixture();
  const host = await world.host({ web: { url: server.url, ...FAST } }, { publicOnly: true });
  await using gateway = await serve({ host, port: 0 });
  await gateway.ready();
  const own = gateway.url.replace("/mcp", "/servers/web/mcp");
  const asked = { "tools/call": { name: "echo" }, "resources/read": { uri: "test://a" }, "prompts/get": { name: "a" } };
  for (const [method, params] of Object.entries({ ...asked, "any/method": {} })) {
    const { text } = await send(own, modern(method, params));
    expect(text).toContain("an address that the gateway may not use");
    expect(text).not.toContain(String(server.port));
  }
  expect(server.transcript.entries).toEqual([]);
});

test(`${SSRF}: a redirect from an allowed address to an internal one is not followed`, async () => {
  await using world = await HostWorld.open();
  let reached = 0;
  await using inside = await listening(createServer(() => reached++));
  const location = `http://127.0.0.1:${inside.port}/mcp`;
  await using outside = await listening(createServer((_, response) => response.writeHead(307, { location }).end()));
  const entry = { url: `http://127.0.0.1:${outside.port}/mcp`, ...FAST };
  await using host = await world.host({ web: entry }, { publicOnly: { allow: ["127.0.0.1"] } });
  await host.ready();
  await refused(host, "web", "REDIRECT_REFUSED");
  expect(reached).toBe(0);
});

test(`${SSRF}: only http and https are spoken`, async () => {
  await using world = await HostWorld.open();
  await using host = await world.host({ web: { url: "ftp://example.com/mcp" } }, { publicOnly: true });
  await host.ready();
  expect(stateOf(host, "web")?.kind).toBe("failed");
});

test(`${SSRF}: a tool file's upstream on this machine is refused by a host for public addresses`, async () => {
  await using world = await HostWorld.open();
  let reached = 0;
  await using inside = await listening(createServer((_, response) => response.end(String(reached++))));
  const upstream = `http://127.0.0.1:${inside.port}/RestService/`;
  const { file } = await loadApproved(CAPCORN, { trust: TRUST_EVERYTHING });
  const secrets = new FileSecretStore({ folder: world.path("state/secrets"), platform: process.platform });
  for (const name of ["user", "password", "system", "pin-9100"])
    await secrets.set(`capcorn.${name}`, "x", [new URL(upstream).origin]);
  const servers = { capcorn: { api: CAPCORN, upstream, settings: exampleSettings(file) } };
  for (const publicOnly of [true, undefined]) {
    await using host = await world.host(servers, { trust: true, publicOnly });
    const { isError, content } = await host.callTool("capcorn.create_reservation", booking());
    expect(isError).toBe(true);
    expect(JSON.stringify(content).includes("an address that may not be reached")).toBe(publicOnly === true);
    expect(reached > 0).toBe(publicOnly !== true);
  }
});

/** A server that only certificates of an own authority vouch for; undefined where none can be made. */
async function secureServer() {
  const identity = await selfSigned();
  if (!identity) return undefined;
  const server = await listening(createSecureServer(identity, modernAnswer));
  return { ...server, url: `https://localhost:${server.port}/mcp`, cert: identity.cert, identity };
}

test("certificates of an own authority are trusted by a host, by an entry and by a gateway's servers (N3)", async () => {
  await using world = await HostWorld.open();
  const secure = await secureServer();
  if (!secure) return console.log("not tried: there is no openssl to make a certificate with");
  await using server = secure;
  const { url, cert } = server;
  const file = world.path("company.pem");
  await writeFile(file, cert);
  await using wary = await world.host({ web: { url, ...FAST } });
  await wary.ready();
  expect(stateOf(wary, "web")).toMatchObject({ error: { code: "CONNECTION_FAILED" } });
  await using trusting = await world.host({ web: { url } }, { ca: [cert] });
  await trusting.ready();
  expect(toolNames(trusting)).toEqual(["look"]);
  const host = await world.host({ web: { url, ca: file } });
  await using gateway = await serve({ host, port: 0 });
  await gateway.ready();
  await using client = await connect({ url: gateway.url });
  expect((await client.listTools()).map(({ name }) => name)).toEqual(["web__look"]);
});

test("a certificate file that cannot be used is reported, and its server is not reached without it", async () => {
  await using world = await HostWorld.open();
  await writeFile(world.path("no.pem"), "not a certificate");
  const entry = (ca: string) => ({ url: "https://localhost:1/mcp", ca: world.path(ca) });
  await using host = await world.host({ missing: entry("missing.pem"), broken: entry("no.pem") });
  await host.ready();
  for (const id of ["missing", "broken"])
    expect(stateOf(host, id)).toMatchObject({ error: { code: "CONFIG_INVALID" } });
});

test("the command line trusts the authorities of the configuration and of NODE_EXTRA_CA_CERTS (N3)", async () => {
  const secure = await secureServer();
  if (!secure) return console.log("not tried: there is no openssl to make a certificate with");
  await using server = secure;
  await using world = await NexusWorld.open();
  const pem = await world.write("company.pem", server.cert);
  await world.write("other.pem", (await selfSigned())?.cert ?? "");
  const tools = async (config: object, env: Record<string, string> = {}) => {
    const file = await world.write("mcp.json", config);
    return world.run(["mcp", "tools", "--config", file, "--json"], { env });
  };
  const servers = { web: { url: server.url, ...FAST } };
  expect(await tools({ servers })).toMatchObject({ code: 4 });
  for (const config of [
    { servers, network: { ca: ["company.pem"] } },
    { servers: { web: { ...servers.web, ca: "./company.pem" } } },
  ]) {
    expect(await tools(config)).toMatchObject({ code: 0, stdout: expect.stringContaining("look") as string });
  }
  expect(await tools({ servers }, { NODE_EXTRA_CA_CERTS: pem })).toMatchObject({ code: 0 });
  // Both at once: what the configuration adds does not take the others away.
  const both = await tools({ servers, network: { ca: ["other.pem"] } }, { NODE_EXTRA_CA_CERTS: pem });
  expect(both).toMatchObject({ code: 0 });
  expect(await tools({ servers, network: { ca: ["missing.pem"] } })).toMatchObject({ code: 3 });
  const byUrl = ["mcp", "tools", "--url", server.url];
  expect(await world.run(byUrl)).toMatchObject({ code: 4 });
  await world.write("home/.nexus/mcp.json", { network: { ca: [pem], publicOnly: true } });
  expect(await world.run(byUrl)).toMatchObject({ code: 0 });
  expect(await tools({ servers, network: { ca: ["company.pem"], publicOnly: true } })).toMatchObject({ code: 8 });
  expect(await tools({ servers, network: { publicOnly: "yes" } })).toMatchObject({ code: 3 });
});

test("a proxy with a certificate of an own authority is trusted like a server (N3)", async () => {
  const identity = await selfSigned();
  if (!identity) return console.log("not tried: there is no openssl to make a certificate with");
  const tunnels: string[] = [];
  const server = createSecureServer(identity).on("connect", (request, socket, head) => {
    tunnels.push(request.url ?? "");
    const { hostname, port } = new URL(`http://${request.url ?? ""}`);
    const upstream = connectSocket(Number(port), hostname, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.write(head);
      upstream.pipe(socket);
      socket.pipe(upstream);
    });
    upstream.on("error", () => socket.destroy());
    socket.on("error", () => upstream.destroy());
  });
  await using proxy = await listening(server);
  await using web = await listening(createServer(modernAnswer));
  await using world = await NexusWorld.open();
  await world.write("company.pem", identity.cert);
  const env = { HTTP_PROXY: `https://localhost:${proxy.port}`, NO_PROXY: "" };
  const servers = { web: { url: `http://127.0.0.1:${web.port}/mcp`, ...FAST } };
  const tools = async (config: object) =>
    world.run(["mcp", "tools", "--config", await world.write("mcp.json", config), "--json"], { env });
  expect(await tools({ servers })).toMatchObject({ code: 4 });
  expect(await tools({ servers, network: { ca: "company.pem" } })).toMatchObject({ code: 0 });
  expect(tunnels).toContain(`127.0.0.1:${web.port}`);
});
