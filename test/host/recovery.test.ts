import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { resolveEntry } from "../../src/transport/server-entry.ts";
import type { EraCache, Host, ServerDefinition } from "../../src/index.ts";
import { failure } from "../fixtures/failure.ts";
import { isRunning } from "../fixtures/processes.ts";
import { startHttpFixture } from "../fixtures/servers/http-fixture.ts";
import { oddServer } from "./odd-server.ts";
import { HostWorld, stateOf, textOf, toolNames, until } from "./world.ts";

const pidOf = async (host: Host, id: string) => Number(textOf(await host.callTool(`${id}.echo`)));

test.each(["exit", "ignore"] as const)("an era that is no longer true is forgotten (probe: %s)", async (onProbe) => {
  await using world = await HostWorld.open();
  let era: string | undefined = "modern";
  const eraCache: EraCache = {
    find: () => Promise.resolve(era === "modern" ? "modern" : undefined),
    remember: (_key, found) => {
      era = found;
      return Promise.resolve();
    },
  };
  await using host = await world.host({ old: oddServer({ onProbe }, { connection_timeout: "7s" }) }, { eraCache });
  await host.ready();
  expect(stateOf(host, "old")).toMatchObject({ kind: "ready", era: "legacy" });
  expect(era).toBe("legacy");
});

test.each(["legacy", "modern"] as const)(
  "a slow server has all its time to start, whatever era is remembered: %s",
  async (remembered) => {
    await using world = await HostWorld.open();
    const eraCache: EraCache = { find: () => Promise.resolve(remembered), remember: () => Promise.resolve() };
    const oddity = { slowStartMs: 4_000, modern: remembered === "modern", spawnLog: world.path("pids") };
    await using host = await world.host({ slow: oddServer(oddity, { connection_timeout: "7s" }) }, { eraCache });
    await host.ready();
    expect(stateOf(host, "slow")).toMatchObject({ kind: "ready", era: remembered });
    expect((await readFile(world.path("pids"), "utf8")).trim().split("\n")).toHaveLength(1);
  },
);

test("a server that does not answer in time is started once, and asked without assuming an era the next time", async () => {
  await using world = await HostWorld.open();
  const forgotten: unknown[] = [];
  const eraCache: EraCache = {
    find: () => Promise.resolve("legacy"),
    remember: (_key, era) => Promise.resolve(void forgotten.push(era)),
  };
  const oddity = { hang: true, spawnLog: world.path("pids") };
  const entry = oddServer(oddity, { connection_timeout: "1s" });
  await using host = await world.host({ stuck: entry }, { eraCache, backoff: { firstMs: 60_000 } });
  await host.ready();
  expect(stateOf(host, "stuck")).toMatchObject({ kind: "failed", error: { code: "TIMEOUT" } });
  expect(forgotten).toEqual([undefined]);
  expect((await readFile(world.path("pids"), "utf8")).trim().split("\n")).toHaveLength(1);
});

test("an era cache that fails costs nothing but time, and leaves no process behind", async () => {
  await using world = await HostWorld.open();
  const away = () => Promise.reject(new Error("the store is away"));
  const eraCache: EraCache = { find: away, remember: away };
  const host = await world.host({ odd: oddServer({ spawnLog: world.path("pids") }) }, { eraCache });
  await host.ready();
  expect(stateOf(host, "odd")).toMatchObject({ kind: "ready" });
  await host.close();
  const pids = await world.pids("pids");
  expect(pids).toHaveLength(1);
  expect(pids.filter(isRunning)).toEqual([]);
});

test("a failed server that is switched off and on again by its configuration is tried again (G5)", async () => {
  await using world = await HostWorld.open();
  const entry = oddServer({ failUnless: world.path("flag") });
  await using host = await world.host({ odd: entry }, { backoff: { firstMs: 60_000 } });
  await host.ready();
  expect(stateOf(host, "odd")?.kind).toBe("failed");
  await host.setServers({ odd: { ...entry, enabled: false } });
  await writeFile(world.path("flag"), "");
  await host.setServers({ odd: { ...entry, enabled: true } });
  await host.ready();
  expect(stateOf(host, "odd")?.kind).toBe("ready");
});

test("servers that hang at their start hold up nobody for long (N9)", async () => {
  await using world = await HostWorld.open();
  const hanging = oddServer({ hang: true }, { connection_timeout: "60s" });
  const servers = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`hanging-${index}`, hanging]));
  await using host = await world.host({ ...servers, good: oddServer() });
  expect(await pidOf(host, "good")).toBeGreaterThan(0);
  expect(stateOf(host, "hanging-0")?.kind).toBe("starting");
});

test("a server is gone before the one that replaces it starts, and the last that is heard is that it is ready", async () => {
  await using world = await HostWorld.open();
  const entry = oddServer({ lock: world.path("lock"), slowExitMs: 300 });
  await using host = await world.host({ odd: entry });
  await host.ready();
  const heard: string[] = [];
  host.on((event) => event.kind === "state" && heard.push(event.state.kind));
  const replaced = host.setServers({ odd: { ...entry, env: { CHANGED: "1" } } });
  await expect.poll(() => heard.at(-1)).toBe("starting");
  expect(await pidOf(host, "odd")).toBeGreaterThan(0);
  await replaced;
  expect(heard).toEqual(["starting", "ready"]);
});

test("close() waits for servers that were removed before it", async () => {
  await using world = await HostWorld.open();
  const host = await world.host({ odd: oddServer({ slowExitMs: 400 }) });
  await host.ready();
  const pid = await pidOf(host, "odd");
  const removed = host.setServers({});
  await expect.poll(() => host.servers()).toEqual([]);
  await host.close();
  expect(isRunning(pid)).toBe(false);
  await removed;
});

test("retry starts a server anew that runs and does not answer (P2.1)", async () => {
  await using world = await HostWorld.open();
  await using host = await world.host({ odd: oddServer() });
  await host.ready();
  const before = Number(textOf(await host.callTool("odd.echo", { deafen: true })));
  expect(stateOf(host, "odd")?.kind).toBe("ready");
  await host.retry("odd");
  expect(await pidOf(host, "odd")).not.toBe(before);
  expect(isRunning(before)).toBe(false);
});

test.each(["2026-07-28", "2025-11-25"] as const)(
  "an HTTP server that is gone has failed, and is ready when it is back (%s, B3)",
  async (revision) => {
    await using world = await HostWorld.open();
    const server = await startHttpFixture({ revision });
    await using host = await world.host({ web: { url: server.url, http_max_retries: 0 } });
    await host.ready();
    await server.close();
    await failure(host.callTool("web.echo", { text: "x" }));
    await expect.poll(() => stateOf(host, "web")).toMatchObject({ error: { code: "CONNECTION_FAILED" } });
    await using _again = await startHttpFixture({ revision, port: server.port });
    await until(host, "web", "ready");
    expect(await host.callTool("web.echo", { text: "back" })).toMatchObject({ content: [{ text: "back" }] });
  },
);

test.each(["2026-07-28", "2025-11-25"] as const)(
  "an HTTP server that is gone is noticed without a call, and heals when it is back (%s, P2.1)",
  async (revision) => {
    await using world = await HostWorld.open();
    const server = await startHttpFixture({ revision });
    const entry = { url: server.url, http_max_retries: 0 };
    await using host = await world.host({ web: entry }, { healthCheckMs: 50 });
    await host.ready();
    await server.close();
    await expect.poll(() => stateOf(host, "web")).toMatchObject({ error: { code: "CONNECTION_FAILED" } });
    await using _again = await startHttpFixture({ revision, port: server.port });
    await until(host, "web", "ready");
  },
);

test("damaged notes about children keep no host from opening (B3)", async () => {
  await using world = await HostWorld.open();
  const folder = world.path("state/children");
  await mkdir(folder, { recursive: true });
  const pages = ["", "null", "{", `{"host":{},"children":[]}`, `{"host":{"pid":"x"},"children":[{"pid":-1}]}`];
  const host = { pid: 99_999_999, startedAt: "1", command: "x" };
  pages.push(JSON.stringify({ host, children: [{ pid: -1, startedAt: "1", command: "x" }, null] }));
  await Promise.all(pages.map((page, index) => writeFile(join(folder, `${index}.json`), page)));
  await using opened = await world.host({ odd: oddServer() });
  await opened.ready();
  expect(stateOf(opened, "odd")?.kind).toBe("ready");
});

test("a child is noted as soon as it runs, and what was left half written is swept (B3)", async () => {
  await using world = await HostWorld.open();
  const folder = world.path("state/children");
  await mkdir(folder, { recursive: true });
  const [old, young] = [join(folder, "1-a.json.draft"), join(folder, "2-b.json.draft")];
  await Promise.all([writeFile(old, "{"), writeFile(young, "{")]);
  await utimes(old, 0, 0);
  await using _host = await world.host({ odd: oddServer({ hang: true, spawnLog: world.path("pids") }) });
  expect((await readdir(folder)).filter((name) => name.endsWith(".draft"))).toEqual(["2-b.json.draft"]);
  await expect.poll(() => world.pids("pids")).toHaveLength(1);
  const [pid] = await world.pids("pids");
  expect(await readPages(folder)).toEqual([expect.stringContaining(`"pid":${pid}`)]);
});

test("what is remembered of a server's era does not double the time it may take to fail", async () => {
  await using world = await HostWorld.open();
  const eraCache: EraCache = { find: () => Promise.resolve("modern"), remember: () => Promise.resolve() };
  const entry = oddServer({ hang: true }, { connection_timeout: "6s" });
  await using host = await world.host({ odd: entry }, { eraCache, backoff: { firstMs: 60_000 } });
  const started = performance.now();
  await host.ready();
  expect(stateOf(host, "odd")).toMatchObject({ kind: "failed", error: { code: "TIMEOUT" } });
  expect(performance.now() - started).toBeLessThan(11_900);
});

test("the place of an error follows its line in the file", async () => {
  await using world = await HostWorld.open();
  const at = (line: number): ServerDefinition => ({
    id: "odd",
    entry: resolveEntry({ id: "odd", command: process.execPath, args: ["-e", "process.exit(1)"] }),
    enabled: true,
    autoStart: true,
    failIfNoTools: false,
    tools: {},
    isolation: "owner",
    hides: [],
    trusted: true,
    origin: { file: "mcp.json", line, column: 1, layer: "user" },
  });
  await using host = await world.host({}, { backoff: { firstMs: 60_000 } });
  await host.setServers([at(3)]);
  await host.ready();
  expect(stateOf(host, "odd")).toMatchObject({ error: { details: { source: { line: 3 } } } });
  await host.setServers([at(7)]);
  expect(stateOf(host, "odd")).toMatchObject({ error: { details: { source: { line: 7 } } } });
});

test("what two processes of one server write to stderr is rotated once, and none of it is lost", async () => {
  await using world = await HostWorld.open();
  const log = world.path("state/logs/odd.log");
  await mkdir(world.path("state/logs"), { recursive: true });
  await writeFile(log, "o".repeat(1_040_000));
  await using host = await world.host({ odd: oddServer({ stderrBytes: 100_000 }, { auto_start: false }) });
  await Promise.all([host.lease("odd", { owner: "ada" }), host.lease("odd", { owner: "bob" })]);
  const written = async (file: string) => {
    const text = await readFile(file, "utf8").catch(() => "");
    return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]{12}Z /g, "").length;
  };
  await expect.poll(async () => (await written(log)) + (await written(`${log}.1`))).toBe(1_240_000);
});

test("secrets that were filled in stand in no error, and in no file (R8)", async () => {
  await using world = await HostWorld.open();
  const secret = "TOPSECRET";
  const definition = (id: string, entry: object, written: ServerDefinition["written"]): ServerDefinition => ({
    id,
    entry: resolveEntry({ id, http_max_retries: 0, ...entry }),
    enabled: true,
    autoStart: true,
    failIfNoTools: false,
    tools: {},
    isolation: "owner",
    hides: [],
    trusted: true,
    written,
  });
  const odd = oddServer();
  const command = `node … --token=\${secret:t}`;
  const url = `http://127.0.0.1:1/\${secret:t}/mcp`;
  await using host = await world.host({});
  // By the time that all have been tried, one that failed may be starting again.
  const errors: Record<string, unknown> = {};
  host.on((event) => {
    if (event.kind === "state" && event.state.kind === "failed") errors[event.server] = event.state.error;
  });
  await host.setServers([
    definition("runs", { ...odd, args: [...(odd.args ?? []), "--", `--token=${secret}`] }, { command }),
    definition("ends", { command: process.execPath, args: ["-e", "process.exit(1)", "--", secret] }, { command }),
    definition("away", { url: `http://127.0.0.1:1/${secret}/mcp` }, { url }),
  ]);
  await host.ready();
  expect(errors).toMatchObject({ ends: { details: { command } }, away: { details: { url } } });
  expect(toolNames(host)).toEqual(["echo"]);
  const [page = ""] = await readPages(world.path("state/children"));
  expect(page).toContain("startedAt");
  const died = await failure(host.callTool("runs.echo", { die: true }));
  expect(died).toMatchObject({ code: "SERVER_EXITED", details: { command } });
  await until(host, "runs", "ready");
  expect(JSON.stringify([host.servers().map(({ state }) => state), died.details, page])).not.toContain(secret);
});

async function readPages(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json"));
  return Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
}
