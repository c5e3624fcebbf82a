import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { NexusError, type ErrorSource } from "../errors/nexus-error.ts";
import { isRecord } from "../json/is-record.ts";
import type { PublicOnly } from "../net/public-only.ts";
import type { Root } from "../protocol/mcp.ts";
import { parseDuration } from "../text/duration.ts";
import { maskWords } from "../text/mask-secrets.ts";
import { splitCommandLine } from "../text/shell-words.ts";
import { readOAuth, type EntryOAuth, type WrittenOAuth } from "./entry-oauth.ts";

/** One server as users write it: the same object in a configuration file, the library and the gateway. */
export interface ServerEntry {
  id?: string | undefined;
  name?: string | undefined;
  command?: string | readonly string[] | undefined;
  args?: readonly string[] | undefined;
  cwd?: string | undefined;
  workdir?: string | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  env_passthrough?: readonly string[] | undefined;
  url?: string | URL | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  /** With `url`: how to obtain a token; false: never. Default: as the server asks for it. */
  oauth?: WrittenOAuth | undefined;
  /** A tool file; the server runs in this process. */
  api?: string | undefined;
  /**
   * With `api`: an address on this machine instead of the real service; "fake" starts a fake that is generated from
   * the file.
   */
  upstream?: string | undefined;
  /** With `api`: values of the settings that its tool file declares. */
  settings?: Readonly<Record<string, string>> | undefined;
  /** Normally inferred; "sse" is the HTTP transport of 2024-11-05, to which "http" falls back automatically. */
  type?: "stdio" | "http" | "sse" | undefined;
  transport?: "stdio" | "http" | "sse" | undefined;
  /** Timeout of a call: "30s" or milliseconds. */
  timeout?: string | number | undefined;
  connection_timeout?: string | number | undefined;
  /** With `url`: repetitions of a request that failed and may be repeated; default: 2. */
  http_max_retries?: number | undefined;
  /** With `url`: the pause before the first repetition, "250ms" or milliseconds; it doubles each time. Default: 250 ms. */
  http_retry_backoff?: string | number | undefined;
  /** Roots of the server: paths or `file:` URIs. */
  roots?: readonly (string | Root)[] | undefined;
  /** With `url` or `api`: PEM files of additional trusted certificate authorities. */
  ca?: string | readonly string[] | undefined;
  /** With `url` or `api`: refuses internal addresses: loopback, private networks, cloud metadata; `allow` lists exceptions. */
  public_only?: PublicOnly | undefined;
}

/** A checked entry with unified spellings. */
export interface ResolvedEntry {
  id: string;
  reach: StdioReach | HttpReach | ApiReach;
  timeoutMs: number | undefined;
  connectTimeoutMs: number | undefined;
  maxRetries: number | undefined;
  retryBackoffMs: number | undefined;
  roots: Root[] | undefined;
  network?: NetworkRules | undefined;
}

/** What holds for the network on the way to a server. */
export interface NetworkRules {
  /** PEM files of additional trusted certificate authorities. */
  caFiles?: readonly string[] | undefined;
  publicOnly?: PublicOnly | undefined;
}

export interface StdioReach {
  kind: "stdio";
  command: string;
  args: readonly string[];
  cwd: string | undefined;
  env: Record<string, string>;
  passthrough: readonly string[];
}

export interface HttpReach {
  kind: "http" | "sse";
  url: string;
  headers: Record<string, string>;
  /** False: no authorization. Undefined: nothing is configured about it. */
  oauth?: EntryOAuth | false;
}

export interface ApiReach {
  kind: "api";
  /** The path of a tool file. */
  file: string;
  upstream: string | undefined;
  settings?: Readonly<Record<string, string>>;
  /** Served from the store of the gateway instead of from the file, whose name is then for people only. */
  published?: PublishedReach;
}

/** A published API. Everything else about it is in the store, and may change while it is served. */
export interface PublishedReach {
  /** The server as which it was published. */
  server: string;
  /** Only versions with this major number. */
  major?: number;
}

/** Where a part of an entry is written: the keys that lead to it. */
export type Locate = (path: readonly string[]) => ErrorSource | undefined;

/** Checks an entry and unifies its spellings; for an invalid one, throws the problem, its place and how to fix it. */
export function resolveEntry(entry: ServerEntry, locate?: Locate): ResolvedEntry {
  return new EntryReader(entry, locate).resolve();
}

const ONE_OF_BOTH = `Use one of: { "command": "node", "args": ["server.js"] } or { "url": "https://example.com/mcp" } or { "api": "shop.nexus.yaml" }.`;

/** The ways to reach a server, and their possible types. */
const TYPES = { command: ["stdio"], url: ["http", "sse"], api: [] } as const;
export const WAYS = ["command", "url", "api"] as const;

/** The keys whose value is a list of texts, with a valid value. */
const EXAMPLES = {
  command: ["node", "server.js"],
  args: ["--port", "8080"],
  env_passthrough: ["HTTPS_PROXY"],
  ca: ["company-root.pem"],
} as const;

/** Of these, the keys whose value may also be one text. */
const ALSO_TEXT = new Set(["command", "ca"]);

/** The keys whose value is an object of texts, with a valid value. The values of these are often secrets, so they are not repeated. */
const EXAMPLE_RECORDS = {
  env: `"env": { "LOG_LEVEL": "debug" }`,
  headers: `"headers": { "X-Api-Version": "2" }`,
  settings: `"settings": { "version": "2" }`,
} as const;

/** The keys of an entry whose value should be a list of texts and is something else. */
export function findWrongLists(entry: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(EXAMPLES).filter((key) => {
    const value = entry[key] ?? [];
    return !isTextList(value) && !(typeof value === "string" && ALSO_TEXT.has(key));
  });
}

/** Entries come from files and from JavaScript, so everything is checked. */
class EntryReader {
  readonly #entry: Record<string, unknown>;
  readonly #id: string;
  readonly #locate: Locate | undefined;

  constructor(entry: unknown, locate: Locate | undefined) {
    this.#id = "server";
    this.#locate = locate;
    if (!isRecord(entry)) throw this.#invalid("is not an object", ONE_OF_BOTH);
    // Null, which some files use for "nothing", counts as absent.
    this.#entry = Object.fromEntries(
      Object.entries(entry).filter(([, value]) => value !== null && value !== undefined),
    );
    this.#id = this.#text("id") ?? this.#text("name") ?? "server";
  }

  resolve(): ResolvedEntry {
    const retries = this.#entry["http_max_retries"];
    if (retries !== undefined && !(Number.isInteger(retries) && Number(retries) >= 0)) {
      const isQuoted = typeof retries === "string" && /^\d+$/.test(retries);
      const hint = isQuoted
        ? `Write it without quotes: "http_max_retries": ${retries}.`
        : `Write "http_max_retries": 2, or 0 for no retries.`;
      throw this.#invalid(`"http_max_retries" is not a whole number`, hint, ["http_max_retries"]);
    }
    return {
      id: this.#id,
      reach: this.#reach(),
      timeoutMs: this.#duration("timeout"),
      connectTimeoutMs: this.#duration("connection_timeout"),
      maxRetries: retries as number | undefined,
      retryBackoffMs: this.#duration("http_retry_backoff"),
      roots: this.#roots(),
      ...this.#network(),
    };
  }

  #reach(): StdioReach | HttpReach | ApiReach {
    const ways = WAYS.filter((way) => this.#entry[way] !== undefined);
    const [way] = ways;
    if (way === undefined) throw this.#invalid(`has neither "command" nor "url"`, ONE_OF_BOTH);
    if (ways.length > 1) throw this.#invalid(`has both "${ways[0]}" and "${ways[1]}"`, ONE_OF_BOTH);
    const type = this.#entry["type"] ?? this.#entry["transport"];
    if (type !== undefined && !(TYPES[way] as readonly unknown[]).includes(type)) {
      throw this.#invalid(
        `has a "${way}" and the type ${JSON.stringify(type)}`,
        `Remove "type": Nexus infers it from "${way}".`,
        [this.#entry["type"] === undefined ? "transport" : "type"],
      );
    }
    if (way === "api") {
      const settings = this.#entry["settings"] === undefined ? {} : { settings: this.#textRecord("settings") };
      return { kind: "api", file: this.#text("api") ?? "", upstream: this.#text("upstream"), ...settings };
    }
    return way === "command" ? this.#stdio() : this.#http(type === "sse" ? "sse" : "http");
  }

  #stdio(): StdioReach {
    const words = this.#commandWords();
    const [command, ...args] = [...words, ...this.#texts("args")];
    if (command === undefined || command.trim() === "")
      throw this.#invalid(`has an empty "command"`, undefined, ["command"]);
    const cwd = this.#text("cwd") ?? this.#text("workdir");
    return {
      kind: "stdio",
      command,
      args,
      cwd,
      env: this.#textRecord("env"),
      passthrough: this.#texts("env_passthrough"),
    };
  }

  #commandWords(): readonly string[] {
    const { command } = this.#entry;
    if (typeof command === "string") return [command];
    if (Array.isArray(command)) return this.#texts("command");
    const problem = `"command" is ${kindOf(command)}, not the name of a program`;
    throw this.#invalid(problem, `Write the program in quotes: "command": "node".`, ["command"]);
  }

  #http(kind: "http" | "sse"): HttpReach {
    const { url } = this.#entry;
    const text = url instanceof URL ? url.href : this.#text("url");
    const oauth = readOAuth(this.#entry["oauth"], (problem, hint, path) => {
      return this.#invalid(problem, hint, ["oauth", ...path]);
    });
    return { kind, url: text ?? "", headers: this.#textRecord("headers"), ...(oauth !== undefined && { oauth }) };
  }

  /** Absent where the entry has no rules of its own. */
  #network(): Pick<ResolvedEntry, "network"> {
    const caFiles = typeof this.#entry["ca"] === "string" ? [this.#entry["ca"]] : this.#texts("ca");
    const publicOnly = this.#publicOnly();
    if (caFiles.length === 0 && publicOnly === undefined) return {};
    return { network: { ...(caFiles.length > 0 && { caFiles }), ...(publicOnly !== undefined && { publicOnly }) } };
  }

  #publicOnly(): PublicOnly | undefined {
    const value = this.#entry["public_only"];
    if (value === undefined || isPublicOnly(value)) return value;
    const hint = `Write "public_only": true, or { "allow": ["10.0.0.5"] }.`;
    throw this.#invalid(`"public_only" is not true, false or an object with "allow"`, hint, ["public_only"]);
  }

  #text(key: string): string | undefined {
    const value = this.#entry[key];
    if (value === undefined || typeof value === "string") return value;
    const hint = typeof value === "object" ? "Write one text in quotes, without brackets." : "Put it in quotes.";
    throw this.#invalid(`"${key}" is ${kindOf(value)}, not text`, hint, [key]);
  }

  #texts(key: keyof typeof EXAMPLES): readonly string[] {
    const value = this.#entry[key] ?? [];
    if (isTextList(value)) return value;
    const list = `"${key}": ${JSON.stringify(maskWords(asTextList(value) ?? EXAMPLES[key]))}`.replaceAll('","', '", "');
    if (Array.isArray(value)) {
      throw this.#invalid(`"${key}" has an item that is not text`, `Put every item in quotes: ${list}.`, [key]);
    }
    throw this.#invalid(`"${key}" is ${kindOf(value)}, not a list`, `Write it as a list: ${list}.`, [key]);
  }

  #textRecord(key: keyof typeof EXAMPLE_RECORDS): Record<string, string> {
    const value = this.#entry[key] ?? {};
    // Headers and Map are objects without members; naming Headers would load all of fetch.
    if (!isRecord(value) || Symbol.iterator in value) {
      throw this.#invalid(`"${key}" is not a plain object`, `Write it as an object: ${EXAMPLE_RECORDS[key]}.`, [key]);
    }
    for (const [name, text] of Object.entries(value)) {
      if (typeof text === "string") continue;
      const hint =
        typeof text === "object" ? `Write a text in quotes, or remove "${name}".` : "Put its value in quotes.";
      throw this.#invalid(`"${key}.${name}" is ${kindOf(text)}, not text`, hint, [key, name]);
    }
    return value as Record<string, string>;
  }

  #duration(key: string): number | undefined {
    const value = this.#entry[key];
    if (value === undefined) return undefined;
    const duration = parseDuration(value);
    if (duration !== undefined) return duration;
    throw this.#invalid(`"${key}" is not a duration`, `Use "30s", "2m" or a number of milliseconds.`, [key]);
  }

  #roots(): Root[] | undefined {
    const value = this.#entry["roots"];
    if (value === undefined) return undefined;
    if (!Array.isArray(value))
      throw this.#invalid(`"roots" is ${kindOf(value)}, not a list`, `Write it as a list: ${rootsText(value)}.`, [
        "roots",
      ]);
    return value.map((root: unknown) => {
      if (typeof root === "string") return { uri: root.startsWith("file:") ? root : pathToFileURL(resolve(root)).href };
      if (isRecord(root) && typeof root["uri"] === "string") return root as Root;
      throw this.#invalid(
        `"roots" has an item that is neither a path nor an object with a "uri"`,
        `Write paths: ${rootsText()}.`,
        ["roots"],
      );
    });
  }

  /** `path` leads to the invalid part; without it, the whole entry is invalid. */
  #invalid(problem: string, hint?: string, path?: readonly string[]): NexusError {
    const message = `Server "${this.#id}": ${problem.startsWith('"') ? problem : `the entry ${problem}`}`;
    return new NexusError("CONFIG_INVALID", message, {
      phase: "config",
      server: this.#id,
      source: path && this.#locate?.(path),
      hint,
      mayHaveReached: false,
    });
  }
}

/** Whether it is a rule about internal addresses. */
export function isPublicOnly(value: unknown): value is PublicOnly {
  if (typeof value === "boolean") return true;
  const allow = isRecord(value) ? value["allow"] : undefined;
  return Array.isArray(allow) && allow.every((host) => typeof host === "string");
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** The list that a wrong value was probably meant to be: of a command line, its words. */
function asTextList(value: unknown): string[] | undefined {
  if (typeof value === "string") return splitCommandLine(value);
  const items: unknown[] = Array.isArray(value) ? value : [value];
  return items.every((item) => typeof item !== "object") ? items.map(String) : undefined;
}

function rootsText(root?: unknown): string {
  return `"roots": [${JSON.stringify(typeof root === "string" ? root : ".")}]`;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
