import { isAlias, isMap, isScalar, isSeq, type Alias, type Document, type Node, type Pair } from "yaml";
import { aliasTargets, parseBoundedYaml } from "./bounded-yaml.ts";
import { MAX_SOURCE_DEPTH, MAX_SOURCE_VALUES, type Member, type Place, type SourceNode } from "./source-node.ts";
import { SourceText } from "./source-text.ts";
import { syntaxError } from "./syntax-error.ts";

/** About half a megabyte of configuration. */
const MAX_LEXEMES = 150_000;
const START: Place = { line: 1, column: 1 };

export function parseYaml(content: string, file: string): SourceNode {
  const text = new SourceText(content);
  const refuse: Refuse = (place, what, { hint, cause } = {}) => {
    throw syntaxError({ file, text, place, format: "YAML", what, hint, cause });
  };
  const document = parseBoundedYaml(content, { merge: true, maxLexemes: MAX_LEXEMES });
  const [error] = document.errors;
  if (error?.code === "RESOURCE_EXHAUSTION") throw new RangeError(error.message, { cause: error });
  if (error) {
    const hint = error.code === "TAB_AS_INDENT" ? "Indent with spaces." : undefined;
    refuse(text.placeAt(error.pos[0]), error.message, { hint, cause: error });
  }
  return document.contents === null
    ? { kind: "object", place: START, members: [] }
    : new Reader(document, text, refuse).node(document.contents, START);
}

type Refuse = (place: Place, what: string, more?: { hint?: string | undefined; cause?: unknown }) => never;

/** The key of a pair as it is written: 123 and true are names, too. The key of a merge is a symbol to the library. */
export function keyOf({ key }: { key: unknown }): string {
  return isScalar(key) ? (key.source ?? String(key.value)) : String(key);
}

class Reader {
  readonly #text: SourceText;
  readonly #refuse: Refuse;
  readonly #targets: ReadonlyMap<Alias, Node | undefined>;
  /** Targets of aliases that are being read: one inside of itself would never end. */
  readonly #open = new Set<unknown>();
  #nodes = 0;
  #depth = 0;

  constructor(document: Document, text: SourceText, refuse: Refuse) {
    this.#text = text;
    this.#refuse = refuse;
    this.#targets = aliasTargets(document);
  }

  node(given: unknown, fallback: Place): SourceNode {
    const place = this.#placeOf(given) ?? fallback;
    // What aliases repeat counts each time: a few lines must not become millions of values.
    if (++this.#nodes > MAX_SOURCE_VALUES) throw new RangeError("too many values");
    // Aliases of aliases can be nested deeper than the text is.
    if (++this.#depth > MAX_SOURCE_DEPTH) throw new RangeError("nested too deeply");
    const node = this.#content(given, place);
    this.#depth -= 1;
    return node;
  }

  #content(given: unknown, place: Place): SourceNode {
    if (isAlias(given)) return this.#aliased(given, place);
    if (isSeq(given)) return { kind: "list", place, items: given.items.map((item) => this.node(item, place)) };
    if (isMap(given)) return { kind: "object", place, members: this.#members(given.items, place) };
    return { kind: "scalar", place, value: isScalar(given) ? given.value : (given ?? null) };
  }

  #aliased(alias: Alias, place: Place): SourceNode {
    const target = this.#targets.get(alias);
    if (target === undefined) return this.#refuse(place, `no anchor &${alias.source} is set before this alias`);
    if (this.#open.has(target)) return this.#refuse(place, `the alias *${alias.source} is part of its own anchor`);
    this.#open.add(target);
    const node = this.node(target, place);
    this.#open.delete(target);
    return { ...node, place };
  }

  #members(pairs: readonly Pair[], fallback: Place): Member[] {
    const merged = new Map<string, Member>();
    const own = new Map<string, Member>();
    for (const pair of pairs) {
      const key = keyOf(pair);
      const place = this.#placeOf(pair.key) ?? fallback;
      const node = this.node(pair.value, place);
      if (key !== "<<") own.set(key, { key, place, node });
      else if (node.kind === "object") for (const member of node.members) merged.set(member.key, member);
      else if (node.kind === "list") {
        for (const item of node.items.toReversed())
          if (item.kind === "object") for (const member of item.members) merged.set(member.key, member);
      }
    }
    // What a merge brings is hidden by the map's own keys, and by what was merged before it.
    return [...[...merged.values()].filter(({ key }) => !own.has(key)), ...own.values()];
  }

  #placeOf(node: unknown): Place | undefined {
    const range = (node as Partial<Node> | null | undefined)?.range;
    return range ? this.#text.placeAt(range[0]) : undefined;
  }
}
