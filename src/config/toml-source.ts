import { parse, TomlError } from "smol-toml";
import { nodeOf, type Place, type SourceNode } from "./source-node.ts";
import { SourceText } from "./source-text.ts";
import { syntaxError } from "./syntax-error.ts";

/** Deeper than any setting that is read; each step costs a lookup. */
const MAX_PATH = 10;
const KEY = /(?:[\w-]+|"[^"]*"|'[^']*')/.source;
/** Any text may stand in a line, also of a long string: no two parts of this may match the same letters. */
const TABLE_OR_KEY = new RegExp(String.raw`^(\s*)(?:\[{1,2}([^[\]]+)\]|(${KEY}(?:\s*\.\s*${KEY})*)\s*=)`);

export function parseToml(content: string, file: string): SourceNode {
  const text = new SourceText(content);
  try {
    const places = placesOf(content);
    return nodeOf(parse(content), (path) => nearest(places, path));
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const what = cause.message.split("\n")[0]?.replace("Invalid TOML document: ", "") ?? "";
    throw syntaxError({ file, text, place: { line: cause.line, column: cause.column }, format: "TOML", what, cause });
  }
}

/** The parser tells no places: tables and keys are found line by line, which is where people write them. */
function placesOf(content: string): Map<string, Place> {
  const places = new Map<string, Place>();
  let table: string[] = [];
  for (const [index, line] of content.split("\n").entries()) {
    const [, indent = "", header, key] = TABLE_OR_KEY.exec(line) ?? [];
    const name = header ?? key;
    if (name === undefined) continue;
    const path = [...name.matchAll(/[\w-]+|"([^"]*)"|'([^']*)'/g)].map(([bare, double, single]) => {
      return double ?? single ?? bare;
    });
    if (header !== undefined) table = path;
    const full = header === undefined ? [...table, ...path] : path;
    const id = JSON.stringify(full);
    if (!places.has(id)) places.set(id, { line: index + 1, column: indent.length + 1 });
  }
  return places;
}

/** Of the thing itself, or of what it stands in. */
function nearest(places: Map<string, Place>, path: readonly string[]): Place {
  for (let length = Math.min(path.length, MAX_PATH); length > 0; length--) {
    const place = places.get(JSON.stringify(path.slice(0, length)));
    if (place) return place;
  }
  return { line: 1, column: 1 };
}
