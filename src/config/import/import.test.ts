import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigWorld } from "../../../test/fixtures/config-world.ts";
import { findImports } from "./import.ts";
import { withFixedPaths } from "./import-paths.ts";
import { importPlaces } from "./import.ts";

test("P0: servers of other programs are found in their files, with their origin", async () => {
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
    "Not valid JSON at line 1, column 3: this is not a value; text needs double quotes",
  ]);
});

test("P0: inputs of VS Code and files of opencode are imported, and mean the same in another file", async () => {
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

test("P0: an endlessly nested file affects only its own servers", async () => {
  await using world = await ConfigWorld.open();
  const deep = `${"[".repeat(2_500)}${"]".repeat(2_500)}`;
  await world.write("home/work/project/.cursor/mcp.json", `{"mcpServers":{"g":{"command":"x","y":${deep}}}}`);
  await world.write("home/work/project/.vscode/mcp.json", { servers: { v: { command: "x" } } });
  const { servers, problems } = await findImports(world.options());
  expect(servers.map(({ id }) => id)).toEqual(["v"]);
  expect(problems.map(({ message }) => message)).toEqual([
    "The configuration file is nested too deeply, or has too many values: the limits are 100 levels and 200000 values",
  ]);
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

test("P0: paths of a project's entry mean the same in the user's file, and stay relative in the project's", async () => {
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

test("servers of Copilot, Qwen, Cline, Zed, Amp, Kilo, Continue, mcporter and NEXUS3 are found and understood", async () => {
  await using world = await ConfigWorld.open();
  await world.write("home/.copilot/mcp-config.json", {
    mcpServers: { co: { type: "local", command: "c", args: ["1"], tools: ["*"] } },
  });
  await world.write("home/.qwen/settings.json", { mcpServers: { q: { httpUrl: "https://q/" } } });
  await world.write("home/.cline/data/settings/cline_mcp_settings.json", {
    mcpServers: {
      nested: {
        transport: { type: "streamableHttp", url: "https://cl/", headers: { A: "b" } },
        timeout: 60,
        disabled: true,
        oauth: { tokens: { access_token: "never-copied" } },
        oauthClient: { clientSecret: "never-copied" },
      },
      flat: { command: "cl", transportType: "stdio", autoApprove: ["x"] },
    },
  });
  await world.write(
    "home/.config/zed/settings.json",
    `{ "theme": "One", // mine
      "context_servers": {
        "z": { "source": "custom", "command": "z", "args": ["1"], "timeout": 5 },
        "old": { "command": { "path": "o", "args": ["2"], "env": { "A": "b" } } },
      } }`,
  );
  await world.write("home/.config/amp/settings.json", {
    "amp.mcpServers": { am: { command: "a", env: { K: "${K}" }, includeTools: ["t"] } },
  });
  await world.write("home/.config/kilo/kilo.jsonc", {
    mcp: { ki: { type: "local", command: ["k"], environment: { A: "{env:A}" } } },
  });
  await world.write(
    "home/.continue/config.yaml",
    [
      "name: mine",
      "mcpServers:",
      "  - name: Db",
      "    command: d",
      "    env:",
      "      T: ${{ secrets.DB_TOKEN }}",
      "  - name: remote",
      "    type: streamable-http",
      "    url: https://r/",
      "    apiKey: ${{ secrets.KEY }}",
      "    requestOptions:",
      "      headers: { X: y }",
      "    connectionTimeout: 9000",
      "",
    ].join("\n"),
  );
  await world.write("home/.continue/mcpServers/more.json", { mcpServers: { more: { command: "m" } } });
  await world.write("home/.mcporter/mcporter.json", {
    mcpServers: {
      li: { baseUrl: "https://l/", headers: { A: "$env:L_KEY" }, tokenCacheDir: "/t" },
      tok: { base_url: "https://t/", bearerTokenEnv: "T_KEY" },
      line: { command: `npx -y --root="/a b" c` },
    },
  });
  await world.write("home/.nexus3/mcp.json", { servers: [{ name: "n3", command: ["n", "3"], enabled: true }] });
  await world.write("home/work/project/.github/mcp.json", {
    mcpServers: { shared: { type: "http", url: "https://s/" } },
  });
  await world.write("home/work/project/.kilocode/mcp.json", { mcpServers: { ko: { command: "ko" } } });
  await world.write("home/work/project/.continue/mcpServers/a.yaml", "mcpServers:\n  - name: cp\n    command: cp\n");

  const { servers, problems } = await findImports(world.options());
  expect(problems).toEqual([]);
  expect(servers.map(({ client, scope, name, entry }) => [client, scope, name, entry])).toEqual([
    ["copilot", "user", "co", { command: "c", args: ["1"] }],
    ["qwen", "user", "q", { url: "https://q/" }],
    [
      "cline",
      "user",
      "nested",
      { type: "http", url: "https://cl/", headers: { A: "b" }, timeout: 60_000, disabled: true },
    ],
    ["cline", "user", "flat", { command: "cl", type: "stdio", autoApprove: ["x"] }],
    ["zed", "user", "z", { command: "z", args: ["1"], timeout: 5000, source: "custom" }],
    ["zed", "user", "old", { command: "o", args: ["2"], env: { A: "b" } }],
    ["amp", "user", "am", { command: "a", env: { K: "${K}" }, tools: { allow: ["t"] } }],
    ["kilo", "user", "ki", { command: ["k"], env: { A: "${env:A}" } }],
    ["continue", "user", "Db", { name: "Db", command: "d", env: { T: "${DB_TOKEN}" } }],
    [
      "continue",
      "user",
      "remote",
      {
        name: "remote",
        type: "http",
        url: "https://r/",
        connection_timeout: 9000,
        headers: { Authorization: "Bearer ${KEY}", X: "y" },
      },
    ],
    ["continue", "user", "more", { command: "m" }],
    ["mcporter", "user", "li", { url: "https://l/", headers: { A: "${L_KEY}" } }],
    ["mcporter", "user", "tok", { url: "https://t/", headers: { Authorization: "Bearer ${T_KEY}" } }],
    ["mcporter", "user", "line", { command: ["npx", "-y", "--root=/a b", "c"] }],
    ["nexus3", "user", "n3", { name: "n3", command: ["n", "3"], enabled: true }],
    ["copilot", "project", "shared", { type: "http", url: "https://s/" }],
    ["kilo", "project", "ko", { command: "ko" }],
    ["continue", "project", "cp", { name: "cp", command: "cp" }],
  ]);
});

test.for(["gemini", "qwen"])(
  "a variable of %s without braces is a variable after the import, and an escaped one is text",
  async (client) => {
    await using world = await ConfigWorld.open();
    await world.write(`home/.${client}/settings.json`, {
      mcpServers: {
        g: {
          command: "$TOOLS/run",
          args: ["--key=$KEY", "${BRACES}", "costs 5$", "$$LITERAL"],
          env: { A: "$API_KEY" },
        },
      },
    });
    const { servers } = await findImports(world.options());
    expect(servers.map(({ entry }) => entry)).toEqual([
      {
        command: "${TOOLS}/run",
        args: ["--key=${KEY}", "${BRACES}", "costs 5$", "$$LITERAL"],
        env: { A: "${API_KEY}" },
      },
    ]);
  },
);

test("relative paths of a user's file become absolute, from where that program would look", async () => {
  await using world = await ConfigWorld.open();
  const entry = { command: "x", cwd: "sub", envFile: ".env" };
  await world.write("home/.config/Code/User/mcp.json", { servers: { code: entry } });
  await world.write("home/.qwen/settings.json", { mcpServers: { terminal: entry } });
  const { servers } = await findImports(world.options());
  const { cwd, home } = world;
  const fixed = servers.map((server) => withFixedPaths(server, { cwd, home, isOfProject: false }).entry);
  expect(fixed).toEqual([
    // VS Code starts servers of the user at home.
    { command: "x", cwd: join(home, "sub"), envFile: join(home, ".env") },
    // A program of the terminal looks where it is started; ~/.nexus/sub and ~/.nexus/.env were never meant.
    { command: "x", cwd: "${workspaceFolder}/sub", envFile: join(home, ".env") },
  ]);
});

test("an explicitly named file is read with any name, and its paths are relative to its folder", async () => {
  await using world = await ConfigWorld.open();
  const { cwd, home } = world;
  const relative = { command: "node", args: ["server.js", "${workspaceFolder}/data"], envFile: ".env" };
  const file = await world.write("home/other/.vscode/mcp.json", {
    servers: { one: relative, two: { command: "npx", args: ["-y", "two"] } },
  });
  const { servers } = await findImports(world.options(), { client: "file", file, scope: "user" });
  const fixed = servers.map((server) => withFixedPaths(server, { cwd, home, isOfProject: false }).entry);
  const folder = join(home, "other");
  expect(fixed).toEqual([
    {
      command: "node",
      args: ["server.js", `${folder}/data`],
      envFile: join(folder, ".env"),
      cwd: folder,
    },
    { command: "npx", args: ["-y", "two"] },
  ]);

  const gemini = await world.write("home/saved", { mcpServers: { g: { command: "x", args: ["$A"] } } });
  const place = { file: gemini, scope: "user" } as const;
  const plain = await findImports(world.options(), { ...place, client: "file" });
  const known = await findImports(world.options(), { ...place, client: "gemini" });
  expect(plain.servers[0]?.entry.args).toEqual(["$A"]);
  expect(known.servers[0]?.entry.args).toEqual(["${A}"]);
  await expect(findImports(world.options(), { ...place, file: join(home, "none"), client: "file" })).rejects.toThrow(
    "does not exist",
  );
});
