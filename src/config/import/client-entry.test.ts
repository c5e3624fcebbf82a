import { expect, test } from "vitest";
import type { ServerEntry } from "../../transport/server-entry.ts";
import { entryForClient } from "./client-entry.ts";
import { clientFiles } from "./client-file.ts";
import { INSTALL_CLIENTS, type ClientId } from "./clients.ts";

const LOCAL: ServerEntry = { command: "node", args: ["a.js", "-x"], env: { MODE: "dev" } };
const REMOTE: ServerEntry = { url: "https://example.com/mcp", headers: { "X-Team": "blue" } };

const args = ["a.js", "-x"];
const env = { MODE: "dev" };
const url = "https://example.com/mcp";
const headers = { "X-Team": "blue" };

/** How each program writes a server that it starts, and one that it reaches. */
const SHAPES: Record<string, [local: object, remote: object | string]> = {
  "claude-code": [
    { type: "stdio", command: "node", args, env },
    { type: "http", url, headers },
  ],
  "claude-desktop": [{ command: "node", args, env }, "Claude Desktop does not support a server at a URL"],
  codex: [
    { command: "node", args, env },
    { url, http_headers: headers },
  ],
  opencode: [
    { type: "local", command: ["node", ...args], environment: env, enabled: true },
    { type: "remote", url, headers, enabled: true },
  ],
  gemini: [
    { command: "node", args, env },
    { httpUrl: url, headers },
  ],
  vscode: [
    { type: "stdio", command: "node", args, env },
    { type: "http", url, headers },
  ],
  cursor: [
    { command: "node", args, env },
    { url, headers },
  ],
  windsurf: [
    { command: "node", args, env },
    { serverUrl: url, headers },
  ],
  copilot: [
    { type: "local", command: "node", args, env, tools: ["*"] },
    { type: "http", url, headers, tools: ["*"] },
  ],
  qwen: [
    { command: "node", args, env },
    { httpUrl: url, headers },
  ],
  cline: [
    { type: "stdio", command: "node", args, env },
    { type: "streamableHttp", url, headers },
  ],
  zed: [
    { command: "node", args, env },
    { url, headers },
  ],
};

test("every program into which Nexus can be installed has its format here", () => {
  expect(Object.keys(SHAPES).sort()).toEqual([...INSTALL_CLIENTS].sort());
});

test.for(INSTALL_CLIENTS)("entries are written in the words of %s", (client) => {
  const [local, remote] = SHAPES[client] ?? [];
  expect(entryForClient(client, LOCAL).value).toEqual(local);
  if (typeof remote === "string") expect(() => entryForClient(client, REMOTE)).toThrow(remote);
  else expect(entryForClient(client, REMOTE).value).toEqual(remote);
});

test.for<[ClientId, string]>([
  ["claude-code", "${KEY}"],
  ["gemini", "${KEY}"],
  ["qwen", "${KEY}"],
  ["copilot", "${KEY}"],
  ["opencode", "{env:KEY}"],
  ["vscode", "${env:KEY}"],
  ["cursor", "${env:KEY}"],
  ["windsurf", "${env:KEY}"],
  ["cline", "${env:KEY}"],
])("a variable is written as %s fills it in: %s", ([client, written]) => {
  const entry = { command: "x", args: ["--k=${KEY}"], env: { A: "${env:KEY}" }, env_passthrough: ["KEY"] };
  const value = entryForClient(client, entry).value;
  expect([value["command"], value["args"]].flat()).toContain(`--k=${written}`);
  expect(value["env"] ?? value["environment"]).toEqual({ A: written, KEY: written });
});

test("Codex gets names of variables where it has keys for them, and no variable that it would not resolve", () => {
  const local = { command: "x", env: { KEY: "${KEY}", MODE: "dev" }, env_passthrough: ["OTHER"], cwd: "/srv" };
  expect(entryForClient("codex", local).value).toEqual({
    command: "x",
    cwd: "/srv",
    env: { MODE: "dev" },
    env_vars: ["KEY", "OTHER"],
  });
  const remote = { url, headers: { Authorization: "Bearer ${TOKEN}", "X-Key": "${KEY}", "X-Team": "blue" } };
  expect(entryForClient("codex", remote).value).toEqual({
    url,
    bearer_token_env_var: "TOKEN",
    env_http_headers: { "X-Key": "KEY" },
    http_headers: { "X-Team": "blue" },
  });
  for (const text of ["${OTHER}", "a-${KEY}"]) {
    expect(() => entryForClient("codex", { command: "x", env: { KEY: text } })).toThrow(
      "Codex does not support variables",
    );
  }
});

test.for<[string, ClientId, object, string]>([
  [
    "a secret",
    "cursor",
    { command: "x", env: { A: "${secret:gh}" } },
    `it uses the secret "gh", which only Nexus knows`,
  ],
  ["a question", "vscode", { command: "x", args: ["${input:t}"] }, `it asks for "t" at the start`],
  ["a file", "opencode", { command: "x", args: ["${file:t}"] }, "it reads a value from the file t"],
  ["a default", "cursor", { command: "x", args: ["${A:-b}"] }, "Cursor does not support defaults of variables"],
  ["a variable", "zed", { command: "x", args: ["${A}"] }, "Zed does not support variables"],
  ["a folder", "gemini", { command: "x", args: ["${workspaceFolder}"] }, "Gemini CLI does not support"],
  ["a folder to run in", "cursor", { command: "x", cwd: "/srv" }, "Cursor does not support a working folder"],
  ["a file of variables", "codex", { command: "x", envFile: "/e" }, `Codex does not support "envFile"`],
  ["HTTP+SSE", "codex", { url, type: "sse" }, "Codex does not support a server over HTTP+SSE"],
  [
    "hidden tools",
    "cursor",
    { command: "x", tools: { deny: ["a"] } },
    "Cursor does not support a list of tools to deny",
  ],
  ["a tool file", "cursor", { api: "a.nexus.yaml" }, "it is a tool file"],
  ["text that looks like a variable", "gemini", { command: "x", args: ["$A"] }, "would treat plain text"],
  ["text that looks like a variable", "opencode", { command: "x", args: ["{env:A}"] }, "would treat plain"],
  ["an escaped variable", "cursor", { command: "x", args: ["$${A}"] }, "would treat plain text as a variable"],
])("what a program could only have as something else is refused: %s, %s", ([, client, entry, reason]) => {
  expect(() => entryForClient(client, entry as ServerEntry)).toThrow(reason);
});

test("tool lists and folders are kept if a program supports them; dropped timeouts are named", () => {
  const tools = { allow: ["a"], deny: ["b"] };
  const entry = { command: "x", cwd: "/srv", tools, timeout: "30s", roots: ["/r"], prefix: "g" } as ServerEntry;
  expect(entryForClient("gemini", entry)).toEqual({
    value: { command: "x", cwd: "/srv", includeTools: ["a"], excludeTools: ["b"] },
    leftOut: ["timeout", "roots", "prefix"],
  });
  expect(entryForClient("copilot", { command: "x", tools: { allow: ["a"] } } as ServerEntry).value["tools"]).toEqual([
    "a",
  ]);
  expect(entryForClient("claude-code", { command: "x", args: ["${A:-b}"] }).value["args"]).toEqual(["${A:-b}"]);
  expect(entryForClient("vscode", { command: "x", args: ["${workspaceFolder}/a"] }).value["args"]).toEqual([
    "${workspaceFolder}/a",
  ]);
  expect(entryForClient("gemini", { url, type: "sse" }).value).toEqual({ url });
});

const WINDOWS = { APPDATA: "C:\\Users\\u\\AppData\\Roaming" };

test.for<[ClientId, string, string, string]>([
  ["claude-code", "/h/.claude.json", "/h/.claude.json", "C:\\Users\\u\\.claude.json"],
  [
    "claude-desktop",
    "/h/.config/Claude/claude_desktop_config.json",
    "/h/Library/Application Support/Claude/claude_desktop_config.json",
    "C:\\Users\\u\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
  ],
  ["codex", "/h/.codex/config.toml", "/h/.codex/config.toml", "C:\\Users\\u\\.codex\\config.toml"],
  [
    "opencode",
    "/h/.config/opencode/opencode.json",
    "/h/.config/opencode/opencode.json",
    "C:\\Users\\u\\.config\\opencode\\opencode.json",
  ],
  ["gemini", "/h/.gemini/settings.json", "/h/.gemini/settings.json", "C:\\Users\\u\\.gemini\\settings.json"],
  [
    "vscode",
    "/h/.config/Code/User/mcp.json",
    "/h/Library/Application Support/Code/User/mcp.json",
    "C:\\Users\\u\\AppData\\Roaming\\Code\\User\\mcp.json",
  ],
  ["cursor", "/h/.cursor/mcp.json", "/h/.cursor/mcp.json", "C:\\Users\\u\\.cursor\\mcp.json"],
  [
    "windsurf",
    "/h/.codeium/windsurf/mcp_config.json",
    "/h/.codeium/windsurf/mcp_config.json",
    "C:\\Users\\u\\.codeium\\windsurf\\mcp_config.json",
  ],
  ["copilot", "/h/.copilot/mcp-config.json", "/h/.copilot/mcp-config.json", "C:\\Users\\u\\.copilot\\mcp-config.json"],
  ["qwen", "/h/.qwen/settings.json", "/h/.qwen/settings.json", "C:\\Users\\u\\.qwen\\settings.json"],
  [
    "cline",
    "/h/.cline/data/settings/cline_mcp_settings.json",
    "/h/.cline/data/settings/cline_mcp_settings.json",
    "C:\\Users\\u\\.cline\\data\\settings\\cline_mcp_settings.json",
  ],
  [
    "zed",
    "/h/.config/zed/settings.json",
    "/h/.config/zed/settings.json",
    "C:\\Users\\u\\AppData\\Roaming\\Zed\\settings.json",
  ],
])("the file of %s is where it looks for it on Linux, macOS and Windows", ([client, linux, macos, windows]) => {
  const at = (platform: NodeJS.Platform, home: string, variables = {}) =>
    clientFiles(client, "user", { cwd: home, home, platform, variables })[0];
  expect(at("linux", "/h")).toBe(linux);
  expect(at("darwin", "/h")).toBe(macos);
  expect(at("win32", "C:\\Users\\u", WINDOWS)).toBe(windows);
});

test("variables that move a program's folder are used, unless they are relative", () => {
  const at = (client: ClientId, variables: Record<string, string>) =>
    clientFiles(client, "user", { cwd: "/c", home: "/h", platform: "linux", variables })[0];
  expect(at("codex", { CODEX_HOME: "/x" })).toBe("/x/config.toml");
  expect(at("codex", { CODEX_HOME: "x" })).toBe("/h/.codex/config.toml");
  expect(at("claude-code", { CLAUDE_CONFIG_DIR: "/x" })).toBe("/x/.claude.json");
  expect(at("zed", { XDG_CONFIG_HOME: "/x" })).toBe("/x/zed/settings.json");
  expect(at("cline", { CLINE_MCP_SETTINGS_PATH: "/x/y.json" })).toBe("/x/y.json");
});

test.each<[client: ClientId, oauth: ServerEntry["oauth"], written: object, leftOut: string[]]>([
  [
    "claude-code",
    { clientId: "a", scopes: ["x", "y"], callbackPort: 3118 },
    { oauth: { clientId: "a", scopes: "x y", callbackPort: 3118 } },
    [],
  ],
  ["claude-code", { clientId: "a", clientSecret: "${S}" }, { oauth: { clientId: "a" } }, ["oauth.clientSecret"]],
  [
    "cursor",
    { clientId: "a", clientSecret: "${S}", scopes: ["x"] },
    { auth: { CLIENT_ID: "a", CLIENT_SECRET: "${env:S}", scopes: ["x"] } },
    [],
  ],
  ["vscode", { clientId: "a", dpop: true }, { oauth: { clientId: "a" } }, ["oauth.dpop"]],
  [
    "gemini",
    { clientId: "a", redirectUrl: "http://127.0.0.1:1/" },
    { oauth: { enabled: true, clientId: "a", redirectUri: "http://127.0.0.1:1/" } },
    [],
  ],
  ["opencode", false, { oauth: false }, []],
  ["opencode", { scopes: ["x", "y"] }, { oauth: { scope: "x y" } }, []],
  ["windsurf", { clientId: "a" }, {}, ["oauth.clientId"]],
  ["windsurf", false, {}, ["oauth"]],
  ["windsurf", true, {}, []],
])("the settings of a login are written for %s: %j", (client, oauth, written, leftOut) => {
  const { value, leftOut: left } = entryForClient(client, { url, oauth });
  expect(value).toMatchObject(written);
  expect("oauth" in value || "auth" in value).toBe(Object.keys(written).length > 0);
  expect(left).toEqual(leftOut);
});
