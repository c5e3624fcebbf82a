import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { FIRST_WORDS } from "../../src/cli/output/typed-name.ts";
import { cellsOf } from "../../src/cli/output/text-width.ts";
import { HAS_TERMINAL, NexusWorld, type RunOptions } from "../fixtures/nexus.ts";
import { childrenOf, isRunning } from "../fixtures/processes.ts";
import { bareServer } from "../fixtures/servers/bare-server.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";

const DEMO = fileURLToPath(new URL("../../dist/demo/main.js", import.meta.url));
const ESCAPE = "\u001b[";
const isLinux = process.platform === "linux";

interface Facts {
  name: string;
  usage: string;
  summary: string;
  options: { option: string; help: string }[];
  inPlace: { option: string; help: string }[];
  flags: { option: string; help: string }[];
  examples: { command: string; meaning: string }[];
}

const contains = (...texts: string[]) => expect.stringMatching(new RegExp(texts.join("[^]*"))) as string;
const json = (text: string) => JSON.parse(text) as Record<string, unknown>;

let world: NexusWorld;

beforeAll(async () => {
  world = await NexusWorld.open();
  const foreign = {
    name: "größe_測る",
    description: "Misst die Größe – 大きさを測る 🦜",
    inputSchema: { type: "object" },
  };
  const evil = { name: "evil", description: "\u001b[2J\u0007cleared", inputSchema: { type: "object" } };
  const script = await world.write("bare.mjs", bareServer([foreign, evil]));
  await world.configure({
    demo: { command: process.execPath, args: [DEMO] },
    bare: { command: process.execPath, args: [script] },
  });
});

afterAll(() => world[Symbol.asyncDispose]());

async function onScreen(args: string[], options: RunOptions & { columns?: number } = {}): Promise<string> {
  const { child, output } = world.inTerminal(args, options);
  await once(child, "close");
  return output.stdout;
}

test("in a clone, where there is no nexus in PATH, the commands in messages start the built script (R8)", async () => {
  const cwd = fileURLToPath(new URL("../../docs", import.meta.url));
  const nexus = "node ../dist/cli/main.js";
  const unknown = await world.run(["mcp", "tols"], { cwd });
  expect(unknown.stderr).toContain(`Did you mean "${nexus} mcp tools"? "${nexus} mcp --help" lists them all.`);
  expect((await world.run(["--help"], { cwd })).stdout).toContain(`Usage: ${nexus} <command>`);
  expect((await world.run(["mcp", "ping", "--help"], { cwd })).stdout).toContain(`${nexus} mcp ping`);
  expect((await world.run(["demo"], { cwd })).stdout).toContain(`your own server: ${nexus} mcp connect`);
  const missing = await world.run(["store", "check", "--database", `file:${world.root}/no.db`], { cwd });
  expect(missing.stdout).toContain(`To create it: ${nexus} store migrate`);
  // What a server says is data.
  const said = await world.run(["mcp", "call", "demo.echo", "--arg", "text=nexus mcp tools"], { cwd });
  expect(said.stdout.trim()).toBe("nexus mcp tools");
});

describe("help", () => {
  let commands: { name: string; section: string; summary: string }[];
  let facts: Facts[];

  test("every command is known where the name of the program is replaced in messages", () => {
    const first = commands.map(({ name }) => name.split(" ", 1)[0]);
    expect(FIRST_WORDS.split("|")).toEqual(expect.arrayContaining(first));
  });

  beforeAll(async () => {
    ({ commands } = json((await world.run(["--help", "--json"])).stdout) as { commands: typeof commands });
    facts = [];
    for (const { name } of commands)
      facts.push(json((await world.run([...name.split(" "), "--help", "--json"])).stdout) as unknown as Facts);
  });

  test("N13: every command of the seed is there, and the others of its group", () => {
    const names = commands.map(({ name }) => name);
    for (const name of ["servers", "connect", "tools", "call", "resources", "read", "prompts", "prompt"])
      expect(names).toContain(`mcp ${name}`);
    expect(names.length).toBeGreaterThan(25);
  });

  test("every command says what it does, how it is used, what it takes, and shows at least two examples", () => {
    for (const { name, usage, summary, options, inPlace, flags, examples } of facts) {
      expect(usage.startsWith(`nexus ${name}`), usage).toBe(true);
      expect(summary).not.toBe("");
      expect(flags.map(({ option }) => option.replace(/ .*/, ""))).toContain("--json");
      for (const { option, help } of [...options, ...inPlace, ...flags]) expect(help, option).not.toBe("");
      expect(examples.length, `examples of ${name}`).toBeGreaterThanOrEqual(2);
    }
  });

  test("examples use commands and options that exist", () => {
    for (const { name, options, inPlace, flags, examples } of facts) {
      const known = [...options, ...inPlace, ...flags].flatMap(({ option }) => option.match(/--[\w-]+/g) ?? []);
      for (const { command } of examples) {
        expect(command, `an example of ${name}`).toContain(`nexus ${name}`);
        // What follows " -- " belongs to the server, what stands in quotes or behind a pipe to somebody else.
        const own = command.replace(/ '?--'? .*| \| .*/, "").replaceAll(/"[^"]*"|'[^']*'/g, "…");
        for (const option of own.match(/(?<=\s)--[\w-]+/g) ?? []) expect(known, command).toContain(option);
      }
    }
  });

  test("is text for people, in lines that fit 120 columns where they are not to be copied", async () => {
    const { code, stdout, stderr } = await world.run(["mcp", "call", "--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toEqual(contains("^nexus mcp call – ", "Usage: ", "Options:", "Global options:", "Examples:"));
    for (const line of (await world.run(["--help"])).stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(120);
  });

  test("is asked for in many ways: a group alone, a group's help, help before and after", async () => {
    const group = await world.run(["mcp"]);
    expect(group).toMatchObject({ code: 0, stderr: "", stdout: contains("Usage: nexus mcp <command>", "mcp tools") });
    for (const args of [
      ["mcp", "--help"],
      ["help", "mcp"],
      ["mcp", "help"],
    ])
      expect(await world.run(args)).toEqual(group);
    const command = await world.run(["mcp", "tools", "-h"]);
    for (const args of [
      ["help", "mcp", "tools"],
      ["mcp", "help", "tools"],
      ["--help", "mcp", "tools"],
    ])
      expect(await world.run(args)).toEqual(command);
  });

  test("the version is the package's, alone on its line", async () => {
    for (const flag of ["--version", "-v"])
      expect(await world.run([flag])).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: "" });
  });
});

test.each([
  [["mcp", "toolz"], 2, `Did you mean "nexus mcp tools"`],
  [["tools"], 2, `Did you mean "nexus mcp tools"`],
  [["mpc"], 2, `Did you mean "nexus mcp`],
  [["mcp", "tools", "--sever", "demo"], 2, "Did you mean --server"],
  [["mcp", "tools", "--server", "dmeo"], 6, `Did you mean "demo"`],
  [["mcp", "call", "demo.ehco"], 6, `Did you mean "demo.echo"`],
  [["mcp", "tools", "demo.echo"], 6, `Did you mean "demo"`],
  [["mcp", "call", "dmo.echo"], 6, `Did you mean "demo"`],
  [["mcp", "call", "demo.echo", "--arg", "txt=hi"], 2, "text.*is txt meant to be it"],
  [["mcp", "prompt", "demo.postcart"], 6, `Did you mean "demo.postcard"`],
  [["mcp", "read", "demo", "demo://welcom"], 6, `Did you mean "demo://welcome"`],
  [["mcp", "request", "demo", "tool/list"], 5, `Did you mean "tools/list"`],
] as const)("P1.9: a slip is answered with what was meant, and never done: %j", async (args, code, meant) => {
  expect(await world.run(args)).toEqual({ code, stdout: "", stderr: contains(meant) });
});

test.each([
  [["mcp", "tools", "demo", "extra"], `one argument too many: "extra"`, "Usage: nexus mcp tools"],
  [["mcp", "remove"], "needs <server>", "Usage: nexus mcp remove"],
  [["mcp", "call"], "needs <server.tool>", "Usage: nexus mcp call"],
  [["mcp", "read", "demo"], "The URI of the resource is missing", "nexus mcp read demo URI"],
  [["mcp", "ping"], "The server is missing", "--stdio or --url"],
  [["mcp", "tools", "--server"], "--server needs a value", "--server NAME"],
  [["mcp", "tools", "--server", "a", "--server", "b"], "--server is specified twice", "once"],
  [["mcp", "tools", "--json=1"], "--json does not take a value", "without"],
  [["mcp", "tools", "--timeout", "soon"], '"soon" is not a duration', "Use 30s, 2m"],
  [["mcp", "tools", "--stdio", "x", "--url", "http://x"], "cannot be used together", "one of them"],
  [["mcp", "call", "demo.echo", "--arg", "text"], "is not a key=value pair", "--arg text=value"],
  [["--frob"], `"nexus" has no option --frob`, "nexus --help"],
  [["mcp", "--hlep"], `"nexus mcp" has no option --hlep`, "Did you mean --help"],
] as const)("a wrong command line ends with 2 and says how to write it: %j", async (args, problem, remedy) => {
  const { code, stdout, stderr } = await world.run(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toEqual(contains(problem, remedy));
});

test("P1.9: what to do about a server that wants more of its client is said for the command line, not for the library", async () => {
  const server = [process.execPath, ...stdioFixture(["--revision", "2026-07-28"]).args].join(" ");
  for (const [tool, advice] of [
    ["test_elicitation", `Use "nexus mcp call", "prompt" or "read"`],
    ["test_sampling", "--sample-with"],
  ] as const) {
    const params = JSON.stringify({ name: tool, arguments: { message: "x", prompt: "x" } });
    const { code, stderr } = await world.run(["mcp", "request", "tools/call", params, "--stdio", server]);
    expect({ code, stderr }).toEqual({ code: 5, stderr: contains("The client lacks a capability", advice) });
    expect(stderr).not.toContain("connect()");
  }
});

describe("for programs", () => {
  test.each([
    ["servers", "servers"],
    ["tools", "items"],
    ["resources", "items"],
    ["templates", "items"],
    ["prompts", "items"],
    ["explain", "files"],
    ["doctor", "servers"],
  ])("mcp %s --json is one document on stdout and nothing on stderr", async (command, member) => {
    const { code, stdout, stderr } = await world.run(["mcp", command, "--json"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.endsWith("\n")).toBe(true);
    expect(json(stdout)[member]).toBeInstanceOf(Array);
  });

  test.each([
    ["mcp", "connect", "demo"],
    ["mcp", "ping", "demo"],
    ["mcp", "call", "demo.add", "--arg", "a=2", "--arg", "b=3"],
    ["mcp", "read", "demo", "demo://welcome"],
    ["mcp", "prompt", "demo.postcard", "--arg", "place=Rome"],
    ["mcp", "complete", "demo", "--prompt", "postcard", "--arg", "tone=f"],
    ["mcp", "request", "demo", "tools/list"],
    ["mcp", "retry", "demo"],
    ["mcp", "logs", "demo"],
    ["mcp", "import"],
    ["mcp", "trust", "--show"],
    ["secrets", "list"],
  ])("%s %s %s --json is one object", async (...args) => {
    const { code, stdout, stderr } = await world.run([...args, "--json"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(json(stdout)).toBeTypeOf("object");
  });

  test("a reader that stops early ends it without a word, and nothing is left running", async () => {
    const servers = join(world.root, "pids");
    const loud = { command: "sh", args: ["-c", `echo $$ >> '${servers}'; exec "$0" "$@"`, process.execPath, DEMO] };
    const config = await world.write("loud.json", { mcpServers: { a: loud, b: loud } });
    const { stdout, stderr } = await world.shell(`$NEXUS mcp tools --config '${config}' | head -1`);
    expect(stdout).toMatch(/^[ab] {2}5 tools\n$/);
    expect(stderr).not.toMatch(/EPIPE|Error|warning/i);
    const started = () => readFileSync(servers, "utf8").trim().split("\n").map(Number);
    expect(started().length).toBeGreaterThan(0);
    await expect.poll(() => started().filter(isRunning)).toEqual([]);
  });

  test.runIf(isLinux)("a stdout that is closed, or a full disk, is told apart", async () => {
    expect(await world.shell("$NEXUS mcp servers >&-")).toMatchObject({ stdout: "" });
    const full = await world.shell("$NEXUS mcp servers > /dev/full");
    expect(full).toMatchObject({ code: 1, stderr: contains("the output cannot be written: ENOSPC") });
  });
});

describe("text from elsewhere", () => {
  test("names and descriptions in any script pass", async () => {
    const { stdout } = await world.run(["mcp", "tools", "--server", "bare"]);
    expect(stdout).toContain("  größe_測る()\n      Misst die Größe – 大きさを測る 🦜\n");
    const found = await world.run(["mcp", "call", "demo.echo", "--arg", "text=Grüße 🦜 日本"]);
    expect(found).toMatchObject({ code: 0, stdout: "Grüße 🦜 日本\n" });
  });

  test("control characters of a server are shown, not obeyed; programs get them as they are", async () => {
    const { stdout } = await world.run(["mcp", "tools", "--server", "bare"]);
    expect(stdout).toContain("\\x1b[2J\\x07cleared");
    expect(stdout).not.toContain("\u001b");
    const { items } = json((await world.run(["mcp", "tools", "--server", "bare", "--json"])).stdout);
    expect(items).toMatchObject([{}, { description: "\u001b[2J\u0007cleared" }]);
  });
});

describe.runIf(HAS_TERMINAL)("at a terminal", () => {
  test("colours are used, unless NO_COLOR, --no-color or a dumb terminal say no", async () => {
    const listing = ["mcp", "tools", "--server", "demo"];
    expect(await onScreen(listing)).toContain(ESCAPE);
    expect(await onScreen(listing, { env: { NO_COLOR: "" } })).toContain(ESCAPE);
    expect(await onScreen(listing, { env: { NO_COLOR: "1" } })).not.toContain(ESCAPE);
    expect(await onScreen([...listing, "--no-color"])).not.toContain(ESCAPE);
    expect(await onScreen(listing, { env: { TERM: "dumb" } })).not.toContain(ESCAPE);
    expect(await onScreen(["mcp", "call", "demo.no"])).toContain(`${ESCAPE}31mnexus:`);
    expect(await onScreen(["mcp", "call", "demo.no"], { env: { NO_COLOR: "1" } })).not.toContain(ESCAPE);
  });

  test.each(["tools", "prompts", "servers", "connect bare"])("mcp %s fits 40 columns", async (command) => {
    const screen = await onScreen(["mcp", ...command.split(" "), "--no-color"], { columns: 40 });
    const lines = screen.split(/\r?\n/).filter((line) => !/ from | in \d/.test(line));
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) expect(cellsOf(line), line).toBeLessThanOrEqual(40);
  });

  test("R6: Ctrl-C typed at a call cancels it at the server and ends with 130", async () => {
    const transcript = join(world.root, "typed.jsonl");
    const server = [process.execPath, ...stdioFixture(["--transcript", transcript]).args].join(" ");
    const { child, output } = world.inTerminal(["mcp", "call", "sleep", "--arg", "ms=600000", "--stdio", server]);
    await expect.poll(() => said(transcript, "tools/call")).toBe(true);
    child.stdin?.write("\u0003");
    expect(await once(child, "close")).toEqual([130, null]);
    expect(said(transcript, "notifications/cancelled")).toBe(true);
    expect(output.stdout).not.toMatch(/nexus:|Error/);
  });
});

describe.runIf(isLinux)("a signal during a long call", () => {
  /** A call that never ends by itself, with the server's process and what it was told. */
  async function longCall(name: string, ...flags: string[]) {
    const transcript = join(world.root, `${name}.jsonl`);
    const server = [process.execPath, ...stdioFixture(["--transcript", transcript, ...flags]).args].join(" ");
    const { child, output } = world.start(["mcp", "call", "sleep", "--arg", "ms=600000", "--stdio", server]);
    await expect.poll(() => said(transcript, "tools/call")).toBe(true);
    return { child, output, transcript, servers: childrenOf(child.pid ?? 0) };
  }

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("R6: %s cancels at the server and ends with %d, and nothing is left running", async (signal, code) => {
    const { child, output, transcript, servers } = await longCall(signal);
    expect(servers).toHaveLength(1);
    child.kill(signal);
    expect(await once(child, "close")).toEqual([code, null]);
    expect(said(transcript, "notifications/cancelled")).toBe(true);
    expect(output).toEqual({ stdout: "", stderr: "" });
    await expect.poll(() => servers.filter(isRunning)).toEqual([]);
  });

  test("R6: a second Ctrl-C ends at once, although the server ignores that it should end", async () => {
    const { child, transcript, servers } = await longCall("stubborn", "--misbehave", "ignore-stdin-end");
    child.kill("SIGINT");
    await expect.poll(() => said(transcript, "notifications/cancelled")).toBe(true);
    const asked = performance.now();
    child.kill("SIGINT");
    expect(await once(child, "close")).toEqual([130, null]);
    // A server that does not end is given seconds before it is killed: these are not waited for.
    expect(performance.now() - asked).toBeLessThan(2_000);
    await expect.poll(() => servers.filter(isRunning)).toEqual([]);
  });
});

/** Whether a server's transcript has a message of that method. */
function said(transcript: string, method: string): boolean {
  return existsSync(transcript) && readFileSync(transcript, "utf8").includes(`"method":"${method}"`);
}
