import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { NexusError, type ErrorSource } from "../errors/nexus-error.ts";
import type { Given, Infer } from "../format/form.ts";
import { pathText, problemSentence } from "../format/problem.ts";
import { readValue } from "../format/read-form.ts";
import { isRecord } from "../json/is-record.ts";
import type { PublicOnly } from "../net/public-only.ts";
import type { Root } from "../protocol/mcp.ts";
import { parseDuration } from "../text/duration.ts";
import { SERVER_ENTRY, type OAuthMembers } from "./entry-form.ts";

type Written = Given<Infer<typeof SERVER_ENTRY>>;

/** One server as users write it: the same object in a configuration file, the library and the gateway. */
export type ServerEntry = Omit<Written, "url"> & {
  readonly url?: string | URL | undefined;
  /** The same as `cwd`. */
  readonly workdir?: string | undefined;
  /** The same as `type`. */
  readonly transport?: Written["type"];
};

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

/** The `oauth` key as users write it, in the library. */
export type WrittenOAuth = NonNullable<Written["oauth"]>;

/** The `oauth` key of an entry, checked and with unified spellings. Files are not read yet. */
export interface EntryOAuth extends Omit<OAuthMembers, "enabled" | "scopes" | "callbackPort"> {
  scopes?: readonly string[];
  callbackPort?: number;
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
type Locate = (path: readonly string[]) => ErrorSource | undefined;

/** Checks an entry and unifies its spellings; for an invalid one, throws the problem, its place and how to fix it. */
export function resolveEntry(entry: ServerEntry, locate?: Locate): ResolvedEntry {
  const given = asObject(entry);
  const { value, problems } = readValue(SERVER_ENTRY, given, { nullIsAbsent: true });
  const id = idOf(given);
  const refuse: Refuse = (problem, hint, path) => entryError(id, { problem, hint, source: path && locate?.(path) });
  const [wrong] = problems;
  if (wrong) throw refuse(problemSentence(pathText(wrong.path), wrong.message), wrong.hint, wrong.path.map(String));
  return {
    id,
    reach: reachOf(value, given, refuse),
    timeoutMs: durationOf(value.timeout),
    connectTimeoutMs: durationOf(value.connection_timeout),
    maxRetries: value.http_max_retries,
    retryBackoffMs: durationOf(value.http_retry_backoff),
    roots: value.roots?.map(toRoot),
    ...networkOf(value),
  };
}

const durationOf = (value: unknown) => (value === undefined ? undefined : parseDuration(value));

/** The keys of an entry whose value cannot be read. */
export function findWrongMembers(entry: Readonly<Record<string, unknown>>): string[] {
  const { problems } = readValue(SERVER_ENTRY, entry, { nullIsAbsent: true });
  return problems.flatMap(({ path: [key] }) => (key === undefined ? [] : [String(key)]));
}

const ONE_OF_BOTH = `Use one of: { "command": "node", "args": ["server.js"] } or { "url": "https://example.com/mcp" } or { "api": "shop.nexus.yaml" }.`;

/** The ways to reach a server, and their possible types. */
const TYPES = { command: ["stdio"], url: ["http", "sse"], api: [] } as const;
export const WAYS = ["command", "url", "api"] as const;

type Value = Infer<typeof SERVER_ENTRY>;
type Refuse = (problem: string, hint?: string, path?: readonly string[]) => NexusError;

/** Entries come from files and from JavaScript, so they may be anything. */
function asObject(entry: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(entry)) throw entryError("server", { problem: "is not an object", hint: ONE_OF_BOTH });
  return entry["url"] instanceof URL ? { ...entry, url: entry["url"].href } : entry;
}

function idOf({ id, name }: Readonly<Record<string, unknown>>): string {
  const named = [id, name].find((each) => typeof each === "string");
  return typeof named === "string" ? named : "server";
}

function reachOf(value: Value, given: Readonly<Record<string, unknown>>, refuse: Refuse): ResolvedEntry["reach"] {
  const ways = WAYS.filter((way) => value[way] !== undefined);
  const [way] = ways;
  if (way === undefined) throw refuse(`has neither "command" nor "url"`, ONE_OF_BOTH);
  if (ways.length > 1) throw refuse(`has both "${ways[0]}" and "${ways[1]}"`, ONE_OF_BOTH);
  const { type } = value;
  if (type !== undefined && !(TYPES[way] as readonly string[]).includes(type)) {
    const key = given["type"] === undefined ? "transport" : "type";
    const hint = `Remove "type": Nexus infers it from "${way}".`;
    throw refuse(`has a "${way}" and the type ${JSON.stringify(type)}`, hint, [key]);
  }
  if (way === "api") {
    const { api = "", upstream, settings } = value;
    return { kind: "api", file: api, upstream, ...(settings && { settings }) };
  }
  return way === "command" ? stdioOf(value, refuse) : httpOf(value, type === "sse" ? "sse" : "http");
}

function stdioOf({ command: written, args = [], ...value }: Value, refuse: Refuse): StdioReach {
  const [command, ...more] = [written ?? []].flat();
  if (command === undefined || command.trim() === "") throw refuse(`has an empty "command"`, undefined, ["command"]);
  const { cwd, env = {}, env_passthrough: passthrough = [] } = value;
  return { kind: "stdio", command, args: [...more, ...args], cwd, env, passthrough };
}

function httpOf({ url = "", headers = {}, oauth: written }: Value, kind: "http" | "sse"): HttpReach {
  const oauth = toOAuth(written);
  return { kind, url, headers, ...(oauth !== undefined && { oauth }) };
}

/** Reads the `oauth` key alone. False: no authorization. Undefined: nothing is written. */
export function readOAuth(oauth: unknown, refuse: (problem: string) => NexusError): EntryOAuth | false | undefined {
  const { value, problems } = readValue(SERVER_ENTRY, { oauth }, { nullIsAbsent: true });
  const [wrong] = problems;
  if (wrong) throw refuse(problemSentence(pathText(wrong.path), wrong.message));
  return toOAuth(value.oauth);
}

function toOAuth(written: boolean | OAuthMembers | undefined): EntryOAuth | false | undefined {
  if (written === undefined || typeof written === "boolean") return written === true ? {} : written;
  const { enabled, scopes, callbackPort, ...rest } = written;
  if (enabled === false) return false;
  return {
    ...rest,
    ...(scopes !== undefined && { scopes: [scopes].flat().flatMap((scope) => scope.split(/\s+/).filter(Boolean)) }),
    ...(callbackPort !== undefined && { callbackPort: Number(callbackPort) }),
  };
}

/** Absent where the entry has no rules of its own. */
function networkOf({ ca = [], public_only: publicOnly }: Value): Pick<ResolvedEntry, "network"> {
  const caFiles = [ca].flat();
  if (caFiles.length === 0 && publicOnly === undefined) return {};
  return { network: { ...(caFiles.length > 0 && { caFiles }), ...(publicOnly !== undefined && { publicOnly }) } };
}

function toRoot(root: string | Root): Root {
  if (typeof root !== "string") return root;
  return { uri: root.startsWith("file:") ? root : pathToFileURL(resolve(root)).href };
}

/** Without a source, the whole entry is invalid. */
function entryError(
  id: string,
  { problem, hint, source }: { problem: string; hint: string | undefined; source?: ErrorSource | undefined },
): NexusError {
  const message = `Server "${id}": ${/^(is|has) /.test(problem) ? `the entry ${problem}` : problem}`;
  return new NexusError("CONFIG_INVALID", message, {
    phase: "config",
    server: id,
    source,
    hint,
    mayHaveReached: false,
  });
}
