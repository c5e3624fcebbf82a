import { isAlias, isMap, isScalar, isSeq, type Alias, type Document, type ErrorCode, type Node, type Pair } from "yaml";
import type { Place } from "../../../source/source-node.ts";
import { SourceText } from "../../../source/source-text.ts";
import { messageOf } from "../../../errors/nexus-error.ts";
import { aliasTargets, parseBoundedYaml } from "../../../source/bounded-yaml.ts";
import { survivesAsNumber } from "../../../json/exact-json.ts";
import type { Problem } from "./problem.ts";

/** A value of a YAML text with the place of each of its parts. */
export type Tree =
  | { kind: "map"; place: Place; members: readonly TreeMember[] }
  | { kind: "list"; place: Place; items: readonly Tree[] }
  | { kind: "scalar"; place: Place; value: unknown; source: string };

interface TreeMember {
  /** As it is written: 0 and true are names, too. */
  key: string;
  place: Place;
  node: Tree;
}

const MAX_BYTES = 1024 * 1024;
const MAX_DEPTH = 64;
/** What aliases repeat counts each time, so that a few lines cannot become millions. */
const MAX_NODES = 100_000;

/** Not `.inf`, and not in the other ways that YAML writes numbers. */
const DECIMAL = /^[+-]?[\d.]+(?:e[+-]?\d+)?$/i;

/** Beyond exact numbers they limit nothing. */
const LIMITS = new Set(["minimum", "maximum"]);

const QUOTES = "Inside of { } and [ ], write text that has brackets in quotes.";

/** Reads YAML 1.2, in which `no` and `on` are words. Tags and merged maps are refused: what is written is what is meant. */
export function readYaml(text: string): { tree: Tree | undefined; problems: Problem[] } {
  const start: Place = { line: 1, column: 1 };
  const mistake: Mistake = (place, message, hint) => {
    return { ...place, path: "", message, ...(hint ? { hint } : {}), severity: "error" };
  };
  if (Buffer.byteLength(text) > MAX_BYTES) {
    return { tree: undefined, problems: [mistake(start, "the file is larger than 1 MB")] };
  }
  const source = new SourceText(text);
  try {
    const document = parseBoundedYaml(text, { uniqueKeys: false, merge: false, schema: "core" });
    if (document.errors.length > 0) return { tree: undefined, problems: syntaxProblems(document, source, mistake) };
    const reader = new TreeReader(document, source, mistake);
    const tree = reader.tree(document.contents, start, []);
    return { tree, problems: reader.problems };
  } catch (error) {
    // The library's own limits, and the depth of the stack.
    return { tree: undefined, problems: [mistake(start, `is no YAML that can be read: ${messageOf(error)}`)] };
  }
}

type Mistake = (place: Place, message: string, hint?: string) => Problem;

/** The first alone: what follows is mostly the reader's confusion about it. */
function syntaxProblems(document: Document.Parsed, source: SourceText, mistake: Mistake): Problem[] {
  return document.errors.slice(0, 1).map(({ code, message, pos }) => {
    return mistake(source.placeAt(pos[0]), `is no YAML: ${message}`, syntaxHint(code, message));
  });
}

function syntaxHint(code: ErrorCode, message: string): string | undefined {
  if (/flow-(?:seq|map)/.test(message)) return QUOTES;
  if (message.startsWith("Flow ")) return "A bracket that was opened above is not closed.";
  if (code === "TAB_AS_INDENT") return "Indent with spaces.";
  if (code === "BAD_INDENT")
    return "What belongs together begins in the same column: look at this line and those above.";
  if (code === "BLOCK_AS_IMPLICIT_KEY") return "Text with a colon and a blank in it needs quotes.";
  return undefined;
}

/** What stands behind a key, or the item of that number, with the place of its key. */
export function memberAt(node: Tree, step: string | number): { node: Tree; place: Place } | undefined {
  if (node.kind === "map") return node.members.find(({ key }) => key === step);
  const item = node.kind === "list" && typeof step === "number" ? node.items[step] : undefined;
  return item && { node: item, place: item.place };
}

/** The value without its places. */
export function plainTree(node: Tree): unknown {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(plainTree);
  // fromEntries defines members: a key named __proto__ stays a key.
  return Object.fromEntries(node.members.map(({ key, node: value }) => [key, plainTree(value)]));
}

class TreeReader {
  readonly #targets: ReadonlyMap<Alias, Node | undefined>;
  readonly #source: SourceText;
  readonly #mistake: Mistake;
  readonly problems: Problem[] = [];
  #nodes = 0;

  constructor(document: Document, source: SourceText, mistake: Mistake) {
    this.#targets = aliasTargets(document);
    this.#source = source;
    this.#mistake = mistake;
  }

  /** `above`: what the node is inside of, by which an alias of itself is recognised. */
  tree(given: unknown, fallback: Place, above: readonly unknown[]): Tree {
    this.#nodes += 1;
    const place = this.#placeOf(given) ?? fallback;
    const node: unknown = isAlias(given) ? this.#targets.get(given) : given;
    if (isAlias(given) && node === undefined) this.#add(place, `nothing is called *${given.source}`);
    const tooMuch = this.#nodes > MAX_NODES || above.length > MAX_DEPTH || above.includes(node);
    if (tooMuch) throw new RangeError("it is too large or too deep, or repeats itself");
    const tag = (given as Partial<Node> | null)?.tag;
    if (tag !== undefined)
      this.#add(place, `the tag ${shortTag(tag)} is not read`, "Leave it out; types are given by the grammar.");
    if (isMap(node)) return { kind: "map", place, members: this.#members(node.items, place, [...above, node]) };
    if (isSeq(node)) {
      return {
        kind: "list",
        place,
        items: node.items.map((item) => this.#exact(this.tree(item, place, [...above, node]))),
      };
    }
    const value: unknown = isScalar(node) ? node.value : null;
    return { kind: "scalar", place, value, source: (isScalar(node) && node.source) || String(value) };
  }

  #members(pairs: readonly Pair[], fallback: Place, above: readonly unknown[]): TreeMember[] {
    const members = new Map<string, TreeMember>();
    for (const pair of pairs) {
      const place = this.#placeOf(pair.key) ?? fallback;
      if (!isScalar(pair.key)) {
        this.#add(place, "a key has to be a word or a number", QUOTES);
        continue;
      }
      const key = pair.key.source ?? String(pair.key.value);
      const first = members.get(key);
      if (first) this.#add(place, `"${key}" stands here twice, first in line ${first.place.line}`);
      else if (key === "<<") this.#add(place, "merged maps (<<) are not read", "Write the members out.");
      else {
        const value = this.tree(pair.value, place, above);
        members.set(key, { key, place, node: LIMITS.has(key) ? value : this.#exact(value) });
      }
    }
    return [...members.values()];
  }

  /** What would be sent as another number is a mistake. */
  #exact(node: Tree): Tree {
    if (node.kind !== "scalar" || typeof node.value !== "number" || !DECIMAL.test(node.source)) return node;
    const { place, source } = node;
    if (survivesAsNumber(source)) return node;
    this.#add(place, `${source} is too large to be an exact number`, `As text it is exact: "${source}"`);
    return node;
  }

  #add(place: Place, message: string, hint?: string): void {
    this.problems.push(this.#mistake(place, message, hint));
  }

  #placeOf(node: unknown): Place | undefined {
    const range = (node as Partial<Node> | null | undefined)?.range;
    return range ? this.#source.placeAt(range[0]) : undefined;
  }
}

function shortTag(tag: string): string {
  return tag.replace("tag:yaml.org,2002:", "!!");
}
