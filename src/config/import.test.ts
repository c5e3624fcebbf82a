import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigWorld } from "../../test/fixtures/config-world.ts";
import { findImports } from "./import.ts";
import { withFixedPaths } from "./import-paths.ts";
import { importPlaces } from "./import-places.ts";

test("P0: servers of other programs are found where these keep them, with their origin", async () => {
  await using world = await ConfigWorld.open();
  const stdio = { command: "node", args: ["a.js"] };
  await world.write("home/.config/Claude/claude_desktop_config.json", { mcpServers: { desktop: stdio } });
  await world.write("home/.claude.json", {
    numStartups: 3,
    mcpServers: { code: { type: "stdio", ...stdio } },
    projects: { "/p": { allowedTools: [], mcpServers: { inner: { type: "http", url: "https://a/" } } }, "/q": {} },
  });
  await world.write("home/.cursor/mcp.json", { mcpServers: { cursor: stdio } });
  await world.write("home/.config/Code/User/mcp.json", { servers: { code: stdio }, inputs: [] });
  await world.write(
    "home/.config/Code/User/settings.json",
    `{ // mine\n "mcp": { "servers": { "old": { "command": "x" } } } }`,
  );
  await world.write("home/.codeium/windsurf/mcp_config.json", { mcpServers: { surf: { serverUrl: "https://b/" } } });
  await world.write("home/.codex/config.toml", `[mcp_servers.codex]\ncommand = "c"\nstartup_timeout_sec = 9\n`);
  await world.write("home/.config/opencode/opencode.json", { mcp: { open: { type: "local", command: ["o", "1"] } } });
  await world.write("home/.gemini/settings.json", {
    theme: "x",
    mcpServers: { gem: { httpUrl: "https://c/", trust: true } },
  });
  await world.write("home/work/project/.vscode/mcp.json", { servers: { "In Project": { command: "p" } } });
  await world.write("home/work/project/.cursor/mcp.json", "{ broken");

  const { servers, problems } = await findImports(world.options());
  expect(servers.map(({ client, scope, name, entry }) => [client, scope, name, entry])).toEqual([
    ["claude-desktop", "user", "desktop", stdio],
    ["claude-code", "user", "code", { type: "stdio", ...stdio }],
    ["claude-code", "user", "inner", { type: "http", url: "https://a/" }],
    ["cursor", "user", "cursor", stdio],
    ["vscode", "user", "code", stdio],
    ["vscode", "user", "old", { command: "x" }],
    ["windsurf", "user", "surf", { url: "https://b/" }],
    ["codex", "user", "codex", { command: "c", connection_timeout: 9000 }],
    ["opencode", "user", "open", { command: ["o", "1"] }],
    ["gemini", "user", "gem", { url: "https://c/", trust: true }],
    ["vscode", "project", "In Project", { command: "p" }],
  ]);
  expect(servers.find(({ name }) => name === "inner")?.project).toBe("/p");
  expect(servers.at(-1)).toMatchObject({ id: "in-project", source: { line: 1, column: 13 } });
  expect(problems.map((problem) => world.told(problem).split("\n")[0])).toEqual([
    "Not valid JSON at line 1, column 3: this is no value; text stands in double quotes",
  ]);
});

test("P0: questions of VS Code and files of opencode come along, and lead to the same places from another file", async () => {
  await using world = await ConfigWorld.open();
  await world.write("home/work/project/.vscode/mcp.json", {
    inputs: [{ id: "tok", type: "promptString", password: true, default: "d" }, { id: "other" }],
    servers: {
      v: { command: "x", env: { T: "${input:tok}" }, envFile: "${workspaceFolder}/.env" },
      w: { command: "y" },
    },
  });
  await world.write("home/work/project/opencode.json", {
    mcp: { o: { type: "remote", url: "https://x", headers: { A: "{file:./tok}", B: "{file:~/tok}" } } },
  });
  const { servers } = await findImports(world.options());
  expect(servers).toMatchObject([
    {
      id: "v",
      entry: { envFile: "${workspaceFolder}/.env" },
      inputs: [{ id: "tok", password: true, default: "d" }],
    },
    { id: "w", inputs: [] },
    { id: "o", entry: { headers: { A: `\${file:${join(world.cwd, "tok")}}`, B: "${file:~/tok}" } } },
  ]);
});

test("P0: a file that is nested without end costs its own servers only", async () => {
  await using world = await ConfigWorld.open();
  const deep = `${"[".repeat(2_500)}${"]".repeat(2_500)}`;
  await world.write("home/work/project/.cursor/mcp.json", `{"mcpServers":{"g":{"command":"x","y":${deep}}}}`);
  await world.write("home/work/project/.vscode/mcp.json", { servers: { v: { command: "x" } } });
  const { servers, problems } = await findImports(world.options());
  expect(servers.map(({ id }) => id)).toEqual(["v"]);
  expect(problems.map(({ message }) => message)).toEqual(["The configuration file is nested too deeply"]);
});

test("P0: the places of other programs on macOS and Windows", () => {
  const at = (platform: NodeJS.Platform, home: string) => {
    const places = importPlaces({ cwd: home, home, platform, variables: {} });
    return Object.fromEntries(places.filter(({ scope }) => scope === "user").map(({ client, file }) => [client, file]));
  };
  expect(at("darwin", "/Users/u")).toMatchObject({
    "claude-desktop": "/Users/u/Library/Application Support/Claude/claude_desktop_config.json",
    vscode: "/Users/u/Library/Application Support/Code - Insiders/User/settings.json",
    opencode: "/Users/u/.config/opencode/opencode.jsonc",
  });
  expect(at("win32", "C:\\Users\\u")).toMatchObject({
    "claude-desktop": "C:\\Users\\u\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
    "claude-code": "C:\\Users\\u\\.claude.json",
    windsurf: "C:\\Users\\u\\.codeium\\windsurf\\mcp_config.json",
    opencode: "C:\\Users\\u\\.config\\opencode\\opencode.jsonc",
  });
});

test("P0: what a project's entry says about its folder means the same in the user's file, and stays in the project's", async () => {
  await using world = await ConfigWorld.open();
  const entry = { command: "${workspaceFolder}/bin/x", args: ["$${workspaceFolder}"], envFile: ".env", cwd: "sub" };
  const roots = ["file:///r", "docs", "~/r"];
  await world.write("home/work/project/.vscode/mcp.json", {
    servers: { v: { ...entry, roots }, w: { command: "w" }, x: { url: "https://x" } },
  });
  await world.write("home/.claude.json", {
    mcpServers: { user: { command: "u" } },
    projects: { "/p": { mcpServers: { inner: { command: "i", envFile: "${HOME}/e" } } } },
  });
  const { servers } = await findImports(world.options());
  const fixed = (isOfProject: boolean) =>
    Object.fromEntries(
      servers.map(
        (server) =>
          [server.id, withFixedPaths(server, { cwd: world.cwd, home: world.home, isOfProject }).entry] as const,
      ),
    );
  expect(fixed(false)).toEqual({
    v: {
      command: `${world.cwd}/bin/x`,
      args: ["$${workspaceFolder}"],
      envFile: join(world.cwd, ".env"),
      cwd: join(world.cwd, "sub"),
      roots: ["file:///r", join(world.cwd, "docs"), "~/r"],
    },
    w: { command: "w", cwd: world.cwd },
    x: { url: "https://x" },
    user: { command: "u" },
    inner: { command: "i", envFile: "${HOME}/e", cwd: "/p" },
  });
  expect(fixed(true)).toMatchObject({ v: entry, w: { command: "w" }, inner: { cwd: "/p" } });
});
