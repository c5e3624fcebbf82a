import { parse, TomlError } from "smol-toml";
import { nodeOf, type Place, type SourceNode } from "./source-node.ts";
import { SourceText } from "./source-text.ts";
import { syntaxError } from "./syntax-error.ts";

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
    const [, indent = "", header, key] =
      /^(\s*)(?:\[+([^\]]+)\]+|((?:[\w-]+|"[^"]*"|'[^']*'|\.)+)\s*=)/.exec(line) ?? [];
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
  for (let length = path.length; length > 0; length--) {
    const place = places.get(JSON.stringify(path.slice(0, length)));
    if (place) return place;
  }
  return { line: 1, column: 1 };
}
