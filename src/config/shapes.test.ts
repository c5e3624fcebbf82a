import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigWorld } from "../../test/fixtures/config-world.ts";

const STDIO = { kind: "stdio", command: "node", args: ["a.js"] };

test.for([
  ["mcpServers", { mcpServers: { a: { command: "node", args: ["a.js"] } } }],
  ["a command with its arguments in one list", { mcpServers: { a: { command: ["node", "a.js"] } } }],
  ["servers as an object", { servers: { a: { command: "node", args: ["a.js"] } } }],
  ["servers as a list with ids", { servers: [{ id: "a", command: "node", args: ["a.js"] }] }],
  ["servers as a list with names", { servers: [{ name: "a", command: ["node", "a.js"] }] }],
  ["VS Code's settings", { "editor.tabSize": 2, mcp: { servers: { a: { command: "node", args: ["a.js"] } } } }],
  ["opencode", { mcp: { a: { type: "local", command: ["node", "a.js"], enabled: true } } }],
] as const)("P0: reads %s", async ([, content]) => {
  await using world = await ConfigWorld.open();
  const { servers, warnings, files } = await world.loadText("mcp.json", content);
  expect(warnings).toEqual([]);
  expect(files[0]?.problem).toBeUndefined();
  expect(servers).toMatchObject([{ id: "a", enabled: true, autoStart: true, trusted: true, entry: { reach: STDIO } }]);
});

test("N12: reads the YAML form, with durations, variables, comments and servers that wait for their first use", async () => {
  await using world = await ConfigWorld.open();
  const yaml = `
# nexus.yaml
mcp:
  enabled: true
  servers:
    - id: github
      name: GitHub MCP Server
      transport: stdio
      command: npx
      args: ["-y", "server-github"]
      env:
        GITHUB_TOKEN: \${GITHUB_TOKEN}
      auto_start: true
      timeout: 30s
    - id: custom
      transport: http
      url: http://localhost:3000/mcp
      headers:
        Authorization: Bearer \${MCP_TOKEN}
`;
  const { servers } = await world.loadText("nexus.yaml", yaml, { variables: { GITHUB_TOKEN: "g", MCP_TOKEN: "m" } });
  expect(servers).toMatchObject([
    { id: "custom", autoStart: false, entry: { reach: { kind: "http", headers: { Authorization: "Bearer m" } } } },
    {
      id: "github",
      name: "GitHub MCP Server",
      autoStart: true,
      origin: { line: 6, column: 7, layer: "explicit" },
      entry: { timeoutMs: 30_000, reach: { args: ["-y", "server-github"], env: { GITHUB_TOKEN: "g" } } },
    },
  ]);
});

test("N12: mcp.enabled false disables all of its servers", async () => {
  await using world = await ConfigWorld.open();
  const { servers } = await world.loadText(
    "nexus.yaml",
    "mcp:\n  enabled: false\n  servers:\n    - {id: a, command: x}",
  );
  expect(servers).toMatchObject([{ id: "a", enabled: false }]);
});

test("N12: anchors and merged maps of YAML are followed; exponential ones are refused", async () => {
  await using world = await ConfigWorld.open();
  const merged = `base: &base {command: node, timeout: 5s}\nservers:\n  a:\n    <<: *base\n    args: [a.js]\n    timeout: 6s\n`;
  const { servers } = await world.loadText("a.yaml", merged);
  expect(servers).toMatchObject([{ entry: { timeoutMs: 6_000, reach: STDIO } }]);

  const levels = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(",")}]`);
  const { files } = await world.loadText("b.yaml", ["l0: &l0 x", ...levels].join("\n"));
  expect(files[0]?.problem?.code).toBe("CONFIG_INVALID");
});

test("P0: reads Codex's TOML with its seconds and its names of variables", async () => {
  await using world = await ConfigWorld.open();
  const toml = `model = "x"

[mcp_servers.docs]
command = "node"
args = ["a.js"]
startup_timeout_sec = 20
tool_timeout_sec = 45
enabled_tools = ["search"]

[mcp_servers.docs.env]
A = "1"

[mcp_servers."remote one"]
url = "https://example.com/mcp"
bearer_token_env_var = "TOKEN"
enabled = false
`;
  const { servers, warnings } = await world.loadText("config.toml", toml, { variables: { TOKEN: "t" } });
  expect(warnings).toEqual([]);
  expect(servers).toMatchObject([
    {
      id: "docs",
      origin: { line: 3, column: 1 },
      tools: { allow: ["search"] },
      entry: { connectTimeoutMs: 20_000, timeoutMs: 45_000, reach: { ...STDIO, env: { A: "1" } } },
    },
    {
      id: "remote-one",
      name: "remote one",
      origin: { line: 13 },
      enabled: false,
      entry: { reach: { headers: { Authorization: "Bearer t" } } },
    },
  ]);
});

test("P0: reads opencode's remote servers, environment and {env:NAME}", async () => {
  await using world = await ConfigWorld.open();
  const { servers } = await world.loadText(
    "opencode.jsonc",
    {
      mcp: {
        far: { type: "remote", url: "https://example.com/mcp", headers: { A: "Bearer {env:T}" }, timeout: 7000 },
        near: { type: "local", command: ["node", "a.js"], environment: { B: "{env:T}" }, enabled: false },
      },
    },
    { variables: { T: "t" } },
  );
  expect(servers).toMatchObject([
    { id: "far", entry: { connectTimeoutMs: 7000, reach: { kind: "http", headers: { A: "Bearer t" } } } },
    { id: "near", enabled: false, entry: { reach: { ...STDIO, env: { B: "t" } } } },
  ]);
});

test("P0: JSON may have comments, trailing commas, a byte order mark, and be UTF-16", async () => {
  await using world = await ConfigWorld.open();
  const text = `// servers\n{ "mcpServers": { /* one */ "a": { "command": "node", }, }, }`;
  expect((await world.loadText("a.json", `\uFEFF${text}`)).servers).toMatchObject([{ id: "a" }]);
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]);
  const file = await world.write("b.json", "");
  await writeFile(file, utf16);
  expect((await world.load({ explicit: file })).servers).toMatchObject([{ id: "a", origin: { line: 2 } }]);
});

test("an empty file configures nothing and is not an error", async () => {
  await using world = await ConfigWorld.open();
  for (const name of ["a.json", "a.yaml", "a.toml"]) {
    const { servers, warnings, files } = await world.loadText(name, "\n");
    expect({ servers, warnings, problem: files[0]?.problem }).toEqual({
      servers: [],
      warnings: [],
      problem: undefined,
    });
  }
});

test("other programs' spellings are understood: disabled, serverUrl, streamable-http, lists of tools", async () => {
  await using world = await ConfigWorld.open();
  const { servers, warnings } = await world.loadText("mcp.json", {
    mcpServers: {
      a: { command: "x", disabled: true, alwaysAllow: ["y"], tools: ["*"] },
      b: { serverUrl: "https://example.com/sse", excludeTools: ["rm"] },
      c: { type: "streamable-http", url: "https://example.com/mcp", auto_start: false, isolation: "shared" },
    },
  });
  expect(warnings).toEqual([]);
  expect(servers).toMatchObject([
    { id: "a", enabled: false, tools: {}, extra: { alwaysAllow: ["y"] } },
    { id: "b", tools: { deny: ["rm"] }, entry: { reach: { kind: "http" } } },
    { id: "c", autoStart: false, isolation: "shared", entry: { reach: { kind: "http" } } },
  ]);
  expect(servers.map(({ problem }) => problem)).toEqual([undefined, undefined, undefined]);
});

test("the settings of a login are read as other programs write them, with variables and paths of the file", async () => {
  await using world = await ConfigWorld.open();
  const url = "https://example.com/mcp";
  const content = {
    mcpServers: {
      cursor: { url, auth: { CLIENT_ID: "a", CLIENT_SECRET: "${SECRET}", scopes: ["x"] } },
      codex: { url, scopes: ["x", "y"] },
      own: { url, oauth: { grant: "jwt_bearer", assertionFile: "token.jwt" } },
      mcporter: { url, auth: "oauth" },
      wrong: { url, oauth: { clientSecret: 5 } },
    },
  };
  const variables = { SECRET: "never-shown" };
  const { servers, warnings } = await world.loadText("mcp.json", content, { variables });
  const oauth = servers.map(({ id, entry }) => [id, entry?.reach.kind === "http" ? entry.reach.oauth : "invalid"]);
  expect(Object.fromEntries(oauth)).toEqual({
    cursor: { clientId: "a", clientSecret: "never-shown", scopes: ["x"] },
    codex: { scopes: ["x", "y"] },
    own: { grant: "jwt_bearer", assertionFile: join(world.root, "token.jwt") },
    mcporter: undefined,
    wrong: "invalid",
  });
  expect(servers.find(({ id }) => id === "wrong")?.problem).toMatchObject({
    message: `Server "wrong": "oauth.clientSecret" must be text, not a number`,
    details: { source: { file: expect.stringMatching(/mcp\.json$/) as string, line: expect.any(Number) as number } },
  });
  expect(warnings).toEqual([]);
});
