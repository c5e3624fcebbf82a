import { NexusError } from "../../errors/nexus-error.ts";
import type { ClientFacts, EntryShape } from "./clients.ts";
import { endOf } from "../read/variables.ts";

/** The error for an entry that cannot be written for another program; the message can end a sentence. */
export function obstacle(reason: string): NexusError {
  return new NexusError("CONFIG_INVALID", reason, { phase: "config", mayHaveReached: false });
}

/** Names that editors also know. */
const FOLDERS = ["workspaceFolder", "userHome"];

/** Converts the variables of an entry to the syntax of another program. */
export class ClientVariables {
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
