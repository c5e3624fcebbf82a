import type { ToolSpec } from "../file/model/tool-file.ts";

/** How much a word counts, by where it is. */
const WEIGHTS = { name: 4, title: 3, category: 2, description: 1 } as const;

/** A word that only begins with the asked one counts less. */
const PREFIX = 0.4;
const MIN_PREFIX = 3;
/** Each word of a query is compared with all words. */
const MAX_ASKED = 32;
const MAX_QUERY = 1_000;
/** Words that nearly every description has. */
const COMMON: ReadonlySet<string> = new Set([
  "a",
  "an",
  "the",
  "of",
  "to",
  "in",
  "for",
  "and",
  "or",
  "is",
  "with",
  "by",
]);

/** Finds tools by words in their names, titles, categories and descriptions; the best first. */
export class ToolIndex {
  /** By word: the weight of the word in each tool that has it. */
  readonly #words = new Map<string, Map<string, number>>();
  readonly #names: readonly string[];

  constructor(tools: readonly (readonly [name: string, spec: ToolSpec])[]) {
    this.#names = tools.map(([name]) => name);
    for (const [name, { title, description, meta }] of tools) {
      this.#add(name, name, WEIGHTS.name);
      this.#add(name, title, WEIGHTS.title);
      this.#add(name, meta.category ?? "", WEIGHTS.category);
      this.#add(name, description, WEIGHTS.description);
    }
  }

  /** All tools that have at least one of the words; those with more and rarer words first. */
  search(query: string): string[] {
    const scores = new Map<string, number>();
    for (const asked of [...new Set(wordsOf(query.slice(0, MAX_QUERY)))].slice(0, MAX_ASKED)) {
      const best = new Map<string, number>();
      for (const [word, tools] of this.#matching(asked)) {
        const share = word === asked ? 1 : PREFIX;
        const rarity = Math.log(1 + this.#names.length / tools.size);
        for (const [tool, weight] of tools) {
          best.set(tool, Math.max(best.get(tool) ?? 0, weight * share * rarity));
        }
      }
      for (const [tool, score] of best) scores.set(tool, (scores.get(tool) ?? 0) + score);
    }
    return [...scores].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1)).map(([name]) => name);
  }

  *#matching(asked: string): Iterable<[string, Map<string, number>]> {
    for (const [word, tools] of this.#words) {
      const isNear = asked.length >= MIN_PREFIX && (word.startsWith(asked) || isPlural(asked, word));
      if (word === asked || isNear) yield [word, tools];
    }
  }

  #add(tool: string, text: string, weight: number): void {
    for (const word of new Set(wordsOf(text))) {
      const tools = this.#words.get(word) ?? new Map<string, number>();
      this.#words.set(word, tools);
      // A word that is in several places counts once more in each, but the best place decides.
      tools.set(tool, Math.max(tools.get(tool) ?? 0, weight) + (tools.has(tool) ? 0.5 : 0));
    }
  }
}

function isPlural(asked: string, word: string): boolean {
  return asked === `${word}s` || asked === `${word}es`;
}

/** In small letters; `listPets` and `list_pets` are two words. */
function wordsOf(text: string): string[] {
  const parts = text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu);
  return (parts ?? []).filter((word) => !COMMON.has(word));
}
