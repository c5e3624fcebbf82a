import { asText } from "../../text/as-text.ts";
import { isRecord } from "../../json/is-record.ts";
import { HOST_ENTRY, memberKeys } from "../../transport/entry-form.ts";
import { readOAuth, type ServerEntry } from "../../transport/server-entry.ts";
import { CLIENTS, type ClientFacts, type ClientId, type EntryShape } from "./clients.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { endOf } from "../read/variables.ts";

/** Names that editors also know. */
const FOLDERS = ["workspaceFolder", "userHome"];

/** An entry in the format of another program. */
export interface ClientEntry {
  value: Record<string, unknown>;
  /** Settings that are not written for the program, because they do not change which server it is. */
  leftOut: readonly string[];
}

/** Keys that only Nexus uses. */
const SETTINGS = memberKeys(HOST_ENTRY, "own");

/** Writes an entry for another program; throws if that program would run a different server. */
export function entryForClient(client: ClientId, entry: ServerEntry): ClientEntry {
  const facts = CLIENTS[client];
  if (!facts.shape) throw obstacle(`Nexus does not know the format of ${facts.title} well enough`);
  return new EntryWriter(facts, facts.shape, entry).write();
}

class EntryWriter {
  readonly #title: string;
  readonly #shape: EntryShape;
  readonly #entry: Readonly<Record<string, unknown>>;
  readonly #variables: ClientVariables;
  readonly #leftOut: string[] = [];

  constructor(facts: ClientFacts, shape: EntryShape, entry: ServerEntry) {
    this.#title = facts.title;
    this.#shape = shape;
    this.#entry = { ...entry };
    this.#variables = new ClientVariables(facts, shape);
  }

  write(): ClientEntry {
    const { api, command } = this.#entry;
    if (api !== undefined) throw obstacle("it is a tool file, which only Nexus can serve");
    const reach = command === undefined ? this.#remote() : this.#local();
    const tools = this.#tools();
    this.#leftOut.push(...SETTINGS.filter((key) => this.#entry[key] !== undefined));
    const value = { ...reach, ...this.#shape.always, ...tools };
    return { value: definedOf(value), leftOut: this.#leftOut };
  }

  #local(): Record<string, unknown> {
    const { command, args, cwd = this.#entry["workdir"], envFile } = this.#entry;
    const { type, isList, hasCwd, hasEnvFile, env: envKey = "env" } = this.#shape;
    if (cwd !== undefined && !hasCwd) throw obstacle(`${this.#title} does not support a working folder`);
    if (envFile !== undefined && !hasEnvFile) throw obstacle(`${this.#title} does not support "envFile"`);
    const [program, ...rest] = texts(command, args).map((word) => this.#variables.text(word));
    const env = this.#env();
    return {
      type: type?.stdio,
      command: isList ? [program, ...rest] : program,
      args: isList || rest.length === 0 ? undefined : rest,
      cwd: typeof cwd === "string" ? this.#variables.text(cwd) : undefined,
      envFile: typeof envFile === "string" ? this.#variables.text(envFile) : undefined,
      [envKey]: emptyIsNothing(env),
      ...this.#variables.passedOn,
    };
  }

  #env(): Record<string, unknown> {
    const { env, env_passthrough: passed } = this.#entry;
    const written = pairs(env).map(([name, text]) => [name, this.#variables.inEnv(name, text)]);
    const names = Array.isArray(passed) ? passed.map(String) : [];
    const others = names.map((name) => [name, this.#variables.inEnv(name, `\${${name}}`)]);
    return definedOf(Object.fromEntries([...others, ...written]));
  }

  #remote(): Record<string, unknown> {
    const { url, type = this.#entry["transport"], headers } = this.#entry;
    const kind = type === "sse" ? "sse" : "http";
    const { type: types, url: keys, headers: headersKey = "headers" } = this.#shape;
    const key = keys[kind];
    if (key === undefined) {
      const what = kind === "sse" && keys.http !== undefined ? "over HTTP+SSE" : "at a URL";
      throw obstacle(`${this.#title} does not support a server ${what}`);
    }
    const written = pairs(headers).map(([name, text]) => [name, this.#variables.inHeader(name, text)]);
    return {
      type: types?.[kind],
      [key]: this.#variables.text(asText(url)),
      [headersKey]: emptyIsNothing(definedOf(Object.fromEntries(written))),
      ...this.#oauth(),
      ...this.#variables.passedOn,
    };
  }

  /** Other programs log in by themselves: what they do not support is left out. */
  #oauth(): Record<string, unknown> {
    const oauth = readOAuth(this.#entry["oauth"], (problem) => obstacle(problem));
    const { oauth: shape } = this.#shape;
    if (oauth === undefined) return {};
    if (oauth === false && shape?.hasOff) return { [shape.key]: false };
    if (oauth === false) this.#leftOut.push("oauth");
    const written = Object.entries(oauth || {}).flatMap(([key, value]) => {
      const name = shape?.names[key];
      if (name === undefined) this.#leftOut.push(`oauth.${key}`);
      return name === undefined ? [] : [[name, this.#oauthValue(value)] as const];
    });
    return shape && written.length > 0 ? { [shape.key]: { ...shape.always, ...Object.fromEntries(written) } } : {};
  }

  #oauthValue(value: unknown): unknown {
    if (typeof value === "string") return this.#variables.text(value);
    if (!Array.isArray(value)) return value;
    const scopes = value.map((scope) => this.#variables.text(String(scope)));
    return this.#shape.oauth?.hasScopeText ? scopes.join(" ") : scopes;
  }

  /** Tools that are hidden in Nexus must not become visible in the other program without notice. */
  #tools(): Record<string, unknown> {
    const { tools } = this.#entry;
    const { allow, deny } = this.#shape.tools ?? {};
    if (!isRecord(tools)) return {};
    const written: Record<string, unknown> = {};
    for (const [key, theirs] of [
      ["allow", allow],
      ["deny", deny],
    ] as const) {
      if (tools[key] === undefined) continue;
      if (theirs === undefined) throw obstacle(`${this.#title} does not support a list of tools to ${key}`);
      written[theirs] = tools[key];
    }
    return written;
  }
}

function texts(...values: unknown[]): string[] {
  return values.flat().filter((word) => typeof word === "string");
}

function pairs(value: unknown): [string, string][] {
  return isRecord(value) ? Object.entries(value).map(([name, text]) => [name, asText(text)]) : [];
}

function definedOf(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}

function emptyIsNothing(value: Record<string, unknown>): Record<string, unknown> | undefined {
  return Object.keys(value).length === 0 ? undefined : value;
}

/** The error for an entry that cannot be written for another program; the message can end a sentence. */
export function obstacle(reason: string): NexusError {
  return new NexusError("CONFIG_INVALID", reason, { phase: "config", mayHaveReached: false });
}

/** Converts the variables of an entry to the syntax of another program. */
class ClientVariables {
  /** Keys besides `env` and `headers` that pass variables on, as in Codex. */
  readonly passedOn: Record<string, unknown> = {};
  readonly #facts: ClientFacts;
  readonly #shape: EntryShape;

  constructor(facts: ClientFacts, shape: EntryShape) {
    this.#facts = facts;
    this.#shape = shape;
  }

  text(text: string): string {
    const { title, dialect } = this.#facts;
    const plain = text.replaceAll(/\$\{[^{}]*\}/g, "");
    if (this.#readsMore(plain) || (dialect?.variables && plain.search(dialect.variables) !== -1)) {
      throw obstacle(`${title} would treat plain text as a variable`);
    }
    let written = "";
    let rest = text;
    for (;;) {
      const start = rest.indexOf("${");
      const end = start === -1 ? -1 : endOf(rest, start + 2);
      if (end === -1) return written + rest;
      if (rest[start - 1] === "$") throw obstacle(`${title} would treat plain text as a variable`);
      written += rest.slice(0, start) + this.#reference(rest.slice(start + 2, end));
      rest = rest.slice(end + 1);
    }
  }

  /** A variable of the child; undefined if it is passed on in another way. */
  inEnv(name: string, text: string): string | undefined {
    const { passed } = this.#shape;
    if (!passed || wholeReference(text) !== name) return this.text(text);
    this.#pass(passed.env, name);
    return undefined;
  }

  /** A header; undefined if it is sent in another way. */
  inHeader(name: string, text: string): string | undefined {
    const { passed } = this.#shape;
    if (!passed) return this.text(text);
    const token =
      /^authorization$/i.test(name) && text.startsWith("Bearer ") ? wholeReference(text.slice(7)) : undefined;
    const variable = wholeReference(text);
    if (token !== undefined) this.passedOn[passed.token] = token;
    else if (variable !== undefined) {
      this.passedOn[passed.headers] = { ...(this.passedOn[passed.headers] as object | undefined), [name]: variable };
    } else return this.text(text);
    return undefined;
  }

  #pass(key: string, name: string): void {
    const before = this.passedOn[key];
    this.passedOn[key] = [...(Array.isArray(before) ? before : []), name];
  }

  #reference(reference: string): string {
    const { title } = this.#facts;
    const { variable, hasDefaults, hasFolders } = this.#shape;
    const [, prefix, name = "", fallback] = /^(?:(env|secret|input|file):)?([^]+?)(?::-([^]*))?$/.exec(reference) ?? [];
    if (prefix === "secret") throw obstacle(`it uses the secret "${name}", which only Nexus knows`);
    if (prefix === "input") throw obstacle(`it asks for "${name}" at the start, which only Nexus supports`);
    if (prefix === "file") throw obstacle(`it reads a value from the file ${name}, which only Nexus supports`);
    if (!/^[A-Za-z_]\w*$/.test(name)) throw obstacle(`${title} does not support \${${reference}}`);
    if (prefix === undefined && FOLDERS.includes(name)) {
      if (hasFolders && fallback === undefined) return `\${${name}}`;
      throw obstacle(`${title} does not support \${${reference}}`);
    }
    if (!variable) throw obstacle(`${title} does not support variables`);
    if (fallback === undefined) return variable(name);
    if (!hasDefaults) throw obstacle(`${title} does not support defaults of variables`);
    return `\${${name}:-${this.text(fallback)}}`;
  }

  /** opencode reads {env:NAME} and {file:path} in every text. */
  #readsMore(text: string): boolean {
    return this.#shape.variable?.("NAME") === "{env:NAME}" && /\{(?:env|file):/.test(text);
  }
}

/** The variable, if the text consists of nothing else. */
function wholeReference(text: string): string | undefined {
  return /^\$\{(?:env:)?([A-Za-z_]\w*)\}$/.exec(text)?.[1];
}
