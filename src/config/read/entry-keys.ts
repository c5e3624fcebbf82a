import type { KnownWords } from "../../source/masked-line.ts";
import { OAUTH_KEYS } from "../../transport/entry-oauth.ts";

/** Keys of an entry that Nexus uses. */
export const OWN_KEYS = [
  "id",
  "name",
  "command",
  "args",
  "cwd",
  "workdir",
  "env",
  "envFile",
  "env_passthrough",
  "url",
  "headers",
  "api",
  "upstream",
  "settings",
  "type",
  "transport",
  "timeout",
  "connection_timeout",
  "http_max_retries",
  "http_retry_backoff",
  "roots",
  "oauth",
  "enabled",
  "disabled",
  "auto_start",
  "fail_if_no_tools",
  "tools",
  "agents",
  "pin",
  "isolation",
  "prefix",
  "max_processes",
  "max_memory",
  "ca",
  "public_only",
];

/** Keys of an entry that start a program, or name a file or a variable of this machine. */
export const LOCAL_KEYS = [
  "command",
  "args",
  "cwd",
  "workdir",
  "env",
  "envFile",
  "env_passthrough",
  "api",
  "upstream",
  "settings",
  "roots",
  "ca",
] as const;

const SECTIONS = ["mcpServers", "servers", "mcp_servers", "mcp", "inputs"];
const NAMES = new Set([...OWN_KEYS, ...OAUTH_KEYS, ...SECTIONS, "true", "false", "null"]);
const SHOWN = new Set(["command", "type", "transport", "id", "name"]);

/** The words that an excerpt of a configuration file may show. */
export const CONFIG_WORDS: KnownWords = {
  isName: (word) => NAMES.has(word) || word.startsWith("mcp_servers."),
  isShown: (name) => SHOWN.has(name),
};
