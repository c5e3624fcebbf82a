import { isAbsolutePath } from "../../files/paths.ts";
import { userFolders } from "../../files/user-folders.ts";
import { pathOf, type ConfigContext } from "../read/places.ts";

/** Facts about another program that uses MCP servers: the places of its files and the format of an entry. */
export interface ClientFacts {
  /** Its name for people. */
  title: string;
  /** The user's files. An entry is written to the first one that exists, or else to the first one. */
  user: (at: ClientFolders) => readonly string[];
  /** Files of a project, relative to its folder, in the same order. */
  project: readonly string[];
  /** Further places that are read but never written; a name that ends in a slash is a folder of files. */
  alsoRead?: { user?: (at: ClientFolders) => readonly string[]; project?: readonly string[] };
  /** Where entries are in a file. */
  section: readonly string[];
  /** It sends servers roots of its own, such as its open folders. Without this, nothing is known about it. */
  hasRoots?: true;
  /** The format of an entry; undefined for programs from which servers are only imported. */
  shape?: EntryShape;
  /** Words with a different meaning than in Nexus. */
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
  /** The "type" for each transport; undefined: it is not written. */
  type?: Readonly<Partial<Record<"stdio" | "http" | "sse", string>>>;
  /** The key of the URL; a transport without one is not supported. */
  url: Readonly<Partial<Record<"http" | "sse", string>>>;
  /** Command and arguments are one list. */
  isList?: true;
  env?: string;
  headers?: string;
  hasCwd?: true;
  hasEnvFile?: true;
  /** The syntax of an environment variable; undefined: variables are not resolved. */
  variable?: (name: string) => string;
  /** `${NAME:-default}` is supported. */
  hasDefaults?: true;
  /** `${workspaceFolder}` and `${userHome}` are supported. */
  hasFolders?: true;
  /** Keys that name variables instead: for the child, the bearer token and further headers. */
  passed?: { env: string; token: string; headers: string };
  /** How settings of a login are written; undefined: they are not supported. */
  oauth?: OAuthShape;
  /** Keys of the lists of allowed and denied tools. */
  tools?: { allow?: string; deny?: string };
  /** Members of every entry. */
  always?: Readonly<Record<string, unknown>>;
}

interface OAuthShape {
  key: string;
  /** The name of each of our settings; those without a name are not supported. */
  names: Readonly<Record<string, string>>;
  /** Scopes are one text. */
  hasScopeText?: true;
  /** `false` switches the login off. */
  hasOff?: true;
  always?: Readonly<Record<string, unknown>>;
}

interface ClientDialect {
  /** Another syntax of variables; the first group is the name. */
  variables?: RegExp;
  /** `timeout` is a number of seconds. */
  countsSeconds?: true;
  /**
   * Relative paths in the user's files start in the home folder; otherwise in the folder where the program is started.
   */
  startsAtHome?: true;
  /** A command without "args" is a whole command line. */
  hasCommandLines?: true;
  /** Keys whose names have another meaning, or none, in Nexus. */
  renamed?: Readonly<Record<string, string>>;
  /** Keys with the program's own state, such as tokens. */
  dropped?: readonly string[];
}

const braces = (name: string) => `\${${name}}`;
const envBraces = (name: string) => `\${env:${name}}`;

const COMMON: EntryShape = { url: { http: "url", sse: "url" }, variable: braces };

const BARE_VARIABLE = /(?<!\$)\$([A-Za-z_]\w*)/g;

/** Gemini CLI, and Qwen Code, which is based on it. */
const GEMINI: EntryShape = {
  url: { http: "httpUrl", sse: "url" },
  hasCwd: true,
  variable: braces,
  tools: { allow: "includeTools", deny: "excludeTools" },
  oauth: {
    key: "oauth",
    names: {
      clientId: "clientId",
      clientSecret: "clientSecret",
      scopes: "scopes",
      redirectUrl: "redirectUri",
      issuer: "issuer",
    },
    always: { enabled: true },
  },
};

const OPENCODE: EntryShape = {
  type: { stdio: "local", http: "remote", sse: "remote" },
  url: { http: "url", sse: "url" },
  isList: true,
  env: "environment",
  variable: (name) => `{env:${name}}`,
  always: { enabled: true },
  oauth: {
    key: "oauth",
    names: { clientId: "clientId", clientSecret: "clientSecret", scopes: "scope" },
    hasScopeText: true,
    hasOff: true,
  },
};

/** In the order of preference for servers with the same name. */
const FACTS = {
  "claude-desktop": {
    title: "Claude Desktop",
    user: ({ applications }) => [applications("Claude", "claude_desktop_config.json")],
    project: [],
    section: ["mcpServers"],
    // The file has only local servers; remote ones are added in the program's settings.
    shape: { url: {} },
  },
  "claude-code": {
    title: "Claude Code",
    hasRoots: true,
    user: ({ named, home }) => [named("CLAUDE_CONFIG_DIR", home(), ".claude.json")],
    project: [".mcp.json"],
    section: ["mcpServers"],
    shape: {
      ...COMMON,
      type: { stdio: "stdio", http: "http", sse: "sse" },
      hasDefaults: true,
      oauth: {
        key: "oauth",
        names: { clientId: "clientId", callbackPort: "callbackPort", scopes: "scopes" },
        hasScopeText: true,
      },
    },
  },
  cursor: {
    title: "Cursor",
    hasRoots: true,
    user: ({ home }) => [home(".cursor", "mcp.json")],
    project: [".cursor/mcp.json"],
    section: ["mcpServers"],
    shape: {
      ...COMMON,
      hasEnvFile: true,
      hasFolders: true,
      variable: envBraces,
      oauth: { key: "auth", names: { clientId: "CLIENT_ID", clientSecret: "CLIENT_SECRET", scopes: "scopes" } },
    },
    dialect: { startsAtHome: true },
  },
  vscode: {
    title: "VS Code",
    hasRoots: true,
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
      oauth: { key: "oauth", names: { clientId: "clientId" } },
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
    // It also reads .mcp.json, which is a file of Claude Code and Nexus.
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
        // For older versions, which know only these.
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

/** Programs into which Nexus can be installed. */
export const INSTALL_CLIENTS = CLIENT_IDS.filter((id) => CLIENTS[id].shape !== undefined);

/** The folders of the programs' files on this platform. */
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
