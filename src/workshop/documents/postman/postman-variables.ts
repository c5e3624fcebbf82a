import { isCredentialName } from "../../../masking/secret-names.ts";
import { LEFT_OUT } from "../../../masking/clean-prose.ts";
import type { PostmanPart } from "./postman-part.ts";

const VARIABLE = /\{\{\s*([^{}]*?)\s*\}\}/g;
/** Variables may use each other, and also themselves. */
const MAX_ROUNDS = 10;
const MAX_LENGTH = 10_000;

/** The variables of a collection and of the folders around a request. */
export class PostmanVariables {
  readonly #values: ReadonlyMap<string, string>;
  readonly #outer: PostmanVariables | undefined;

  constructor(values: ReadonlyMap<string, string> = new Map(), outer?: PostmanVariables) {
    this.#values = values;
    this.#outer = outer;
  }

  /** With those of a collection or folder, which win. */
  with(list: PostmanPart): PostmanVariables {
    const own = list.items().flatMap((variable): [string, string][] => {
      const name = variable.part("key").text() ?? variable.part("id").text();
      const value = variable.part("value").text() ?? "";
      // The values of secrets must not reach a tool file.
      const isSecret = variable.part("type").text() === "secret" || isCredentialName(name ?? "");
      return name === undefined || value === "" || value === LEFT_OUT || variable.isOff || isSecret
        ? []
        : [[name, value]];
    });
    return own.length === 0 ? this : new PostmanVariables(new Map(own), this);
  }

  /** The text with the values of variables; those without a value stay, and those beyond the longest text. */
  resolve(text: string): string {
    let resolved = text;
    for (let round = 0; round < MAX_ROUNDS && resolved.length < MAX_LENGTH; round++) {
      let left = MAX_LENGTH;
      const next = resolved.replaceAll(VARIABLE, (whole, name: string) => {
        const value = this.#find(name) ?? whole;
        left -= value.length;
        return left < 0 ? whole : value;
      });
      if (next === resolved) break;
      resolved = next;
    }
    return resolved;
  }

  #find(name: string): string | undefined {
    const own = this.#values.get(name);
    return own === undefined && this.#outer ? this.#outer.#find(name) : own;
  }
}

/** The names of the variables in a text. */
export function variablesIn(text: string): string[] {
  return [...text.matchAll(VARIABLE)].map(([, name = ""]) => name);
}

/** Whether a text is one variable and nothing else; its name. */
export function onlyVariable(text: string): string | undefined {
  const [, name] = /^\{\{\s*([^{}]*?)\s*\}\}$/.exec(text) ?? [];
  return name;
}
