import { expect, test } from "vitest";
import type { CredentialStorage } from "../../src/index.ts";
import { AuthWorld, echo, REDIRECT } from "../fixtures/auth/auth-world.ts";
import { failure } from "../fixtures/failure.ts";

const HOUR_MS = 3_600_000;
const HINT = `Run "nexus mcp login notes".`;

/** The server no longer accepts the token, and the authorization server still refreshes it. */
async function refuseAccessToken(world: AuthWorld): Promise<void> {
  world.server.refused.add((await world.stored())?.tokens?.accessToken ?? "");
}

async function endGrant(world: AuthWorld): Promise<void> {
  const { tokens, client } = (await world.stored()) ?? {};
  await world.authorization.revoke(tokens?.refreshToken ?? "", client?.clientId ?? "");
}

/** Holds the answer to the next token request. */
function holdAnswer(world: AuthWorld) {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const reached = new Promise<void>((resolve) => {
    world.authorization.onAnswer.set("/token", async () => {
      world.authorization.onAnswer.delete("/token");
      resolve();
      await released;
    });
  });
  return { reached, release: () => release() };
}

test("N3: a grant that ended while the client was idle is replaced by a login, and the call goes through", async () => {
  await using world = await AuthWorld.open();
  const client = await world.connect();
  await endGrant(world);
  world.aheadMs = 2 * HOUR_MS;

  expect(await echo(client, "hello")).toBe("hello");
  expect(world.pages).toHaveLength(2);
});

test("N3: after an early renewal found that the grant has ended, every call says how to log in", async () => {
  await using world = await AuthWorld.open();
  await world.connect();
  const client = await world.connect(world.credentials({}, { login: undefined, loginHint: () => HINT }));
  await endGrant(world);

  for (const leftMs of [30_000, 15_000, 0]) {
    world.aheadMs = HOUR_MS - leftMs;
    expect(await failure(echo(client, "hello"))).toMatchObject({ code: "AUTH_REQUIRED", details: { hint: HINT } });
  }
  expect(world.pages).toHaveLength(1);
});

test("N3: a new refresh token that could not be stored is stored by the next call, and not lost", async () => {
  await using world = await AuthWorld.open();
  let isFull = false;
  const storage: CredentialStorage = {
    load: (server) => world.storage.load(server),
    remove: (server) => world.storage.remove(server),
    save: (credential) => (isFull ? Promise.reject(new Error("The disk is full")) : world.storage.save(credential)),
  };
  const client = await world.connect(world.credentials({}, { storage }));
  await refuseAccessToken(world);
  isFull = true;
  for (const text of ["one", "two"]) expect((await failure(echo(client, text))).message).toContain("The disk is full");
  isFull = false;

  expect(await echo(client, "three")).toBe("three");
  expect(world.authorization.refreshes).toBe(1);
  expect(world.pages).toHaveLength(1);
});

test("N3: a login during the refresh of another process is kept", async () => {
  await using world = await AuthWorld.open();
  const client = await world.connect();
  await refuseAccessToken(world);
  const answer = holdAnswer(world);
  const call = echo(client, "hello");
  await answer.reached;

  const login = world.credentials().login();
  await expect.poll(() => world.authorization.requestsTo("/token")).toBe(3);
  answer.release();

  expect(await call).toBe("hello");
  expect((await world.stored())?.tokens).toEqual((await login).tokens);
});

test("N3: a logout reads and removes the login while no other process can renew it", async () => {
  await using world = await AuthWorld.open();
  await world.connect();
  const events: string[] = [];
  const storage: CredentialStorage = {
    load: (server) => {
      events.push("load");
      return world.storage.load(server);
    },
    save: (credential) => world.storage.save(credential),
    remove: (server) => {
      events.push("remove");
      return world.storage.remove(server);
    },
    exclusively: async (_server, work) => {
      events.push("lock");
      const result = await work();
      events.push("unlock");
      return result;
    },
  };

  expect(await world.credentials({}, { storage }).logout()).toEqual({ removed: true, revoked: true });
  expect(events).toEqual(["lock", "load", "remove", "unlock"]);
});

test("N3: a login that a call gave up does not disturb the next call, also if its handler does not end", async () => {
  await using world = await AuthWorld.open();
  const giveUp = new AbortController();
  let isIgnored = false;
  const login = {
    openRedirect: () =>
      Promise.resolve({
        uri: REDIRECT,
        visit: (page: URL) => {
          world.pages.push(page);
          if (!isIgnored) return world.browser.authorize(page, REDIRECT);
          giveUp.abort();
          return new Promise<URL>(() => {});
        },
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }),
  };
  const client = await world.connect(world.credentials({}, { login }));
  await endGrant(world);
  isIgnored = true;
  const { code } = await failure(client.callTool("echo", { text: "one" }, { signal: giveUp.signal }));
  expect(code).toBe("CANCELLED");
  isIgnored = false;

  expect(await echo(client, "two")).toBe("two");
  expect(world.pages).toHaveLength(3);
});
