import { expect, test } from "vitest";
import { authNetwork } from "../../src/auth/oauth/auth-network.ts";
import { MemoryCredentials } from "../../src/auth/oauth/stored-credential.ts";
import { OAuthCredentials } from "../../src/auth/authorize/oauth-credentials.ts";
import { HttpTransport } from "../../src/transport/http.ts";
import { Network } from "../../src/net/network.ts";
import { AuthWorld, echo } from "../fixtures/auth/auth-world.ts";
import { ScriptedTokenEndpoint, TOKEN } from "../fixtures/auth/scripted-token-endpoint.ts";
import { failure } from "../fixtures/failure.ts";

const HOUR_MS = 3_600_000;

/** The server no longer accepts what it accepted; the tokens look valid to the client. */
async function refuseAccessToken(world: AuthWorld): Promise<void> {
  world.server.refused.add((await world.stored())?.tokens?.accessToken ?? "");
}

test("N3: a refused token is refreshed, and the next refresh uses the rotated refresh token", async () => {
  await using world = await AuthWorld.open();
  const client = await world.connect();
  const first = (await world.stored())?.tokens;

  for (const text of ["one", "two", "three"]) {
    await refuseAccessToken(world);
    expect(await echo(client, text)).toBe(text);
  }

  const last = (await world.stored())?.tokens;
  expect(world.authorization.refreshes).toBe(3);
  expect(world.pages).toHaveLength(1);
  expect(last?.refreshToken).not.toBe(first?.refreshToken);
  expect(last?.accessToken).not.toBe(first?.accessToken);
});

test("N3: a token is refreshed before it ends, without a refused request", async () => {
  await using world = await AuthWorld.open();
  const client = await world.connect();
  const refused = world.server.answered(401);

  world.aheadMs = HOUR_MS - 1000;

  expect(await echo(client, "hello")).toBe("hello");
  expect(world.authorization.refreshes).toBe(1);
  expect(world.server.answered(401)).toBe(refused);
});

test("N3: a token that is valid for long is not refreshed", async () => {
  await using world = await AuthWorld.open();
  const client = await world.connect();

  world.aheadMs = HOUR_MS / 2;

  expect(await echo(client, "hello")).toBe("hello");
  expect(world.authorization.refreshes).toBe(0);
});

test.each([-HOUR_MS * 5, HOUR_MS * 5])(
  "N3: a clock that is wrong by %i ms from the beginning neither stops the client nor makes it refresh always",
  async (aheadMs) => {
    await using world = await AuthWorld.open();
    world.aheadMs = aheadMs;
    const client = await world.connect();

    for (const text of ["one", "two", "three"]) expect(await echo(client, text)).toBe(text);
    expect(world.authorization.refreshes).toBe(0);
  },
);

test("N3: a server whose clock is ahead refuses early, and one refresh answers it", async () => {
  await using world = await AuthWorld.open({ authorization: { accessTokenSeconds: 600 } });
  const client = await world.connect();
  await refuseAccessToken(world);

  expect(await echo(client, "hello")).toBe("hello");
  expect(world.authorization.refreshes).toBe(1);
});

test("N3: a server that refuses every new token is not refreshed without end", async () => {
  await using world = await AuthWorld.open();
  const client = await world.connect(world.credentials());
  world.server.clockAheadMs = HOUR_MS * 24;

  const error = await failure(echo(client, "hello"));

  expect(error.code).toBe("AUTH_REQUIRED");
  expect(world.authorization.refreshes).toBeLessThanOrEqual(2);
  expect(world.pages.length).toBeLessThanOrEqual(3);
});

test("N3: eight requests that are refused at once cause one refresh", async () => {
  await using world = await AuthWorld.open();
  const client = await world.connect();
  await refuseAccessToken(world);
  const before = world.server.answered(401);
  const texts = Array.from({ length: 8 }, (_, index) => `text ${index}`);

  expect(await Promise.all(texts.map((text) => echo(client, text)))).toEqual(texts);
  expect(world.authorization.refreshes).toBe(1);
  expect(world.server.answered(401) - before).toBeGreaterThan(1);
});

test("N3: eight requests after the token has ended cause one refresh", async () => {
  await using world = await AuthWorld.open();
  const client = await world.connect();
  world.aheadMs = HOUR_MS * 2;
  const texts = Array.from({ length: 8 }, (_, index) => `text ${index}`);

  expect(await Promise.all(texts.map((text) => echo(client, text)))).toEqual(texts);
  expect(world.authorization.refreshes).toBe(1);
});

test("N3: an answer without a refresh token keeps the old one", async () => {
  await using world = await AuthWorld.open({ authorization: { rotates: false } });
  const client = await world.connect();
  const { refreshToken } = (await world.stored())?.tokens ?? {};
  world.authorization.onAnswer.set("/token", ({ body }) => {
    delete body["refresh_token"];
  });

  for (const text of ["one", "two"]) {
    await refuseAccessToken(world);
    expect(await echo(client, text)).toBe(text);
  }

  expect(refreshToken).toBeTypeOf("string");
  expect((await world.stored())?.tokens?.refreshToken).toBe(refreshToken);
  expect(world.authorization.refreshes).toBe(2);
});

test("N3: a grant that has ended asks for a login with a clear error, and keeps the registration", async () => {
  await using world = await AuthWorld.open();
  await world.connect();
  const hint = `Run "nexus mcp login notes".`;
  const client = await world.connect(world.credentials({}, { login: undefined, loginHint: () => hint }));
  const { tokens, client: registered } = (await world.stored()) ?? {};
  await world.authorization.revoke(tokens?.refreshToken ?? "", registered?.clientId ?? "");

  const error = await failure(echo(client, "hello"));

  expect(error).toMatchObject({ code: "AUTH_REQUIRED", details: { hint } });
  expect(error.message).toContain("invalid_grant");
  expect(await world.stored()).toMatchObject({ client: { clientId: registered?.clientId } });
  expect((await world.stored())?.tokens).toBeUndefined();
  const before = world.authorization.refreshes;
  expect((await failure(echo(client, "hello"))).code).toBe("AUTH_REQUIRED");
  expect(world.authorization.refreshes).toBe(before);
});

test("N3: after a failed refresh the person logs in again, and the call goes through", async () => {
  await using world = await AuthWorld.open();
  const client = await world.connect();
  const { tokens, client: registered } = (await world.stored()) ?? {};
  await world.authorization.revoke(tokens?.refreshToken ?? "", registered?.clientId ?? "");

  expect(await echo(client, "hello")).toBe("hello");
  expect(world.pages).toHaveLength(2);
  expect(world.authorization.requestsTo("/register")).toBe(1);
});

test.each([
  ["breaks the connection", undefined],
  ["is overloaded", 503],
  ["is asked too often", 429],
])("N3: an authorization server that %s costs no token; the next call refreshes", async (_, answer) => {
  await using world = await AuthWorld.open();
  const client = await world.connect();
  await refuseAccessToken(world);
  const before = await world.stored();
  world.authorization.instead.set("/token", (_req, res) => {
    if (answer === undefined) res.destroy();
    else res.writeHead(answer, { "content-type": "application/json" }).end(`{"error":"slow_down"}`);
    return true;
  });

  const error = await failure(echo(client, "hello"));

  expect(error.message).toContain("refreshing the token");
  expect(await world.stored()).toEqual(before);
  expect(world.pages).toHaveLength(1);
  world.authorization.instead.clear();
  expect(await echo(client, "hello")).toBe("hello");
  expect(world.pages).toHaveLength(1);
});

test("N3: early renewal that fails does not stop calls with a token that is still valid", async () => {
  await using world = await AuthWorld.open();
  const client = await world.connect();
  world.authorization.instead.set("/token", (_req, res) => Boolean(res.destroy()));
  world.aheadMs = HOUR_MS - 30_000;

  expect(await echo(client, "hello")).toBe("hello");
});

test("N3: what another process has refreshed is used, also if its owner did not say so", async () => {
  await using world = await AuthWorld.open();
  const [one, two] = [await world.connect(), await world.connect()];
  await refuseAccessToken(world);

  expect(await echo(one, "one")).toBe("one");
  expect(await echo(two, "two")).toBe("two");
  expect(world.authorization.refreshes).toBe(1);
  expect(world.pages).toHaveLength(1);
});

test("N3: an access token is used only after the refresh token that came with it was stored", async () => {
  await using world = await AuthWorld.open();
  const events: string[] = [];
  const auth = world.credentials(
    {},
    {
      storage: {
        load: (server) => world.storage.load(server),
        remove: (server) => world.storage.remove(server),
        save: async (credential) => {
          await world.storage.save(credential);
          events.push(`stored ${credential.tokens?.accessToken}`);
        },
      },
    },
  );
  world.server.onRequest = (token) => void events.push(`used ${token}`);
  const client = await world.connect(auth);
  await refuseAccessToken(world);
  await echo(client, "hello");

  for (const token of new Set(world.server.requests.map((each) => each.token))) {
    if (token === undefined) continue;
    expect(events.indexOf(`stored ${token}`)).toBeGreaterThanOrEqual(0);
    expect(events.indexOf(`stored ${token}`)).toBeLessThan(events.indexOf(`used ${token}`));
  }
});

test("security.md: a refreshed token is of the same login; a new login may be that of another person", async () => {
  await using world = await AuthWorld.open();
  await using network = new Network({});
  const credentials = world.credentials();
  const transport = new HttpTransport({
    url: world.server.url,
    headers: {},
    credentials,
    network,
    principalOf: (credential) => credential,
    maxMessageBytes: 1_000,
  });
  expect(transport.loginName).toBeUndefined();
  const client = await world.connect(credentials);
  const first = transport.loginName;
  expect(first).toMatch(/^[\w-]{36}$/);

  await refuseAccessToken(world);
  await echo(client, "hello");
  expect(world.authorization.refreshes).toBe(1);
  expect([transport.loginName, transport.fallback.loginName]).toEqual([first, first]);

  // The running connection learns of it when its token is refused.
  await refuseAccessToken(world);
  await world.credentials().login();
  await echo(client, "hello");
  expect(transport.loginName).toMatch(/^[\w-]{36}$/);
  expect(transport.loginName).not.toBe(first);
});

test("security.md: an entry with a client of its own does not use the login of another client", async () => {
  await using world = await AuthWorld.open();
  await world.connect();
  const before = world.server.requests.length;

  const own = world.credentials({ clientId: "desk" }, { login: undefined });

  expect(await failure(world.connect(own))).toMatchObject({ code: "AUTH_REQUIRED" });
  expect(world.server.requests.slice(before).filter(({ token }) => token !== undefined)).toEqual([]);
  expect((await world.stored())?.tokens).toBeDefined();
});

test("N3: the login to a server without any metadata is refreshed by the next process", async () => {
  const nothing = { status: 404, body: {} };
  await using endpoint = await ScriptedTokenEndpoint.start(nothing, nothing, TOKEN);
  const server = `${endpoint.issuer}/mcp`;
  const storage = new MemoryCredentials();
  await storage.save({
    server,
    issuer: endpoint.issuer,
    resource: server,
    client: { clientId: "client-1", by: "registration", authentication: "none" },
    tokens: { accessToken: "old", type: "Bearer", refreshToken: "again", obtainedAt: 0, expiresAt: 1 },
    scopes: [],
  });

  const headers = await new OAuthCredentials({
    server,
    settings: {},
    storage,
    http: { openNetwork: authNetwork() },
  }).getHeaders({
    method: "POST",
    url: server,
  });

  expect(headers).toEqual({ authorization: "Bearer token-1" });
  expect(endpoint.received.at(-1)).toMatchObject({ path: "/token", form: { refresh_token: "again" } });
});
