import { createServer, type RequestListener } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { AddressGuard } from "../../src/net/address-guard.ts";
import { authNetwork } from "../../src/auth/oauth/auth-network.ts";
import { AuthHttp } from "../../src/auth/oauth/auth-http.ts";
import { AuthorizationServer } from "../fixtures/auth/authorization-server.ts";
import { AuthWorld, echo } from "../fixtures/auth/auth-world.ts";
import { failure } from "../fixtures/failure.ts";
import { withOwnClock } from "../fixtures/own-clock.ts";

const SERVER_METADATA = "/.well-known/oauth-authorization-server";
const OPENID_METADATA = "/.well-known/openid-configuration";

/** A server of somebody else, which remembers what reached it. */
async function stranger(answer: RequestListener = (_req, res) => res.writeHead(404).end()) {
  const received: string[] = [];
  const server = createServer((req, res) => {
    received.push(`${req.method} ${req.url}`, JSON.stringify(req.headers));
    req.setEncoding("utf8").on("data", (text: string) => received.push(text));
    req.on("end", () => answer(req, res));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

test.each([
  ["the root", (world: AuthWorld) => (world.server.metadataPaths = ["/.well-known/oauth-protected-resource"])],
  [
    "an address that the challenge names",
    (world: AuthWorld) => {
      world.server.metadataPaths = ["/about"];
      world.server.challenge = `Bearer resource_metadata="${new URL("/about", world.server.url).href}"`;
    },
  ],
  [
    "OpenID metadata only",
    (world: AuthWorld) =>
      world.authorization.instead.set(SERVER_METADATA, (_req, res) => Boolean(res.writeHead(404).end())),
  ],
])("N3: the authorization server is found through %s", async (_, arrange) => {
  await using world = await AuthWorld.open();
  world.server.challenge = "Bearer";
  arrange(world);

  expect(await echo(await world.connect(), "hello")).toBe("hello");
});

test.each([
  ["an address of a private network", "https://10.0.0.1", "ADDRESS_REFUSED"],
  ["the metadata service of a cloud", "http://169.254.169.254", "ADDRESS_REFUSED"],
  ["http on another machine", "http://login.example", "ADDRESS_REFUSED"],
  ["a file", "file:///etc/passwd", "AUTH_REQUIRED"],
  ["an IPv6 address of a private network", "https://[fd00::1]", "ADDRESS_REFUSED"],
  ["an IPv4 address in IPv6", "https://[::ffff:10.0.0.1]", "ADDRESS_REFUSED"],
  ["a name with a password", "https://user:pass@10.0.0.1", "ADDRESS_REFUSED"],
  ["no URL", "somewhere", "AUTH_REQUIRED"],
])("security.md: a server that names %s as its authorization server is refused", async (_, issuer, code) => {
  await using world = await AuthWorld.open();
  world.server.metadata = { ...world.server.metadata, authorization_servers: [issuer] };

  const error = await failure(world.connect());

  expect(error.code).toBe(code);
  expect(error.details.hint).toBeTypeOf("string");
  expect(world.pages).toHaveLength(0);
});

test.each([
  ["https://127.0.0.1/", "this machine"],
  ["http://localhost:8080/token", "this machine"],
  ["https://[::1]/", "this machine"],
  ["https://192.168.1.1/", "192.168.1.1"],
  ["https://0.0.0.0/", "0.0.0.0"],
  ["http://login.example/", "https"],
  ["file:///etc/passwd?a=b", "file:/etc/passwd is not an https address"],
])("security.md: from a server on the internet, %s is not reached", async (url, reason) => {
  await using http = new AuthHttp({ openNetwork: authNetwork(), server: "https://mcp.example/mcp" });

  const error = await failure(http.fetch(url, { method: "GET" }));

  expect(error.code).toBe("ADDRESS_REFUSED");
  expect(`${error.message} ${error.details.hint}`).toContain(reason);
});

test.each(["https://169.254.169.254/", "https://0.0.0.0/", "https://[fd00:ec2::254]/", "https://[fe80::1]/"])(
  "security.md: from a server in a private network, %s is not reached",
  async (url) => {
    await using http = new AuthHttp({ openNetwork: authNetwork(), server: "https://10.0.0.1/mcp" });

    const error = await failure(http.fetch(url, { method: "GET" }));

    expect(error.code).toBe("ADDRESS_REFUSED");
  },
);

test("security.md: from a server in a private network, a name of this machine is not reached", () => {
  const guard = new AddressGuard({ allowsPrivate: true });

  const addresses = ["192.168.1.1", "fc00::1", "127.0.0.1", "::ffff:127.0.0.1", "::1", "100.100.100.200"];
  expect(addresses.filter((address) => guard.permits("login.example", address))).toEqual(["192.168.1.1", "fc00::1"]);
});

test.each([
  ["authorization_endpoint", "javascript:alert(1)"],
  ["authorization_endpoint", "http://10.0.0.1/authorize"],
  ["authorization_endpoint", "file:///bin/sh"],
  ["token_endpoint", "http://169.254.169.254/token"],
  ["token_endpoint", "http://login.example/token"],
  ["registration_endpoint", "https://10.0.0.1/register"],
])("security.md: metadata with %s %s sends nobody there, and no token", async (name, value) => {
  await using world = await AuthWorld.open();
  world.authorization.onAnswer.set(SERVER_METADATA, ({ body }) => void (body[name] = value));

  const error = await failure(world.connect());

  expect(["ADDRESS_REFUSED", "AUTH_REQUIRED"]).toContain(error.code);
  if (name !== "token_endpoint") expect(world.pages).toHaveLength(0);
  expect(await world.stored()).toBeUndefined();
});

test.each([
  ["another origin", () => "https://other.example/mcp"],
  ["another path", (url: string) => `${url}/further`],
  ["a path that begins like it", (url: string) => url.slice(0, -1)],
  ["no text", () => 5],
])("N3: metadata of %s is not used for this server", async (_, resource) => {
  await using world = await AuthWorld.open();
  world.server.metadata = { ...world.server.metadata, resource: resource(world.server.url) };

  const error = await failure(world.connect());

  expect(error.code).toBe("AUTH_REQUIRED");
  expect(error.message).toContain("protected resource");
  // Its metadata may be read: no client is registered, nobody is sent to its page, and no token is requested.
  const metadata = "/.well-known/oauth-authorization-server";
  expect(world.authorization.asked.filter(({ path }) => path !== metadata)).toEqual([]);
});

test("N3: metadata that another issuer claims is refused (RFC 8414)", async () => {
  await using world = await AuthWorld.open();
  for (const path of [SERVER_METADATA, OPENID_METADATA]) {
    world.authorization.onAnswer.set(path, ({ body }) => void (body["issuer"] = "https://login.example"));
  }

  const error = await failure(world.connect());

  expect(error.code).toBe("AUTH_REQUIRED");
  expect(error.message).toContain("metadata of the authorization server");
  expect(world.pages).toHaveLength(0);
});

test.each([
  ["a page of HTML", "<html><body>Welcome</body></html>"],
  ["half a document", `{"issuer":`],
  ["a list", "[]"],
  ["nothing", ""],
  ["other types", `{"issuer":5,"token_endpoint":{}}`],
  ["a hundred thousand brackets", "[".repeat(100_000)],
  ["four megabytes", JSON.stringify({ issuer: "x".repeat(4 * 1024 * 1024) })],
])("N3: metadata that is %s is an error with the step and a next step", async (_, text) => {
  await using world = await AuthWorld.open();
  for (const path of [SERVER_METADATA, OPENID_METADATA]) {
    world.authorization.instead.set(path, (_req, res) =>
      Boolean(res.writeHead(200, { "content-type": "application/json" }).end(text)),
    );
  }

  const error = await failure(world.connect());

  expect(error.message).toContain("metadata of the authorization server");
  expect(error.details.hint).toBeTypeOf("string");
  expect(error.message.length).toBeLessThan(1000);
  expect(world.pages).toHaveLength(0);
});

test("N3: an authorization server that does not answer is given up", async () => {
  await using world = await AuthWorld.open();
  const asked = new Promise<void>((resolve) => {
    world.authorization.instead.set(SERVER_METADATA, () => {
      resolve();
      return true;
    });
  });
  await withOwnClock(async (pass) => {
    const failing = failure(world.credentials().login());
    await asked;
    pass(60_000);
    expect((await failing).code).toBe("TIMEOUT");
  });
});

test("N3: a login can be cancelled while the authorization server is silent", async () => {
  await using world = await AuthWorld.open();
  const stop = new AbortController();
  world.authorization.instead.set(SERVER_METADATA, () => {
    stop.abort();
    return true;
  });

  expect((await failure(world.credentials().login(stop.signal))).code).toBe("CANCELLED");
});

test("security.md: a token does not reach the target of a redirect", async () => {
  await using world = await AuthWorld.open();
  await using other = await stranger();
  const client = await world.connect();
  const { accessToken = "" } = (await world.stored())?.tokens ?? {};
  world.server.instead = (_req, res) => Boolean(res.writeHead(307, { location: `${other.url}/mcp` }).end());

  await failure(echo(client, "hello"));

  expect(accessToken).not.toBe("");
  expect(other.received.join("\n")).not.toContain(accessToken);
});

test.each([307, 308, 302])(
  "security.md: a token request that is redirected (%i) sends no secret on",
  async (status) => {
    await using world = await AuthWorld.open();
    await using other = await stranger((_req, res) => res.writeHead(200).end("{}"));
    const client = await world.connect();
    const { tokens } = (await world.stored()) ?? {};
    world.server.refused.add(tokens?.accessToken ?? "");
    world.authorization.instead.set("/token", (_req, res) =>
      Boolean(res.writeHead(status, { location: `${other.url}/token` }).end()),
    );

    await failure(echo(client, "hello"));

    expect(other.received).toEqual([]);
    expect((await world.stored())?.tokens?.refreshToken).toBe(tokens?.refreshToken);
  },
);

test("security.md: redirects of metadata are checked hop by hop", async () => {
  await using world = await AuthWorld.open();
  world.authorization.instead.set(SERVER_METADATA, (_req, res) =>
    Boolean(res.writeHead(302, { location: "http://169.254.169.254/latest" }).end()),
  );

  expect((await failure(world.connect())).code).toBe("ADDRESS_REFUSED");
});

test("N3: a server that moves to another issuer gets a new registration; the old credentials stay where they belong", async () => {
  await using world = await AuthWorld.open();
  await using next = await AuthorizationServer.start();
  const client = await world.connect();
  const before = await world.stored();

  world.server.moveTo(next);

  expect(await echo(client, "hello")).toBe("hello");
  expect(await world.stored()).toMatchObject({ issuer: next.issuer });
  expect(next.requestsTo("/register")).toBe(1);
  expect((await world.stored())?.client.clientId).not.toBe(before?.client.clientId);
  expect([...next.secrets]).not.toContain(before?.tokens?.refreshToken);
  expect(next.refreshes).toBe(0);
});

test.each([
  ["a login", {}],
  ["an assertion", { grant: "jwt_bearer", assertion: "not-a-real-assertion" }],
] as const)("security.md: %s for one issuer is not for another that the server names", async (_what, more) => {
  await using world = await AuthWorld.open();
  await using next = await AuthorizationServer.start();
  world.server.moveTo(next);

  const error = await failure(world.connect(world.credentials({ ...more, issuer: world.authorization.issuer })));

  expect(error.message).toContain(`but the server now uses ${next.issuer}`);
  expect(next.requestsTo("/register") + next.tokenRequests()).toBe(0);
  expect(world.pages).toHaveLength(0);
});

test("N3: a client that was registered by hand is not used at another issuer", async () => {
  await using world = await AuthWorld.open();
  await using next = await AuthorizationServer.start();
  const settings = { clientId: "desk", clientSecret: "not-a-real-secret-of-desk", issuer: world.authorization.issuer };
  world.server.moveTo(next);

  const error = await failure(world.connect(world.credentials(settings)));

  expect(error.code).toBe("AUTH_REQUIRED");
  expect(error.message).toContain(next.issuer);
  expect(error.details.hint).toContain("issuer");
  expect(next.tokenRequests()).toBe(0);
  expect(world.pages).toHaveLength(0);
});
