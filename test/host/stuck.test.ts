import { writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { Host, Lease } from "../../src/index.ts";
import { failure } from "../fixtures/failure.ts";
import { isRunning } from "../fixtures/processes.ts";
import { oddServer } from "./odd-server.ts";
import { HostWorld, stateOf, textOf, until } from "./world.ts";

const pidOf = async ({ client }: Lease, args = {}) => Number(textOf(await client.callTool("echo", args)));
const hostPid = async (host: Host) => Number(textOf(await host.callTool("odd.echo")));

test("retry replaces an owner's connection that does not answer, and leaves those alone that do (P2.1)", async () => {
  await using world = await HostWorld.open();
  await using host = await world.host({ odd: oddServer() });
  await host.ready();
  const ada = await host.lease("odd", { owner: "ada" });
  using bob = await host.lease("odd", { owner: "bob" });
  const [stuck, fine] = [await pidOf(ada, { deafen: true }), await pidOf(bob)];
  ada.release();
  await host.retry("odd");
  using again = await host.lease("odd", { owner: "ada" });
  expect(await pidOf(again)).not.toBe(stuck);
  expect(await pidOf(bob)).toBe(fine);
  await expect.poll(() => isRunning(stuck)).toBe(false);
});

test("an owner's connection on which a call timed out is replaced if it is silent", async () => {
  await using world = await HostWorld.open();
  await using host = await world.host({ odd: oddServer() });
  await host.ready();
  const ada = await host.lease("odd", { owner: "ada" });
  const stuck = await pidOf(ada, { deafen: true });
  ada.report(await failure(ada.client.callTool("echo", {}, { timeoutMs: 20 })));
  ada.release();
  // Whoever retries meanwhile need not wait any longer than until this is known.
  await host.retry("odd");
  using again = await host.lease("odd", { owner: "ada" });
  expect(await pidOf(again)).not.toBe(stuck);
});

test("of a stuck server and the one that replaces it only one runs at a time", async () => {
  await using world = await HostWorld.open();
  // A second one would end at once.
  await using host = await world.host({ odd: oddServer({ lock: world.path("lock"), slowExitMs: 300 }) });
  await host.ready();
  const before = Number(textOf(await host.callTool("odd.echo", { deafen: true })));
  const heard: string[] = [];
  host.on((event) => event.kind === "state" && heard.push(event.state.kind));
  const retried = host.retry("odd");
  await expect.poll(() => heard).toEqual(["starting"]);
  expect(await hostPid(host)).not.toBe(before);
  await retried;
  expect(heard).toEqual(["starting", "ready"]);
});

test("retry gives up a start that hangs, and who waits for it gets the new one", async () => {
  await using world = await HostWorld.open();
  const spawnLog = world.path("pids");
  const entry = oddServer({ spawnLog, hangUnless: world.path("flag") }, { connection_timeout: "60s" });
  await using host = await world.host({ odd: entry });
  await expect.poll(() => world.pids("pids")).toHaveLength(1);
  const waiting = host.ready();
  await writeFile(world.path("flag"), "");
  await host.retry("odd");
  await waiting;
  expect(stateOf(host, "odd")?.kind).toBe("ready");
  const [first = 0] = await world.pids("pids");
  expect(isRunning(first)).toBe(false);
});

test("connections that are over the limit wait their turn, and an idle one makes way", async () => {
  await using world = await HostWorld.open();
  const spawnLog = world.path("pids");
  await using host = await world.host({ odd: oddServer({ spawnLog, slowExitMs: 50 }) }, { maxConnections: 3 });
  await host.ready();
  const use = async (owner: string) => {
    using lease = await host.lease("odd", { owner });
    const pid = await pidOf(lease);
    const running = (await world.pids("pids")).filter(isRunning);
    expect(running.length).toBeLessThanOrEqual(3);
    return pid;
  };
  const pids = await Promise.all(Array.from({ length: 8 }, (_, index) => use(`owner ${index}`)));
  expect(new Set(pids).size).toBe(8);
});

test("isolation: call starts no more processes than the limit, and gives up a turn that is no longer needed", async () => {
  await using world = await HostWorld.open();
  const entry = oddServer({ spawnLog: world.path("pids"), slowExitMs: 50 }, { isolation: "call" });
  await using host = await world.host({ odd: entry }, { maxConnections: 3 });
  await host.ready();
  const abort = new AbortController();
  const [one, two] = [await host.lease("odd"), await host.lease("odd")];
  const third = failure(host.lease("odd", { signal: abort.signal }));
  const fourth = host.lease("odd");
  abort.abort();
  expect(await third).toMatchObject({ code: "CANCELLED" });
  one.release();
  two.release();
  (await fourth).release();
  const calls = await Promise.all(Array.from({ length: 6 }, () => host.callTool("odd.echo")));
  expect(new Set(calls.map(textOf)).size).toBe(6);
});

test("an owner that is released keeps nothing running: at once, or when what it uses is given back", async () => {
  await using world = await HostWorld.open();
  await using host = await world.host({ odd: oddServer() });
  await host.ready();
  const [ada, bob] = [await host.lease("odd", { owner: "ada" }), await host.lease("odd", { owner: "bob" })];
  const [adas, bobs, own] = [await pidOf(ada), await pidOf(bob), await hostPid(host)];
  ada.release();
  host.release("ada");
  host.release("bob");
  host.release("");
  await expect.poll(() => isRunning(adas)).toBe(false);
  expect(await pidOf(bob)).toBe(bobs);
  bob.release();
  await expect.poll(() => isRunning(bobs)).toBe(false);
  expect(await hostPid(host)).toBe(own);
});

test("a server that is added and not started is heard of, and found", async () => {
  await using world = await HostWorld.open();
  await using host = await world.host({});
  const heard: unknown[] = [];
  host.on((event) => heard.push(event));
  await host.setServers({ lazy: oddServer({}, { auto_start: false }) });
  expect(heard).toEqual([{ kind: "state", server: "lazy", state: { kind: "idle" } }]);
  expect(host.find("lazy")).toMatchObject({ id: "lazy", state: { kind: "idle" } });
  expect(host.find("other")).toBeUndefined();
});

test("fail_if_no_tools counts for a server that runs already", async () => {
  await using world = await HostWorld.open();
  const entry = oddServer({ tools: "none" });
  await using host = await world.host({ odd: entry }, { backoff: { firstMs: 60_000 } });
  await host.ready();
  expect(stateOf(host, "odd")?.kind).toBe("ready");
  await host.setServers({ odd: { ...entry, fail_if_no_tools: true } });
  await until(host, "odd", "failed");
});
