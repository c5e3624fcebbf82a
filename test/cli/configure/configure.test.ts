import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { rm } from "node:fs/promises";
import { HAS_TERMINAL, NexusWorld } from "../../fixtures/nexus.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";

const world = await NexusWorld.open();
const SERVER = stdioFixture();
const COMMAND = ["--", SERVER.command, ...SERVER.args];

const USER_JSON = `// my servers
{
  "mcpServers": {
    // the first
    "one": { "command": "one" }, // stays
    "two": {
      "url": "http://127.0.0.1:9/mcp"
    }
  },
  "other": true
}
`;

const PROJECT_YAML = `# the team's servers
mcp:
  servers:
    # used by the tests
    - id: files
      command: files # local
    - id: web
      url: http://127.0.0.1:9/mcp
`;

beforeEach(async () => {
  await rm(world.home, { recursive: true, force: true, maxRetries: 5 });
  await world.write("home/work/project/README.md", "a project");
});

afterAll(() => world[Symbol.asyncDispose]());

test("add writes a server into a new file of the user, connects to it, and says where and what it is", async () => {
  const { code, stdout, stderr } = await world.run(["mcp", "add", "every", "--env", "MODE=x", ...COMMAND]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("Added every to ~/.nexus/mcp.json");
  expect(stdout).toMatch(/It works: .*revision 2026-07-28 \(modern\), \d+ tools/);
  expect(JSON.parse(await world.read("home/.nexus/mcp.json"))).toEqual({
    mcpServers: { every: { ...SERVER, env: { MODE: "x" } } },
  });
});

test("everything after -- is the command, options of ours included", async () => {
  await world.run(["mcp", "add", "tricky", "--no-check", "--", "it's", "--json", "--help", "--", "-y", "a b"]);
  const { mcpServers } = JSON.parse(await world.read("home/.nexus/mcp.json")) as { mcpServers: object };
  expect(mcpServers).toEqual({ tricky: { command: "it's", args: ["--json", "--help", "--", "-y", "a b"] } });
});

test("add keeps comments and order of a JSON file, refuses a name that is there, and replaces it with --force", async () => {
  await world.write("home/.nexus/mcp.json", USER_JSON);
  const add = ["mcp", "add", "two", "--no-check", "--url", "https://example.com/mcp"];
  const refused = await world.run(add);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain(`The file already has a server "two"`);
  expect(refused.stderr).toContain("--force");
  expect(await world.read("home/.nexus/mcp.json")).toBe(USER_JSON);

  expect((await world.run([...add, "--force"])).code).toBe(0);
  expect(await world.read("home/.nexus/mcp.json")).toBe(
    USER_JSON.replace("http://127.0.0.1:9/mcp", "https://example.com/mcp"),
  );
});

test("a user who has YAML gets YAML, with its comments kept", async () => {
  await world.write("home/.nexus/mcp.yaml", PROJECT_YAML);
  const { stdout } = await world.run(["mcp", "add", "new", "--no-check", "--disabled", "--", "node", "/srv/new.js"]);
  expect(stdout).toContain("It is disabled. To enable it: nexus mcp enable new");
  expect(await world.read("home/.nexus/mcp.yaml")).toBe(
    `${PROJECT_YAML}    - command: node\n      args:\n        - /srv/new.js\n      enabled: false\n      id: new\n`,
  );
});

test("P1.9: a server that does not work is added all the same, with the reason, and exit code 0", async () => {
  const { code, stdout, stderr } = await world.run(["mcp", "add", "broken", "--", "no-such-program-here"]);
  expect(code).toBe(0);
  expect(stdout).toContain("Added broken");
  expect(stderr).toContain("warning: The server does not work yet.");
  expect(stderr).toContain("no-such-program-here");
  expect(await world.read("home/.nexus/mcp.json")).toContain("no-such-program-here");

  const json = await world.run(["mcp", "add", "other", "--json", "--", "no-such-program-here"]);
  expect(json).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(json.stdout)).toMatchObject({
    server: "other",
    file: join(world.home, ".nexus/mcp.json"),
    check: { ok: false, error: { code: "COMMAND_NOT_FOUND", server: "other" } },
  });
});

test("add advises against secrets in a file, and never repeats them", async () => {
  const literal = ["mcp", "add", "web", "--no-check", "--url", "https://example.com/mcp"];
  const { stdout, stderr } = await world.run([...literal, "--header", "Authorization: Bearer hunter2"]);
  expect(stderr).toContain("header Authorization looks like a secret");
  expect(stderr).toContain("nexus secrets set Authorization");
  expect(stdout + stderr).not.toContain("hunter2");
  const better = await world.run([...literal, "--force", "--header", "Authorization: Bearer ${secret:web}"]);
  expect(better.stderr).toBe("");
});

test("P1.9: add says what is wrong with what it was given, and writes nothing", async () => {
  const wrong: [string[], string][] = [
    [["x"], `The command or URL of "x" is missing`],
    [["x", "--url", "example.com"], '--url "example.com" is not an http or https URL'],
    [["x", "--url", "http://127.0.0.1/", "--", "node"], "a command and --url cannot be used together"],
    [["x", "--url", "http://127.0.0.1/", "--env", "A=b"], "--env requires --stdio, not --url"],
    [["x", "--env", "A", "--", "node"], `"A" has no "="`],
    [["x", "--project", "--file", "a.json", "--", "node"], "--project and --file cannot be used together"],
    [["x", "--url", "localhost:3000/mcp"], "--url http://localhost:3000/mcp"],
    [["x", "--colour", "--", "node"], `"nexus mcp add" has no option --colour`],
    [["x", "npx", "-y", "notes"], "If -y is an option of npx, write -- before the command: nexus mcp add x -- npx …"],
  ];
  const results = await Promise.all(wrong.map(([args]) => world.run(["mcp", "add", ...args])));
  for (const [index, { code, stderr }] of results.entries()) {
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(wrong[index]?.[1] ?? "?") as string });
  }
  await expect(world.read("home/.nexus/mcp.json")).rejects.toThrow("ENOENT");
});

test("P0: a new project file is trusted for the one who made it, and says which weaker server it hides", async () => {
  await world.configure({ every: { command: "weaker" } });
  const { code, stdout, stderr } = await world.run(["mcp", "add", "every", "--project", "--cwd", ".", ...COMMAND]);
  expect(code).toBe(0);
  expect(stdout).toContain("It works:");
  expect(stderr).toContain("It hides the server with the same name in ~/.nexus/mcp.json");
  const { mcpServers } = JSON.parse(await world.read("home/work/project/.nexus/mcp.json")) as { mcpServers: object };
  expect(mcpServers).toEqual({ every: { ...SERVER, cwd: "." } });

  const user = await world.run(["mcp", "add", "every", "--force", ...COMMAND]);
  expect(user.code).toBe(0);
  expect(user.stderr).toContain("hidden by the server with the same name in ~/work/project/.nexus/mcp.json");
});

test("P0: a project's file keeps its trust when its user changes it, and does not get it by the way", async () => {
  await world.write("home/work/project/.mcp.json", { mcpServers: { theirs: { command: "theirs" } } });
  const added = await world.run(["mcp", "add", "mine", "--project", ...COMMAND]);
  expect(added.code).toBe(0);
  expect(added.stderr).toContain("not trusted yet");
  expect(await trusted()).toBe(false);

  await world.run(["mcp", "trust", "--yes"]);
  expect(await trusted()).toBe(true);
  for (const change of [
    ["disable", "theirs"],
    ["enable", "theirs"],
    ["remove", "theirs"],
  ]) {
    expect((await world.run(["mcp", ...change])).code).toBe(0);
    expect(await trusted()).toBe(true);
  }
  await world.write("home/work/project/.mcp.json", { mcpServers: { theirs: { command: "changed" } } });
  expect(await trusted()).toBe(false);
  await world.run(["mcp", "disable", "theirs"]);
  expect(await trusted()).toBe(false);
});

test("enable, disable and remove change the file that counts; comments and order stay", async () => {
  await world.write("home/.nexus/mcp.json", USER_JSON);
  await world.write("home/work/project/nexus.yaml", PROJECT_YAML);
  expect((await world.run(["mcp", "disable", "two"])).stdout).toBe("two is disabled (~/.nexus/mcp.json)\n");
  expect(await world.read("home/.nexus/mcp.json")).toBe(USER_JSON.replace(`9/mcp"`, `9/mcp",\n      "enabled": false`));
  expect((await world.run(["mcp", "disable", "two"])).stdout).toBe("two is already disabled (~/.nexus/mcp.json)\n");
  await world.run(["mcp", "enable", "two"]);
  await world.run(["mcp", "remove", "two"]);
  expect(await world.read("home/.nexus/mcp.json")).toBe(
    USER_JSON.replace(/\n {4}"two"[^}]*\}/, "").replace("}, // stays", "} // stays"),
  );

  const disabled = await world.run(["mcp", "disable", "web", "--json"]);
  expect(JSON.parse(disabled.stdout)).toEqual({
    server: "web",
    file: join(world.project, "nexus.yaml"),
    enabled: false,
    changed: true,
  });
  expect(await world.read("home/work/project/nexus.yaml")).toBe(`${PROJECT_YAML}      enabled: false\n`);
  await world.run(["mcp", "remove", "web"]);
  expect(await world.read("home/work/project/nexus.yaml")).toBe(PROJECT_YAML.replace(/ {4}- id: web[\s\S]*/, ""));
});

test("remove says what appears from a weaker file, and --file names another one", async () => {
  await world.configure({ a: { command: "weak" } });
  await world.write("home/work/project/.mcp.json", { mcpServers: { a: { command: "strong" } } });
  await world.run(["mcp", "trust", "--yes"]);
  const { code, stdout, stderr } = await world.run(["mcp", "remove", "a"]);
  expect(code).toBe(0);
  expect(stdout).toBe("Removed a from ~/work/project/.mcp.json\n");
  expect(stderr).toBe("The server with the same name in ~/.nexus/mcp.json is used now\n");

  await world.write("home/other.json", { mcpServers: { b: { command: "b" } } });
  expect((await world.run(["mcp", "remove", "b", "--file", join(world.home, "other.json")])).code).toBe(0);
  expect(JSON.parse(await world.read("home/other.json"))).toEqual({ mcpServers: {} });
});

test("P1.9: an unknown server is exit code 6 with what was meant; TOML that cannot be edited is exit code 3 with what to do", async () => {
  await world.configure({ github: { command: "x" } });
  const unknown = await world.run(["mcp", "disable", "githib"]);
  expect(unknown.code).toBe(6);
  expect(unknown.stderr).toContain(`Did you mean "github"?`);

  const toml = await world.write("home/config.toml", `mcp_servers = { codex = { command = "c" } }\n`);
  const refused = await world.run(["mcp", "disable", "codex", "--file", toml]);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain(`Add "enabled = false" to the table of "codex" in an editor`);
});

test("a server stays off where its file switches all off, and enable says so", async () => {
  await world.write("home/.nexus/mcp.yaml", `mcp:\n  enabled: false\n  servers:\n    - id: a\n      command: a\n`);
  const { stderr } = await world.run(["mcp", "enable", "a"]);
  expect(stderr).toContain(`"enabled" of "mcp" is false in the file, which disables all its servers`);
});

test("a command that names files of this folder is added with the folder it runs in", async () => {
  await world.write("home/work/project/server.js", "");
  const add = async (...command: string[]) => {
    const ran = await world.run(["mcp", "add", "x", "--force", "--no-check", "--", ...command]);
    expect(ran.code, ran.stderr).toBe(0);
    const { mcpServers } = JSON.parse(await world.read("home/.nexus/mcp.json")) as { mcpServers: { x: object } };
    return { ...ran, entry: mcpServers.x };
  };
  expect(await add("node", "server.js")).toMatchObject({
    entry: { command: "node", args: ["server.js"], cwd: world.project },
    stdout: expect.stringContaining("  in ~/work/project\n"),
  });
  expect((await add("files", ".")).entry).toEqual({ command: "files", args: ["."], cwd: world.project });
  // A name with a slash is no file unless there is one.
  const { entry, stderr } = await add("npx", "-y", "someone/server");
  expect(entry).toEqual({ command: "npx", args: ["-y", "someone/server"] });
  expect(stderr).toContain("someone/server is searched in your home folder");
});

test("import lists what other programs have, takes over what is named, and skips and names what is there", async () => {
  await world.configure({ here: { command: "mine" } });
  await world.write("home/.cursor/mcp.json", {
    mcpServers: {
      here: { command: "theirs" },
      github: { command: "npx", args: ["-y", "gh"], env: { GH_TOKEN: "${GH_TOKEN}" } },
      "My Docs": { url: "https://example.com/mcp", headers: { Authorization: "hunter2" } },
    },
  });
  await world.write("home/.gemini/settings.json", "{ broken");
  const list = await world.run(["mcp", "import"]);
  expect(list.code).toBe(0);
  expect(list.stdout).toBe(
    [
      "cursor (~/.cursor/mcp.json)",
      "  here     theirs (another server has this name)",
      "  github   npx -y gh",
      "  my-docs  https://example.com/mcp “My Docs”",
      "",
      "To import: nexus mcp import github … or nexus mcp import --all",
      "",
    ].join("\n"),
  );
  expect(list.stderr).toContain("settings.json");

  const dry = await world.run(["mcp", "import", "--all", "--dry-run"]);
  expect(dry.stdout).toContain("Would add github from cursor: npx -y gh");
  expect(await world.read("home/.nexus/mcp.json")).not.toContain("github");

  const named = await world.run(["mcp", "import", "github", "here"]);
  expect(named.code).toBe(3);
  expect(named.stdout).toContain("Added github from cursor");
  expect(named.stderr).toContain("Skipped here from cursor: another server has this name; --force replaces it");
  const all = await world.run(["mcp", "import", "--all", "--from", "cursor", "--json"]);
  expect(all.code).toBe(0);
  expect(JSON.parse(all.stdout)).toMatchObject({
    file: join(world.home, ".nexus/mcp.json"),
    added: [{ server: "my-docs", name: "My Docs", client: "cursor" }],
    skipped: [{ server: "here" }, { server: "github", reason: "is already configured" }],
    errors: [{ code: "CONFIG_INVALID" }],
  });
  expect(JSON.parse(await world.read("home/.nexus/mcp.json"))).toEqual({
    mcpServers: {
      here: { command: "mine" },
      github: { command: "npx", args: ["-y", "gh"], env: { GH_TOKEN: "${GH_TOKEN}" } },
      "My Docs": { url: "https://example.com/mcp", headers: { Authorization: "hunter2" } },
    },
  });
  const secret = await world.run(["mcp", "import", "my-docs", "--project"]);
  expect(secret.stderr).toContain("header Authorization looks like a secret");
  expect(secret.stdout + secret.stderr).not.toContain("hunter2");
});

test.runIf(HAS_TERMINAL)("import lists commands in full, also on a narrow terminal", async () => {
  const args = ["-y", "@example/docs", ...Array.from({ length: 20 }, (_, index) => `--flag${index}`), "--then=evil"];
  await world.write("home/.cursor/mcp.json", { mcpServers: { docs: { command: "npx", args } } });
  const { child, output } = world.inTerminal(["mcp", "import"], { columns: 60 });
  await once(child, "close");
  expect(output.stdout).toContain(`npx ${args.join(" ")}`);
});

test("import leaves out entries that start Nexus itself, and says so", async () => {
  await world.write("home/.claude.json", {
    mcpServers: {
      nexus: { type: "stdio", command: "nexus", args: ["serve", "--stdio"] },
      "my gateway": { command: "npx", args: ["-y", "nexus-mcp", "serve", "--stdio"] },
      docs: { command: "docs" },
    },
  });
  await world.write("home/.cursor/mcp.json", { mcpServers: { nexus: { url: "http://127.0.0.1:3210/mcp" } } });
  const list = await world.run(["mcp", "import"]);
  expect(list.stdout).toContain("nexus       nexus serve --stdio (Nexus itself, not imported)");
  const all = await world.run(["mcp", "import", "--all"]);
  expect(all.code).toBe(0);
  expect(all.stdout).toContain("Added docs from claude-code");
  for (const skipped of ["nexus from claude-code", "my-gateway from claude-code", "nexus from cursor"]) {
    expect(all.stderr).toContain(`Skipped ${skipped}: it is Nexus itself`);
  }
  const named = await world.run(["mcp", "import", "nexus", "--from", "cursor"]);
  expect(named.code).toBe(3);
  expect(JSON.parse(await world.read("home/.nexus/mcp.json"))).toEqual({ mcpServers: { docs: { command: "docs" } } });
});

test("import --path takes servers from any file, and fails where there is none or it cannot be read", async () => {
  const file = await world.write("home/old/servers.json", { mcpServers: { kept: { command: "x", args: ["$KEY"] } } });
  const list = await world.run(["mcp", "import", "--path", file]);
  expect(list.stdout).toContain("file (~/old/servers.json)\n  kept  x $KEY\n");
  const taken = await world.run(["mcp", "import", "kept", "--path", file, "--from", "gemini"]);
  expect(taken.code).toBe(0);
  expect(JSON.parse(await world.read("home/.nexus/mcp.json"))).toEqual({
    mcpServers: { kept: { command: "x", args: ["${KEY}"] } },
  });
  expect((await world.run(["mcp", "import", "--path", `${file}.no`])).code).toBe(3);
  await world.write("home/old/servers.json", "{ broken");
  const broken = await world.run(["mcp", "import", "--path", file, "--json"]);
  expect(broken.code).toBe(3);
  expect(JSON.parse(broken.stderr)).toMatchObject({ error: { code: "CONFIG_INVALID", source: { file, line: 1 } } });
});

test("P0: questions of VS Code are taken over with the servers that ask them", async () => {
  await world.write("home/.config/Code/User/mcp.json", {
    inputs: [{ id: "token", type: "promptString", description: "Your token", default: "d" }],
    servers: { code: { ...SERVER, env: { T: "${input:token}" } } },
  });
  expect((await world.run(["mcp", "import", "code"])).code).toBe(0);
  expect(JSON.parse(await world.read("home/.nexus/mcp.json"))).toMatchObject({
    inputs: [{ id: "token", description: "Your token", default: "d" }],
  });
  expect((await world.run(["mcp", "ping", "code"])).code).toBe(0);
});

test("what a project's files have for other programs is imported by name only, and not trusted by that", async () => {
  await world.write("home/work/project/.cursor/mcp.json", { mcpServers: { theirs: { command: "theirs" } } });
  const all = await world.run(["mcp", "import", "--all"]);
  expect(all).toMatchObject({ code: 0, stdout: "Nothing was added.\n" });
  const { stderr } = await world.run(["mcp", "import", "--all", "--project"]);
  expect(stderr).toContain("Review and trust it: nexus mcp trust");
  expect(await trusted()).toBe(false);
  const unknown = await world.run(["mcp", "import", "their"]);
  expect(unknown.code).toBe(6);
  expect(unknown.stderr).toContain(`Did you mean "theirs"?`);
  expect((await world.run(["mcp", "import", "--from", "curser"])).code).toBe(2);
});

const THEIRS = { command: "sh", args: ["-c", "curl evil \u001b[2J"], env: { LD_PRELOAD: "x.so" } };

test("import by name copies no server of a project's file into the user's own without --yes", async () => {
  await world.write("home/work/project/.vscode/mcp.json", { servers: { theirs: THEIRS } });
  await world.write("home/work/project/other.json", { mcpServers: { other: THEIRS } });
  await world.write("home/.cursor/mcp.json", { mcpServers: { mine: { command: "mine" } } });
  for (const args of [
    ["theirs"],
    ["theirs", "mine"],
    ["other", "--path", "other.json"],
    ["--all", "--path", "other.json"],
  ]) {
    const { code, stderr } = await world.run(["mcp", "import", ...args, "--json"]);
    expect(code).toBe(8);
    expect(JSON.parse(stderr)).toMatchObject({
      error: {
        code: "UNTRUSTED",
        source: { file: join(world.project, args.includes("theirs") ? ".vscode/mcp.json" : "other.json") },
      },
    });
  }
  await expect(world.read("home/.nexus/mcp.json")).rejects.toThrow("ENOENT");

  const dry = await world.run(["mcp", "import", "theirs", "--dry-run"]);
  expect(dry.code).toBe(0);
  expect(dry.stdout).toContain("  sh -c 'curl evil \\x1b[2J'\n    in ");
  expect(dry.stdout).toContain("    with LD_PRELOAD=x.so\n");

  expect((await world.run(["mcp", "import", "mine"])).code).toBe(0);
  expect((await world.run(["mcp", "import", "theirs", "--yes"])).code).toBe(0);
  const { mcpServers } = JSON.parse(await world.read("home/.nexus/mcp.json")) as { mcpServers: object };
  expect(mcpServers).toEqual({ mine: { command: "mine" }, theirs: { ...THEIRS, cwd: world.project } });
});

test.skipIf(!HAS_TERMINAL)(
  "import shows what a project's server would start, and asks before it copies it",
  async () => {
    await world.write("home/work/project/.cursor/mcp.json", { mcpServers: { theirs: THEIRS } });
    const answered = async (answer: string) => {
      const { child, output } = world.inTerminal(["mcp", "import", "theirs"]);
      await expect.poll(() => output.stdout).toContain("y/N:");
      child.stdin?.write(`${answer}\r`);
      const [code] = (await once(child, "close")) as [unknown];
      return { code, text: output.stdout };
    };
    const refused = await answered("");
    expect(refused.code).toBe(8);
    expect(refused.text).toContain("curl evil \\x1b[2J");
    expect(refused.text).toContain("with LD_PRELOAD=x.so");
    expect(refused.text).toContain("Nothing was added.");
    await expect(world.read("home/.nexus/mcp.json")).rejects.toThrow("ENOENT");
    expect((await answered("y")).code).toBe(0);
    expect(await world.read("home/.nexus/mcp.json")).toContain("theirs");
  },
);

test("import --project from a file of the project does not extend the trust in the project's own file", async () => {
  await world.write("home/work/project/.nexus/mcp.json", { mcpServers: { own: { command: "own" } } });
  expect((await world.run(["mcp", "trust", "--yes"])).code).toBe(0);
  await world.write("home/work/project/other.json", { mcpServers: { other: THEIRS } });
  expect((await world.run(["mcp", "import", "other", "--path", "other.json", "--project"])).code).toBe(0);
  expect(await trusted()).toBe(false);
});

const HOSTILE = {
  mcpServers: {
    evil: { command: "sh", args: ["-c", "echo \u001b[2J"], env: { LD_PRELOAD: "x.so" }, cwd: "sub" },
    web: { url: "https://example.com/${TEAM}", headers: { Authorization: "Bearer ${TOKEN}" } },
    shop: { api: "shop.nexus.yaml", upstream: "http://127.0.0.1:9000/" },
  },
};

test("trust shows exactly what would be started, and needs an answer", async () => {
  expect(await world.run(["mcp", "trust"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Nothing to trust") as string,
  });
  const file = await world.write("home/work/project/.mcp.json", HOSTILE);
  const { code, stdout, stderr } = await world.run(["mcp", "trust"], { env: { TOKEN: "hunter2", TEAM: "t" } });
  expect(code).toBe(9);
  expect(stderr).toContain("--yes");
  expect(stdout).toBe(
    [
      `${file} (not trusted)`,
      String.raw`  evil  sh -c 'echo \x1b[2J'`,
      "          in sub",
      "          with LD_PRELOAD=x.so",
      "  web   https://example.com/${TEAM}",
      "          sends Authorization: Bearer ${TOKEN}",
      "  shop  the tools of shop.nexus.yaml",
      "          sends requests to http://127.0.0.1:9000/ instead",
      "          requests and addresses: nexus api show shop.nexus.yaml",
      "",
      `${join(world.project, "shop.nexus.yaml")} (server shop) is not approved, so it is not served: nexus api approve`,
      "",
      "",
    ].join("\n"),
  );
  const accepted = await world.run(["mcp", "trust", "--yes", "--json"]);
  expect(JSON.parse(accepted.stdout)).toMatchObject({
    files: [{ file, trusted: true, servers: [{ server: "evil" }, {}, {}] }],
  });
  expect((await world.run(["mcp", "trust"])).stdout).toContain("Everything is already trusted.");
  await world.run(["mcp", "trust", "--revoke"]);
  expect(await trusted()).toBe(false);
});

test("trust shows every member of an entry, and what the files set that come with the project", async () => {
  const entry = {
    command: "npx",
    args: ["-y", "docs"],
    envFile: ".env",
    oauth: { scope: "x".repeat(300) },
    isolation: "shared",
  };
  await world.write("home/work/project/.mcp.json", { mcpServers: { docs: entry } });
  await world.write("home/work/project/.env", "NODE_OPTIONS=--import=./evil.mjs\nTOKEN=hunter2\n");
  const { stdout } = await world.run(["mcp", "trust", "--show"]);
  expect(stdout).toContain("with the variables of .env");
  expect(stdout).toContain("  .env sets NODE_OPTIONS, TOKEN\n");
  expect(stdout).toContain(`oauth: {"scope":"${"x".repeat(300)}"}\n`);
  expect(stdout).toContain("isolation: shared\n");
  expect(stdout).not.toContain("hunter2");
  const { files } = JSON.parse((await world.run(["mcp", "trust", "--show", "--json"])).stdout) as { files: object[] };
  expect(files).toMatchObject([{ files: [{ path: ".env", variables: ["NODE_OPTIONS", "TOKEN"] }] }]);
});

test.runIf(HAS_TERMINAL)("on a terminal trust asks, and what changed while it asked is not trusted", async () => {
  await world.write("home/work/project/.mcp.json", { mcpServers: { a: { command: "harmless" } } });
  expect(await answered("n")).toMatchObject({
    code: 8,
    text: expect.stringContaining("Nothing was trusted.") as string,
  });
  expect(await trusted()).toBe(false);

  const swapped = await answered("y", () =>
    world.write("home/work/project/.mcp.json", { mcpServers: { a: { command: "harmful" } } }),
  );
  expect(swapped.code).toBe(0);
  expect(await trusted()).toBe(false);
  expect(await answered("y")).toMatchObject({ code: 0, text: expect.stringContaining("Trusted, as shown.") as string });
  expect(await trusted()).toBe(true);
});

async function answered(answer: string, meanwhile?: () => Promise<unknown>): Promise<{ code: unknown; text: string }> {
  const { child, output } = world.inTerminal(["mcp", "trust"]);
  await expect.poll(() => output.stdout).toContain("Trust this file? y/N:");
  await meanwhile?.();
  child.stdin?.write(`${answer}\r`);
  const [code] = (await once(child, "close")) as [unknown];
  return { code, text: output.stdout };
}

/** Whether every file of the project is trusted. */
async function trusted(): Promise<boolean> {
  const { stdout } = await world.run(["mcp", "trust", "--show", "--json"]);
  const { files } = JSON.parse(stdout) as { files: { trusted: boolean }[] };
  return files.every((file) => file.trusted);
}

test("add warns of a root that is not a folder, and not of one that is", async () => {
  const { code, stderr } = await world.run([
    "mcp",
    "add",
    "every",
    "--root",
    "nowhere",
    "--root",
    ".",
    "--no-check",
    ...COMMAND,
  ]);
  expect(code).toBe(0);
  expect(stderr.match(/warning: The root .*/g)).toEqual([
    expect.stringMatching(/nowhere is not a folder\. Create it, or add the server again with --root DIR --force$/),
  ]);
});

test.each([
  ["models remove x", `"nexus models --help" lists them.`],
  ["mcp tools/call book", 'Did you mean "nexus mcp call"?'],
  ["mcp install claude", "Did you mean claude-desktop or claude-code?"],
])("nexus %s proposes only what was meant", async (line, hint) => {
  const { code, stderr } = await world.run([...line.split(" "), "--json"]);
  expect(code).toBe(2);
  expect((JSON.parse(stderr) as { error: { hint: string } }).error.hint.replace(/node \S+main\.js/, "nexus")).toContain(
    hint,
  );
});
