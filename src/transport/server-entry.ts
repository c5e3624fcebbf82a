import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { NexusError } from "../errors/nexus-error.ts";
import { isRecord } from "../protocol/json-rpc.ts";
import type { Root } from "../protocol/mcp.ts";

/** One server as users write it: the same object in a configuration file, the library and the gateway. */
export interface ServerEntry {
  id?: string;
  name?: string;
  command?: string | readonly string[];
  args?: readonly string[];
  cwd?: string;
  workdir?: string;
  env?: Readonly<Record<string, string>>;
  env_passthrough?: readonly string[];
  url?: string;
  headers?: Readonly<Record<string, string>>;
  /** Normally inferred; "sse" is the HTTP transport of 2024-11-05, which "http" falls back to by itself. */
  type?: "stdio" | "http" | "sse";
  transport?: "stdio" | "http" | "sse";
  /** Of a call: "30s" or milliseconds. */
  timeout?: string | number;
  connection_timeout?: string | number;
  http_max_retries?: number;
  http_retry_backoff?: string | number;
  /** Paths or `file:` URIs the server may know of. */
  roots?: readonly (string | Root)[];
}

/** An entry after its spellings are settled and its values checked. */
export interface ResolvedEntry {
  id: string;
  reach:
    | {
        kind: "stdio";
        command: string;
        args: readonly string[];
        cwd?: string;
        env: Record<string, string>;
        passthrough: readonly string[];
      }
    | { kind: "http" | "sse"; url: string; headers: Record<string, string> };
  timeoutMs?: number;
  connectTimeoutMs?: number;
  maxRetries?: number;
  retryBackoffMs?: number;
  roots?: Root[];
}

/** Checks an entry and settles its spellings; says what is wrong with a bad one and how to write it. */
export function resolveEntry(entry: ServerEntry): ResolvedEntry {
  const id = entry.id ?? entry.name ?? "server";
  const resolved: ResolvedEntry = { id, reach: reachOf(entry, id) };
  const timeoutMs = milliseconds(entry.timeout, "timeout", id);
  const connectTimeoutMs = milliseconds(entry.connection_timeout, "connection_timeout", id);
  const retryBackoffMs = milliseconds(entry.http_retry_backoff, "http_retry_backoff", id);
  if (timeoutMs !== undefined) resolved.timeoutMs = timeoutMs;
  if (connectTimeoutMs !== undefined) resolved.connectTimeoutMs = connectTimeoutMs;
  if (retryBackoffMs !== undefined) resolved.retryBackoffMs = retryBackoffMs;
  if (entry.http_max_retries !== undefined) resolved.maxRetries = entry.http_max_retries;
  if (entry.roots) resolved.roots = entry.roots.map(asRoot);
  return resolved;
}

function reachOf(entry: ServerEntry, id: string): ResolvedEntry["reach"] {
  if ((entry.command === undefined) === (entry.url === undefined)) {
    const found = entry.url === undefined ? `neither "command" nor "url"` : `both "command" and "url"`;
    throw invalid(
      id,
      `has ${found}`,
      `Give one: { "command": "node", "args": ["server.js"] } or { "url": "https://example.com/mcp" }.`,
    );
  }
  const type = entry.type ?? entry.transport;
  if (entry.url !== undefined) {
    if (typeof entry.url !== "string") throw invalid(id, `has a "url" that is no text`);
    if (type === "stdio")
      throw invalid(id, `has a "url" and the type "stdio"`, `Leave "type" out: it follows from "url".`);
    return { kind: type === "sse" ? "sse" : "http", url: entry.url, headers: strings(entry.headers, "headers", id) };
  }
  const words = typeof entry.command === "string" ? [entry.command] : entry.command;
  const [command, ...rest] = [...(words ?? []), ...(entry.args ?? [])];
  if (typeof command !== "string" || command.trim() === "") throw invalid(id, `has an empty "command"`);
  if (!rest.every((word) => typeof word === "string")) {
    throw invalid(id, `has an argument that is no text`, `Write every argument as text: "8080", not 8080.`);
  }
  if (type === "http" || type === "sse")
    throw invalid(id, `has a "command" and the type "${type}"`, `Leave "type" out: it follows from "command".`);
  const cwd = entry.cwd ?? entry.workdir;
  const env = strings(entry.env, "env", id);
  return {
    kind: "stdio",
    command,
    args: rest,
    ...(cwd === undefined ? {} : { cwd }),
    env,
    passthrough: entry.env_passthrough ?? [],
  };
}

function strings(value: unknown, key: string, id: string): Record<string, string> {
  if (value === undefined) return {};
  if (!isRecord(value)) throw invalid(id, `has a "${key}" that is no object`);
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== "string")
      throw invalid(id, `has a "${key}.${name}" that is no text`, `Put its value in quotes.`);
  }
  return value as Record<string, string>;
}

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

function milliseconds(value: string | number | undefined, key: string, id: string): number | undefined {
  if (value === undefined) return undefined;
  const [, amount, unit] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/.exec(String(value)) ?? [];
  const factor = UNITS[unit ?? "ms"];
  if (amount === undefined || factor === undefined) {
    throw invalid(
      id,
      `has a "${key}" that is no duration: ${String(value)}`,
      `Write "30s", "2m" or a number of milliseconds.`,
    );
  }
  return Number(amount) * factor;
}

function asRoot(root: string | Root): Root {
  if (typeof root !== "string") return root;
  return { uri: root.startsWith("file:") ? root : pathToFileURL(resolve(root)).href };
}

function invalid(id: string, problem: string, hint?: string): NexusError {
  return new NexusError("CONFIG_INVALID", `Server "${id}" ${problem}`, {
    phase: "config",
    server: id,
    hint,
    mayHaveReached: false,
  });
}
