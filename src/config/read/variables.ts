import { toAbsolutePath } from "../../files/paths.ts";
import type { SecretStore, StoredSecret } from "../../auth/secrets.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { nearestName } from "../../text/nearest-name.ts";
import type { Fault } from "./problem.ts";
import type { InputDefinition } from "./find-servers.ts";
import { loadText } from "./read-source.ts";
import type { Place, SourceNode } from "../../source/source-node.ts";
import { hasTrait, HOST_ENTRY } from "../../transport/entry-form.ts";

/** Longer ones are not the scheme and the host of an address. */
const LONGEST_BEGINNING = 2_000;
const USABLE = `Secrets are used in "env", "headers", the path and the query of "url", and in "oauth" as clientSecret, privateKey, assertion and idToken. Write this text as it is, or use a variable: \${NAME}.`;

/** The sources of the names between `${` and `}`. */
export interface VariableSources {
  variables: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  /** Folders that editors name like variables: `workspaceFolder`, `userHome`. */
  folders: Readonly<Record<string, string>>;
  secrets?: Pick<SecretStore, "get"> | undefined;
  /** Options of commands about these secrets, for hints: ` --tenant shop`. */
  secretOptions?: string | undefined;
  inputs: readonly InputDefinition[];
  /** Only secrets are filled in: the entry came over the network. */
  onlySecrets?: boolean | undefined;
  /** Answers an input; undefined if there is no user to ask. */
  askInput?: ((input: InputDefinition, server: string) => Promise<string | undefined>) | undefined;
}

interface FillContext {
  sources: VariableSources;
  home: string;
  /** The base of the path in `${file:path}`. */
  fileFolder: string;
  /** Reads the file of `${file:path}`; undefined if there is none. */
  read?: ((path: string) => Promise<string | undefined>) | undefined;
  /** Where secrets may be; default: where an entry of a server may have them. */
  secretPlaces?: SecretPlaces | undefined;
}

/** A text that is being filled. */
interface FilledText {
  place: Place;
  /** The keys that lead to it. */
  path: readonly string[];
  /** In an address: what comes before it, where it is a default. Short, see `shortBeginning`. */
  before: string;
  nested: number;
}

/** Maximum number of nested defaults: each level reads everything inside it once more. */
const MAX_NESTED = 20;

/**
 * Resolves the variables of an entry: in all strings, never in keys or in resolved values. Secrets are resolved only where
 * they may be.
 */
export class VariableFiller {
  /** References that could not be resolved. */
  readonly unresolved: Fault[] = [];
  /** Resolved secrets and password inputs. */
  readonly secrets = new Set<string>();
  /** Stored secrets that were used, by name. */
  readonly stored = new Map<string, StoredSecret>();
  /** Where each of them was used: the keys that lead to the text. */
  readonly uses: { name: string; value: string; path: readonly string[] }[] = [];
  readonly #sources: VariableSources;
  readonly #paths: { home: string; base: string };
  readonly #read: NonNullable<FillContext["read"]>;
  readonly #secretPlaces: SecretPlaces;
  readonly #server: string;

  constructor({ sources, home, fileFolder, read, secretPlaces }: FillContext, server: string) {
    this.#sources = sources;
    this.#secretPlaces = secretPlaces ?? inEntry;
    this.#paths = { home, base: fileFolder };
    this.#read = read ?? ((path) => loadText(path, { called: "It" }));
    this.#server = server;
  }

  /** The entry with resolved variables; what could not be resolved is in `unresolved`. */
  async fill(node: SourceNode, path: readonly string[] = []): Promise<SourceNode> {
    if (node.kind === "object") {
      const members = [];
      for (const member of node.members) {
        members.push({ ...member, node: await this.fill(member.node, [...path, member.key]) });
      }
      return { ...node, members };
    }
    if (node.kind === "list") {
      const items = [];
      for (const [index, item] of node.items.entries()) items.push(await this.fill(item, [...path, String(index)]));
      return { ...node, items };
    }
    const { value, place } = node;
    if (typeof value !== "string" || !value.includes("${")) return node;
    const misplaced = misplacedIn(node, path, { places: this.#secretPlaces, inputs: this.#sources.inputs });
    this.unresolved.push(...misplaced);
    if (misplaced.length > 0) return node;
    return { ...node, value: await this.#text(value, { place, path, before: "", nested: 0 }) };
  }

  async #text(text: string, at: FilledText): Promise<string> {
    if (at.nested > MAX_NESTED) return this.#tooNested(at.place);
    const isAddress = this.#secretPlaces(at.path) === "after-host";
    let { before } = at;
    let filled = "";
    let rest = text;
    const add = (part: string) => {
      filled += part;
      if (isAddress) before = shortBeginning(before + part);
    };
    for (;;) {
      const start = rest.indexOf("${");
      const end = start === -1 ? -1 : endOf(rest, start + 2);
      if (end === -1) return filled + rest;
      // $${ stands for ${ itself.
      const escaped = rest[start - 1] === "$";
      add(escaped ? rest.slice(0, start - 1) : rest.slice(0, start));
      add(escaped ? rest.slice(start, end + 1) : await this.#value(rest.slice(start + 2, end), { ...at, before }));
      rest = rest.slice(end + 1);
    }
  }

  async #value(reference: string, at: FilledText): Promise<string> {
    const { place, path, before, nested } = at;
    const [, prefix, name = "", , fallback] = partsOf(reference);
    if (name === "" || (prefix === undefined && !/^[A-Za-z_]\w*$/.test(name))) return this.#foreign(reference, place);
    if (
      isSecret(prefix, name, this.#sources.inputs) &&
      this.#secretPlaces(path) === "after-host" &&
      !isAfterHost(before)
    ) {
      this.unresolved.push({ place, ...misplacedSecret(`\${${prefix}:${name}}`, path) });
      return "";
    }
    const value = await this.#lookUp(prefix, name, path).catch((error: unknown) => {
      // A secret that cannot be decrypted, or a declined input, is a problem of this server only.
      const hint = (error instanceof NexusError ? error.hint : undefined) ?? `It is used as \${${reference}}.`;
      this.unresolved.push({ place, what: `${prefix} "${name}": ${messageOf(error)}`, hint });
      return "";
    });
    // As in a shell, a default also replaces an empty value.
    if (fallback !== undefined && (value === undefined || value === "")) {
      return this.#text(fallback, { ...at, nested: nested + 1 });
    }
    if (value !== undefined) return value;
    this.unresolved.push({ place, ...this.#explain(prefix, name) });
    return "";
  }

  async #lookUp(prefix: string | undefined, name: string, path: readonly string[]): Promise<string | undefined> {
    if (prefix === "secret") return this.#stored(name, path);
    if (prefix === "file") return (await this.#read(toAbsolutePath(name, this.#paths)))?.trim();
    if (prefix === "input") {
      const input = this.#input(name);
      const answer = (await this.#sources.askInput?.(input, this.#server)) ?? input.default;
      return input.password ? this.#secret(answer) : answer;
    }
    const { folders } = this.#sources;
    return this.#variable(name) ?? (prefix === undefined && Object.hasOwn(folders, name) ? folders[name] : undefined);
  }

  async #stored(name: string, path: readonly string[]): Promise<string | undefined> {
    const secret = await this.#sources.secrets?.get(name);
    if (secret) {
      this.stored.set(name, secret);
      this.uses.push({ name, value: secret.value, path });
    }
    return this.#secret(secret?.value);
  }

  #secret(value: string | undefined): string | undefined {
    if (value !== undefined) this.secrets.add(value);
    return value;
  }

  #variable(name: string): string | undefined {
    const { variables, platform } = this.#sources;
    if (Object.hasOwn(variables, name)) return variables[name];
    if (platform !== "win32") return undefined;
    const match = Object.keys(variables).find((key) => key.toUpperCase() === name.toUpperCase());
    return match === undefined ? undefined : variables[match];
  }

  #input(id: string): InputDefinition {
    return inputIn(this.#sources.inputs, id);
  }

  #explain(prefix: string | undefined, name: string): Omit<Fault, "place"> {
    if (prefix === "secret") {
      return {
        what: `the secret "${name}" is not stored`,
        hint: `Store it: nexus secrets set ${name}${this.#sources.secretOptions ?? ""}`,
      };
    }
    if (this.#sources.onlySecrets) return onlySecrets(prefix === undefined ? name : `${prefix}:${name}`);
    if (prefix === "file") {
      const path = toAbsolutePath(name, this.#paths);
      return {
        what: `the file ${path} does not exist`,
        hint: `It is used as \${file:${name}}. Create the file, or add a default.`,
      };
    }
    if (prefix === "input") {
      const { description, password } = this.#input(name);
      const asked = description === undefined ? "" : ` (${description})`;
      return {
        what: `the input "${name}"${asked} has no answer`,
        hint: password
          ? `Store it: nexus secrets set ${name}${this.#sources.secretOptions ?? ""}. Then write \${secret:${name}} instead of \${input:${name}}.`
          : `Add a "default" in "inputs", or use \${env:NAME} or \${secret:${name}} instead of \${input:${name}}.`,
      };
    }
    // Only the hint of the first is shown; searching for each of very many would take long.
    const near = this.unresolved.length > 0 ? undefined : nearestName(name, Object.keys(this.#sources.variables));
    const set = this.#sources.platform === "win32" ? `$env:${name} = "value"` : `export ${name}=value`;
    const meant = near === undefined ? "" : ` Did you mean ${near}? It is set.`;
    return {
      what: `the variable ${name} is not set`,
      hint: `Set it (${set}), or add a default: \${${name}:-value}.${meant}`,
    };
  }

  #tooNested(place: Place): string {
    const what = `defaults of variables are nested deeper than ${MAX_NESTED} levels`;
    this.unresolved.push({ place, what, hint: "Use fewer levels: ${A:-${B:-value}} has two." });
    return "";
  }

  /** `${command:…}` and similar references belong to other programs; anything else is text. */
  #foreign(reference: string, place: Place): string {
    const [, prefix] = /^([A-Za-z]+):/.exec(reference) ?? [];
    if (prefix !== undefined) {
      const hint = "Use ${NAME}, ${NAME:-default}, ${env:NAME}, ${input:id}, ${secret:name}, ${file:path}.";
      const unknown = { what: `\${${reference}} is not a known variable`, hint };
      this.unresolved.push({ place, ...(this.#sources.onlySecrets ? onlySecrets(reference) : unknown) });
    }
    return `\${${reference}}`;
  }
}

function onlySecrets(reference: string): Omit<Fault, "place"> {
  return {
    what: `\${${reference}} is not filled in, because the entry came over the network`,
    hint: "Write the value as it is, or store it as a secret of the tenant and use ${secret:NAME}.",
  };
}

/** Prefix, name and default of what is between the braces. */
function partsOf(reference: string): readonly (string | undefined)[] {
  return (
    /^(?:(env|input|secret):)?([\w.-]+?)(:-([\s\S]*))?$/.exec(reference) ??
    /^(file):([^\n]+?)(:-([\s\S]*))?$/.exec(reference) ??
    []
  );
}

function inputIn(inputs: readonly InputDefinition[], id: string): InputDefinition {
  return inputs.find((input) => input.id === id) ?? { id, password: false };
}

function isSecret(prefix: string | undefined, name: string, inputs: readonly InputDefinition[]): boolean {
  return prefix === "secret" || (prefix === "input" && inputIn(inputs, name).password);
}

interface SecretRules {
  places?: SecretPlaces;
  inputs: readonly InputDefinition[];
}

/** The secrets in texts that may have none, also in defaults, which may not be used today. */
export function misplacedIn(node: SourceNode, path: readonly string[], rules: SecretRules): Fault[] {
  if (node.kind === "object") return node.members.flatMap((each) => misplacedIn(each.node, [...path, each.key], rules));
  if (node.kind === "list") {
    return node.items.flatMap((item, index) => misplacedIn(item, [...path, String(index)], rules));
  }
  const { places = inEntry, inputs } = rules;
  const { value, place } = node;
  const allowed = places(path);
  if (typeof value !== "string" || allowed === "anywhere" || !value.includes("${")) return [];
  const found = secretsIn(value, inputs);
  return (allowed === "nowhere" ? found : beforePath(value, found)).map((reference) => {
    return { place, ...misplacedSecret(reference, path) };
  });
}

/** The first secret, if it certainly comes before the path of this address: where a variable comes first, its value decides. */
function beforePath(url: string, secrets: readonly string[]): string[] {
  const [first] = secrets;
  const [beginning = ""] = first === undefined ? [] : url.split(first.slice(0, -1), 1);
  return first === undefined || beginning.includes("${") || isAfterHost(beginning) ? [] : [first];
}

/** The references to secrets in a text. */
function secretsIn(text: string, inputs: readonly InputDefinition[], nested = 0): readonly string[] {
  const found = new Set<string>();
  for (let from = 0; nested <= MAX_NESTED;) {
    const start = text.indexOf("${", from);
    const end = start === -1 ? -1 : endOf(text, start + 2);
    if (end === -1) break;
    from = end + 1;
    if (text[start - 1] === "$") continue;
    const [, prefix, name = "", , fallback = ""] = partsOf(text.slice(start + 2, end));
    if (isSecret(prefix, name, inputs)) found.add(`\${${prefix}:${name}}`);
    for (const inner of secretsIn(fallback, inputs, nested + 1)) found.add(inner);
  }
  return [...found];
}

/** The closing brace: a default may contain references. */
export function endOf(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    if (text.startsWith("${", at)) depth++;
    else if (text[at] === "}" && --depth === 0) return at;
  }
  return -1;
}

/**
 * The texts of an entry in which `${secret:…}` is filled: those that are sent as they are and shown to nobody. A name is
 * shown to everybody, arguments to all users of the machine, and a host to name servers and proxies.
 */
const inEntry: SecretPlaces = (path) => {
  if (path[0] === "url") return "after-host";
  return hasTrait(HOST_ENTRY, path, "secret") ? "anywhere" : "nowhere";
};

/** Whether what follows this beginning of an address is in its path or its query. */
function isAfterHost(beginning: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\/[^\p{Cc}\s/?#\\]+[/?][^#]*$/iu.test(beginning);
}

/** A beginning that says the same about what follows, and is short: it is read again at every reference in an address. */
function shortBeginning(beginning: string): string {
  if (isAfterHost(beginning)) return "https://host/";
  return beginning.length > LONGEST_BEGINNING || beginning.includes("#") ? "#" : beginning;
}

/** A secret where none is filled: what is wrong, and what to do. `reference`: without its default, which may be secret. */
function misplacedSecret(reference: string, path: readonly string[]): { what: string; hint: string } {
  const [key = ""] = path;
  const named = `"${path.filter((step) => !/^\d+$/.test(step)).join(".")}"`;
  if (key === "url") {
    return {
      what: `"url" has ${reference} outside of its path and its query`,
      hint: `Write the host in plain text, or send the secret in "headers": { "Authorization": "Bearer ${reference}" }.`,
    };
  }
  const what = `${named} has ${reference}, and a secret is not filled in there`;
  if (key === "args" || key === "command") {
    const hint = `Other users of the machine can see arguments. Pass it in "env" instead, if the program can read it there: "env": { "NAME": "${reference}" }.`;
    return { what, hint };
  }
  return { what, hint: key === "baseUrl" ? `Use secrets in "apiKey" and "headers".` : USABLE };
}

/**
 * Says by the keys that lead to a text whether it may have a secret. `after-host`: in an address, in its path and its
 * query.
 */
export type SecretPlaces = (path: readonly string[]) => "anywhere" | "after-host" | "nowhere";
