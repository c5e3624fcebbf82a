import { rm, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { Client, HostEntry, InputProvider } from "../../src/index.ts";
import { failure } from "../fixtures/failure.ts";
import { startHttpFixture } from "../fixtures/servers/http-fixture.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";
import { oddServer } from "./odd-server.ts";
import { HostWorld, textOf, until } from "./world.ts";

const legacy = (more: HostEntry = {}): HostEntry => ({ ...stdioFixture(["--revision", "2025-11-25"]), ...more });

/** Says who was asked. */
function person(name: string, asked: string[]): InputProvider {
  return {
    capabilities: { elicitation: { form: {} } },
    handle: () => {
      asked.push(name);
      return { action: "accept", content: {} };
    },
  };
}

const ask = (client: Client) => client.callTool("test_elicitation", { message: "?" });

test("who shares a modern HTTP server is asked what their own calls ask, and nobody else is", async () => {
  await using world = await HostWorld.open();
  await using server = await startHttpFixture({ revision: "2026-07-28" });
  const asked: string[] = [];
  await using host = await world.host({ web: { url: server.url } }, { input: person("host", asked) });
  await host.ready();
  using ada = await host.lease("web", { owner: "ada", input: person("ada", asked) });
  using bob = await host.lease("web", { owner: "bob", input: person("bob", asked) });
  using guest = await host.lease("web", { input: person("guest", asked) });
  using mute = await host.lease("web", { owner: "mute" });
  for (const { client } of [ada, bob, guest]) await ask(client);
  expect(asked).toEqual(["ada", "bob", "guest"]);
  await ask(mute.client).catch(() => {});
  expect(asked).toEqual(["ada", "bob", "guest"]);
  await host.callTool("web.test_elicitation", { message: "?" });
  expect(asked.at(-1)).toBe("host");
});

test("a connection that keeps state stays with whoever answers its questions, and with no other", async () => {
  await using world = await HostWorld.open();
  const asked: string[] = [];
  await using host = await world.host({ pipe: legacy() });
  await host.ready();
  const first = person("first", asked);
  using one = await host.lease("pipe", { owner: "ada", input: first });
  using two = await host.lease("pipe", { owner: "ada", input: person("second", asked) });
  using again = await host.lease("pipe", { owner: "ada", input: first });
  using ownerless = await host.lease("pipe", { input: person("ownerless", asked) });
  for (const { client } of [one, two, again, ownerless]) await ask(client);
  expect(asked).toEqual(["first", "second", "first", "ownerless"]);
  expect(again.client).toBe(one.client);
});

test("isolation: call works for a server that is connected on first use", async () => {
  await using world = await HostWorld.open();
  await using host = await world.host({ pipe: oddServer({}, { isolation: "call", auto_start: false }) });
  const [one, two] = [await host.callTool("pipe.echo"), await host.callTool("pipe.echo")];
  expect(textOf(one)).not.toBe(textOf(two));
});

test("an owner's failures count when they are in a row", async () => {
  await using world = await HostWorld.open();
  const flag = world.path("flag");
  const backoff = { firstMs: 1, longestMs: 1, patience: 3, restMs: 60_000 };
  const entry = oddServer({ failUnless: flag }, { isolation: "call", auto_start: false });
  await using host = await world.host({ flaky: entry }, { backoff });
  for (let round = 0; round < 4; round++) {
    await failure(host.lease("flaky", { owner: "ada" }));
    await writeFile(flag, "");
    (await host.lease("flaky", { owner: "ada" })).release();
    await rm(flag);
  }
});

test("one owner's failures do not hold off another", async () => {
  await using world = await HostWorld.open();
  const spawnLog = world.path("pids");
  const backoff = { firstMs: 1, longestMs: 1, patience: 2, restMs: 60_000 };
  const dead = oddServer({ spawnLog, failUnless: world.path("never") }, { auto_start: false });
  await using host = await world.host({ dead }, { backoff });
  for (let round = 0; round < 4; round++) await failure(host.lease("dead", { owner: "ada" }));
  const before = (await world.pids("pids")).length;
  await failure(host.lease("dead", { owner: "ada" }));
  expect(await world.pids("pids")).toHaveLength(before);
  await failure(host.lease("dead", { owner: "bob" }));
  expect((await world.pids("pids")).length).toBeGreaterThan(before);
});

test("owners never take the place of the host's own connection", async () => {
  await using world = await HostWorld.open();
  await using host = await world.host(
    { pipe: oddServer() },
    { maxConnections: 3, connectionWaitMs: 20, backoff: { firstMs: 60_000 } },
  );
  await host.ready();
  const own = Number(textOf(await host.callTool("pipe.echo")));
  using _ada = await host.lease("pipe", { owner: "ada" });
  using _bob = await host.lease("pipe", { owner: "bob" });
  process.kill(own, "SIGKILL");
  await until(host, "pipe", "failed");
  expect(await failure(host.lease("pipe", { owner: "eve" }))).toMatchObject({ code: "CONNECTION_FAILED" });
  expect(textOf(await host.callTool("pipe.echo"))).not.toBe(String(own));
});

test("an owner who declares ever more takes nobody else's places", async () => {
  await using world = await HostWorld.open();
  await using host = await world.host({ pipe: oddServer() }, { maxOwnerConnections: 2 });
  const declaring = (note: number) => ({
    ...person("ada", []),
    capabilities: { elicitation: {}, experimental: { note } },
  });
  using _first = await host.lease("pipe", { owner: "ada", input: declaring(1) });
  const second = await host.lease("pipe", { owner: "ada", input: declaring(2) });
  const third = declaring(3);
  const refused = await failure(host.lease("pipe", { owner: "ada", input: third }));
  expect(refused).toMatchObject({ code: "CONNECTION_FAILED", details: { mayHaveReached: false } });
  expect(refused.message).toContain("(2 for one client)");
  using _bob = await host.lease("pipe", { owner: "bob" });
  const { closed } = second.client;
  second.release();
  using _third = await host.lease("pipe", { owner: "ada", input: third });
  await closed;
});

test("on a shared pipe nobody answers what is asked of another, whoever else is waiting", async () => {
  await using world = await HostWorld.open();
  const asked: string[] = [];
  await using host = await world.host({ pipe: legacy({ isolation: "shared" }) }, { input: person("host", asked) });
  await host.ready();
  using bob = await host.lease("pipe", { owner: "bob" });
  await ask(bob.client).catch(() => {});
  const [abort, abortBob] = [new AbortController(), new AbortController()];
  const waiting = failure(host.callTool("pipe.sleep", { ms: 60_000 }, { signal: abort.signal }));
  await ask(bob.client).catch(() => {});
  expect(asked).toEqual([]);
  abort.abort();
  await waiting;
  const bobWaits = failure(bob.client.callTool("sleep", { ms: 60_000 }, { signal: abortBob.signal }));
  await host.callTool("pipe.test_elicitation", { message: "?" }).catch(() => {});
  expect(asked).toEqual([]);
  abortBob.abort();
  await bobWaits;
  await host.callTool("pipe.test_elicitation", { message: "?" });
  expect(asked).toEqual(["host"]);
});

test("of two calls at once each is answered by whom it brought", async () => {
  await using world = await HostWorld.open();
  await using host = await world.host({ pipe: legacy() }, { input: person("host", []) });
  await host.ready();
  const asks = (name: string) => {
    const input: InputProvider = {
      capabilities: { elicitation: { form: {} } },
      handle: () => ({ action: "accept", content: { username: name, email: "person@example.org" } }),
    };
    return host.callTool("pipe.test_elicitation", { message: "?" }, { input });
  };
  const names = Array.from({ length: 4 }, (_, index) => `person ${index}`);
  const answers = await Promise.all(names.map(asks));
  names.forEach((name, index) => expect(JSON.stringify(answers[index])).toContain(name));
});

test("who shares a connection sets roots and log level for nobody else, and closes nothing but what is theirs", async () => {
  await using world = await HostWorld.open();
  await using server = await startHttpFixture({ revision: "2026-07-28" });
  const entry = { url: server.url, roots: [world.folder] };
  await using host = await world.host({ web: entry }, { input: person("host", []) });
  await host.ready();
  using ada = await host.lease("web", { owner: "ada", input: person("ada", []) });
  using bob = await host.lease("web", { owner: "bob", input: person("bob", []) });
  const configured = bob.client.roots;
  await ada.client.setRoots([{ uri: "file:///of-ada" }]);
  expect(bob.client.roots).toEqual(configured);
  expect(JSON.stringify(await ada.client.callTool("ask_roots"))).toContain("of-ada");
  expect(JSON.stringify(await bob.client.callTool("ask_roots"))).not.toContain("of-ada");
  await ada.client.setLogLevel("debug");
  await bob.client.callTool("echo", { text: "x" });
  const levels = server.transcript.entries
    .map((entry) => JSON.stringify(entry))
    .filter((text) => text.includes("debug"));
  expect(levels).toEqual([]);
  const waiting = failure(ada.client.callTool("sleep", { ms: 60_000 }));
  await ada.client.close();
  expect(await waiting).toMatchObject({ code: "CLOSED" });
  expect(await failure(ada.client.callTool("echo", { text: "x" }))).toMatchObject({ code: "CLOSED" });
  expect(textOf(await bob.client.callTool("echo", { text: "still here" }))).toBe("still here");
});
