import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Host, type HostOptions, type Logger } from "../../src/index.ts";
import { failure } from "../fixtures/failure.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-configured-"));
  await mkdir(join(folder, "project"));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

const project = () => join(folder, "project");
const write = (file: string, value: unknown) =>
  writeFile(join(project(), file), typeof value === "string" ? value : JSON.stringify(value, null, 2));
const open = (options: HostOptions) => Host.open({ stateFolder: join(folder, "state"), cwd: project(), ...options });

test("a file names the servers, each with its place; a wrong one concerns nobody else (P0, N9)", async () => {
  await write("mcp.json", {
    mcpServers: {
      "My Kit": stdioFixture(),
      broken: { command: "x", url: "y" },
      unset: { command: "${NEXUS_NO_SUCH_VARIABLE}" },
    },
  });
  await using host = await open({ config: join(project(), "mcp.json") });
  await host.ready();
  expect(host.servers().map(({ id, state }) => [id, state.kind])).toEqual(
    expect.arrayContaining([
      ["my-kit", "ready"],
      ["broken", "failed"],
      ["unset", "failed"],
    ]),
  );
  const { definition } = host.servers().find(({ id }) => id === "my-kit") ?? {};
  expect(definition?.origin).toMatchObject({ file: join(project(), "mcp.json"), layer: "explicit", line: 3 });
  expect(await host.callTool("my-kit.echo", { text: "hi" })).toMatchObject({ content: [{ text: "hi" }] });
  expect(await failure(host.callTool("unset.x"))).toMatchObject({
    message: expect.stringContaining("NEXUS_NO_SUCH_VARIABLE") as string,
  });
});

test("a project's servers wait until it is trusted (R8)", async () => {
  await write(".mcp.json", { mcpServers: { kit: stdioFixture() } });
  {
    await using host = await open({});
    await host.ready();
    expect(host.servers().find(({ id }) => id === "kit")?.state).toEqual({ kind: "waiting-for-trust" });
    expect(await failure(host.callTool("kit.echo", { text: "x" }))).toMatchObject({ code: "UNTRUSTED" });
  }
  await using trusting = await open({ trust: true });
  await trusting.ready();
  expect(await trusting.callTool("kit.echo", { text: "x" })).toMatchObject({ content: [{ text: "x" }] });
});

test("a changed file is applied as a difference, while calls go on (G4)", async () => {
  const file = join(project(), "mcp.json");
  await write("mcp.json", { mcpServers: { keep: stdioFixture(), drop: stdioFixture() } });
  await using host = await open({ config: file, watch: true });
  await host.ready();
  using lease = await host.lease("keep");
  const running = host.callTool("keep.sleep", { ms: 500 });
  await host.callTool("keep.echo", { text: "under way" });
  await write("mcp.json", { mcpServers: { keep: stdioFixture(), add: stdioFixture() } });
  await expect
    .poll(() =>
      host
        .servers()
        .map(({ id }) => id)
        .sort(),
    )
    .toEqual(["add", "keep"]);
  expect(await running).toMatchObject({ content: [{ type: "text" }] });
  using again = await host.lease("keep");
  expect(again.client).toBe(lease.client);
});

test("the YAML of the first design is understood (N12)", async () => {
  const { command, args } = stdioFixture();
  await write(
    "nexus.yaml",
    `mcp:\n  enabled: true\n  servers:\n    - id: kit\n      command: ${JSON.stringify(command)}\n      args: ${JSON.stringify(args)}\n      timeout: 30s\n`,
  );
  await using host = await open({ trust: true });
  await host.ready();
  expect(host.servers()).toMatchObject([{ id: "kit", state: { kind: "idle" } }]);
  expect(await host.callTool("kit.echo", { text: "lazy" })).toMatchObject({ content: [{ text: "lazy" }] });
});

test("a file that is no JSON is an error with its place (P1.9)", async () => {
  await write("mcp.json", `{ "mcpServers": { "a": { "command": "x" }`);
  const error = await failure(open({ config: join(project(), "mcp.json") }));
  expect(error).toMatchObject({ code: "CONFIG_INVALID", details: { source: { line: 1 } } });
});

const ids = (host: Host) => host.servers().map(({ id }) => id);
const warningsInto = (warnings: string[]): Logger => ({
  debug() {},
  info() {},
  warn: (message) => void warnings.push(message),
  error() {},
});

test("a file that is saved half written stops nothing, and says so; one that is removed does (G4)", async () => {
  const file = join(project(), "mcp.json");
  const good = { mcpServers: { one: stdioFixture(), two: stdioFixture() } };
  const warnings: string[] = [];
  await write("mcp.json", good);
  await using host = await open({ config: file, watch: true, logger: warningsInto(warnings) });
  await host.ready();
  using lease = await host.lease("one");
  await write("mcp.json", JSON.stringify(good).slice(0, -4));
  await expect.poll(() => warnings).toContainEqual(expect.stringContaining("are unchanged"));
  expect(host.servers().map(({ id, state }) => [id, state.kind])).toEqual([
    ["one", "ready"],
    ["two", "ready"],
  ]);
  await write("mcp.json", { mcpServers: { one: stdioFixture() } });
  await expect.poll(() => ids(host)).toEqual(["one"]);
  using again = await host.lease("one");
  expect(again.client).toBe(lease.client);
  await rm(file);
  await expect.poll(() => ids(host)).toEqual([]);
});

test("a file that is emptied, or missing for a moment, stops nothing (G4)", async () => {
  const file = join(project(), "mcp.json");
  const good = { mcpServers: { one: stdioFixture() } };
  const warnings: string[] = [];
  await write("mcp.json", good);
  await using host = await open({ config: file, watch: true, logger: warningsInto(warnings) });
  await host.ready();
  using lease = await host.lease("one");
  await write("mcp.json", " \n");
  await expect.poll(() => warnings).toContainEqual(expect.stringContaining("it is empty"));
  expect(ids(host)).toEqual(["one"]);
  await rm(file);
  await write("mcp.json", { mcpServers: { ...good.mcpServers, two: stdioFixture() } });
  await expect.poll(() => ids(host)).toEqual(["one", "two"]);
  using again = await host.lease("one");
  expect(again.client).toBe(lease.client);
});

test("--trust means what was there at the beginning, not what is written later (R8)", async () => {
  await write(".mcp.json", { mcpServers: { kit: stdioFixture() } });
  await using host = await open({ trust: true, watch: true });
  await host.ready();
  const states = () => Object.fromEntries(host.servers().map(({ id, state }) => [id, state.kind]));
  expect(states()).toEqual({ kit: "ready" });
  await write(".mcp.json", { mcpServers: { kit: stdioFixture(), later: { command: "nexus-no-such-command" } } });
  await expect.poll(states).toEqual({ kit: "waiting-for-trust", later: "waiting-for-trust" });
  await write(".mcp.json", { mcpServers: { kit: stdioFixture() } });
  await expect.poll(states).toEqual({ kit: "ready" });
});

test("a change while the first configuration is still being read is not undone by it", async () => {
  const file = join(project(), "mcp.json");
  const asking = (server: string) => ({
    inputs: [{ id: server, type: "promptString" }],
    servers: { [server]: { ...stdioFixture(), auto_start: false, env: { X: `\${input:${server}}` } } },
  });
  await write("mcp.json", asking("before"));
  let changed: (answer: string) => void = () => {};
  const askInput = async ({ id }: { id: string }) => {
    if (id === "after") {
      changed("");
      return "";
    }
    await write("mcp.new", asking("after"));
    await rename(join(project(), "mcp.new"), file);
    return new Promise<string>((resolve) => (changed = resolve));
  };
  await using host = await open({ config: file, watch: true, askInput });
  await expect.poll(() => ids(host)).toEqual(["after"]);
});
