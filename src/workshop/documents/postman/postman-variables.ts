import type { PostmanPart } from "./postman-part.ts";

const VARIABLE = /\{\{\s*([^{}]*?)\s*\}\}/g;
/** Variables may use each other, and also themselves. */
const MAX_ROUNDS = 10;
const MAX_LENGTH = 10_000;

/** The variables of a collection and of the folders around a request. */
export class PostmanVariables {
  readonly #values: ReadonlyMap<string, string>;

  constructor(values: ReadonlyMap<string, string> = new Map()) {
    this.#values = values;
  }

  /** With those of a collection or folder, which win. */
  with(list: PostmanPart): PostmanVariables {
    const own = list.items().flatMap((variable): [string, string][] => {
      const name = variable.part("key").text() ?? variable.part("id").text();
      const value = variable.part("value").text() ?? "";
      // The values of secrets must not reach a tool file.
      const isSecret = variable.part("type").text() === "secret" || isSecretName(name ?? "");
      return name === undefined || value === "" || variable.isOff || isSecret ? [] : [[name, value]];
    });
    return own.length === 0 ? this : new PostmanVariables(new Map([...this.#values, ...own]));
  }

  /** The text with the values of variables; those without a value stay. */
  resolve(text: string): string {
    let resolved = text;
    for (let round = 0; round < MAX_ROUNDS && resolved.length < MAX_LENGTH; round++) {
      const next = resolved.replaceAll(VARIABLE, (whole, name: string) => this.#values.get(name) ?? whole);
      if (next === resolved) break;
      resolved = next;
    }
    return resolved;
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

/** Whether a variable, header or parameter of this name has a credential. */
export function isSecretName(name: string): boolean {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  const joined = words.join("");
  if (/^(?:x?api|access|app|auth|subscription|secret|private|client)key$/.test(joined.replace(/^x/, ""))) return true;
  if (/apikey|accesstoken|authtoken|bearertoken|clientsecret|secretkey|apisecret|apitoken|privatetoken/.test(joined)) {
    return true;
  }
  // A page token continues a list; a request token and the like are values of their own.
  if (words.some((word) => ["page", "next", "sync", "continuation", "session", "csrf", "xsrf"].includes(word))) {
    return words.some((word) => ["secret", "password", "passwd"].includes(word));
  }
  return words.some((word) => ["secret", "password", "passwd", "token", "jwt", "apikey"].includes(word));
}
