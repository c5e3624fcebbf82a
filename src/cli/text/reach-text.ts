import { quoteWord } from "./split-words.ts";
import type { WrittenEntry } from "../looking/written-entries.ts";

const MASK = "•••";
const SECRET = "(?:token|secret|passw|api-?_?key|access-?_?key|private-?_?key|credential|auth)";
const SECRET_OPTION = new RegExp(`^--?[\\w-]*${SECRET}[\\w-]*$`, "i");
const SECRET_PAIR = new RegExp(`^((?:--?)?[\\w.-]*${SECRET}[\\w.-]*\\s*[=:]\\s*)(.+)$`, "is");

/** How a server is started or reached, as its entry says it: variables by their names, what looks secret masked. */
export function reachText(entry: WrittenEntry): string | undefined {
  const { command, args, url } = entry;
  if (typeof url === "string") return maskedUrl(url);
  const words = [command, args].flat().filter((word) => typeof word === "string");
  return words.length === 0 ? undefined : maskedWords(words).join(" ");
}

/** `NAME=•••` for each member: what `env` and `headers` hold is nobody's business. */
export function maskedMembers(members: unknown, separator: string): string[] {
  if (typeof members !== "object" || members === null) return [];
  return Object.entries(members).map(
    ([name, value]) => `${name}${separator}${typeof value === "string" ? masked(value) : MASK}`,
  );
}

function maskedWords(words: readonly string[]): string[] {
  return words.map((word, index) => {
    const shown = SECRET_OPTION.test(words[index - 1] ?? "") && !word.startsWith("-") ? masked(word) : maskedPair(word);
    return /\s/.test(shown) ? quoteWord(shown) : shown;
  });
}

function maskedPair(word: string): string {
  const [, name, value] = SECRET_PAIR.exec(word) ?? [];
  return name === undefined || value === undefined ? withoutDefaults(maskedUrl(word)) : `${name}${masked(value)}`;
}

/** Names of variables stay, all else goes. */
function masked(value: string): string {
  const references = value.match(/\$\{[^{}]*\}/g);
  return references ? withoutDefaults(references.join(" ")) : MASK;
}

function withoutDefaults(text: string): string {
  return text.replaceAll(/(\$\{[\w:.-]+?:-)[^{}]*\}/g, `$1${MASK}}`);
}

/** Without user, password and what stands in the query: people put keys there. */
function maskedUrl(text: string): string {
  if (!/^(?:https?|wss?):\/\//i.test(text)) return text;
  return withoutDefaults(text)
    .replace(/^(\w+:\/\/)[^/?#]*@/, `$1${MASK}@`)
    .replaceAll(/([?&][^=&#]+=)([^&#]+)/g, (_all, name: string, value: string) => `${name}${masked(value)}`);
}
