import { asText } from "../../text/as-text.ts";
import { OWN_KEYS } from "./entry-keys.ts";
import type { Section } from "./find-servers.ts";
import { allAt, nodeOf, plainValue, type Member, type Place, type SourceNode } from "../../source/source-node.ts";

/** Keys that other programs use for themselves: kept, and not reported. */
const FOREIGN_KEYS = new Set([
  "description",
  "alwaysAllow",
  "autoApprove",
  "trust",
  "gallery",
  "version",
  "dev",
  "required",
  "_meta",
  "metadata",
  // Zed
  "source",
  "settings",
  "remote",
  // mcporter
  "auth",
  "clientName",
  "oauth_resource",
  "authProviderType",
  "lifecycle",
  "logging",
  // Continue
  "serverName",
  "faviconUrl",
]);

/** Keys of other programs with the same meaning. */
const SYNONYMS: Record<string, string> = {
  environment: "env",
  serverUrl: "url",
  server_url: "url",
  httpUrl: "url",
  baseUrl: "url",
  base_url: "url",
  executable: "command",
  http_headers: "headers",
  env_vars: "env_passthrough",
  connectionTimeout: "connection_timeout",
};

/** Keys with a bearer token, and keys with the name of a variable that has it. */
const TOKENS = new Set(["bearerToken", "bearer_token"]);
const TOKEN_VARIABLES = new Set(["bearer_token_env_var", "bearerTokenEnv", "bearer_token_env"]);

const TYPES: Record<string, string | undefined> = {
  local: undefined,
  remote: undefined,
  streamable: "http",
  "streamable-http": "http",
  streamableHttp: "http",
  streamable_http: "http",
  streamableHTTP: "http",
};

export interface Understood {
  node: SourceNode;
  /** Keys with the same meaning as another key of the entry; only the author knows which one counts. */
  doubled: readonly Doubled[];
  /** Unknown keys. */
  unknown: readonly Member[];
  /** Keys without a meaning here: those of other programs and unknown ones. */
  extra: Readonly<Record<string, unknown>>;
}

interface Doubled {
  place: Place;
  /** As written. */
  keys: readonly [string, string];
}

/** An entry of any program, in the keys of Nexus. Places are those in the file. */
export function understand(node: SourceNode, dialect: Section["dialect"]): Understood {
  if (node.kind !== "object") return { node, doubled: [], unknown: [], extra: {} };
  const translation = new Translation(dialect);
  for (const member of node.members) translation.add(member);
  return {
    node: { ...node, members: translation.members() },
    doubled: translation.doubled,
    unknown: translation.unknown,
    extra: Object.fromEntries(translation.extra.map((member) => [member.key, plainValue(member.node)])),
  };
}

class Translation {
  readonly doubled: Doubled[] = [];
  readonly unknown: Member[] = [];
  readonly extra: Member[] = [];
  readonly #dialect: Section["dialect"];
  readonly #members: Member[] = [];
  /** The written key for each of our keys. */
  readonly #spelled = new Map<string, string>();
  readonly #headers: Member[] = [];
  readonly #tools: Member[] = [];
  readonly #oauth: Member[] = [];

  constructor(dialect: Section["dialect"]) {
    this.#dialect = dialect;
  }

  add(given: Member): void {
    const member = this.#dialect === "opencode" ? { ...given, node: withDollars(given.node) } : given;
    const { key, node } = member;
    const value = plainValue(node);
    if (node.kind === "object" && this.#nested(key, node.members)) return;
    if (key === "type" || key === "transport" || key === "transportType") this.#type(member, value);
    else if (key === "timeout" && this.#dialect === "opencode") this.#put(member, "connection_timeout", value);
    // Cursor has the settings of a login here, other programs the name of a way to log in.
    else if (key === "auth" && node.kind === "object") this.#take(member, "oauth");
    else if (key === "scopes" && node.kind === "list") this.#oauth.push(member);
    else if (key === "oauthRedirectUrl") this.#oauth.push({ ...member, key: "redirectUrl" });
    else if (key === "startup_timeout_sec") this.#put(member, "connection_timeout", seconds(value));
    else if (key === "startup_timeout_ms") this.#put(member, "connection_timeout", value);
    else if (key === "tool_timeout_sec") this.#put(member, "timeout", seconds(value));
    else if (TOKEN_VARIABLES.has(key)) this.#header(member, "Authorization", `Bearer \${${asText(value)}}`);
    else if (TOKENS.has(key)) this.#header(member, "Authorization", `Bearer ${asText(value)}`);
    else if (key === "enabled_tools" || key === "includeTools") this.#tools.push({ ...member, key: "allow" });
    else if (key === "disabled_tools" || key === "excludeTools" || key === "disabledTools")
      this.#tools.push({ ...member, key: "deny" });
    else if (key === "tools" && node.kind === "list") this.#toolList(member);
    else if (Object.hasOwn(SYNONYMS, key)) this.#take(member, SYNONYMS[key] ?? key);
    else if (OWN_KEYS.includes(key)) this.#take(member);
    else this.#leave(member);
  }

  members(): Member[] {
    return merged(merged(merged(this.#members, "headers", this.#headers), "tools", this.#tools), "oauth", this.#oauth);
  }

  /** Some programs have members of an entry one level down; false if this is such a key. */
  #nested(key: string, members: readonly Member[]): boolean {
    if (key === "transport") for (const member of members) this.add(member);
    else if (key === "command") {
      for (const member of members) this.add(member.key === "path" ? { ...member, key: "command" } : member);
    } else if (key === "env_http_headers") {
      for (const inner of members) this.#header(inner, inner.key, `\${${asText(plainValue(inner.node))}}`);
    } else if (key === "requestOptions") {
      const headers = members.find((member) => member.key === "headers")?.node;
      if (headers?.kind === "object") this.#headers.push(...headers.members);
    } else return false;
    return true;
  }

  #type(member: Member, value: unknown): void {
    const key = member.key === "transportType" ? "type" : member.key;
    const known = typeof value === "string" && Object.hasOwn(TYPES, value);
    if (!known) this.#take(member, key);
    else if (TYPES[value] !== undefined) this.#put(member, key, TYPES[value]);
  }

  /** `["*"]` means every tool and needs no list. */
  #toolList(member: Member): void {
    const list = plainValue(member.node);
    if (Array.isArray(list) && list.length === 1 && list[0] === "*") return;
    this.#tools.push({ ...member, key: "allow" });
  }

  #put(member: Member, key: string, value: unknown): void {
    this.#take({ ...member, node: nodeOf(value, allAt(member.node.place)) }, key);
  }

  #take(member: Member, key = member.key): void {
    const before = this.#spelled.get(key);
    if (before !== undefined) this.doubled.push({ place: member.place, keys: [before, member.key] });
    this.#spelled.set(key, member.key);
    this.#members.push({ ...member, key });
  }

  #header(member: Member, name: string, value: string): void {
    this.#headers.push({ ...member, key: name, node: nodeOf(value, allAt(member.node.place)) });
  }

  #leave(member: Member): void {
    this.extra.push(member);
    if (!FOREIGN_KEYS.has(member.key) && !member.key.startsWith("x-")) this.unknown.push(member);
  }
}

/** Adds members to an object among the members, or creates it. */
function merged(members: readonly Member[], key: string, added: readonly Member[]): Member[] {
  const [first] = added;
  if (!first) return [...members];
  const existing = members.find((member) => member.key === key);
  const node: SourceNode = {
    kind: "object",
    place: existing?.node.place ?? first.place,
    members: [...(existing?.node.kind === "object" ? existing.node.members : []), ...added],
  };
  return [...members.filter((member) => member !== existing), { key, place: existing?.place ?? first.place, node }];
}

function seconds(value: unknown): unknown {
  return typeof value === "number" ? value * 1_000 : value;
}

/** opencode writes {env:NAME} and {file:path} instead of ${NAME}. */
function withDollars(node: SourceNode): SourceNode {
  if (node.kind === "list") return { ...node, items: node.items.map(withDollars) };
  if (node.kind === "object") {
    return { ...node, members: node.members.map((member) => ({ ...member, node: withDollars(member.node) })) };
  }
  if (typeof node.value !== "string") return node;
  return { ...node, value: node.value.replaceAll(/(?<!\$)\{(env:\w+|file:[^{}]+)\}/g, "${$1}") };
}
