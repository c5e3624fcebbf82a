import { isAlias, isMap, isScalar, isSeq, parseDocument, type Document, type Node, type Pair } from "yaml";
import { messageOf } from "../errors/nexus-error.ts";
import type { Member, Place, SourceNode } from "./source-node.ts";
import { SourceText } from "./source-text.ts";
import { syntaxError } from "./syntax-error.ts";

/** References to anchors that one file may resolve: more is an attack on memory, not a configuration. */
const MAX_ALIASES = 100;

export function parseYaml(content: string, file: string): SourceNode {
  const text = new SourceText(content);
  const document = parseDocument(content, { prettyErrors: false, merge: true });
  const [error] = document.errors;
  if (error?.code === "RESOURCE_EXHAUSTION") throw new RangeError(error.message, { cause: error });
  if (error) {
    throw syntaxError({
      file,
      text,
      place: text.placeAt(error.pos[0]),
      format: "YAML",
      what: error.message,
      hint: error.code === "TAB_AS_INDENT" ? "Indent with spaces." : undefined,
      cause: error,
    });
  }
  try {
    document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (cause) {
    throw syntaxError({ file, text, place: { line: 1, column: 1 }, format: "YAML", what: messageOf(cause), cause });
  }
  const start: Place = { line: 1, column: 1 };
  return document.contents === null
    ? { kind: "object", place: start, members: [] }
    : new Reader(document, text).node(document.contents, start);
}

/** The key of a pair as it is written: 123 and true are names, too. The key of a merge is a symbol to the library. */
export function keyOf({ key }: { key: unknown }): string {
  return isScalar(key) ? (key.source ?? String(key.value)) : String(key);
}

class Reader {
  readonly #document: Document;
  readonly #text: SourceText;

  constructor(document: Document, text: SourceText) {
    this.#document = document;
    this.#text = text;
  }

  node(given: unknown, fallback: Place): SourceNode {
    const place = this.#placeOf(given) ?? fallback;
    const node = isAlias(given) ? given.resolve(this.#document) : given;
    if (isSeq(node)) return { kind: "list", place, items: node.items.map((item) => this.node(item, place)) };
    if (isMap(node)) return { kind: "object", place, members: this.#members(node.items, place) };
    return { kind: "scalar", place, value: isScalar(node) ? node.value : (node ?? null) };
  }

  #members(pairs: readonly Pair[], fallback: Place): Member[] {
    const merged: Member[] = [];
    const own = new Map<string, Member>();
    for (const pair of pairs) {
      const key = keyOf(pair);
      const place = this.#placeOf(pair.key) ?? fallback;
      const node = this.node(pair.value, place);
      if (key !== "<<") own.set(key, { key, place, node });
      else if (node.kind === "object") merged.push(...node.members);
      else if (node.kind === "list")
        merged.push(...node.items.toReversed().flatMap((item) => (item.kind === "object" ? item.members : [])));
    }
    // What a merge brings is hidden by the map's own keys, and by what was merged before it.
    const inherited = new Map(merged.filter(({ key }) => !own.has(key)).map((member) => [member.key, member]));
    return [...inherited.values(), ...own.values()];
  }

  #placeOf(node: unknown): Place | undefined {
    const range = (node as Partial<Node> | null | undefined)?.range;
    return range ? this.#text.placeAt(range[0]) : undefined;
  }
}
