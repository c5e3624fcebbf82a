import { writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { ProcessBudget, type Host, type LeaseRequest } from "../../src/index.ts";
import { failure } from "../fixtures/failure.ts";
import { isRunning } from "../fixtures/processes.ts";
import { hungryServer } from "./hungry-server.ts";
import { oddServer } from "./odd-server.ts";
import { HostWorld, stateOf, textOf, toolNames, until } from "./world.ts";

const MEASURED = process.platform === "linux" || process.platform === "darwin";

/** The process that a lease of this owner uses. */
async function processOf(host: Host, server: string, request: LeaseRequest): Promise<number> {
  using lease = await host.lease(server, request);
  return Number(textOf(await lease.client.callTool("echo")));
}

test("more servers than processes: all are listed and called, and the idle ones are paused", async () => {
  await using world = await HostWorld.open();
  const ids = ["a", "b", "c", "d", "e"];
  const spawnLog = world.path("pids");
  const servers = Object.fromEntries(ids.map((id) => [id, oddServer({ spawnLog })]));
  await using host = await world.host(servers, { processes: { processes: 2 } });
  const most = await peakOf(
    async () => {
      await host.ready();
      expect(toolNames(host)).toHaveLength(ids.length);
      for (const id of [...ids, ...ids]) await host.callTool(`${id}.echo`);
    },
    () => world.pids("pids"),
  );
  expect(most).toBe(2);
  const paused = ids.filter((id) => stateOf(host, id)?.kind === "paused");
  expect(paused).toEqual(["a", "b", "c"]);
  expect(toolNames(host)).toHaveLength(ids.length);
});

/** How many of the processes ran at the same time at most, while something runs. */
async function peakOf(run: () => Promise<void>, pids: () => Promise<number[]>): Promise<number> {
  let most = 0;
  const look = async () => (most = Math.max(most, (await pids()).filter(isRunning).length));
  const timer = setInterval(() => void look(), 2);
  await run();
  clearInterval(timer);
  return most;
}

test("the process that was idle for longest makes room, whichever server it belongs to", async () => {
  await using world = await HostWorld.open();
  const entry = oddServer({}, { auto_start: false });
  await using host = await world.host({ one: entry, two: entry }, { processes: { processes: 3 } });
  const ada = await processOf(host, "one", { owner: "ada" });
  const bob = await processOf(host, "two", { owner: "bob" });
  const eve = await processOf(host, "one", { owner: "eve" });
  expect(await processOf(host, "one", { owner: "ada" })).toBe(ada);
  await processOf(host, "two", { owner: "kim" });
  expect([ada, bob, eve].map(isRunning)).toEqual([true, false, true]);
  expect(await processOf(host, "one", { owner: "eve" })).toBe(eve);
});

test("who has to wait for a process is told so, waits no longer than the limit, and gets the next that is free", async () => {
  await using world = await HostWorld.open();
  const processes = new ProcessBudget({ processes: 1, processWaitMs: 50 });
  await using host = await world.host({ one: oddServer({}, { auto_start: false }) }, { processes });
  const inUse = await host.lease("one", { owner: "ada" });
  const told: string[] = [];
  const onWait = (reason: string) => told.push(reason);
  expect(await failure(host.lease("one", { owner: "bob", onWait }))).toMatchObject({
    code: "BUSY",
    message: `Server "one" was not started: waiting for a free process; 1 of 1 are in use`,
    details: { mayHaveReached: false },
  });
  expect(told).toEqual(["waiting for a free process; 1 of 1 are in use"]);
  processes.setLimits({ processes: 1 });
  const progress: unknown[] = [];
  const call = host.callTool({ name: "one", server: "one", tool: { name: "echo", inputSchema: {} } }, undefined, {
    onProgress: (step) => progress.push(step),
  });
  await expect.poll(() => progress).toEqual([{ progress: 0, message: told[0] }]);
  inUse.release();
  expect(Number(textOf(await call))).toBeGreaterThan(0);
});

test("waiting for a process is no failure of the server: it is tried as often as it is asked for", async () => {
  await using world = await HostWorld.open();
  const backoff = { firstMs: 1, longestMs: 1, patience: 2, restMs: 60_000 };
  const processes = new ProcessBudget({ processes: 1, processWaitMs: 5 });
  await using host = await world.host({ one: oddServer({}, { auto_start: false }) }, { backoff, processes });
  const inUse = await host.lease("one", { owner: "ada" });
  for (let time = 0; time < 4; time++) {
    expect(await failure(host.lease("one", { owner: "bob" }))).toMatchObject({ code: "BUSY" });
    expect(await failure(host.callTool("one.echo"))).toMatchObject({ code: "BUSY" });
  }
  processes.setLimits({ processes: 1 });
  inUse.release();
  (await host.lease("one", { owner: "bob" })).release();
});

test("a caller that leaves while it waits leaves its place to the next one", async () => {
  await using world = await HostWorld.open();
  const budget = new ProcessBudget({ processes: 1 });
  await using host = await world.host({ one: oddServer({}, { auto_start: false }) }, { processes: budget });
  const inUse = await host.lease("one", { owner: "ada" });
  const abort = new AbortController();
  const leaving = failure(host.lease("one", { owner: "bob", signal: abort.signal }));
  await expect.poll(() => budget.usage().waiting).toBe(1);
  const next = host.lease("one", { owner: "eve" });
  abort.abort();
  expect(await leaving).toMatchObject({ code: "CANCELLED" });
  expect(budget.usage()).toMatchObject({ waiting: 1 });
  inUse.release();
  (await next).release();
});

test("a server with isolation: shared has one process for all its callers", async () => {
  await using world = await HostWorld.open();
  const spawnLog = world.path("pids");
  const entry = oddServer({ spawnLog }, { isolation: "shared" });
  await using host = await world.host({ one: entry }, { processes: { processes: 1 } });
  const owners = Array.from({ length: 50 }, (_, index) => `owner-${index}`);
  await Promise.all(owners.map((owner) => processOf(host, "one", { owner })));
  expect(await world.pids("pids")).toHaveLength(1);
});

test("hosts of several tenants share a budget, and each has at most its own part", async () => {
  await using world = await HostWorld.open();
  const budget = new ProcessBudget({ processes: 3, processesPerTenant: 2, processWaitMs: 50 });
  const entry = oddServer({}, { auto_start: false });
  const open = (tenant: string) =>
    world.host({ one: entry }, { processes: budget, tenant, stateFolder: world.path(tenant) });
  await using acme = await open("acme");
  await using globex = await open("globex");
  using _first = await acme.lease("one", { owner: "ada" });
  using _second = await acme.lease("one", { owner: "bob" });
  expect((await failure(acme.lease("one", { owner: "eve" }))).message).toContain("2 of 2 for this tenant are in use");
  using _third = await globex.lease("one", { owner: "ada" });
  expect((await failure(globex.lease("one", { owner: "bob" }))).message).toContain("3 of 3 are in use");
  expect(budget.usage("acme").processes).toBe(2);
});

test("a host that closes ends its own waiting starts, and its processes are free for other hosts", async () => {
  await using world = await HostWorld.open();
  const budget = new ProcessBudget({ processes: 1 });
  const entry = oddServer({}, { auto_start: false });
  const open = (tenant: string) =>
    world.host({ one: entry }, { processes: budget, tenant, stateFolder: world.path(tenant) });
  const leaving = await open("acme");
  await using staying = await open("globex");
  await leaving.lease("one", { owner: "ada" });
  const waiting = failure(leaving.lease("one", { owner: "bob" }));
  const next = staying.lease("one", { owner: "eve" });
  await expect.poll(() => budget.usage().waiting).toBe(2);
  await leaving.close();
  expect(await waiting).toMatchObject({ code: "CLOSED" });
  (await next).release();
  expect(budget.usage()).toMatchObject({ processes: 1, waiting: 0 });
});

test("a server that is replaced or started again within a full budget gets the process of its predecessor", async () => {
  await using world = await HostWorld.open();
  const spawnLog = world.path("pids");
  await using host = await world.host({ one: oddServer({ spawnLog }) }, { processes: { processes: 1 } });
  await host.ready();
  await host.setServers({ one: oddServer({ spawnLog, ttlMs: 1 }) });
  await host.callTool("one.echo", { deafen: true });
  await host.retry("one");
  expect(Number(textOf(await host.callTool("one.echo")))).toBeGreaterThan(0);
  const pids = await world.pids("pids");
  expect(pids).toHaveLength(3);
  expect(pids.map(isRunning)).toEqual([false, false, true]);
});

test("a server has at most as many processes as its entry says", async () => {
  await using world = await HostWorld.open();
  const entry = oddServer({}, { auto_start: false, max_processes: 1 });
  await using host = await world.host({ one: entry }, { processes: { processWaitMs: 50 } });
  using _ada = await host.lease("one", { owner: "ada" });
  expect((await failure(host.lease("one", { owner: "bob" }))).message).toContain("1 of 1 for this server are in use");
});

test.runIf(MEASURED)("an idle server over its memory limit is stopped, and starts again on its next use", async () => {
  await using world = await HostWorld.open();
  const processes = new ProcessBudget({}, { measureMs: 20 });
  await using host = await world.host({ one: hungryServer({ max_memory: "200MB" }) }, { processes });
  await host.ready();
  const first = Number(textOf(await host.callTool("one.eat", { mb: 200 })));
  await until(host, "one", "paused");
  await expect.poll(() => isRunning(first)).toBe(false);
  expect(toolNames(host)).toEqual(["eat"]);
  expect(Number(textOf(await host.callTool("one.eat")))).not.toBe(first);
});

test.runIf(MEASURED)("a server somewhat over its memory limit finishes its calls before it is stopped", async () => {
  await using world = await HostWorld.open();
  const warnings: string[] = [];
  const logger = { debug() {}, info() {}, warn: (text: string) => warnings.push(text), error() {} };
  const processes = new ProcessBudget({ memoryBytesPerServer: 400e6 }, { measureMs: 20, logger });
  await using host = await world.host({ one: hungryServer() }, { processes });
  await host.ready();
  const file = world.path("finish");
  const call = host.callTool("one.eat", { mb: 400, until: file });
  await expect.poll(() => warnings.join()).toContain("is stopped when its calls are finished");
  await writeFile(file, "");
  const pid = Number(textOf(await call));
  await expect.poll(() => isRunning(pid)).toBe(false);
  await until(host, "one", "paused");
});

test.runIf(MEASURED)("a server far over its memory limit is killed, and its calls fail for that reason", async () => {
  await using world = await HostWorld.open();
  const processes = new ProcessBudget({ memoryBytesPerServer: 200e6 }, { measureMs: 20 });
  await using host = await world.host({ one: hungryServer({ auto_start: false }) }, { processes });
  const error = await failure(host.callTool("one.eat", { mb: 400, until: world.path("never") }));
  expect(error).toMatchObject({ code: "SERVER_EXITED", details: { mayHaveReached: true } });
  expect(error.message).toMatch(/^The server was stopped: it uses \d{3} MB of memory, and the limit is 200 MB$/);
  expect(Number(textOf(await host.callTool("one.eat")))).toBeGreaterThan(0);
});
