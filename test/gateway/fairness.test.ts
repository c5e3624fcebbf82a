import { request } from "node:http";
import { describe, expect, test } from "vitest";
import type { HostOptions } from "../../src/index.ts";
import { TASKS_EXTENSION } from "../../src/protocol/meta.ts";
import { modern, OpenStream, send } from "../fixtures/gateway/wire.ts";
import type { WireMessage } from "../fixtures/json-line-peer.ts";
import { asking } from "./faults/faults-servers.ts";
import { FaultWorld, recorded, type ModernCaller, type WorldOptions } from "./faults/faults-world.ts";
import { eventsOf, LegacyWire } from "./legacy/legacy-wire.ts";

const ELICITATION = { elicitation: { form: {} } };
const TASKS = { extensions: { [TASKS_EXTENSION]: {} } };
/** Of everything there are eight: one caller gets two of them while others compete. */
const MANY = 8;
const PART = 2;
const LONG_MS = 60_000;

/** Callers that are told apart by a header, in front of a server that starts quickly and asks. */
function openWorld(limits: WorldOptions["limits"], hostOptions: HostOptions = {}): Promise<FaultWorld> {
  const authenticate: WorldOptions["authenticate"] = (headers) => ({
    tenant: "default",
    id: String(headers["x-user"]),
  });
  const servers = (folder: string) => ({ up: asking(), old: recorded(folder, "old", "2025-11-25") });
  return FaultWorld.open(servers, { authenticate, limits: { drainMs: 100, ...limits } }, hostOptions);
}

const as = (user: string) => ({ "x-user": user });
const sessionOf = (world: FaultWorld, user: string) =>
  LegacyWire.open(world.url("up"), "2025-11-25", ELICITATION, as(user));
const isAlive = async (session: LegacyWire) => (await session.request("ping")).status === 200;

/** A call of an older client whose connection is in use until its question is answered. */
class AskedCall {
  readonly session: LegacyWire;
  /** The question, or why there is none. */
  readonly said: Promise<WireMessage>;
  #rest: AsyncGenerator<{ message?: WireMessage }> | undefined;

  static async begin(world: FaultWorld, user: string): Promise<AskedCall> {
    return new AskedCall(await sessionOf(world, user));
  }

  private constructor(session: LegacyWire) {
    this.session = session;
    this.said = this.#call();
    this.said.catch(() => {});
  }

  async #call(): Promise<WireMessage> {
    const response = await this.session.request("tools/call", { name: "ask", arguments: { message: "Who?" } });
    this.#rest = eventsOf(response);
    for await (const { message } of this.#rest) if (message) return message;
    return {};
  }

  /** Answers, and ends the session. */
  async end(): Promise<void> {
    const { id } = await this.said;
    await this.session.post({ id, result: { action: "accept", content: { who: "me" } } });
    await this.session.delete();
  }
}

describe("Calls", () => {
  const sleep = (ms: number, user: string) =>
    modern("tools/call", { name: "sleep", arguments: { ms } }, { headers: as(user) });

  test("of three callers that fill every place do not make a fourth one wait", async () => {
    await using world = await openWorld({ calls: 64, queueMs: 500 });
    const running = () => world.metric("nexus_calls_in_flight", as("alice"));
    const greedy: OpenStream[] = [];
    // Three quarters, the rest, and what is kept for a caller that has few.
    for (const [user, expected] of [
      ["mallory", 48],
      ["eve", 48 + 16],
      ["oscar", 48 + 16 + 8],
    ] as const) {
      for (let count = 0; count < 64; count++) greedy.push(new OpenStream(world.url("old"), sleep(LONG_MS, user)));
      await expect.poll(running).toBe(expected);
    }
    const few = Array.from({ length: 7 }, () => send(world.url("old"), sleep(1, "alice")));
    expect((await Promise.all(few)).map(({ status }) => status)).toEqual(few.map(() => 200));
    for (const call of greedy) call.leave();
    await expect.poll(running).toBe(0);
  });

  test("of a caller that cannot be told apart from others may use every place", async () => {
    const servers = (folder: string) => ({ old: recorded(folder, "old", "2025-11-25") });
    await using world = await FaultWorld.open(servers, { limits: { calls: 8, drainMs: 100 } });
    const calls = Array.from({ length: 8 }, () => new OpenStream(world.url("old"), sleep(LONG_MS, "anybody")));
    await expect.poll(() => world.gateway.runningCalls).toBe(8);
    for (const call of calls) call.leave();
  });
});

describe("Connections to a server", () => {
  test("that one caller uses are at most a quarter while another caller uses one", async () => {
    await using world = await openWorld({}, { maxConnections: MANY + 1, connectionWaitMs: 100 });
    const hers = await AskedCall.begin(world, "alice");
    expect(await hers.said).toMatchObject({ method: "elicitation/create" });
    const theirs = await Promise.all(Array.from({ length: 4 }, () => AskedCall.begin(world, "mallory")));
    const said = await Promise.all(theirs.map((call) => call.said));
    expect(said.filter(({ method }) => method === "elicitation/create")).toHaveLength(PART);
    const [refused] = said.flatMap(({ error }) => error ?? []);
    expect(refused?.message).toContain("Retry later");
    const another = await AskedCall.begin(world, "alice");
    expect(await another.said).toMatchObject({ method: "elicitation/create" });
  });

  test("are all for one caller that is alone, and the next that becomes free is for another", async () => {
    await using world = await openWorld({}, { maxConnections: MANY + 1, connectionWaitMs: LONG_MS });
    const theirs = await Promise.all(Array.from({ length: MANY }, () => AskedCall.begin(world, "mallory")));
    for (const call of theirs) expect(await call.said).toMatchObject({ method: "elicitation/create" });
    const waiting = await Promise.all(Array.from({ length: 3 }, () => AskedCall.begin(world, "mallory")));
    const hers = await AskedCall.begin(world, "alice");
    const first = Promise.race([
      hers.said.then(() => "alice"),
      ...waiting.map((call) => call.said.then(() => "mallory")),
    ]);
    await expect.poll(() => world.metric("nexus_calls_in_flight", as("alice"))).toBe(MANY + waiting.length + 1);
    await theirs[0]?.end();
    expect(await first).toBe("alice");
  });
});

describe("Sessions", () => {
  test("of one caller do not end those of another, however many it opens", async () => {
    await using world = await openWorld({ sessions: MANY });
    const hers = await sessionOf(world, "alice");
    const theirs: LegacyWire[] = [];
    for (let count = 0; count < 2 * MANY; count++) theirs.push(await sessionOf(world, "mallory"));
    const isOpen = () => metric(world, "nexus_sessions");
    expect(await isOpen()).toBe(PART + 1);
    expect(await isAlive(hers)).toBe(true);
    expect(await isOpen()).toBe(PART + 1);
    // Those that made room can be taken up again, each in place of another one of the same caller.
    for (const wire of theirs) expect(await isAlive(wire)).toBe(true);
    expect(await isOpen()).toBe(PART + 1);
  });

  test("in use are at most a quarter for one caller while another has one", async () => {
    await using world = await openWorld({ sessions: MANY });
    await sessionOf(world, "alice");
    for (let count = 0; count < PART; count++) await (await sessionOf(world, "mallory")).get();
    const { error } = (await sessionOf(world, "mallory")).initialized;
    expect(error?.message).toContain(`Session limit reached (${PART} for one caller`);
    expect(await isAlive(await sessionOf(world, "alice"))).toBe(true);
  });
});

describe("Streams", () => {
  const listen = (world: FaultWorld, user: string) =>
    new OpenStream(world.gateway.url, modern("subscriptions/listen", LISTS, { headers: as(user) }));
  const LISTS = { notifications: { toolsListChanged: true } };

  test("of one caller that has too many end in good order when another caller needs one", async () => {
    await using world = await openWorld({ streams: MANY });
    const theirs = Array.from({ length: MANY }, () => listen(world, "mallory"));
    await expect.poll(() => theirs.every(({ events }) => events.length === 1)).toBe(true);
    const busy = modern("subscriptions/listen", LISTS, { headers: as("mallory") });
    expect((await send(world.gateway.url, busy)).status).toBe(503);
    const hers = listen(world, "alice");
    await expect.poll(() => hers.events.length).toBe(1);
    await expect.poll(() => theirs.filter(({ ended }) => ended).length).toBe(1);
    const [ended] = theirs.filter((stream) => stream.ended);
    expect(ended?.events.at(-1)).toMatchObject({ id: 7, result: { resultType: "complete" } });
    const { origin } = new URL(world.gateway.url);
    const sse = await fetch(`${origin}/sse`, { headers: { accept: "text/event-stream", ...as("alice") } });
    expect(sse.status).toBe(200);
    expect((await fetch(`${origin}/sse`, { headers: as("alice") })).status).toBe(503);
    expect((await send(world.gateway.url, busy)).status).toBe(503);
    await sse.body?.cancel();
    for (const stream of [hers, ...theirs]) stream.leave();
  });
});

describe("Parked calls", () => {
  const ask = (caller: ModernCaller, more: Record<string, unknown> = {}) =>
    caller.tool("ask", { message: "Who?" }, { capabilities: ELICITATION, more });
  const answered = ({ result }: WireMessage) => ({
    requestState: result.requestState as string,
    inputResponses: Object.fromEntries(
      Object.keys(result.inputRequests as object).map((key) => [key, { action: "accept", content: { who: "me" } }]),
    ),
  });

  test("of one caller that has too many are given up, the oldest first, when another caller needs a place", async () => {
    await using world = await openWorld({ parked: MANY });
    using mallory = world.caller("up", as("mallory"));
    using alice = world.caller("up", as("alice"));
    const theirs: WireMessage[] = [];
    for (let count = 0; count < MANY; count++) theirs.push((await ask(mallory)).message);
    expect((await ask(mallory)).message.result).toMatchObject({ isError: true });
    const { message: hers } = await ask(alice);
    expect(hers.result).toMatchObject({ resultType: "input_required" });
    const [oldest, newest] = [theirs[0] ?? {}, theirs.at(-1) ?? {}];
    expect((await ask(mallory, answered(oldest))).message.error).toMatchObject({ code: -32602 });
    for (const [caller, message] of [
      [mallory, newest],
      [alice, hers],
    ] as const) {
      expect((await ask(caller, answered(message))).message.result).toMatchObject({ resultType: "complete" });
    }
  });

  test("that are over keep their answers for a caller, however many calls another one finishes", async () => {
    await using world = await openWorld({ parked: MANY });
    using mallory = world.caller("up", as("mallory"));
    using alice = world.caller("up", as("alice"));
    const answer = answered((await ask(alice)).message);
    const { message: first } = await ask(alice, answer);
    for (let count = 0; count < 2 * MANY; count++) await ask(mallory, answered((await ask(mallory)).message));
    // The same answer, with the correlation id of its own request.
    const { _meta, ...kept } = first.result;
    expect((await ask(alice, answer)).message.result).toMatchObject(kept);
  });
});

test("A task's connection is kept for a caller, however many tasks another one starts", async () => {
  await using world = await openWorld({ tasks: MANY }, { idleMs: 1 });
  using mallory = world.caller("old", as("mallory"));
  using alice = world.caller("old", as("alice"));
  const start = async (caller: ModernCaller) =>
    (await caller.tool("slow_compute", { seconds: 30 }, { capabilities: TASKS })).message.result.taskId as string;
  const hers = await start(alice);
  for (let count = 0; count < 2 * MANY; count++) await start(mallory);
  const { message } = await alice.request("tasks/get", { taskId: hers }, { capabilities: TASKS });
  expect(message.result).toMatchObject({ status: "working" });
});

describe("The queue", () => {
  const sleep = (world: FaultWorld, user: string, ms: number) =>
    send(world.url("old"), modern("tools/call", { name: "sleep", arguments: { ms } }, { headers: as(user) }));
  const queued = (world: FaultWorld) => world.metric("nexus_calls_queued", as("alice"));

  test("serves callers in turn, so that a busy one does not delay another", async () => {
    await using world = await openWorld({ calls: 1, queueMs: LONG_MS });
    const order: string[] = [];
    const call = async (user: string) => {
      await sleep(world, user, 100);
      order.push(user);
    };
    const theirs = Array.from({ length: 8 }, () => call("mallory"));
    await expect.poll(() => queued(world)).toBe(7);
    await Promise.all([...theirs, call("alice")]);
    expect(order.indexOf("alice")).toBeLessThanOrEqual(2);
  });

  test("refuses the newest calls of one caller that fills it when another caller needs a place", async () => {
    await using world = await openWorld({ calls: 1, queue: MANY, queueMs: LONG_MS });
    const theirs = Array.from({ length: MANY + 1 }, () => sleep(world, "mallory", 200));
    await expect.poll(() => queued(world)).toBe(MANY);
    expect((await sleep(world, "mallory", 1)).status).toBe(503);
    expect((await sleep(world, "alice", 1)).status).toBe(200);
    const statuses = (await Promise.all(theirs)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 503)).toHaveLength(1);
  });
});

test("a client that leaves while it is being authenticated leaves nothing behind", async () => {
  let waiting = 0;
  let admit: () => void = () => {};
  const held = new Promise<void>((resolve) => (admit = resolve));
  const authenticate: WorldOptions["authenticate"] = async (headers) => {
    if (headers["x-user"] === "hasty") {
      waiting++;
      await held;
    }
    return { tenant: "default", id: String(headers["x-user"]) };
  };
  const limits = { sessions: 4, streams: 4, drainMs: 100 };
  await using world = await FaultWorld.open(() => ({ up: asking() }), { authenticate, limits });
  const sse = new URL("/sse", world.url("up"));
  const visits = Array.from({ length: 8 }, () => {
    const visit = request(sse, { headers: { ...as("hasty"), accept: "text/event-stream" } });
    visit.on("error", () => {}).end();
    return visit;
  });
  await expect.poll(() => waiting).toBe(visits.length);
  for (const visit of visits) visit.destroy();
  await expect.poll(() => metric(world, "nexus_connections")).toBeLessThanOrEqual(1);
  admit();
  expect(await isAlive(await sessionOf(world, "calm"))).toBe(true);
  expect(await metric(world, "nexus_streams")).toBe(0);
});

async function metric(world: FaultWorld, name: string): Promise<number> {
  const response = await fetch(new URL("/metrics", world.url("up")), { headers: as("calm") });
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(await response.text())?.[1] ?? NaN);
}
