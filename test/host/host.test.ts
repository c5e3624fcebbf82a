import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Host, type HostEntry, type HostOptions, type ServerState } from "../../src/index.ts";
import { isFull } from "../fixtures/depth.ts";
import { failure } from "../fixtures/failure.ts";
import { childrenOf, isRunning } from "../fixtures/processes.ts";
import { startHttpFixture } from "../fixtures/servers/http-fixture.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";

let stateFolder: string;
beforeAll(async () => {
  stateFolder = await mkdtemp(join(tmpdir(), "nexus-host-"));
});
afterAll(async () => {
  await rm(stateFolder, { recursive: true, force: true, maxRetries: 5 });
});

/** Five kinds are broken. */
const MANY = isFull ? 50 : 25;
const FAST = { firstMs: 20, longestMs: 100, settledMs: 60_000 };

function open(servers: Record<string, HostEntry>, options: HostOptions = {}) {
  return Host.open({ servers, stateFolder, backoff: FAST, ...options });
}

const fixture = (...flags: string[]): HostEntry => stdioFixture(flags);
const stateOf = (host: Host, id: string): ServerState["kind"] | undefined =>
  host.servers().find((server) => server.id === id)?.state.kind;
const until = (host: Host, id: string, kind: ServerState["kind"]) => expect.poll(() => stateOf(host, id)).toBe(kind);
const pidOf = async (host: Host, id: string, owner?: string) => {
  using lease = await host.lease(id, owner === undefined ? {} : { owner });
  return lease.client.pid ?? 0;
};

describe("running servers", () => {
  test("one that fails, hangs or is misspelled never stops the others (N9)", async () => {
    await using host = await open({
      good: fixture(),
      legacy: fixture("--revision", "2025-11-25"),
      missing: { command: "nexus-no-such-command" },
      dying: fixture("--misbehave", "die-at-start"),
      hanging: { ...fixture("--misbehave", "silent"), connection_timeout: "60s" },
      wrong: { command: "x", url: "y" },
      away: { url: "http://127.0.0.1:1/mcp" },
    });
    expect(await host.callTool("good.echo", { text: "hi" })).toMatchObject({ content: [{ text: "hi" }] });
    expect(await host.callTool("mcp__legacy__echo", { text: "ho" })).toMatchObject({ content: [{ text: "ho" }] });
    for (const [id, code] of [
      ["missing", "COMMAND_NOT_FOUND"],
      ["dying", "SERVER_EXITED"],
      ["wrong", "CONFIG_INVALID"],
      ["away", "CONNECTION_FAILED"],
    ] as const) {
      await until(host, id, "failed");
      const { state } = host.servers().find((server) => server.id === id) ?? {};
      expect(state).toMatchObject({ kind: "failed", error: { code } });
    }
    expect(stateOf(host, "hanging")).toBe("starting");
  });

  test("ready() waits for every server, tools() knows them in the order of the configuration (N9, G2)", async () => {
    await using host = await open({ b: fixture(), a: fixture() });
    await host.ready();
    const names = host.tools().map(({ name }) => name);
    expect(names.indexOf("mcp__b__echo")).toBeLessThan(names.indexOf("mcp__a__echo"));
    expect(host.tools().find(({ name }) => name === "mcp__a__echo")).toMatchObject({
      server: "a",
      tool: { annotations: { readOnlyHint: true } },
    });
    expect(host.resources().length).toBeGreaterThan(0);
    expect(host.prompts().map(({ server }) => server)).toContain("b");
  });

  test("a server with auto_start false is connected on first use (N9)", async () => {
    await using host = await open({ lazy: { ...fixture(), auto_start: false } });
    await host.ready();
    expect(stateOf(host, "lazy")).toBe("idle");
    expect(await host.callTool("lazy.echo", { text: "now" })).toMatchObject({ content: [{ text: "now" }] });
    expect(stateOf(host, "lazy")).toBe("ready");
  });

  test("a server killed while idle, and five times in a row, is back for the next call (B3, P2.1)", async () => {
    await using host = await open({ phoenix: fixture() });
    await host.ready();
    for (let round = 0; round < 5; round++) {
      const pid = await pidOf(host, "phoenix");
      process.kill(pid, "SIGKILL");
      await expect.poll(() => isRunning(pid)).toBe(false);
      await expect
        .poll(() => host.callTool("phoenix.echo", { text: "back" }).catch(() => undefined))
        .toMatchObject({ content: [{ text: "back" }] });
    }
  });

  test("a call in flight on a server that dies fails at once with the cause, and is not made again (B3)", async () => {
    await using host = await open({ fragile: fixture() });
    await host.ready();
    const pid = await pidOf(host, "fragile");
    const call = failure(host.callTool("fragile.sleep", { ms: 60_000 }));
    await host.callTool("fragile.echo", { text: "under way" });
    process.kill(pid, "SIGKILL");
    expect(await call).toMatchObject({
      code: "SERVER_EXITED",
      details: { signal: "SIGKILL", server: "fragile", mayHaveReached: true },
    });
    await until(host, "fragile", "ready");
  });

  test("a server that keeps failing is left alone after a while, until it is asked for (B3)", async () => {
    const backoff = { firstMs: 1, longestMs: 1, patience: 3, restMs: 60_000, settledMs: 60_000 };
    let starts = 0;
    await using host = await open({ hopeless: fixture("--misbehave", "die-at-start") }, { backoff });
    host.on((event) => event.kind === "state" && event.state.kind === "starting" && starts++);
    await expect
      .poll(() => host.servers()[0]?.state)
      .toMatchObject({ kind: "failed", retryAt: expect.any(Number) as number });
    await expect.poll(() => starts).toBeGreaterThanOrEqual(2);
    const before = starts;
    expect(await failure(host.callTool("hopeless.x"))).toMatchObject({ code: "SERVER_EXITED" });
    expect(starts - before).toBeLessThanOrEqual(1);
    expect(await failure(host.retry("hopeless"))).toMatchObject({ code: "SERVER_EXITED" });
  });

  test("one that is used on demand is tried on its next use, and not by itself (N9, B3)", async () => {
    let starts = 0;
    await using host = await open({
      lazy: { ...fixture(), auto_start: false },
      bad: { ...fixture("--misbehave", "die-at-start"), auto_start: false },
    });
    host.on((event) => event.kind === "state" && event.state.kind === "starting" && starts++);
    expect(await failure(host.callTool("bad.x"))).toMatchObject({ code: "SERVER_EXITED" });
    expect(host.servers().find(({ id }) => id === "bad")?.state).not.toHaveProperty("retryAt");
    const pid = await pidOf(host, "lazy");
    process.kill(pid, "SIGKILL");
    await until(host, "lazy", "failed");
    expect(starts).toBe(2);
    expect(await host.callTool("lazy.echo", { text: "again" })).toMatchObject({ content: [{ text: "again" }] });
  });

  test("setServers keeps what is the same, closes what is gone, starts what is new (G4)", async () => {
    await using host = await open({ keep: fixture(), drop: fixture() });
    await host.ready();
    const [kept, dropped] = [await pidOf(host, "keep"), await pidOf(host, "drop")];
    await host.setServers({ add: fixture(), keep: fixture() });
    await host.ready();
    expect(host.servers().map(({ id }) => id)).toEqual(["add", "keep"]);
    expect(await pidOf(host, "keep")).toBe(kept);
    expect(isRunning(dropped)).toBe(false);
    expect(host.tools().map(({ server }) => server)).not.toContain("drop");
    await host.setServers({ keep: { ...fixture(), env: { CHANGED: "1" } } });
    await host.ready();
    expect(await pidOf(host, "keep")).not.toBe(kept);
  });

  test("toggle takes the tools away and keeps the connection, also during a call (G5)", async () => {
    await using host = await open({ one: fixture() });
    await host.ready();
    const pid = await pidOf(host, "one");
    const running = host.callTool("one.sleep", { ms: 300 });
    await host.callTool("one.echo", { text: "under way" });
    await host.toggle("one", false);
    expect(host.tools()).toEqual([]);
    expect(stateOf(host, "one")).toBe("disabled");
    expect(await failure(host.lease("one"))).toMatchObject({ code: "DENIED" });
    for (const name of ["one.echo", "mcp__one__echo"]) {
      expect(await failure(host.callTool(name, { text: "x" }))).toMatchObject({
        code: "DENIED",
        message: `Server "one" is disabled`,
      });
    }
    expect(await running).toMatchObject({ content: [{ type: "text" }] });
    await host.toggle("one", true);
    expect(await pidOf(host, "one")).toBe(pid);
    expect(host.tools().length).toBeGreaterThan(0);
  });

  test("a server that the configuration disables has no processes that nobody uses; running calls finish first", async () => {
    const server = fixture("--revision", "2025-11-25");
    await using host = await open({ one: server });
    await host.ready();
    const unused = await pidOf(host, "one", "ada");
    const busy = [await host.lease("one"), await host.lease("one", { owner: "bob" })];
    const pids = busy.map(({ client }) => client.pid ?? 0);
    const calls = busy.map(({ client }) => client.callTool("sleep", { ms: 300 }));
    await host.setServers({ one: { ...server, enabled: false } });
    expect(host.tools()).toEqual([]);
    await expect.poll(() => isRunning(unused)).toBe(false);
    expect(pids.map(isRunning)).toEqual([true, true]);
    for (const result of await Promise.all(calls)) expect(result).toMatchObject({ content: [{ type: "text" }] });
    for (const lease of busy) lease.release();
    await expect.poll(() => pids.some(isRunning)).toBe(false);
    expect(stateOf(host, "one")).toBe("disabled");

    await host.setServers({ one: { ...server, enabled: true } });
    await until(host, "one", "ready");
    const again = [await pidOf(host, "one"), await pidOf(host, "one", "ada")];
    expect(again.map(isRunning)).toEqual([true, true]);
    expect(host.tools().length).toBeGreaterThan(0);
  });

  test("a server that is disabled while it starts has no process afterwards", async () => {
    const server = fixture();
    const others = childrenOf(process.pid);
    await using host = await open({ one: server });
    await host.setServers({ one: { ...server, enabled: false } });
    await host.ready();
    await expect.poll(() => childrenOf(process.pid).filter((pid) => !others.includes(pid))).toEqual([]);
  });

  test("changed lists are read again by themselves", async () => {
    await using host = await open({
      modern: fixture("--revision", "2026-07-28"),
      legacy: fixture("--revision", "2025-11-25"),
    });
    await host.ready();
    for (const server of ["modern", "legacy"]) {
      await expect
        .poll(async () => {
          if (!host.tools().some(({ name }) => name === `mcp__${server}__extra_tool`))
            await host.callTool(`${server}.test_trigger_tool_change`);
          return host.tools().map(({ name }) => name);
        })
        .toContain(`mcp__${server}__extra_tool`);
    }
  });

  test("a list that fails leaves the server connected and degraded; fail_if_no_tools makes it a failure (P2.1)", async () => {
    // It has its tools once somebody has asked whether it is still there, as retry does.
    const script = `let isAsked = false; process.stdin.on("data", (chunk) => String(chunk).trim().split("\\n").forEach((line) => {
      const { id, method } = JSON.parse(line);
      const send = (answer) => id !== undefined && console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
      if (method === "initialize") send({ result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } } });
      else if (method === "ping") { isAsked = true; send({ result: {} }); }
      else if (method === "tools/list" && !isAsked) send({ error: { code: -32603, message: "not yet" } });
      else if (method === "tools/list") send({ result: { tools: [{ name: "t", inputSchema: {} }] } });
      else send({ error: { code: -32601, message: "no" } });
    }))`;
    const entry = { command: process.execPath, args: ["-e", script] };
    const servers = { shaky: entry, strict: { ...entry, fail_if_no_tools: true } };
    await using host = await open(servers, { backoff: { firstMs: 60_000 } });
    await host.ready();
    expect(host.servers()[0]?.state).toMatchObject({ kind: "degraded", error: { message: "not yet" } });
    expect(host.servers()[1]?.state).toMatchObject({ kind: "failed" });
    await host.retry("shaky");
    expect(stateOf(host, "shaky")).toBe("ready");
    expect(host.tools().map(({ name }) => name)).toContain("mcp__shaky__t");
  });

  test("eras are remembered on disk, and stderr is logged, for the owner alone (R8)", async () => {
    const folder = await mkdtemp(join(tmpdir(), "nexus-host-"));
    try {
      const entry = fixture("--misbehave", "grandchild", "--revision", "2025-11-25");
      {
        await using host = await open({ noted: entry }, { stateFolder: folder });
        await host.ready();
      }
      await using again = await open({ noted: entry }, { stateFolder: folder });
      await again.ready();
      using lease = await again.lease("noted");
      expect(lease.client.verdict).toMatchObject({ era: "legacy", how: "given" });
      const log = join(folder, "logs", "noted.log");
      await expect.poll(() => readFile(log, "utf8").catch(() => "")).toContain("grandchild");
      for (const file of [log, join(folder, "eras.json")]) expect((await stat(file)).mode & 0o077).toBe(0);
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  });

  test(`${MANY} servers of which a fifth is broken start side by side, and close without a trace (N9)`, async () => {
    const others = childrenOf(process.pid);
    const broken: HostEntry[] = [
      { command: "nexus-no-such" },
      fixture("--misbehave", "die-at-start"),
      { url: "http://127.0.0.1:1/" },
      { command: "sh", args: ["-c", "echo noise; exit 1"] },
      { command: "" },
    ];
    const servers = Object.fromEntries(
      Array.from({ length: MANY }, (_, index) => [
        `s${index}`,
        index % 5 === 0 ? (broken[(index / 5) % 5] ?? {}) : { command: process.execPath, args: ["dist/demo/main.js"] },
      ]),
    );
    const host = await open(servers, { backoff: { firstMs: 60_000 } });
    await host.ready();
    const states = host.servers().map(({ state }) => state.kind);
    expect(states.filter((kind) => kind === "failed")).toHaveLength(MANY / 5);
    expect(states.filter((kind) => kind === "ready")).toHaveLength(MANY - MANY / 5);
    await host.close();
    expect(childrenOf(process.pid).filter((pid) => !others.includes(pid))).toEqual([]);
  });
});

test("nothing starts after the host was closed, and what is switched by hand stays so", async () => {
  const host = await open({ one: fixture(), off: { ...fixture(), enabled: false } });
  await host.ready();
  await host.toggle("one", false);
  await host.setServers({ one: fixture(), off: { ...fixture(), enabled: true } });
  await host.ready();
  expect(stateOf(host, "one")).toBe("disabled");
  expect(stateOf(host, "off")).toBe("ready");
  await host.close();
  expect(await failure(host.setServers({ late: fixture() }))).toMatchObject({ code: "CLOSED" });
  expect(host.servers().map(({ id }) => id)).not.toContain("late");
});

test("aborting does not wait for a server that hangs at its start (G6)", async () => {
  await using host = await open({
    hanging: { ...fixture("--misbehave", "silent"), auto_start: false, connection_timeout: "60s" },
  });
  const calls = [
    host.callTool("hanging.x", {}, { signal: AbortSignal.timeout(50) }),
    host.readResource("hanging", "a:b", { signal: AbortSignal.timeout(50) }),
    host.getPrompt("hanging.p", {}, { signal: AbortSignal.timeout(50) }),
  ];
  for (const error of await Promise.all(calls.map(failure))) expect(error.code).toBe("CANCELLED");
});

test("owners are held off from a server that keeps crashing, like everybody", async () => {
  const backoff = { firstMs: 60_000, longestMs: 60_000, patience: 2, restMs: 60_000, settledMs: 60_000 };
  await using host = await open({ bad: { ...fixture("--misbehave", "die-at-start"), auto_start: false } }, { backoff });
  for (let round = 0; round < 3; round++) await failure(host.lease("bad", { owner: "o" }));
  const started = performance.now();
  expect(await failure(host.lease("bad", { owner: "o" }))).toMatchObject({ code: "SERVER_EXITED" });
  // Not after the pause of a minute.
  expect(performance.now() - started).toBeLessThan(30_000);
});

test("two hosts at once share a state folder and nothing else", async () => {
  await using one = await open({ kit: fixture() });
  await using two = await open({ kit: fixture() });
  await Promise.all([one.ready(), two.ready()]);
  expect(await pidOf(one, "kit")).not.toBe(await pidOf(two, "kit"));
  await one.close();
  expect(await two.callTool("kit.echo", { text: "still here" })).toMatchObject({ content: [{ text: "still here" }] });
});

test("servers are reloaded under load without losing a call of those that stay (B3)", async () => {
  await using host = await open({ steady: fixture(), a: fixture() });
  await host.ready();
  const done = new AbortController();
  let calls = 0;
  const load = Array.from({ length: 4 }, async () => {
    while (!done.signal.aborted) {
      const text = String(calls++);
      expect(await host.callTool("steady.echo", { text })).toMatchObject({ content: [{ text }] });
    }
  });
  for (const id of ["b", "c", "d"]) {
    await host.setServers({ steady: fixture(), [id]: fixture() });
    await host.ready();
  }
  done.abort();
  await Promise.all(load);
  expect(calls).toBeGreaterThan(10);
});

describe("leases", () => {
  test("owners never share a process, each keeps its own, and modern HTTP is shared", async () => {
    await using server = await startHttpFixture({ revision: "2026-07-28" });
    await using host = await open({ pipe: fixture("--revision", "2025-11-25"), web: { url: server.url } });
    await host.ready();
    using own = await host.lease("pipe");
    using ada = await host.lease("pipe", { owner: "ada" });
    using bob = await host.lease("pipe", { owner: "bob" });
    using adaAgain = await host.lease("pipe", { owner: "ada" });
    expect(new Set([own, ada, bob].map(({ client }) => client.pid)).size).toBe(3);
    expect(adaAgain.client).toBe(ada.client);
    using first = await host.lease("web", { owner: "ada" });
    using second = await host.lease("web", { owner: "bob" });
    expect(first.client).toBe(second.client);
  });

  test("connections are bounded, and end when nobody has used them for a while", async () => {
    await using host = await open(
      { pipe: fixture("--revision", "2025-11-25") },
      {
        maxConnections: 2,
        idleMs: 20,
        connectionWaitMs: 1_000,
      },
    );
    await host.ready();
    (await host.lease("pipe", { owner: "early" })).release();
    const ada = await host.lease("pipe", { owner: "ada" });
    using _bob = await host.lease("pipe", { owner: "bob" }).catch(() => ada);
    expect(await failure(host.lease("pipe", { owner: "eve" }))).toMatchObject({ code: "CONNECTION_FAILED" });
    const { pid = 0 } = ada.client;
    ada.release();
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  test("isolation: call gives every lease a process of its own", async () => {
    await using host = await open({ pipe: { ...fixture("--revision", "2025-11-25"), isolation: "call" } });
    const one = await host.lease("pipe", { owner: "a" });
    const two = await host.lease("pipe", { owner: "a" });
    const pids = [one.client.pid ?? 0, two.client.pid ?? 0];
    expect(pids[0]).not.toBe(pids[1]);
    one.release();
    two.release();
    await expect.poll(() => pids.some(isRunning)).toBe(false);
  });
});

describe("what a killed host leaves behind", () => {
  test("is ended at the next start, and nothing else is (B3)", async () => {
    const folder = await mkdtemp(join(tmpdir(), "nexus-orphans-"));
    try {
      const entry = fixture("--misbehave", "ignore-stdin-end");
      const program = `
        const { Host } = await import(${JSON.stringify(new URL("../../dist/index.js", import.meta.url).href)});
        const host = await Host.open({ servers: { stubborn: ${JSON.stringify(entry)} }, stateFolder: ${JSON.stringify(folder)} });
        await host.ready();
        console.log((await host.lease("stubborn")).client.pid);
        setInterval(() => {}, 1e6);`;
      const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const [line] = (await once(child.stdout, "data")) as [Buffer];
      const orphan = Number(String(line));
      child.kill("SIGKILL");
      await once(child, "exit");
      expect(isRunning(orphan)).toBe(true);

      // A page that names the same process with another start accuses nobody.
      const [page = ""] = await readdir(join(folder, "children"));
      const text = await readFile(join(folder, "children", page), "utf8");
      await writeFile(
        join(folder, "children", page),
        text.replace(new RegExp(`"pid":${orphan},"startedAt":"\\d+"`), `"pid":${orphan},"startedAt":"1"`),
      );
      await (await Host.open({ servers: {}, stateFolder: folder })).close();
      expect(isRunning(orphan)).toBe(true);

      await writeFile(join(folder, "children", page), text);
      await (await Host.open({ servers: {}, stateFolder: folder })).close();
      await expect.poll(() => isRunning(orphan)).toBe(false);
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  });

  test("is ended too where it hung at its start (B3)", async () => {
    const folder = await mkdtemp(join(tmpdir(), "nexus-orphans-"));
    try {
      const hanging = { command: process.execPath, args: ["-e", "setInterval(() => {}, 1e6)"] };
      const program = `
        const { Host } = await import(${JSON.stringify(new URL("../../dist/index.js", import.meta.url).href)});
        await Host.open({ servers: { hanging: ${JSON.stringify(hanging)} }, stateFolder: ${JSON.stringify(folder)} });
        setInterval(() => {}, 1e6);`;
      const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: "ignore" });
      const pages = async () => readdir(join(folder, "children")).catch(() => []);
      await expect.poll(async () => (await pages()).filter((page) => page.endsWith(".json")).length).toBe(1);
      const [page = ""] = (await pages()).filter((name) => name.endsWith(".json"));
      const { children } = JSON.parse(await readFile(join(folder, "children", page), "utf8")) as {
        children: { pid: number }[];
      };
      const orphan = children[0]?.pid ?? 0;
      child.kill("SIGKILL");
      await once(child, "exit");
      expect(isRunning(orphan)).toBe(true);

      await (await Host.open({ servers: {}, stateFolder: folder })).close();
      await expect.poll(() => isRunning(orphan)).toBe(false);
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  });
});
