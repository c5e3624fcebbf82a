import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HAS_TERMINAL, NexusWorld } from "../fixtures/nexus.ts";
import { childrenOf, isRunning } from "../fixtures/processes.ts";
import { bareServer } from "../fixtures/servers/bare-server.ts";
import { startHttpFixture, type HttpFixture } from "../fixtures/servers/http-fixture.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";

interface Listed {
  items: { server: string; name: string; uri?: string }[];
  errors: { code: string; server?: string }[];
}

const json = (text: string) => JSON.parse(text) as unknown;
const some = (...texts: string[]) => expect.stringMatching(new RegExp(texts.join("[^]*"))) as string;

let world: NexusWorld;
let http: HttpFixture;

beforeAll(async () => {
  world = await NexusWorld.open();
  http = await startHttpFixture();
  await world.configure({
    all: { ...stdioFixture(["--revision", "2026-07-28"]), name: "Everything there is", tools: { deny: ["crash"] } },
    old: stdioFixture(["--revision", "2025-11-25"]),
    web: { url: http.url, headers: { "X-Secret": "swordfish-1" } },
    gone: { command: "no-such-program", args: ["--token", "swordfish-2"], env: { KEY: "swordfish-3" } },
    off: { command: "no-such-program", enabled: false },
  });
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await http.close();
});

describe("tools", () => {
  test("N13: lists one server's tools as signatures, with what they do to the world, and counts them", async () => {
    const { code, stdout, stderr } = await world.run(["mcp", "tools", "--server", "all"]);

    expect(code).toBe(0);
    expect(stdout).toContain("\n  echo(text: string)  [read-only]\n      Answers with the text it is given\n");
    expect(stdout).toContain('contactMethod?: "phone" | "email"');
    expect(stdout).not.toContain("crash");
    expect(stderr).toMatch(/^52 tools from all in [\d.]+ m?s; 1 tool hidden by "tools" of the entry\n$/);
  });

  test("P1.9: lists all servers at once, names the one that fails with its cause, and ends with 4", async () => {
    const { code, stdout, stderr } = await world.run(["mcp", "tools"]);

    expect(code).toBe(4);
    for (const server of ["all", "old", "web"]) expect(stdout).toMatch(new RegExp(`^${server}  \\d+ tools$`, "m"));
    expect(stderr).toEqual(some("Command not found: no-such-program", "gone", "mcp.json:", "fix: "));
    expect(stderr).toMatch(/tools from 3 servers in .*; 1 failed; 1 server disabled/);
  });

  test("for programs: every tool as the server sent it, and the failures", async () => {
    const { code, stdout, stderr } = await world.run(["mcp", "tools", "--json"]);
    const { items, errors } = json(stdout) as Listed;

    expect({ code, stderr }).toEqual({ code: 4, stderr: "" });
    expect([...new Set(items.map(({ server }) => server))]).toEqual(["all", "old", "web"]);
    expect(items.find(({ name }) => name === "add_numbers")).toMatchObject({
      server: "all",
      outputSchema: { properties: { sum: { type: "number" } } },
      annotations: { idempotentHint: true },
    });
    expect(errors).toMatchObject([{ code: "COMMAND_NOT_FOUND", server: "gone" }]);
  });

  test("--grep finds tools by name and description", async () => {
    const { stdout, stderr } = await world.run(["mcp", "tools", "--server", "old", "--grep", "ADDS"]);

    expect(stdout.match(/^ {2}\w+\(/gm)).toEqual([
      "  add_numbers(",
      "  test_trigger_tool_change(",
      "  test_trigger_prompt_change(",
      "  test_trigger_resource_change(",
    ]);
    expect(stderr).toMatch(/^4 of 53 tools from old in /);
  });

  test("N13: --name shows one tool in full, with a call to copy", async () => {
    const { code, stdout } = await world.run(["mcp", "tools", "--server", "all", "--name", "add_numbers"]);

    expect(code).toBe(0);
    expect(stdout).toEqual(some("Arguments", "a +number +required", "Returns", "sum +number", "idempotent", "tokens"));
    expect(stdout).toContain("\n  nexus mcp call all.add_numbers --arg a=1 --arg b=1\n");
  });

  test("a misspelt name is answered with what was meant, and 6; a denied one with 8", async () => {
    const misspelt = await world.run(["mcp", "tools", "--server", "all", "--name", "ecko"]);
    expect(misspelt).toMatchObject({ code: 6, stdout: "", stderr: some('no tool "ecko"', 'Did you mean "echo"') });
    const server = await world.run(["mcp", "tools", "--server", "alll"]);
    expect(server).toMatchObject({ code: 6, stderr: some('Did you mean "all"') });
    const denied = await world.run(["mcp", "tools", "--server", "all", "--name", "crash", "--json"]);
    expect(denied).toMatchObject({ code: 8, stdout: "" });
    expect(json(denied.stderr)).toMatchObject({ error: { code: "DENIED", server: "all" } });
  });

  test("a server that was named and fails is an error of the command, also for programs", async () => {
    const { code, stdout, stderr } = await world.run(["mcp", "tools", "--server", "gone", "--json"]);

    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(json(stderr)).toMatchObject({ error: { code: "COMMAND_NOT_FOUND", server: "gone", source: { line: 31 } } });
    expect(await world.run(["mcp", "tools", "--server", "off"])).toMatchObject({ code: 8, stderr: some("enable off") });
  });

  test("a server in place needs no configuration, and its calls can be copied", async () => {
    const { stdout, stderr } = await world.run(["mcp", "tools", "--url", http.url, "--name", "echo"]);
    expect({ stdout, stderr }).toEqual({
      stdout: some(`nexus mcp call echo --url ${http.url} --arg text=text`),
      stderr: "",
    });
  });

  test("a reader that stops reading ends it quietly", async () => {
    const { stdout, stderr } = await world.shell("$NEXUS mcp tools --server all | head -1");
    expect(stdout).toBe("all  52 tools\n");
    expect(stderr).not.toMatch(/EPIPE|Error/);
  });

  test.runIf(HAS_TERMINAL)("descriptions are cut to a narrow terminal, and signatures go over lines", async () => {
    const { child, output } = world.inTerminal(["mcp", "tools", "--server", "all"], { columns: 44 });
    await once(child, "close");
    // oxlint-disable-next-line no-control-regex -- colours
    const lines = output.stdout.replaceAll(/\u001b\[\d+m/g, "").split(/\r?\n/);

    expect(lines).toContain("      Has an input schema full of JSON Sche…");
    expect(lines).toContain("  json_schema_2020_12_tool(");
    expect(output.stdout).toContain("\u001b[36mecho\u001b[39m(text: string)  \u001b[32m[read-only]");
  });

  test.runIf(HAS_TERMINAL)("NO_COLOR is obeyed on a terminal", async () => {
    const { child, output } = world.inTerminal(["mcp", "tools", "--server", "all"], { env: { NO_COLOR: "1" } });
    await once(child, "close");
    expect(output.stdout).not.toContain("\u001b[");
  });
});

describe("resources, templates and prompts", () => {
  test("N13: resources are shown with address, kind and name", async () => {
    const { code, stdout, stderr } = await world.run(["mcp", "resources", "--server", "old"]);
    expect(code).toBe(0);
    expect(stdout).toContain("\n  test://static-text  text/plain\n      static-text – A text that never changes\n");
    expect(stderr).toMatch(/^\d resources from old in /);
  });

  test("templates are shown as they are filled in", async () => {
    const { stdout } = await world.run(["mcp", "templates", "--server", "all"]);
    expect(stdout).toContain("\n  test://template/{id}/data  application/json\n");
  });

  test("N13: prompts are shown with what they need", async () => {
    const { stdout } = await world.run(["mcp", "prompts", "--server", "web"]);
    expect(stdout).toContain("\n  test_prompt_with_arguments(arg1, arg2)\n      A prompt with two arguments\n");
    const { items } = json((await world.run(["mcp", "prompts", "--server", "web", "--json"])).stdout) as Listed;
    expect(items[1]).toMatchObject({
      server: "web",
      name: "test_prompt_with_arguments",
      arguments: [{ name: "arg1" }, {}],
    });
  });
});

describe("connect", () => {
  test.each([
    ["all", "2026-07-28", "modern"],
    ["old", "2025-11-25", "legacy"],
  ])("N13: shows who %s is, and that it speaks %s", async (server, revision, era) => {
    const { code, stdout } = await world.run(["mcp", "connect", server]);
    expect(code).toBe(0);
    expect(stdout).toEqual(
      some(
        "^Everything 1.0.0 \\(everything\\)",
        `revision: +${revision} \\(${era}\\)`,
        "transport: +stdio, process \\d+",
        "tools \\(reports changes\\)",
        "53 tools, \\d resources, 1 template, 5 prompts",
        "A server for tests",
        "connected in \\d",
      ),
    );
  });

  test("for programs: one object", async () => {
    const { stdout } = await world.run(["mcp", "connect", "web", "--json"]);
    expect(json(stdout)).toMatchObject({
      server: "web",
      serverInfo: { name: "everything" },
      era: "modern",
      transport: "http",
      capabilities: { tools: { listChanged: true } },
      counts: { tools: 53, templates: 1, prompts: 5 },
      errors: [],
    });
  });

  test("P1.9: one that cannot be started says why and what to do", async () => {
    const { code, stderr } = await world.run(["mcp", "connect", "gone"]);
    expect(code).toBe(4);
    expect(stderr).toEqual(some("Command not found", "server: +gone", "file: +", "fix: +"));
  });
});

describe("request and ping", () => {
  test("any method is sent, and its result shown as it came", async () => {
    const call = JSON.stringify({ name: "echo", arguments: { text: "hé" } });
    const text = await world.run(["mcp", "request", "old", "tools/call", call]);
    expect(json(text.stdout)).toEqual({ content: [{ type: "text", text: "hé" }] });
    expect(text.stdout).toContain('\n  "content": [\n');
    const file = await world.write("home/work/project/call.json", call);
    for (const [given, stdin] of [
      ["@call.json", ""],
      [`@${file}`, ""],
      ["-", call],
    ] as const) {
      const { stdout } = await world.run(["mcp", "request", "--url", http.url, "tools/call", given, "--json"], {
        stdin,
      });
      expect(json(stdout)).toMatchObject({ content: [{ text: "hé" }], resultType: "complete" });
    }
  });

  test("an error of the server, or of a tool, ends with 5", async () => {
    const unknown = await world.run(["mcp", "request", "old", "tool/list"]);
    expect(unknown).toMatchObject({
      code: 5,
      stdout: "",
      stderr: some("Method not found", 'Did you mean "tools/list"'),
    });
    const failed = await world.run(["mcp", "request", "old", "tools/call", '{"name":"test_error_handling"}', "--json"]);
    expect(failed).toMatchObject({ code: 5, stdout: some('"isError":true'), stderr: "" });
  });

  test.each([["{nonsense"], ["[1]"], ["@no-such-file"]])("params that are none (%s) end with 2", async (params) => {
    expect(await world.run(["mcp", "request", "old", "tools/list", params])).toMatchObject({ code: 2, stdout: "" });
  });

  test("R6: ping measures an answer in both eras", async () => {
    for (const [server, era] of [
      ["all", "modern"],
      ["old", "legacy"],
    ] as const) {
      expect((await world.run(["mcp", "ping", server])).stdout).toMatch(
        new RegExp(`^${server} answered in [\\d.]+ ms .*${era}`),
      );
    }
  });
});

describe("servers and explain", () => {
  test("N13: servers shows what is configured and how it went last, and starts nothing", async () => {
    const { code, stdout, stderr } = await world.run(["mcp", "servers"]);

    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^all \(Everything there is\) +modern 2026-07-28, just now +\S*node.* ~\/.nexus\/mcp.json:3 \(user\)$/m,
    );
    expect(stdout).toMatch(/^old +legacy 2025-11-25, just now/m);
    expect(stdout).toMatch(/^gone +failed just now \(COMMAND_NOT_FOUND\) +no-such-program --token •••/m);
    expect(stdout).toMatch(/^off +disabled/m);
    expect(stderr).toContain("5 servers in 1 file, 1 disabled");
  });

  test("servers and explain show nothing of what headers, variables and secret options hold", async () => {
    for (const command of [["servers"], ["explain"], ["explain", "web"], ["explain", "gone"]]) {
      for (const flags of [[], ["--json"]]) {
        const { stdout, stderr } = await world.run(["mcp", ...command, ...flags]);
        expect(stdout + stderr).not.toContain("swordfish");
      }
    }
  });

  test("with no configuration they say what to do", async () => {
    await using empty = await NexusWorld.open();
    for (const command of ["servers", "tools", "explain"]) {
      const { code, stdout, stderr } = await empty.run(["mcp", command]);
      expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
      expect(stderr).toEqual(some("No servers are configured", "nexus mcp add", "nexus mcp import"));
    }
    expect(json((await empty.run(["mcp", "servers", "--json"])).stdout)).toEqual({
      servers: [],
      files: [],
      warnings: [],
      errors: [],
    });
  });

  test("P1.9: a project's file that is not trusted, one that is broken, and one that is hidden", async () => {
    await using other = await NexusWorld.open();
    const fixture = stdioFixture();
    await other.configure({ docs: fixture, home: fixture });
    await other.write("home/work/project/.nexus/mcp.json", {
      mcpServers: { docs: { ...fixture, comand: "x" }, other: fixture },
    });
    await other.write("home/work/project/.mcp.json", `{ "mcpServers": {`);

    const servers = await other.run(["mcp", "servers"]);
    expect(servers.code).toBe(3);
    expect(servers.stdout).toEqual(some("docs +not used yet", "home +not used yet", "other +not trusted"));
    expect(servers.stderr).toEqual(
      some(
        "not trusted",
        'did you mean "command"',
        'Server "docs": after this file is trusted, it hides the server in',
        "Not valid JSON at line 1",
      ),
    );
    expect(json((await other.run(["mcp", "servers", "--json"])).stdout)).toMatchObject({
      files: [{ layer: "project", trusted: false }, { layer: "project" }, { layer: "user", servers: 2 }],
      errors: [{ code: "CONFIG_INVALID", source: { line: 1 } }],
    });

    const explained = await other.run(["mcp", "explain"]);
    expect(explained.code).toBe(3);
    expect(explained.stdout).toEqual(
      some(
        "1. ~/work/project/.nexus/mcp.json  project, not trusted",
        "docs  until it is trusted, the entry in ~/.nexus/mcp.json is used",
        "2. .*.mcp.json  project",
        "cannot be used: Not valid JSON",
        "3. ~/.nexus/mcp.json  user, trusted",
      ),
    );
    const tools = await other.run(["mcp", "tools"]);
    expect(tools.code).toBe(4);
    // In the order in which they answer.
    expect(tools.stdout).toEqual(some("docs  53 tools"));
    expect(tools.stdout).toEqual(some("home  53 tools"));
    expect(tools.stderr).toEqual(
      some("Not valid JSON", 'Server "other" is configured by a project that is not trusted'),
    );
    expect(await other.run(["mcp", "tools", "--server", "other"])).toMatchObject({
      code: 8,
      stderr: some("nexus mcp trust"),
    });
    expect(await other.run(["mcp", "tools", "--server", "other", "--trust"])).toMatchObject({ code: 0 });
    expect(await other.run(["mcp", "tools", "--config", ".mcp.json"])).toMatchObject({ code: 3, stdout: "" });
  });

  test("explain shows an entry as it is understood", async () => {
    await using other = await NexusWorld.open();
    await other.configure({
      docs: {
        command: "docs",
        args: ["--key", "${DOCS_KEY}"],
        env: { A: "1" },
        tools: { allow: ["a"] },
        agents: ["chat", "coder"],
        timeout: "5s",
      },
    });
    const { code, stdout, stderr } = await other.run(["mcp", "explain", "docs"]);
    expect(code).toBe(3);
    expect(stdout).toEqual(
      some(
        "started by: +docs --key \\$\\{DOCS_KEY\\}",
        "env: +A=•••",
        "variables: +DOCS_KEY",
        "tools: +only a",
        "shared with: +only chat, coder",
      ),
    );
    expect(stderr).toContain("the variable DOCS_KEY is not set");
    const set = await other.run(["mcp", "explain", "docs", "--json"], { env: { DOCS_KEY: "swordfish" } });
    expect(set.stdout).not.toContain("swordfish");
    expect(json(set.stdout)).toMatchObject({
      server: "docs",
      reach: "docs --key ${DOCS_KEY}",
      env: ["A=•••"],
      hides: [],
      agents: ["chat", "coder"],
    });
  });

  test("the user's own commands reach a server that is shared with some agents only", async () => {
    await using other = await NexusWorld.open();
    const script = await other.write("bare.mjs", bareServer([{ name: "a", inputSchema: { type: "object" } }]));
    await other.configure({ own: { command: process.execPath, args: [script], agents: ["chat"] } });
    expect(await other.run(["mcp", "tools", "own"])).toMatchObject({ code: 0, stdout: expect.stringContaining("a") });
    await other.configure({ own: { command: process.execPath, agents: "chat" } });
    expect((await other.run(["mcp", "tools", "own"])).stderr).toContain(`"agents" must be a list, not text`);
  });
});

test("G1: a server is asked only for what it declares; what it has not is no failure", async () => {
  await using other = await NexusWorld.open();
  const script = await other.write("bare.mjs", bareServer([{ name: "a", inputSchema: { type: "object" } }]));
  await other.configure({ bare: { command: process.execPath, args: [script] } });

  expect(await other.run(["mcp", "prompts"])).toMatchObject({ code: 0, stdout: "bare  no prompts\n\n" });
  expect(await other.run(["mcp", "connect", "bare"])).toMatchObject({ code: 0, stdout: some("offers: +1 tool\n") });
});

test("what servers write cannot steer the terminal, and a tool without a name spoils nothing", async () => {
  await using other = await NexusWorld.open();
  const evil = { name: "e\u001b[2J", description: "d\u202e\nsecond", inputSchema: { type: "object" } };
  const script = await other.write("bare.mjs", bareServer([evil, { inputSchema: 3 }]));
  await other.configure({ bare: { command: process.execPath, args: [script] } });
  const { code, stdout } = await other.run(["mcp", "tools"]);

  expect(code).toBe(0);
  expect(stdout).toBe("bare  1 tool\n  e\\x1b[2J()\n      d\\u202e\n\n");
  const { items } = json((await other.run(["mcp", "tools", "--json"])).stdout) as Listed;
  expect(items).toEqual([{ server: "bare", ...evil }]);
});

test("Ctrl-C while a server hangs ends with 130, and the server with it", async () => {
  await using other = await NexusWorld.open();
  await other.configure({ hung: { command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"] } });
  const { child } = other.start(["mcp", "tools"]);
  await expect.poll(() => childrenOf(child.pid ?? 0)).toHaveLength(1);
  const children = childrenOf(child.pid ?? 0);
  child.kill("SIGINT");
  const [code] = (await once(child, "close")) as [number | null];

  expect(code).toBe(130);
  await expect.poll(() => children.some(isRunning)).toBe(false);
});

test("N9: of fifty servers, some broken, all that work are listed, and each failure is one line", async () => {
  await using many = await NexusWorld.open();
  const good = Array.from({ length: 45 }, (_, index) => [`web-${index}`, { url: http.url }]);
  const bad = Array.from({ length: 5 }, (_, index) => [`bad-${index}`, { command: `no-such-program-${index}` }]);
  await many.configure(Object.fromEntries([...bad, ...good]));
  const { code, stdout, stderr } = await many.run(["mcp", "prompts"]);

  expect(code).toBe(4);
  expect(stdout.match(/^web-\d+ +5 prompts +/gm)).toHaveLength(45);
  expect(stderr.match(/^nexus: bad-\d: Command not found: .+$/gm)).toHaveLength(5);
  expect(stderr).toMatch(/^225 prompts from 45 servers in .*; 5 failed$/m);
});

test.each(["servers", "connect", "tools", "resources", "templates", "prompts", "ping", "request", "watch", "explain"])(
  "nexus mcp %s --help shows how it is used, with examples",
  async (command) => {
    const { code, stdout } = await world.run(["mcp", command, "--help"]);
    expect(code).toBe(0);
    expect(stdout).toEqual(
      some(`Usage: nexus mcp ${command}`, "Examples:", `  nexus mcp ${command}`, `  nexus mcp ${command}`),
    );
  },
);

test("an entry with a mistake is listed for programs by the key it has: command, url or api", async () => {
  await using other = await NexusWorld.open();
  await other.configure({
    web: { url: "http://127.0.0.1:9/${NOT_SET}" },
    made: { api: "none.nexus.yaml", timeout: "soon" },
    run: { command: "x", args: ["${NOT_SET}"] },
  });
  const { servers } = json((await other.run(["mcp", "servers", "--json"])).stdout) as { servers: unknown[] };
  expect(servers).toMatchObject([
    { id: "made", api: "none.nexus.yaml", problem: { code: "CONFIG_INVALID" } },
    { id: "run", command: "x ${NOT_SET}", problem: { code: "CONFIG_INVALID" } },
    { id: "web", url: "http://127.0.0.1:9/${NOT_SET}", problem: { code: "CONFIG_INVALID" } },
  ]);
  expect(servers.filter((server) => Object.hasOwn(server as object, "command"))).toHaveLength(1);
});
