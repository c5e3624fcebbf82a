import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { serve } from "../../src/gateway/index.ts";
import { connect, ProcessBudget, type HostEntry } from "../../src/index.ts";
import { isFull } from "../fixtures/depth.ts";
import { modern, send } from "../fixtures/gateway/wire.ts";
import { childrenOf } from "../fixtures/processes.ts";
import type { WireMessage } from "../fixtures/json-line-peer.ts";
import { oddServer } from "../host/odd-server.ts";
import { HostWorld } from "../host/world.ts";

const [CALLERS, SERVERS, PROCESSES] = isFull ? [32, 12, 24] : [16, 8, 12];
const LINUX = process.platform === "linux";

/** The most processes that were seen at the same time, of those with this text in their command line. */
class ProcessCount implements Disposable {
  most = 0;
  readonly #mark: string;
  readonly #timer: NodeJS.Timeout;

  constructor(mark: string) {
    this.#mark = mark;
    this.#timer = setInterval(() => this.look(), 5);
  }

  look(): void {
    this.most = Math.max(this.most, childrenOf(process.pid).filter((pid) => this.#isMarked(pid)).length);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #isMarked(pid: number): boolean {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(this.#mark);
    } catch {
      return false;
    }
  }
}

function call(url: string, user: string, name: string): Promise<WireMessage[]> {
  const meta = { progressToken: user };
  return send(url, modern("tools/call", { name }, { meta, headers: { "x-user": user } })).then(({ json, events }) =>
    events.length > 0 ? events : [json],
  );
}

const answerOf = (messages: readonly WireMessage[]) => messages.find(({ result, error }) => result ?? error);

test(`${CALLERS} callers of ${SERVERS} stdio servers get every answer from ${PROCESSES} processes, and those who wait are told so`, async () => {
  await using world = await HostWorld.open();
  const spawnLog = world.path("pids");
  const ids = Array.from({ length: SERVERS }, (_, index) => `server-${index}`);
  const budget = new ProcessBudget({ processes: PROCESSES, processWaitMs: 280_000 });
  const servers = Object.fromEntries(ids.map((id): [string, HostEntry] => [id, oddServer({ spawnLog })]));
  const host = await world.host(servers, { processes: budget });
  await using gateway = await serve({
    host,
    port: 0,
    authenticate: (headers) => ({ tenant: "default", id: String(headers["x-user"]) }),
  });
  await gateway.ready();
  using count = new ProcessCount(spawnLog);
  const waits: string[] = [];
  const rounds = isFull ? SERVERS : 2;
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      for (let round = 0; round < rounds; round++) {
        const server = ids[(caller * 7 + round) % SERVERS];
        const messages = await call(gateway.url, `caller-${caller}`, `${server}__echo`);
        expect(answerOf(messages)?.result, JSON.stringify(messages)).toMatchObject({ content: [{ type: "text" }] });
        for (const { method, params } of messages)
          if (method === "notifications/progress") waits.push(String(params?.["message"]));
        expect(budget.usage().processes).toBeLessThanOrEqual(PROCESSES);
      }
    }),
  );
  expect(waits.length).toBeGreaterThan(0);
  expect(waits[0]).toBe(`waiting for a free process; ${PROCESSES} of ${PROCESSES} are in use`);
  if (LINUX) {
    expect(count.most).toBeGreaterThan(PROCESSES / 2);
    expect(count.most).toBeLessThanOrEqual(PROCESSES);
  }
  expect(budget.usage().waiting).toBe(0);
}, 300_000);

test("one process answers all callers of servers with isolation: shared", async () => {
  await using world = await HostWorld.open();
  const spawnLog = world.path("pids");
  const host = await world.host(
    { one: oddServer({ spawnLog }, { isolation: "shared" }) },
    { processes: { processes: 1 } },
  );
  await using gateway = await serve({
    host,
    port: 0,
    authenticate: (headers) => ({ tenant: "default", id: String(headers["x-user"]) }),
  });
  await gateway.ready();
  const answers = await Promise.all(
    Array.from({ length: CALLERS }, (_, caller) => call(gateway.url, `caller-${caller}`, "one__echo")),
  );
  for (const messages of answers) expect(answerOf(messages)?.result).toBeDefined();
  expect(await world.pids("pids")).toHaveLength(1);
});

test("a caller that waited too long is told how many processes are in use, and to retry", async () => {
  await using world = await HostWorld.open();
  const options = { processes: { processes: 1, processWaitMs: 50 } };
  const host = await world.host({ one: oddServer({}, { auto_start: false }) }, options);
  await using gateway = await serve({ host, port: 0 });
  using _inUse = await host.lease("one", { owner: "another" });
  const answer = answerOf(await call(gateway.url, "me", "one__echo"));
  expect(answer?.error).toMatchObject({
    message: expect.stringContaining("waiting for a free process; 1 of 1 are in use") as string,
    data: { code: "BUSY", server: "one", mayHaveReached: false, retryAfterMs: 1_000 },
  });
});

test("older clients that listen start one process for each call that needs one, and are told that they wait", async () => {
  await using world = await HostWorld.open();
  const spawnLog = world.path("pids");
  const budget = new ProcessBudget({ processes: 2 });
  const entry = oddServer({ spawnLog }, { auto_start: false });
  const host = await world.host({ one: entry, two: entry }, { processes: budget });
  await using gateway = await serve({ host, port: 0 });
  await using client = await connect({ url: gateway.url }, { protocolVersion: "2025-11-25" });
  await client.callTool("one__echo");
  const inUse = [await host.lease("one", { owner: "a" }), await host.lease("two", { owner: "b" })];
  const before = (await world.pids("pids")).length;
  const told: unknown[] = [];
  const call = client.callTool("one__echo", {}, { onProgress: ({ message }) => told.push(message) });
  await expect.poll(() => told).toEqual(["waiting for a free process; 2 of 2 are in use"]);
  // Somebody else waits as well: the process of the call must not make room for it before the call was made.
  const other = host.lease("two", { owner: "c" });
  for (const lease of inUse) lease.release();
  expect(await call).toMatchObject({ content: [{ type: "text" }] });
  (await other).release();
  expect(await world.pids("pids")).toHaveLength(before + 2);
});
