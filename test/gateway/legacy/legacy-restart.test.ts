import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ANYBODY } from "../../../src/server/core/principal.ts";
import { SessionIds } from "../../../src/server/sessions/session-ids.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { StandInCore } from "./legacy-stand-in.ts";
import { eventsOf, LegacyWire, serveLegacy, type WireEvent } from "./legacy-wire.ts";

const LIFE_MS = 600_000;
const ELICITATION = { elicitation: { form: {} } };
let stateFolder = "";
beforeAll(async () => void (stateFolder = await mkdtemp(join(tmpdir(), "nexus-sessions-"))));
afterAll(() => rm(stateFolder, { recursive: true, force: true, maxRetries: 5 }));

/** The gateway as it is after a start: it knows what is on disk. */
async function start(options: Parameters<typeof serveLegacy>[1] = {}, lifeMs = LIFE_MS) {
  const core = new StandInCore();
  const ids = await SessionIds.open({ lifeMs, stateFolder });
  const world = await serveLegacy(core, { ids, ...options });
  return {
    ...world,
    core,
    /** The client of a session that was opened elsewhere. */
    returning: (of: LegacyWire, headers = {}) =>
      new LegacyWire(`${world.origin}/mcp`, { ...of.headers, ...headers }, of.initialized),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
    },
  };
}

/** A session whose gateway is gone. */
async function sessionOfBefore(version = "2025-11-25", capabilities: object = ELICITATION, lifeMs?: number) {
  await using before = await start({}, lifeMs);
  return await before.open(version, capabilities);
}

test("a client goes on with its session after a restart, with the revision and capabilities it agreed to", async () => {
  for (const version of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
    const wire = await sessionOfBefore(version, { sampling: {}, roots: { listChanged: true } });
    await using world = await start();
    const returning = world.returning(wire);
    // All of them at once, and it is still one session.
    const calls = Array.from({ length: 5 }, () => returning.call("echo", { text: version }));
    for (const messages of await Promise.all(calls)) {
      expect(messages.at(-1)).toMatchObject({ result: { content: [{ text: version }] } });
    }
    expect(world.legacy.sessions).toBe(1);
    expect(new Set(world.core.exchanges.map(({ caller }) => caller.owner)).size).toBe(1);
    expect(world.core.exchanges[0]?.caller).toMatchObject({ version, capabilities: { sampling: {}, roots: {} } });
    expect((await returning.delete()).status).toBe(204);
  }
});

test("a session that was taken up is told that lists may have changed, hears of changes, and can be asked", async () => {
  const wire = await sessionOfBefore();
  await using world = await start();
  const returning = world.returning(wire);
  // It comes back for the stream that the earlier process broke off.
  const own = eventsOf(await returning.get({ "last-event-id": "0-7" }));
  const heard = async () => ((await own.next()).value as WireEvent).message?.method;
  expect(await heard()).toBeUndefined();
  const lists = ["tools", "prompts", "resources"].map((list) => `notifications/${list}/list_changed`);
  expect([await heard(), await heard(), await heard()]).toEqual(lists);
  await expect.poll(() => world.core.listenings.size).toBe(1);
  world.core.change({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  expect(await heard()).toBe("notifications/tools/list_changed");

  const question = { method: "elicitation/create", params: { mode: "form", message: "Sure?", requestedSchema: {} } };
  const asked = eventsOf(await returning.request("tools/call", { name: "ask", arguments: { questions: [question] } }));
  const { message } = (await asked.next().then(() => asked.next())).value as { message: WireMessage };
  await returning.post({ id: message.id, result: { action: "decline" } });
  expect((await asked.next()).value).toMatchObject({
    message: { result: { content: [{ text: '[{"action":"decline"}]' }] } },
  });
});

test("a stream of the process before is over, and no stream of the new one is taken for it", async () => {
  const wire = await sessionOfBefore();
  await using world = await start({ patienceMs: 1 });
  const returning = world.returning(wire);
  const call = eventsOf(await returning.request("tools/call", { name: "wait" }));
  const { id } = (await call.next()).value as WireEvent;
  for (const before of ["1-0", "1-1", "2-0"])
    expect((await returning.get({ "last-event-id": before })).status).toBe(405);
  world.core.letGo();
  const again = eventsOf(await returning.get({ "last-event-id": id ?? "" }));
  await again.next();
  expect((await again.next()).value).toMatchObject({ message: { result: { content: [{ text: "waited" }] } } });
});

test("a session that was deleted stays so: in the same process, and after a restart", async () => {
  const wire = await sessionOfBefore();
  {
    await using world = await start();
    const returning = world.returning(wire);
    expect((await returning.delete()).status).toBe(204);
    expect((await returning.request("ping")).status).toBe(404);
    expect((await returning.delete()).status).toBe(404);
    expect([world.legacy.sessions, world.core.exchanges]).toEqual([0, []]);
    const used = await world.open("2025-06-18");
    expect((await used.delete()).status).toBe(204);
    expect((await used.request("ping")).status).toBe(404);
  }
  await using world = await start();
  for (const answer of [world.returning(wire).request("ping"), world.returning(wire).get()]) {
    expect((await answer).status).toBe(404);
  }
  const file = join(stateFolder, "ended-sessions.jsonl");
  if (process.platform !== "win32") expect((await stat(file)).mode & 0o077).toBe(0);
  expect(await readFile(file, "utf8")).not.toContain(wire.headers["mcp-session-id"]);
});

test("revocation ends the sessions of one principal, those that are not open included, and no others", async () => {
  const [ada, bob] = [{ "x-somebody": "ada" }, { "x-somebody": "bob" }];
  const openFor = async (origin: string, who: Record<string, string>) =>
    LegacyWire.open(`${origin}/mcp`, "2025-11-25", {}, who);
  await using before = await start();
  const [away, other] = [await openFor(before.origin, ada), await openFor(before.origin, bob)];
  await before[Symbol.asyncDispose]();

  await using world = await start();
  const open = await openFor(world.origin, ada);
  const sse = eventsOf(await fetch(`${world.origin}/sse`, { headers: ada }));
  await sse.next();
  await world.legacy.endSessions({ ...ANYBODY, id: "ada" }, "ended");
  expect(world.legacy.sessions).toBe(0);
  expect((await sse.next()).done).toBe(true);
  await using after = await start();
  for (const at of [world, after]) {
    for (const wire of [away, open]) expect((await at.returning(wire).request("ping")).status).toBe(404);
    expect((await at.returning(other).request("ping")).status).toBe(200);
    expect((await (await openFor(at.origin, ada)).request("ping")).status).toBe(200);
  }
});

test("an id that was changed, has expired, or is of another principal, endpoint or key is unknown", async () => {
  const wire = await sessionOfBefore();
  const expired = await sessionOfBefore("2025-11-25", {}, 1);
  await using world = await start();
  const id = wire.headers["mcp-session-id"] ?? "";
  const statusOf = async (of: LegacyWire, headers: Record<string, string> = {}) =>
    (await world.returning(of, headers).request("ping")).status;
  const middle = id.length >> 1;
  const other = id[middle] === "A" ? "B" : "A";
  for (const forged of [id.slice(0, middle) + other + id.slice(middle + 1), id.slice(0, -1), `${id}A`, "guess"]) {
    expect(await statusOf(wire, { "mcp-session-id": forged })).toBe(404);
  }
  expect(await statusOf(wire, { "x-somebody": "else" })).toBe(404);
  const elsewhere = new LegacyWire(`${world.origin}/mcp?server=one`, wire.headers, wire.initialized);
  expect((await elsewhere.request("ping")).status).toBe(404);
  expect(await statusOf(expired)).toBe(404);
  await using foreign = await serveLegacy(new StandInCore());
  const unknown = new LegacyWire(`${foreign.origin}/mcp`, wire.headers, wire.initialized);
  expect((await unknown.request("ping")).status).toBe(404);
  expect(world.legacy.sessions).toBe(0);
  expect(await statusOf(wire, { "mcp-protocol-version": "2026-07-28" })).toBe(400);
  expect(await statusOf(wire)).toBe(200);
});

test("a session that ended because it was not used is taken up again, and counts like any other", async () => {
  await using world = await start({ limits: { sessionIdleMs: 50, sessions: 1 } });
  const [first, second] = [await world.open("2025-11-25"), await world.open("2025-11-25")];
  await expect.poll(() => world.legacy.sessions).toBe(0);
  expect((await first.request("ping")).status).toBe(200);
  const waiting = second.request("tools/call", { name: "wait" });
  await expect.poll(() => world.core.exchanges.length).toBe(1);
  const refused = await first.request("ping");
  expect([refused.status, world.legacy.sessions]).toEqual([503, 1]);
  world.core.letGo();
  expect((await waiting).status).toBe(200);
});

test("a client that declares very much has a session that cannot be taken up", async () => {
  const wire = await sessionOfBefore("2025-11-25", { experimental: { much: { text: "x".repeat(10_000) } } });
  expect(wire.headers["mcp-session-id"]?.length).toBeLessThan(100);
  await using world = await start();
  expect((await world.returning(wire).request("ping")).status).toBe(404);
});
