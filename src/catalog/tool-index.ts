/** How much a word counts, by where it is. */
const WEIGHTS = { name: 4, title: 3, category: 2, description: 1 } as const;

/** A word that only begins with the asked one counts less. */
const PREFIX = 0.4;
const MIN_PREFIX = 3;
/** Each word of a query is compared with all words. */
const MAX_ASKED = 32;
const MAX_QUERY = 1_000;
/** How much better a tool is whose name has no other words than those asked for. */
const NAME_SHARE = 0.25;
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

/** What a tool is found by. */
export interface IndexedTool {
  name: string;
  /** What a search returns; default: the name. */
  key?: string | undefined;
  title: string;
  category?: string | undefined;
  description: string;
}

/** More is better; scores of different searches cannot be compared. */
interface FoundTool {
  key: string;
  score: number;
}

/** Finds tools by words in their names, titles, categories and descriptions; the best first. */
export class ToolIndex {
  /** By word: the weight of the word in each tool that has it. */
  readonly #words = new Map<string, Map<string, number>>();
  /** The different words in the name of each tool. */
  readonly #names: ReadonlyMap<string, ReadonlySet<string>>;

  constructor(tools: readonly IndexedTool[]) {
    this.#names = new Map(tools.map(({ name, key = name }) => [key, new Set(wordsOf(name))]));
    for (const { name, key = name, title, category = "", description } of tools) {
      this.#add(key, name, WEIGHTS.name);
      this.#add(key, title, WEIGHTS.title);
      this.#add(key, category, WEIGHTS.category);
      this.#add(key, description, WEIGHTS.description);
    }
  }

  /**
   * All tools that have at least one of the words; those with more and rarer words first. Of similar ones, that whose
   * name has the fewest other words: "create invoice" means create_invoices before create_invoice_history.
   */
  search(query: string): FoundTool[] {
    const scores = new Map<string, number>();
    const words = new Set([...new Set(wordsOf(query.slice(0, MAX_QUERY)))].slice(0, MAX_ASKED));
    for (const asked of words) {
      const best = new Map<string, number>();
      for (const [word, tools] of this.#matching(asked)) {
        const share = word === asked ? 1 : PREFIX;
        const rarity = Math.log(1 + this.#names.size / tools.size);
        for (const [tool, weight] of tools) {
          best.set(tool, Math.max(best.get(tool) ?? 0, weight * share * rarity));
        }
      }
      for (const [tool, score] of best) scores.set(tool, (scores.get(tool) ?? 0) + score);
    }
    const shareOf = (tool: string) => {
      const own = [...(this.#names.get(tool) ?? [])];
      return own.filter((word) => words.has(word)).length / (own.length || 1);
    };
    return [...scores]
      .map(([key, score]) => ({ key, score: score * (1 + NAME_SHARE * shareOf(key)) }))
      .toSorted((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1));
  }

  *#matching(asked: string): Iterable<[string, Map<string, number>]> {
    for (const [word, tools] of this.#words) {
      if (word === asked || (asked.length >= MIN_PREFIX && word.startsWith(asked))) yield [word, tools];
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

/** In small letters and without the endings of plurals; `listPets` and `list_pets` are two words. */
function wordsOf(text: string): string[] {
  const parts = text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu);
  return (parts ?? []).filter((word) => !COMMON.has(word)).map(singularOf);
}

/** `invoices` is invoice, `taxes` tax, `companies` company; `creates` becomes create as well. */
function singularOf(word: string): string {
  if (word.length <= 3 || /(?:ss|us|is)$/.test(word)) return word;
  if (/[^aeiou]ies$/.test(word)) return `${word.slice(0, -3)}y`;
  return word.replace(/(?<=ss|x|zz|ch|sh)es$|s$/, "");
}
