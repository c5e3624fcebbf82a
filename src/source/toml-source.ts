import { parse, TomlError } from "smol-toml";
import { allAt, MAX_SOURCE_DEPTH, nodeOf, type Place, type PlaceFinder, type SourceNode } from "./source-node.ts";
import type { KnownWords } from "./masked-line.ts";
import { SourceText } from "./source-text.ts";
import { syntaxError } from "./syntax-error.ts";

const KEY = /(?:[\w-]+|"[^"]*"|'[^']*')/.source;
/** Runs on any line, also of a long string: no two parts may match the same characters. */
const TABLE_OR_KEY = new RegExp(String.raw`^(\s*)(?:\[{1,2}([^[\]]+)\]|(${KEY}(?:\s*\.\s*${KEY})*)\s*=)`);

const STEP = /[\w-]+|"([^"]*)"|'([^']*)'/g;

export function parseToml(content: string, file: string, words: KnownWords): SourceNode {
  const text = new SourceText(content);
  try {
    return nodeOf(parse(content, { maxDepth: MAX_SOURCE_DEPTH }), placesOf(content));
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const what = cause.message.split("\n")[0]?.replace("Invalid TOML document: ", "") ?? "";
    throw syntaxError({
      file,
      text,
      words,
      place: { line: cause.line, column: cause.column },
      format: "TOML",
      what,
      cause,
    });
  }
}

/** The place of a table or key, and the places inside it. */
class WrittenPlace implements PlaceFinder {
  readonly place: Place;
  readonly #inner = new Map<string, WrittenPlace>();

  constructor(place: Place) {
    this.place = place;
  }

  /** A part without a place of its own has the place of its parent. */
  inner(key: string): PlaceFinder {
    return this.#inner.get(key) ?? allAt(this.place);
  }

  /** The first occurrence counts. */
  add(key: string, place: Place): WrittenPlace {
    const known = this.#inner.get(key);
    if (known) return known;
    const added = new WrittenPlace(place);
    this.#inner.set(key, added);
    return added;
  }
}

/** The parser reports no places: tables and keys are found line by line. */
function placesOf(content: string): WrittenPlace {
  const root = new WrittenPlace({ line: 1, column: 1 });
  let table = root;
  for (const [index, line] of content.split("\n").entries()) {
    const [, indent = "", header, key] = TABLE_OR_KEY.exec(line) ?? [];
    const name = header ?? key;
    if (name === undefined) continue;
    const place: Place = { line: index + 1, column: indent.length + 1 };
    let at = header === undefined ? table : root;
    for (const [bare, double, single] of name.matchAll(STEP)) at = at.add(double ?? single ?? bare, place);
    if (header !== undefined) table = at;
  }
  return root;
}
