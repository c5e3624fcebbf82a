import { toAbsolutePath } from "../../files/paths.ts";
import type { SecretStore, StoredSecret } from "../../auth/secrets.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { nearestName } from "../../text/nearest-name.ts";
import type { Fault } from "./problem.ts";
import type { InputDefinition } from "./find-servers.ts";
import { loadText } from "./read-source.ts";
import type { Place, SourceNode } from "../../source/source-node.ts";

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
}

/** Maximum number of nested defaults: each level reads everything inside it once more. */
const MAX_NESTED = 20;

/** Resolves the variables of an entry: in all strings, never in keys or in resolved values. */
export class VariableFiller {
  /** References that could not be resolved. */
  readonly unresolved: Fault[] = [];
  /** Resolved secrets and password inputs. */
  readonly secrets = new Set<string>();
  /** Stored secrets that were used, by name. */
  readonly stored = new Map<string, StoredSecret>();
  readonly #sources: VariableSources;
  readonly #paths: { home: string; base: string };
  readonly #read: NonNullable<FillContext["read"]>;
  readonly #server: string;

  constructor({ sources, home, fileFolder, read }: FillContext, server: string) {
    this.#sources = sources;
    this.#paths = { home, base: fileFolder };
    this.#read = read ?? ((path) => loadText(path, { called: "It" }));
    this.#server = server;
  }

  /** The entry with resolved variables; what could not be resolved is in `unresolved`. */
  async fill(node: SourceNode): Promise<SourceNode> {
    if (node.kind === "object") {
      const members = [];
      for (const member of node.members) members.push({ ...member, node: await this.fill(member.node) });
      return { ...node, members };
    }
    if (node.kind === "list") {
      const items = [];
      for (const item of node.items) items.push(await this.fill(item));
      return { ...node, items };
    }
    return typeof node.value === "string" ? { ...node, value: await this.#text(node.value, node.place) } : node;
  }

  async #text(text: string, place: Place, nested = 0): Promise<string> {
    if (nested > MAX_NESTED) return this.#tooNested(place);
    let filled = "";
    let rest = text;
    for (;;) {
      const start = rest.indexOf("${");
      const end = start === -1 ? -1 : endOf(rest, start + 2);
      if (end === -1) return filled + rest;
      // $${ stands for ${ itself.
      const escaped = rest[start - 1] === "$";
      filled += escaped ? rest.slice(0, start - 1) : rest.slice(0, start);
      filled += escaped ? rest.slice(start, end + 1) : await this.#value(rest.slice(start + 2, end), place, nested);
      rest = rest.slice(end + 1);
    }
  }

  async #value(reference: string, place: Place, nested: number): Promise<string> {
    const [, prefix, name = "", , fallback] =
      /^(?:(env|input|secret):)?([\w.-]+?)(:-([\s\S]*))?$/.exec(reference) ??
      /^(file):([^\n]+?)(:-([\s\S]*))?$/.exec(reference) ??
      [];
    if (name === "" || (prefix === undefined && !/^[A-Za-z_]\w*$/.test(name))) return this.#foreign(reference, place);
    const value = await this.#lookUp(prefix, name).catch((error: unknown) => {
      // A secret that cannot be decrypted, or a declined input, is a problem of this server only.
      const hint = (error instanceof NexusError ? error.hint : undefined) ?? `It is used as \${${reference}}.`;
      this.unresolved.push({ place, what: `${prefix} "${name}": ${messageOf(error)}`, hint });
      return "";
    });
    // As in a shell, a default also replaces an empty value.
    if (fallback !== undefined && (value === undefined || value === "")) return this.#text(fallback, place, nested + 1);
    if (value !== undefined) return value;
    this.unresolved.push({ place, ...this.#explain(prefix, name) });
    return "";
  }

  async #lookUp(prefix: string | undefined, name: string): Promise<string | undefined> {
    if (prefix === "secret") return this.#stored(name);
    if (prefix === "file") return (await this.#read(toAbsolutePath(name, this.#paths)))?.trim();
    if (prefix === "input") {
      const input = this.#input(name);
      const answer = (await this.#sources.askInput?.(input, this.#server)) ?? input.default;
      return input.password ? this.#secret(answer) : answer;
    }
    const { folders } = this.#sources;
    return this.#variable(name) ?? (prefix === undefined && Object.hasOwn(folders, name) ? folders[name] : undefined);
  }

  async #stored(name: string): Promise<string | undefined> {
    const secret = await this.#sources.secrets?.get(name);
    if (secret) this.stored.set(name, secret);
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
    return this.#sources.inputs.find((input) => input.id === id) ?? { id, password: false };
  }

  #explain(prefix: string | undefined, name: string): Omit<Fault, "place"> {
    if (prefix === "secret") {
      return {
        what: `the secret "${name}" is not stored`,
        hint: `Store it: nexus secrets set ${name}${this.#sources.secretOptions ?? ""}`,
      };
    }
    if (prefix === "file") {
      const path = toAbsolutePath(name, this.#paths);
      return {
        what: `the file ${path} does not exist`,
        hint: `It is used as \${file:${name}}. Create the file, or add a default.`,
      };
    }
    if (prefix === "input") {
      const { description } = this.#input(name);
      const asked = description === undefined ? "" : ` (${description})`;
      return {
        what: `the input "${name}"${asked} has no answer`,
        hint: `Add a "default" in "inputs", or use \${env:NAME} or \${secret:${name}} instead of \${input:${name}}.`,
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
      const what = `\${${reference}} is not a known variable`;
      this.unresolved.push({
        place,
        what,
        hint: "Use ${NAME}, ${NAME:-default}, ${env:NAME}, ${input:id}, ${secret:name}, ${file:path}.",
      });
    }
    return `\${${reference}}`;
  }
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
