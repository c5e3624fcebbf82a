import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { splitWords } from "../../../src/cli/command/command-line.ts";
import { connect } from "../../../src/index.ts";
import { META } from "../../../src/protocol/meta.ts";
import { modern, OpenStream, send } from "../../fixtures/gateway/wire.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { NexusWorld } from "../../fixtures/nexus.ts";
import { childrenOf, isRunning } from "../../fixtures/processes.ts";
import { GatedServers } from "../../fixtures/servers/gated-servers.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";

let world: NexusWorld;

beforeAll(async () => {
  world = await NexusWorld.open();
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

interface Serving {
  url: string;
  child: ChildProcess;
  output: { stdout: string; stderr: string };
}

async function serving(args: readonly string[] = []): Promise<Serving> {
  const { child, output } = world.start(["serve", "--port", "0", ...args]);
  await expect.poll(() => output.stdout).toMatch(/"url"|Ctrl-C/);
  return { url: /http:\/\/[\d.:]+\/mcp/.exec(output.stdout)?.[0] ?? "", child, output };
}

async function codeOf(child: ChildProcess): Promise<unknown> {
  return child.exitCode ?? ((await once(child, "close")) as [unknown])[0];
}

async function endOf({ child }: Serving, signal: NodeJS.Signals): Promise<unknown> {
  child.kill(signal);
  return codeOf(child);
}

/** Names of the tools at an endpoint, as a modern client sees them. */
async function toolsAt(url: string): Promise<string[]> {
  const { json } = await send(url, modern("tools/list"));
  return (json.result.tools as { name: string }[]).map(({ name }) => name);
}

describe("B2: nexus serve --demo", () => {
  test("says where it listens and what to do next; what it says works; SIGTERM ends it with 0 and its servers too", async () => {
    const gateway = await serving(["--demo"]);
    const { url, child, output } = gateway;
    expect(output.stdout).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+\/mcp\n/);
    expect(output.stdout).toMatch(/^ {2}demo +ready \(2026-07-28\)$/m);
    expect(output.stdout).toMatch(/^ {2}demo-legacy +ready \(2025-11-25\)$/m);
    expect(output.stdout).toContain(
      "\nProcesses: 2 processes and up to 2 more for each client; at most 256 at the same time\n",
    );
    expect(output.stdout).toContain(`\n  nexus mcp install claude-code --url ${url}\n`);

    const [list = "", call = ""] = output.stdout.match(/^ {2}nexus mcp (?:tools|call) .*$/gm) ?? [];
    const listed = await world.run(splitWords(list).slice(1));
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining("demo__echo") as string });
    expect(call).toMatch(/^ {2}nexus mcp call demo__\w+ --arg /);
    expect(await world.run(splitWords(call).slice(1))).toMatchObject({ code: 0, stderr: "" });

    expect(await toolsAt(url)).toEqual(expect.arrayContaining(["demo__echo", "demo-legacy__echo"]));
    await using client = await connect({ url });
    const answer = await client.callTool("demo-legacy__echo", { text: "hello" });
    expect(answer.content[0]?.text).toContain("hello");
    await using one = await connect({ url: url.replace(/mcp$/, "servers/demo/mcp") });
    expect((await one.listTools()).map(({ name }) => name)).toContain("echo");

    const children = childrenOf(child.pid ?? 0);
    expect(await endOf(gateway, "SIGTERM")).toBe(0);
    expect(children.filter(isRunning)).toEqual([]);
    expect(output.stderr).toBe("Stopping.\n");
    // The demo has a store of its own: no command can create a key in it.
    expect(output.stdout).toContain("everybody on this machine can call it.\n");
    expect(output.stdout).not.toContain("nexus keys create");
  });

  test("for programs it is one line of JSON", async () => {
    const gateway = await serving(["--demo", "--json"]);
    expect(JSON.parse(gateway.output.stdout)).toEqual({
      url: gateway.url,
      consoleUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/console\/login\?code=[\w-]{22}$/) as string,
      port: Number(new URL(gateway.url).port),
      auth: "none",
      servers: [
        { id: "demo", state: "ready" },
        { id: "demo-legacy", state: "ready" },
        { id: "capcorn", state: "ready" },
      ],
      processes: { servers: 2, shared: 0, perClient: 2, perCall: 0, limit: 256 },
    });
    expect(await endOf(gateway, "SIGINT")).toBe(0);
    expect(gateway.output.stderr).toBe("");
  });

  test("with --json and --verbose its log is lines of JSON on stderr", async () => {
    await world.configure({ gone: { command: "no-such-program-anywhere" } });
    const gateway = await serving(["--json", "--verbose"]);
    await send(gateway.url, modern("tools/call", { name: "gone__x" }));
    expect(await endOf(gateway, "SIGINT")).toBe(0);
    const lines = gateway.output.stderr.trimEnd().split("\n");
    const entries = lines.map((line) => (JSON.parse(line) as { log: Record<string, unknown> }).log);
    expect(entries).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          level: "warn",
          message: expect.stringContaining("gone: failed:") as string,
          error: expect.objectContaining({ code: "COMMAND_NOT_FOUND", server: "gone" }) as object,
        }),
        expect.objectContaining({ level: "debug", time: expect.stringMatching(/^\d{4}-/) as string }),
      ]),
    );
  });
});

test("P1.9: of a server that fails it says why, in the server's own words where it has some", async () => {
  const refusing = createHttpServer((_request, response) => {
    response.writeHead(403, { "content-type": "application/json" }).end(`{"error":"Your plan has no such server"}`);
  }).listen(0, "127.0.0.1");
  await once(refusing, "listening");
  const crashing = "console.error('Error: connect ECONNREFUSED 127.0.0.1:5432'); process.exit(1)";
  await world.configure({
    plan: { url: `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/mcp` },
    db: { command: process.execPath, args: ["-e", crashing] },
  });
  const gateway = await serving();
  expect(gateway.output.stderr).toContain("\n  response: Your plan has no such server\n");
  expect(gateway.output.stderr).toContain(
    "likely cause: A service that the server needs is not running at 127.0.0.1:5432.\n",
  );
  expect(await endOf(gateway, "SIGINT")).toBe(0);
  refusing.close();
});

test("--server serves the named servers alone, and starts no others", async () => {
  await world.configure({
    one: stdioFixture(),
    "Second Server": stdioFixture(),
    third: { command: "no-such-command" },
  });
  const gateway = await serving(["--server", "one", "--server", "Second Server", "--json"]);
  expect(JSON.parse(gateway.output.stdout)).toMatchObject({
    servers: [
      { id: "one", state: "ready" },
      { id: "second-server", state: "ready" },
    ],
  });
  const servers = new Set((await toolsAt(gateway.url)).map((name) => name.split("__")[0]));
  expect(servers).toEqual(new Set(["one", "second-server"]));
  expect(await endOf(gateway, "SIGTERM")).toBe(0);
  const both = await world.run(["serve", "--demo", "--server", "one"]);
  expect(both).toMatchObject({ code: 2 });
});

test("on all addresses of the machine, the first lines have those that clients can use (R8)", async () => {
  const gateway = await serving([
    "--demo",
    "--host",
    "0.0.0.0",
    "--auth",
    "keys",
    "--database",
    `file:${world.root}/d`,
  ]);
  expect(gateway.output.stdout).toMatch(
    /^listening on http:\/\/127\.0\.0\.1:\d+\/mcp\n(?:for other machines: http:\/\/\d|Other machines cannot reach it)/,
  );
  expect(gateway.output.stdout).not.toContain("0.0.0.0");
  expect(await endOf(gateway, "SIGTERM")).toBe(0);
});

describe("with configured servers", () => {
  const sleep = (ms: number) => modern("tools/call", { name: "everything__sleep", arguments: { ms } });

  test("N9: one that fails is named with its cause, the others are served, and changed files are followed", async () => {
    await world.configure({ everything: stdioFixture(), broken: { command: "no-such-command-anywhere" } });
    const gateway = await serving();
    expect(gateway.output.stderr).toMatch(/^broken: failed: .*no-such-command-anywhere/m);
    expect(gateway.output.stdout).toMatch(/^ {2}broken +failed: /m);
    expect(await toolsAt(gateway.url)).toContain("everything__sleep");

    await world.configure({ everything: stdioFixture(), second: stdioFixture(["--revision", "2025-11-25"]) });
    await expect.poll(() => toolsAt(gateway.url)).toContain("second__sleep");
    const one = await send(gateway.url.replace(/mcp$/, "servers/broken/mcp"), modern("tools/list"));
    expect(one.status).toBe(404);
    expect(await endOf(gateway, "SIGINT")).toBe(0);
  });

  test("a file that is no JSON is named once, with what is wrong, and followed all the same", async () => {
    await world.write("home/.nexus/mcp.json", '{ "mcpServers": {');
    const gateway = await serving();
    expect(gateway.output.stderr.split("Not valid JSON")).toHaveLength(2);
    expect(gateway.output.stderr).toMatch(/mcp\.json cannot be used, so it has no servers: Not valid JSON at line 1/);

    await world.configure({ everything: stdioFixture() });
    await expect.poll(() => toolsAt(gateway.url)).toContain("everything__sleep");
    expect(await endOf(gateway, "SIGTERM")).toBe(0);
  });

  test("how long a first list waits for a server is set in the configuration, and by --first-list-wait", async () => {
    await using gate = await GatedServers.open();
    gate.pass("quick", { tools: [{ name: "go", inputSchema: { type: "object" } }] });
    await world.write(
      "home/.nexus/mcp.json",
      JSON.stringify({
        mcpServers: { slow: gate.entry("slow"), quick: gate.entry("quick") },
        gateway: { limits: { firstListWait: "10m" } },
      }),
    );
    const [patient, hasty] = await Promise.all([serving(), serving(["--first-list-wait", "0s"])]);
    const listed = toolsAt(patient.url);
    expect(await toolsAt(hasty.url)).toEqual(["quick__go"]);
    // Only now, when the usual time for a list is over, the slow one starts.
    gate.pass("slow", { tools: [{ name: "read", inputSchema: { type: "object" } }] });
    expect((await listed).toSorted()).toEqual(["quick__go", "slow__read"]);
    expect(await Promise.all([endOf(patient, "SIGTERM"), endOf(hasty, "SIGTERM")])).toEqual([0, 0]);
  });

  test("SIGTERM lets a running call finish", async () => {
    await world.configure({ everything: stdioFixture() });
    const gateway = await serving();
    const stream = new OpenStream(gateway.url, { ...sleep(600) });
    const metrics = () => send(gateway.url.replace(/mcp$/, "metrics"), { method: "GET" });
    await expect.poll(async () => (await metrics()).text).toMatch(/^nexus_calls_in_flight 1$/m);
    expect(await endOf(gateway, "SIGTERM")).toBe(0);
    await expect.poll(() => stream.ended).toBe(true);
    expect(stream.raw).toContain("Slept 600 ms.");
  });

  test("--timeout bounds connecting and each answer", async () => {
    await world.configure({ everything: stdioFixture() });
    const gateway = await serving(["--timeout", "4s"]);
    const { json } = await send(gateway.url, sleep(60_000));
    expect(json).toMatchObject({
      error: { message: `Server "everything" did not answer in time` },
    });
    expect(await endOf(gateway, "SIGTERM")).toBe(0);
  });

  test("a second signal ends at once with 130", async () => {
    await world.configure({ everything: stdioFixture() });
    const gateway = await serving();
    const stream = new OpenStream(gateway.url, sleep(60_000));
    const metrics = () => send(gateway.url.replace(/mcp$/, "metrics"), { method: "GET" });
    await expect.poll(async () => (await metrics()).text).toMatch(/^nexus_calls_in_flight 1$/m);
    gateway.child.kill("SIGINT");
    await expect.poll(() => gateway.output.stderr).toContain("Stopping: waiting for running calls.");
    expect(await endOf(gateway, "SIGINT")).toBe(130);
    await expect.poll(() => stream.ended).toBe(true);
  });
});

describe("P1.9: what cannot be served is said with what to do", () => {
  // The fake behind the hotel of --demo listens, too, and must not keep the program up.
  test.each([[[]], [["--demo"]]])("a port that is taken %j", async (more) => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    await world.configure({ everything: stdioFixture() });
    const { code, stderr, stdout } = await world.run(["serve", "--port", String(port), ...more]);
    taken.close();
    expect(code).toBe(3);
    expect(stdout).toBe("");
    expect(stderr).toContain(`Port ${port} of 127.0.0.1 is already in use`);
    expect(stderr).toContain("--port 0");
  });

  test.each([
    [["--host", "0.0.0.0"], 3, "without authentication"],
    [["--host", "192.0.2.1"], 3, "without authentication"],
    [["--host", ""], 2, "--host needs an address"],
    [["--port", "70000"], 2, '--port "70000" is not a port number'],
    [["--port", "http"], 2, '--port "http" is not a port number'],
    [["--stdio", "--port", "1"], 2, "--stdio does not listen on a port"],
    [["--config", "nowhere.json"], 3, "nowhere.json"],
    [["--max-stream", "soon"], 2, '--max-stream "soon"'],
    [["--max-stream", "10ms"], 2, "at least one second"],
    [["--stdio", "--max-stream", "25s"], 2, "--stdio does not serve HTTP"],
    [["--allow-origin", "*"], 2, '--allow-origin "*" is not an origin'],
    [["--allow-origin", "https://a.example/page"], 2, "is not an origin"],
  ])("%j", async (args, expected, words) => {
    await world.configure({});
    const { code, stderr } = await world.run(["serve", ...args]);
    expect(stderr).toContain(words);
    expect(code).toBe(expected);
  });

  test("no servers at all: it says how to get one", async () => {
    await world.configure({});
    const gateway = await serving();
    expect(gateway.output.stdout).toContain("nexus mcp add");
    expect(await endOf(gateway, "SIGTERM")).toBe(0);
  });
});

describe("B1: nexus serve --stdio", () => {
  const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "everything__test_simple_text" } };
  const clientInfo = { name: "test", version: "1" };

  test.each(["2026-07-28", "2025-11-25", "2024-11-05"])(
    "serves one client of %s, and ends with it",
    async (revision) => {
      await world.configure({ everything: stdioFixture() });
      const { child, output } = world.start(["serve", "--stdio"]);
      const say = (message: object) => child.stdin?.write(`${JSON.stringify(message)}\n`);
      const heard = () =>
        output.stdout
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line || "{}") as WireMessage);
      if (revision === "2026-07-28") {
        const _meta = { [META.protocolVersion]: revision, [META.clientCapabilities]: {} };
        say({ ...call, params: { ...call.params, _meta } });
      } else {
        const params = { protocolVersion: revision, capabilities: {}, clientInfo };
        say({ jsonrpc: "2.0", id: 1, method: "initialize", params });
        await expect.poll(() => heard()[0]?.result).toMatchObject({ protocolVersion: revision });
        say({ jsonrpc: "2.0", method: "notifications/initialized" });
        say(call);
      }
      await expect
        .poll(() => heard().find(({ id }) => id === 2)?.result)
        .toMatchObject({
          content: [{ type: "text" }],
        });
      const children = childrenOf(child.pid ?? 0);
      child.stdin?.end();
      expect(await codeOf(child)).toBe(0);
      expect(children.filter(isRunning)).toEqual([]);
      expect(output.stderr).toBe("");
    },
  );

  test("SIGTERM ends it with 0, though its client is still there", async () => {
    const { child } = world.start(["serve", "--stdio"]);
    child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`);
    await once(child.stdout ?? child, "data");
    child.kill("SIGTERM");
    expect(await codeOf(child)).toBe(0);
  });
});
