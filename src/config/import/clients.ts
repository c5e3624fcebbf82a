import { isAbsolutePath } from "../../files/paths.ts";
import { userFolders } from "../../files/user-folders.ts";
import { pathOf, type ConfigContext } from "../read/places.ts";

/** What is known of another program that uses MCP servers: where its files are, and how it writes an entry. */
export interface ClientFacts {
  /** As people know it. */
  title: string;
  /** Files of the user. An entry is written to the first that exists, or else to the first. */
  user: (at: ClientFolders) => readonly string[];
  /** Files of a project, relative to its folder, in the same order. */
  project: readonly string[];
  /** Further places that are read but never written; one that ends in a slash is a folder of files. */
  alsoRead?: { user?: (at: ClientFolders) => readonly string[]; project?: readonly string[] };
  /** Where entries are in a file. */
  section: readonly string[];
  /** How an entry is written; absent for programs that servers are only imported from. */
  shape?: EntryShape;
  /** What its words mean that Nexus understands differently. */
  dialect?: ClientDialect;
}

interface ClientFolders {
  /** A path below the home folder. */
  home: (...parts: string[]) => string;
  /** Below the settings of desktop programs. */
  applications: (...parts: string[]) => string;
  /** Below XDG_CONFIG_HOME, for programs that follow it on every platform. */
  xdg: (...parts: string[]) => string;
  /** Below a folder that a variable names, or else below another one. */
  named: (variable: string, fallback: string, ...parts: string[]) => string;
  platform: NodeJS.Platform;
}

export interface EntryShape {
  /** What "type" is for each way to reach a server; absent: it is not written. */
  type?: Readonly<Partial<Record<"stdio" | "http" | "sse", string>>>;
  /** The key of an address; a transport without one cannot be used. */
  url: Readonly<Partial<Record<"http" | "sse", string>>>;
  /** Command and arguments are one list. */
  isList?: true;
  env?: string;
  headers?: string;
  hasCwd?: true;
  hasEnvFile?: true;
  /** How a variable of the environment is written; absent: variables are not filled in. */
  variable?: (name: string) => string;
  /** `${NAME:-default}` is understood. */
  hasDefaults?: true;
  /** `${workspaceFolder}` and `${userHome}` are understood. */
  hasFolders?: true;
  /** Keys that name variables instead: those of the child, the bearer token, further headers. */
  passed?: { env: string; token: string; headers: string };
  /** Keys of the lists of tools that are offered and hidden. */
  tools?: { allow?: string; deny?: string };
  /** Members that every entry has. */
  always?: Readonly<Record<string, unknown>>;
}

interface ClientDialect {
  /** How else a variable is written; the first group is its name. */
  variables?: RegExp;
  /** `timeout` is a number of seconds. */
  countsSeconds?: true;
  /** Relative paths in the user's files start in the home folder; otherwise in the one that the program is started in. */
  startsAtHome?: true;
  /** A command without "args" is a whole line. */
  hasCommandLines?: true;
  /** Keys under names that mean something else, or nothing, elsewhere. */
  renamed?: Readonly<Record<string, string>>;
  /** Keys that hold state of the program itself, such as tokens. */
  dropped?: readonly string[];
}

const braces = (name: string) => `\${${name}}`;
const envBraces = (name: string) => `\${env:${name}}`;

const COMMON: EntryShape = { url: { http: "url", sse: "url" }, variable: braces };

const BARE_VARIABLE = /(?<!\$)\$([A-Za-z_]\w*)/g;

/** Gemini CLI, and Qwen Code, which was made of it. */
const GEMINI: EntryShape = {
  url: { http: "httpUrl", sse: "url" },
  hasCwd: true,
  variable: braces,
  tools: { allow: "includeTools", deny: "excludeTools" },
};

const OPENCODE: EntryShape = {
  type: { stdio: "local", http: "remote", sse: "remote" },
  url: { http: "url", sse: "url" },
  isList: true,
  env: "environment",
  variable: (name) => `{env:${name}}`,
  always: { enabled: true },
};

/** In the order in which servers of the same name are preferred. */
const FACTS = {
  "claude-desktop": {
    title: "Claude Desktop",
    user: ({ applications }) => [applications("Claude", "claude_desktop_config.json")],
    project: [],
    section: ["mcpServers"],
    // It starts its servers itself; those elsewhere are added in its settings, not in the file.
    shape: { url: {} },
  },
  "claude-code": {
    title: "Claude Code",
    user: ({ named, home }) => [named("CLAUDE_CONFIG_DIR", home(), ".claude.json")],
    project: [".mcp.json"],
    section: ["mcpServers"],
    shape: { ...COMMON, type: { stdio: "stdio", http: "http", sse: "sse" }, hasDefaults: true },
  },
  cursor: {
    title: "Cursor",
    user: ({ home }) => [home(".cursor", "mcp.json")],
    project: [".cursor/mcp.json"],
    section: ["mcpServers"],
    shape: { ...COMMON, hasEnvFile: true, hasFolders: true, variable: envBraces },
    dialect: { startsAtHome: true },
  },
  vscode: {
    title: "VS Code",
    user: ({ applications }) => EDITORS.map((editor) => applications(editor, "User", "mcp.json")),
    project: [".vscode/mcp.json"],
    alsoRead: {
      user: ({ applications }) => EDITORS.map((editor) => applications(editor, "User", "settings.json")),
      project: [".vscode/settings.json"],
    },
    section: ["servers"],
    shape: {
      ...COMMON,
      type: { stdio: "stdio", http: "http", sse: "sse" },
      hasCwd: true,
      hasEnvFile: true,
      hasFolders: true,
      variable: envBraces,
    },
    dialect: { startsAtHome: true },
  },
  windsurf: {
    title: "Windsurf",
    user: ({ home }) => [home(".codeium", "windsurf", "mcp_config.json")],
    project: [],
    section: ["mcpServers"],
    shape: { url: { http: "serverUrl", sse: "serverUrl" }, variable: envBraces },
  },
  codex: {
    title: "Codex",
    user: ({ named, home }) => [named("CODEX_HOME", home(".codex"), "config.toml")],
    project: [".codex/config.toml"],
    section: ["mcp_servers"],
    shape: {
      url: { http: "url" },
      headers: "http_headers",
      hasCwd: true,
      passed: { env: "env_vars", token: "bearer_token_env_var", headers: "env_http_headers" },
      tools: { allow: "enabled_tools", deny: "disabled_tools" },
    },
  },
  opencode: {
    title: "opencode",
    user: ({ xdg }) => ["opencode.json", "opencode.jsonc"].map((name) => xdg("opencode", name)),
    project: ["opencode.json", "opencode.jsonc"],
    section: ["mcp"],
    shape: OPENCODE,
  },
  gemini: {
    title: "Gemini CLI",
    user: ({ named, home }) => [named("GEMINI_CLI_HOME", home(), ".gemini", "settings.json")],
    project: [".gemini/settings.json"],
    section: ["mcpServers"],
    shape: GEMINI,
    dialect: { variables: BARE_VARIABLE },
  },
  copilot: {
    title: "Copilot CLI",
    user: ({ named, home }) => [named("COPILOT_HOME", home(".copilot"), "mcp-config.json")],
    // It reads .mcp.json, too, which is a file of Claude Code and of Nexus.
    project: [".github/mcp.json"],
    section: ["mcpServers"],
    shape: {
      ...COMMON,
      type: { stdio: "local", http: "http", sse: "sse" },
      hasCwd: true,
      tools: { allow: "tools" },
      always: { tools: ["*"] },
    },
  },
  qwen: {
    title: "Qwen Code",
    user: ({ named, home }) => [named("QWEN_HOME", home(".qwen"), "settings.json")],
    project: [".qwen/settings.json"],
    section: ["mcpServers"],
    shape: GEMINI,
    dialect: { variables: BARE_VARIABLE },
  },
  cline: {
    title: "Cline",
    user: ({ named, home, applications }) => {
      const data = named("CLINE_DATA_DIR", home(".cline", "data"));
      const file = "settings/cline_mcp_settings.json";
      return [
        named("CLINE_MCP_SETTINGS_PATH", `${data}/${file}`),
        // Of older versions, which know no other.
        ...EDITORS.map((editor) => applications(editor, ...EXTENSION, "saoudrizwan.claude-dev", file)),
      ];
    },
    project: [],
    section: ["mcpServers"],
    shape: {
      ...COMMON,
      type: { stdio: "stdio", http: "streamableHttp", sse: "sse" },
      hasCwd: true,
      variable: envBraces,
    },
    dialect: { countsSeconds: true, dropped: ["oauth", "oauthClient"] },
  },
  zed: {
    title: "Zed",
    user: ({ platform, applications, home, xdg }) => [
      platform === "win32"
        ? applications("Zed", "settings.json")
        : platform === "darwin"
          ? home(".config", "zed", "settings.json")
          : xdg("zed", "settings.json"),
    ],
    project: [".zed/settings.json"],
    section: ["context_servers"],
    shape: { url: { http: "url" } },
    dialect: { countsSeconds: true },
  },
  amp: {
    title: "Amp",
    user: ({ xdg }) => ["settings.json", "settings.jsonc"].map((name) => xdg("amp", name)),
    project: [".amp/settings.json", ".amp/settings.jsonc"],
    section: ["amp.mcpServers"],
  },
  kilo: {
    title: "Kilo Code",
    user: ({ xdg }) => ["kilo.json", "kilo.jsonc"].map((name) => xdg("kilo", name)),
    project: ["kilo.json", "kilo.jsonc", ".kilo/kilo.json", ".kilo/kilo.jsonc"],
    alsoRead: {
      user: ({ applications }) =>
        EDITORS.map((editor) =>
          applications(editor, ...EXTENSION, "kilocode.kilo-code", "settings", "mcp_settings.json"),
        ),
      project: [".kilocode/mcp.json"],
    },
    section: ["mcp"],
  },
  continue: {
    title: "Continue",
    user: ({ named, home }) => [named("CONTINUE_GLOBAL_DIR", home(".continue"), "config.yaml")],
    project: [],
    alsoRead: {
      user: ({ named, home }) => [`${named("CONTINUE_GLOBAL_DIR", home(".continue"), "mcpServers")}/`],
      project: [".continue/mcpServers/"],
    },
    section: ["mcpServers"],
    dialect: {
      variables: /\$\{\{\s*(?:secrets|inputs)\.([A-Za-z_]\w*)\s*\}\}/g,
      renamed: { apiKey: "bearerToken" },
    },
  },
  mcporter: {
    title: "mcporter",
    user: ({ home }) => ["mcporter.json", "mcporter.jsonc"].map((name) => home(".mcporter", name)),
    project: ["config/mcporter.json"],
    section: ["mcpServers"],
    dialect: {
      variables: /\$env:([A-Za-z_]\w*)/g,
      hasCommandLines: true,
      dropped: ["tokenCacheDir", "token_cache_dir"],
    },
  },
  nexus3: {
    title: "NEXUS3",
    user: ({ home }) => [home(".nexus3", "mcp.json")],
    project: [".nexus3/mcp.json"],
    section: ["mcpServers"],
  },
} as const satisfies Record<string, ClientFacts>;

export type ClientId = keyof typeof FACTS;

export const CLIENTS: Readonly<Record<ClientId, ClientFacts>> = FACTS;

/** Programs whose servers can be imported. */
export const CLIENT_IDS = Object.keys(FACTS) as ClientId[];

/** Programs that Nexus can be written into. */
export const INSTALL_CLIENTS = CLIENT_IDS.filter((id) => CLIENTS[id].shape !== undefined);

/** Where the programs keep their files on this platform. */
export function clientFolders(surroundings: ConfigContext): ClientFolders {
  const { home, platform, variables } = surroundings;
  const path = pathOf(platform);
  const { config } = userFolders(surroundings);
  const applications = platform === "darwin" ? path.join(home, "Library", "Application Support") : config;
  const xdg = platform === "win32" ? path.join(home, ".config") : config;
  return {
    platform,
    home: (...parts) => path.join(home, ...parts),
    applications: (...parts) => path.join(applications, ...parts),
    xdg: (...parts) => path.join(xdg, ...parts),
    named: (variable, fallback, ...parts) => {
      const { [variable]: given } = variables;
      return path.join(isAbsolutePath(given, platform) ? given : fallback, ...parts);
    },
  };
}

const EDITORS = ["Code", "Code - Insiders"];
const EXTENSION = ["User", "globalStorage"];
