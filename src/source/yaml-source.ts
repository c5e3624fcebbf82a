import { isAlias, isMap, isScalar, isSeq, type Alias, type Document, type ErrorCode, type Node, type Pair } from "yaml";
import { aliasTargets, parseBoundedYaml } from "./bounded-yaml.ts";
import type { KnownWords } from "./masked-line.ts";
import { MAX_SOURCE_DEPTH, MAX_SOURCE_VALUES, type Member, type Place, type SourceNode } from "./source-node.ts";
import { SourceText } from "./source-text.ts";
import { syntaxError } from "./syntax-error.ts";

/** About half a megabyte of usual text. */
const MAX_LEXEMES = 150_000;
const START: Place = { line: 1, column: 1 };
const QUOTES = "Inside { } and [ ], write text that has brackets in quotes.";

/** A mistake in a text. */
interface YamlMistake {
  place: Place;
  what: string;
  hint?: string | undefined;
  cause?: unknown;
}

/** Reads a file, including merged maps. Throws at the first mistake; a RangeError if it is too large. */
export function parseYaml(content: string, file: string, words: KnownWords): SourceNode {
  const text = new SourceText(content);
  const report = (mistake: YamlMistake): never => {
    throw syntaxError({ file, text, words, format: "YAML", ...mistake });
  };
  const document = parseBoundedYaml(content, { merge: true, maxLexemes: MAX_LEXEMES });
  const [error] = document.errors;
  if (error?.code === "RESOURCE_EXHAUSTION") throw new RangeError(error.message, { cause: error });
  const mistake = syntaxMistake(document, text);
  if (mistake) return report(mistake);
  return document.contents === null
    ? { kind: "object", place: START, members: [] }
    : new YamlReader(document, text, { report, isStrict: false }).node(document.contents, START);
}

/**
 * Reads YAML 1.2, in which `no` and `on` are strings, with all its mistakes. Tags and merged maps are refused. Throws a
 * RangeError if it is too large.
 */
export function readStrictYaml(
  content: string,
  { maxLexemes, maxValues }: { maxLexemes?: number; maxValues?: number } = {},
): { node: SourceNode | undefined; mistakes: YamlMistake[] } {
  const text = new SourceText(content);
  const document = parseBoundedYaml(content, {
    uniqueKeys: false,
    merge: false,
    schema: "core",
    ...(maxLexemes === undefined ? {} : { maxLexemes }),
  });
  const mistake = syntaxMistake(document, text);
  if (mistake) return { node: undefined, mistakes: [mistake] };
  const mistakes: YamlMistake[] = [];
  const report = (found: YamlMistake): void => void mistakes.push(found);
  const node = new YamlReader(document, text, { report, isStrict: true, maxValues }).node(document.contents, START);
  return { node, mistakes };
}

/** The key of a pair as written: 123 and true are also names. The key of a merge is a symbol in the library. */
export function keyOf({ key }: { key: unknown }): string {
  return isScalar(key) ? (key.source ?? String(key.value)) : String(key);
}

/** Only the first mistake: later ones are usually caused by it. */
function syntaxMistake({ errors: [error] }: Document.Parsed, text: SourceText): YamlMistake | undefined {
  if (!error) return undefined;
  const { code, message, pos } = error;
  return { place: text.placeAt(pos[0]), what: message, hint: syntaxHint(code, message), cause: error };
}

function syntaxHint(code: ErrorCode, message: string): string | undefined {
  if (/flow-(?:seq|map)/.test(message)) return QUOTES;
  if (message.startsWith("Flow ")) return "A bracket that was opened above is not closed.";
  if (code === "TAB_AS_INDENT") return "Indent with spaces.";
  if (code === "BAD_INDENT")
    return "What belongs together begins in the same column: look at this line and those above.";
  if (code === "BLOCK_AS_IMPLICIT_KEY") return "Text with a colon and a space in it needs quotes.";
  return undefined;
}

interface YamlRules {
  /** May throw. */
  report: (mistake: YamlMistake) => void;
  /** Whether tags, merged maps, repeated keys and keys that are not strings are mistakes. */
  isStrict: boolean;
  /** Default: MAX_SOURCE_VALUES. */
  maxValues?: number | undefined;
}

class YamlReader {
  readonly #text: SourceText;
  readonly #rules: YamlRules;
  readonly #targets: ReadonlyMap<Alias, Node | undefined>;
  /** Targets of aliases that are being read: one inside itself would never end. */
  readonly #open = new Set<unknown>();
  #nodes = 0;
  #depth = 0;

  constructor(document: Document, text: SourceText, rules: YamlRules) {
    this.#text = text;
    this.#rules = rules;
    this.#targets = aliasTargets(document);
  }

  node(given: unknown, fallback: Place): SourceNode {
    const place = this.#placeOf(given) ?? fallback;
    // Each use of an alias counts, because a few lines could expand to millions of values.
    if (++this.#nodes > (this.#rules.maxValues ?? MAX_SOURCE_VALUES)) throw new RangeError("too many values");
    // Aliases of aliases can be nested deeper than the text.
    if (++this.#depth > MAX_SOURCE_DEPTH) throw new RangeError("nested too deeply");
    const node = this.#content(given, place);
    this.#depth -= 1;
    return node;
  }

  #content(given: unknown, place: Place): SourceNode {
    const tag = (given as Partial<Node> | null | undefined)?.tag;
    if (this.#rules.isStrict && tag !== undefined) {
      this.#report(place, `tags are not supported: ${tag.replace("tag:yaml.org,2002:", "!!")}`, "Leave it out.");
    }
    if (isAlias(given)) return this.#aliased(given, place);
    if (isSeq(given)) return { kind: "list", place, items: given.items.map((item) => this.node(item, place)) };
    if (isMap(given)) return { kind: "object", place, members: this.#members(given.items, place) };
    if (!isScalar(given)) return { kind: "scalar", place, value: given ?? null };
    return { kind: "scalar", place, value: given.value, source: given.source };
  }

  #aliased(alias: Alias, place: Place): SourceNode {
    const target = this.#targets.get(alias);
    const nothing: SourceNode = { kind: "scalar", place, value: null };
    if (target === undefined) {
      this.#report(place, `no anchor &${alias.source} is set before this alias`);
      return nothing;
    }
    if (this.#open.has(target)) {
      this.#report(place, `the alias *${alias.source} is part of its own anchor`);
      return nothing;
    }
    this.#open.add(target);
    const node = this.node(target, place);
    this.#open.delete(target);
    return { ...node, place };
  }

  #members(pairs: readonly Pair[], fallback: Place): Member[] {
    const merged = new Map<string, Member>();
    const own = new Map<string, Member>();
    for (const pair of pairs) {
      const place = this.#placeOf(pair.key) ?? fallback;
      if (this.#rules.isStrict && this.#isRefused(pair, place, own)) continue;
      const key = keyOf(pair);
      const node = this.node(pair.value, place);
      if (key !== "<<") own.set(key, { key, place, node });
      else for (const member of mergedFrom(node)) merged.set(member.key, member);
    }
    // The map's own keys hide merged ones, and earlier merges hide later ones.
    return [...[...merged.values()].filter(({ key }) => !own.has(key)), ...own.values()];
  }

  #isRefused(pair: Pair, place: Place, own: ReadonlyMap<string, Member>): boolean {
    const key = keyOf(pair);
    const first = own.get(key);
    if (!isScalar(pair.key)) this.#report(place, "a key must be a word or a number", QUOTES);
    else if (first) this.#report(place, `"${key}" is here twice; the first is in line ${first.place.line}`);
    else if (key === "<<") this.#report(place, "merged maps (<<) are not supported", "Write the members out.");
    else return false;
    return true;
  }

  #report(place: Place, what: string, hint?: string): void {
    this.#rules.report({ place, what, hint });
  }

  #placeOf(node: unknown): Place | undefined {
    const range = (node as Partial<Node> | null | undefined)?.range;
    return range ? this.#text.placeAt(range[0]) : undefined;
  }
}

/** The members of a merge; those that count come last. */
function mergedFrom(node: SourceNode): Member[] {
  if (node.kind === "object") return [...node.members];
  return node.kind === "list"
    ? node.items.toReversed().flatMap((item) => (item.kind === "object" ? item.members : []))
    : [];
}
