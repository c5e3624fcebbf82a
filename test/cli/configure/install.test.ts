import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { parse } from "smol-toml";
import { afterAll, beforeEach, expect, test } from "vitest";
import { NexusWorld } from "../../fixtures/nexus.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";

const world = await NexusWorld.open();
const SERVER = stdioFixture();

beforeEach(async () => {
  await rm(world.home, { recursive: true, force: true, maxRetries: 5 });
  await world.write("home/work/project/README.md", "a project");
});

afterAll(() => world[Symbol.asyncDispose]());

interface Started {
  command: string;
  args: string[];
}

/** Names of the tools that a client of the official SDK finds behind a command, without anything in PATH. */
async function toolsOf({ command, args }: Started): Promise<string[]> {
  const client = new Client({ name: "test", version: "1" });
  const env = { HOME: world.home, PATH: "/nowhere" };
  await client.connect(new StdioClientTransport({ command, args, env, stderr: "ignore", cwd: "/" }));
  try {
    return (await client.listTools()).tools.map(({ name }) => name);
  } finally {
    await client.close();
  }
}

async function json(name: string): Promise<Record<string, unknown>> {
  return JSON.parse(await world.read(name)) as Record<string, unknown>;
}

/** An entry of a JSON file. */
async function entryIn<T = Started>(file: string, section: string, name: string): Promise<T> {
  const content = JSON.parse(await world.read(file)) as Record<string, Record<string, T>>;
  const entry = content[section]?.[name];
  if (!entry) throw new Error(`${file} has no ${name}`);
  return entry;
}

const posix = test.skipIf(process.platform === "win32");

posix("what install writes for a client that starts its servers works there, without its PATH", async () => {
  await world.configure({ every: SERVER });
  const claude = await world.run(["mcp", "install", "claude-code"]);
  expect(claude).toMatchObject({ code: 0, stderr: "If Claude Code is running, restart it.\n" });
  expect(claude.stdout).toBe("Added nexus to Claude Code (~/.claude.json, a new file)\n");
  const entry = await entryIn("home/.claude.json", "mcpServers", "nexus");
  expect(entry).toMatchObject({ type: "stdio" });
  expect(await toolsOf(entry)).toContain("every__echo");

  await world.run(["mcp", "install", "codex"]);
  const codex = parse(await world.read("home/.codex/config.toml")) as unknown as {
    mcp_servers: { nexus: Started };
  };
  expect(await toolsOf(codex.mcp_servers.nexus)).toContain("every__echo");

  await world.run(["mcp", "install", "opencode"]);
  const opencode = await entryIn<{ command: string[] }>("home/.config/opencode/opencode.json", "mcp", "nexus");
  const [command = "", ...args] = opencode.command;
  expect(await toolsOf({ command, args })).toContain("every__echo");
});

posix("the file of --config goes into the command that is written", async () => {
  const file = await world.write("home/other.json", { mcpServers: { other: SERVER } });
  await world.run(["mcp", "install", "cursor", "--config", "../../other.json"]);
  const entry = await entryIn("home/.cursor/mcp.json", "mcpServers", "nexus");
  expect(entry.args).toEqual(expect.arrayContaining(["--config", file]));
  expect(await toolsOf(entry)).toContain("other__echo");
});

test("a gateway is written at a URL, and what nexus serve prints to run is what connects a client", async () => {
  await world.configure({ every: SERVER });
  const { child, output } = world.start(["serve", "--port", "0"]);
  await expect.poll(() => output.stdout, { timeout: 60_000 }).toContain("Ctrl-C");
  const [, line = ""] = /^ {2}nexus (mcp install claude-code --url \S+)$/m.exec(output.stdout) ?? [];
  expect((await world.run(line.split(" "))).code).toBe(0);
  const entry = await entryIn<{ type: string; url: string }>("home/.claude.json", "mcpServers", "nexus");
  expect(entry.type).toBe("http");

  const one = ["mcp", "install", "gemini", "--server", "every", "--url", entry.url];
  expect((await world.run(one)).code).toBe(0);
  const { httpUrl } = await entryIn<{ httpUrl: string }>("home/.gemini/settings.json", "mcpServers", "every");
  expect(httpUrl).toBe(entry.url.replace(/mcp$/, "servers/every/mcp"));
  for (const [url, tool] of [
    [entry.url, "every__echo"],
    [httpUrl, "echo"],
  ] as const) {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain(tool);
    await client.close();
  }
  child.kill("SIGTERM");
  for (const client of ["claude-code", "gemini --server every"]) {
    const { code, stdout } = await world.run(["mcp", "uninstall", ...client.split(" ")]);
    expect(code).toBe(0);
    expect(stdout).toContain("Removed");
  }
  expect(await json("home/.claude.json")).toEqual({ mcpServers: {} });
});

posix("a server with a secret is reached through Nexus, and the secret is in no file of another program", async () => {
  await world.run(["secrets", "set", "gh"], { stdin: "swordfish-1" });
  await world.configure({
    github: { ...SERVER, env: { GH_TOKEN: "${secret:gh}" } },
    literal: { ...SERVER, env: { API_KEY: "swordfish-2" } },
    postgres: { command: "pg", args: ["postgresql://ada:swordfish-3@db/x"] },
    plain: SERVER,
  });
  const servers = ["github", "literal", "plain"].flatMap((server) => ["--server", server]);
  const { code, stdout, stderr } = await world.run(["mcp", "install", "cursor", ...servers]);
  expect(code).toBe(0);
  expect(stderr).toContain(`github is connected through Nexus: it uses the secret "gh", which only Nexus knows`);
  expect(stderr).toContain("literal is connected through Nexus: env API_KEY looks like a secret");
  expect(stdout).toContain("Added plain to Cursor");
  expect(await entryIn("home/.cursor/mcp.json", "mcpServers", "plain")).toEqual(SERVER);
  const github = await entryIn("home/.cursor/mcp.json", "mcpServers", "github");
  expect(github.args.slice(1)).toEqual(["serve", "--stdio", "--server", "github"]);
  // One server alone has its names as they are.
  const tools = await toolsOf(github);
  expect(tools).toContain("echo");
  expect(tools.filter((name) => name.includes("__"))).toEqual([]);
  await world.run(["mcp", "install", "zed", "--server", "postgres"]);
  for (const file of ["home/.cursor/mcp.json", "home/.config/zed/settings.json"]) {
    expect(await world.read(file)).not.toContain("swordfish");
  }

  const printed: string[] = [];
  for (const args of [[], ["--for", "codex"], ["--for", "vscode"], ["--json"]]) {
    const ran = await world.run(["mcp", "export", ...args]);
    expect(ran.code).toBe(0);
    printed.push(ran.stdout + ran.stderr);
  }
  expect(printed.join()).not.toContain("swordfish");
});

const CODEX = `# mine
model = "o3" # keep

[mcp_servers.docs] # keep, too
command = "docs"
`;

const ZED = `// Zed settings
{
  "theme": "One Dark", // dark
  "context_servers": {
    // mine
    "docs": { "command": "docs", "args": [] }, /* a */
  },
  "vim_mode": true,
}
`;

test.for<[string, string, string]>([
  ["codex", "home/.codex/config.toml", CODEX],
  ["zed", "home/.config/zed/settings.json", ZED],
  ["cursor", "home/.cursor/mcp.json", `{"mcpServers":{"docs":{"command":"docs"}}}`],
  [
    "vscode",
    "home/.config/Code/User/mcp.json",
    `{\r\n\t"inputs": [],\r\n\t"servers": {\r\n\t\t"a": {}\r\n\t}\r\n}\r\n`,
  ],
])("install and uninstall leave a file of %s as it was, comments and all", async ([client, file, text]) => {
  await world.write(file, text);
  expect((await world.run(["mcp", "install", client])).code).toBe(0);
  const installed = await world.read(file);
  expect(installed).toContain("--stdio");
  const again = await world.run(["mcp", "install", client]);
  expect(again.stdout).toMatch(/^Nothing to do: nexus is already in /);
  expect(await world.read(file)).toBe(installed);
  const moved = await world.run(["mcp", "install", client, "--url", "http://127.0.0.1:9/mcp"]);
  expect(moved.stdout).toMatch(/^Updated nexus in /);
  expect((await world.run(["mcp", "uninstall", client])).code).toBe(0);
  const left = await world.read(file);
  expect(left.replaceAll(/,(?=\s*(?:\/\*.*\*\/)?\s*\})/g, "")).toBe(
    text.replaceAll(/,(?=\s*(?:\/\*.*\*\/)?\s*\})/g, ""),
  );
  expect(await world.run(["mcp", "uninstall", client])).toMatchObject({ code: 0 });
  expect(await world.read(file)).toBe(left);
});

posix("--view search gives a client three tools, of all servers, of one, and of a gateway", async () => {
  await world.configure({ every: SERVER });
  const three = ["search_tools", "describe_tool", "call_tool"];
  expect((await world.run(["mcp", "install", "cursor", "--view", "search"])).code).toBe(0);
  const all = await entryIn("home/.cursor/mcp.json", "mcpServers", "nexus");
  expect(all.args.slice(-3)).toEqual(["--stdio", "--view", "search"]);
  expect(await toolsOf(all)).toEqual(three);
  expect((await world.run(["mcp", "install", "cursor", "--view", "search", "--server", "every"])).code).toBe(0);
  expect(await toolsOf(await entryIn("home/.cursor/mcp.json", "mcpServers", "every"))).toEqual(three);
  for (const path of ["", "/mcp", "/search/mcp"]) {
    const url = ["--url", `http://127.0.0.1:3210${path}`];
    const shown = await world.run(["mcp", "install", "cursor", ...url, "--view", "search", "--dry-run", "--json"]);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      entries: [{ entry: { url: "http://127.0.0.1:3210/search/mcp" } }],
    });
  }
  for (const [words, why] of [
    [["mcp", "install", "cursor", "--view", "all"], `--view "all" is not a view`],
    [["serve", "--view", "search"], "--view needs --stdio"],
  ] as const) {
    expect(await world.run(words)).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
  }
});

test("an entry of that name that is not Nexus is neither replaced nor removed, unless --force says so", async () => {
  const theirs = { mcpServers: { nexus: { url: "https://nexus.example.com/mcp" }, other: { command: "other" } } };
  const file = await world.write("home/.cursor/mcp.json", theirs);
  for (const command of ["install", "uninstall"]) {
    const refused = await world.run(["mcp", command, "cursor", "--json"]);
    expect(refused.code).toBe(3);
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: "CONFIG_INVALID", source: { file } } });
    expect(refused.stderr).toContain("--force");
    expect(await json("home/.cursor/mcp.json")).toEqual(theirs);
  }
  const named = await world.run(["mcp", "install", "cursor", "--as", "mine", "--json"]);
  expect(JSON.parse(named.stdout)).toMatchObject({ entries: [{ name: "mine", state: "added", through: "pipe" }] });
  expect((await world.run(["mcp", "uninstall", "cursor", "--as", "mine"])).stdout).toContain("Removed mine");
  // A gateway elsewhere is recognised by its address.
  const url = ["--url", "https://nexus.example.com/mcp"];
  expect((await world.run(["mcp", "uninstall", "cursor", ...url, "--dry-run"])).stdout).toContain("Would remove nexus");
  expect((await world.run(["mcp", "install", "cursor", "--force"])).stdout).toContain("Replaced nexus");
  expect((await world.run(["mcp", "uninstall", "cursor"])).stdout).toContain("Removed nexus");
  expect(await json("home/.cursor/mcp.json")).toEqual({ mcpServers: { other: { command: "other" } } });
});

test("uninstall removes a server's own entry as it was written, and no other of that name", async () => {
  await world.configure({ docs: { command: "docs", args: ["--port", "1"], env: { TEAM: "${TEAM}" } } });
  expect((await world.run(["mcp", "install", "vscode", "--server", "docs"])).code).toBe(0);
  const { servers } = await json("home/.config/Code/User/mcp.json");
  expect(servers).toEqual({
    docs: { type: "stdio", command: "docs", args: ["--port", "1"], env: { TEAM: "${env:TEAM}" } },
  });
  expect((await world.run(["mcp", "uninstall", "vscode", "--server", "docs"])).code).toBe(0);
  await world.write("home/.config/Code/User/mcp.json", { servers: { docs: { command: "theirs" } } });
  expect((await world.run(["mcp", "uninstall", "vscode", "--server", "docs"])).code).toBe(3);
});

test("a file in which a program also keeps megabytes of history is edited like a small one", async () => {
  const history = "x".repeat(2 * 1024 * 1024);
  await world.write("home/.claude.json", { history });
  expect(await world.run(["mcp", "install", "claude-code", "--dry-run"])).toMatchObject({ code: 0 });
  expect(await world.run(["mcp", "install", "claude-code"])).toMatchObject({ code: 0 });
  expect((await json("home/.claude.json"))["history"]).toBe(history);
  expect(await entryIn("home/.claude.json", "mcpServers", "nexus")).toMatchObject({ args: expect.any(Array) as [] });
  expect(await world.run(["mcp", "uninstall", "claude-code"])).toMatchObject({ code: 0 });
  expect(await json("home/.claude.json")).toMatchObject({ history });
});

test("--dry-run shows what would be written, in the words of the program, and writes nothing", async () => {
  await world.write("home/.codex/config.toml", CODEX);
  const people = await world.run(["mcp", "install", "codex", "--url", "http://127.0.0.1:3210", "--dry-run"]);
  expect(people).toMatchObject({ code: 0, stderr: "" });
  expect(people.stdout).toBe(
    `Would add nexus to Codex (~/.codex/config.toml)\n  [mcp_servers.nexus]\n  url = "http://127.0.0.1:3210/mcp"\n`,
  );
  const programs = await world.run(["mcp", "install", "windsurf", "--dry-run", "--json"]);
  expect(JSON.parse(programs.stdout)).toMatchObject({
    client: "windsurf",
    file: join(world.home, ".codeium/windsurf/mcp_config.json"),
    scope: "user",
    isNew: true,
    dryRun: true,
    entries: [{ name: "nexus", state: "added", through: "pipe", leftOut: [] }],
  });
  expect(await world.read("home/.codex/config.toml")).toBe(CODEX);
  await expect(world.read("home/.codeium/windsurf/mcp_config.json")).rejects.toThrow("ENOENT");
});

test.each([
  ["vscode", "VS Code", ". VS Code sends roots of its own."],
  ["claude-code", "Claude Code", ". Claude Code sends roots of its own."],
  ["zed", "Zed", ""],
])("mcp install %s names settings that are not written, and denies no feature", async (client, title, more) => {
  await world.write("home/.nexus/mcp.json", {
    mcpServers: { local: { command: "node", args: ["server.js"], roots: ["/srv"], timeout: "30s" } },
  });
  const { stderr } = await world.run(["mcp", "install", client, "--server", "local", "--dry-run"]);
  expect(stderr).toContain(`local: settings of Nexus that are not written for ${title}: timeout, roots${more}\n`);
});

test("--project writes the project's file, keeps the trust in one that Nexus reads too, and warns about paths", async () => {
  await world.write("home/work/project/.mcp.json", { mcpServers: { team: { command: "team" } } });
  expect((await world.run(["mcp", "trust", "--yes"])).code).toBe(0);
  const { code, stderr } = await world.run(["mcp", "install", "claude-code", "--project"]);
  expect(code).toBe(0);
  expect(stderr).toContain("The command contains paths of this machine");
  const { servers } = JSON.parse((await world.run(["mcp", "servers", "--json"])).stdout) as {
    servers: { id: string; trusted: boolean }[];
  };
  // Nexus reads this file, too, and is none of its own servers.
  expect(servers).toMatchObject([{ id: "team", trusted: true }]);
  for (const [client, file] of [
    ["vscode", ".vscode/mcp.json"],
    ["copilot", ".github/mcp.json"],
    ["zed", ".zed/settings.json"],
  ] as const) {
    expect((await world.run(["mcp", "install", client, "--project"])).code).toBe(0);
    expect(await world.read(`home/work/project/${file}`)).toContain("nexus");
  }
});

test("a project's server that is not trusted is written nowhere", async () => {
  await world.write("home/work/project/.mcp.json", { mcpServers: { evil: { command: "evil" } } });
  const refused = await world.run(["mcp", "install", "cursor", "--server", "evil"]);
  expect(refused.code).toBe(8);
  expect(refused.stderr).toContain("nexus mcp trust");
  for (const args of [[], ["--for", "cursor"]]) {
    const exported = await world.run(["mcp", "export", ...args]);
    expect(exported.stdout).toBe("");
    expect(exported.stderr).toContain("Skipped evil: it is configured in a project file that is not trusted");
  }
});

test.for([
  [["mcp", "install", "cursr"], 2, "Did you mean cursor?"],
  [["mcp", "install", "amp"], 2, "Known programs: claude-desktop, claude-code"],
  [["mcp", "install", "windsurf", "--project"], 2, "Windsurf has no project file"],
  [["mcp", "install", "claude-desktop", "--url", "http://127.0.0.1:1/mcp"], 2, "does not support a server at a URL"],
  [["mcp", "install", "cursor", "--url", "http://u:p@127.0.0.1/mcp"], 2, "--url must not contain a user"],
  [["mcp", "install", "cursor", "--url", "127.0.0.1"], 2, "is not an http or https address"],
  [["mcp", "install", "cursor", "--stdio", "--url", "http://127.0.0.1/mcp"], 2, "cannot be used together"],
  [["mcp", "install", "cursor", "--server", "none"], 6, `There is no server "none"`],
  [["mcp", "install", "cursor", "--as", "a b"], 2, "is not a valid name in every program"],
  [["mcp", "export", "none"], 6, `There is no server "none"`],
  [["mcp", "export", "--stdio"], 2, "require --for CLIENT"],
  [["serve", "--stdio", "--server", "none"], 6, `There is no server "none"`],
] as const)("what cannot be is refused with what to do: %s", async ([args, code, text]) => {
  const ran = await world.run(args);
  expect(ran.code).toBe(code);
  expect(ran.stderr).toContain(text);
});

test("a file that cannot be read or edited safely is left alone, with what to write by hand", async () => {
  await world.write("home/.cursor/mcp.json", "{ broken");
  expect((await world.run(["mcp", "install", "cursor"])).code).toBe(3);
  expect(await world.read("home/.cursor/mcp.json")).toBe("{ broken");
  await world.write("home/.gemini/settings.json", { mcpServers: ["x"] });
  const list = await world.run(["mcp", "install", "gemini"]);
  expect(list).toMatchObject({ code: 3 });
  expect(list.stderr).toContain(`"mcpServers" is not an object, which Gemini CLI requires`);
  const inline = `mcp_servers = { docs = { command = "docs" } }\n`;
  await world.write("home/.codex/config.toml", inline);
  const refused = await world.run(["mcp", "install", "codex", "--url", "http://127.0.0.1:1/mcp"]);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain(`Add this in an editor`);
  expect(await world.read("home/.codex/config.toml")).toBe(inline);
});

test("export prints entries as they are written, or as another program writes them", async () => {
  await world.configure({
    "My Docs": { command: "docs", args: ["${DOCS}"], timeout: "30s" },
    web: { url: "https://example.com/mcp", headers: { Authorization: "Bearer ${WEB_TOKEN}" } },
  });
  const own = await world.run(["mcp", "export"]);
  expect(JSON.parse(own.stdout)).toEqual({
    mcpServers: {
      "my-docs": { command: "docs", args: ["${DOCS}"], timeout: "30s" },
      web: { url: "https://example.com/mcp", headers: { Authorization: "Bearer ${WEB_TOKEN}" } },
    },
  });
  const codex = await world.run(["mcp", "export", "web", "--for", "codex"]);
  expect(parse(codex.stdout)).toEqual({
    mcp_servers: { web: { url: "https://example.com/mcp", bearer_token_env_var: "WEB_TOKEN" } },
  });
  const gateway = ["--for", "opencode", "--url", "http://127.0.0.1:3210/mcp"];
  expect(JSON.parse((await world.run(["mcp", "export", "My Docs", ...gateway])).stdout)).toEqual({
    mcp: { "my-docs": { type: "remote", url: "http://127.0.0.1:3210/servers/my-docs/mcp", enabled: true } },
  });
  const programs = await world.run(["mcp", "export", "web", "--for", "zed", "--json"]);
  expect(JSON.parse(programs.stdout)).toMatchObject({
    client: "zed",
    entries: { web: { args: expect.arrayContaining(["serve", "--stdio", "--server", "web"]) as unknown } },
    skipped: [],
  });
});
