// The package's main file is UMD, which bundlers cannot analyse; that of its modules also loads what edits.
import { parseTree } from "jsonc-parser/lib/esm/impl/parser.js";
import { createScanner } from "jsonc-parser/lib/esm/impl/scanner.js";
import type { Node, ParseError } from "jsonc-parser/lib/esm/main.js";
import { mistakeOf } from "./json-mistakes.ts";
import { MAX_SOURCE_DEPTH, MAX_SOURCE_VALUES, type Member, type SourceNode } from "./source-node.ts";
import type { KnownWords } from "./masked-line.ts";
import { SourceText } from "./source-text.ts";
import { syntaxError } from "./syntax-error.ts";

/** JSON with optional comments and trailing commas. */
export function parseJson(content: string, file: string, words: KnownWords): SourceNode {
  checkLimits(content);
  const text = new SourceText(content);
  const errors: ParseError[] = [];
  const root = parseTree(content, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [error] = errors;
  if (error) {
    throw syntaxError({
      file,
      text,
      words,
      place: text.placeAt(offsetOf(error, content)),
      format: "JSON",
      ...mistakeOf(error.error),
    });
  }
  return root ? sourceNode(root, text) : { kind: "object", place: { line: 1, column: 1 }, members: [] };
}

/** Token kinds of the scanner; the library exports them only as types. */
const OPEN_BRACE = 1;
const CLOSE_BRACE = 2;
const OPEN_BRACKET = 3;
const CLOSE_BRACKET = 4;
const END = 17;

/** The value and a comma. */
const TOKENS_OF_VALUE = 2;

/**
 * The parser recurses and needs much memory for each value; its scanner does neither, and finds texts that are too
 * large.
 */
function checkLimits(content: string): void {
  const scanner = createScanner(content, true);
  const open: number[] = [];
  let tokens = 0;
  for (let token: number = scanner.scan(); token !== END; token = scanner.scan()) {
    if (token === OPEN_BRACE || token === OPEN_BRACKET) open.push(token);
    // A bracket that does not match closes nothing for the parser either.
    else if (token === CLOSE_BRACE && open.at(-1) === OPEN_BRACE) open.pop();
    else if (token === CLOSE_BRACKET && open.at(-1) === OPEN_BRACKET) open.pop();
    if (open.length > MAX_SOURCE_DEPTH) throw new RangeError("nested too deeply");
    if (++tokens > MAX_SOURCE_VALUES * TOKENS_OF_VALUE) throw new RangeError("too many values");
  }
}

/** Something missing at the end of the file is reported after the last visible character, not after empty lines. */
function offsetOf({ offset }: ParseError, content: string): number {
  return content.slice(offset).trim() === "" ? content.trimEnd().length : offset;
}

function sourceNode(node: Node, text: SourceText): SourceNode {
  const place = text.placeAt(node.offset);
  const children = node.children ?? [];
  if (node.type === "array") return { kind: "list", place, items: children.map((child) => sourceNode(child, text)) };
  if (node.type !== "object") return { kind: "scalar", place, value: node.value };
  const members = children.flatMap(({ children: [key, value] = [] }): Member[] => {
    return key && value
      ? [{ key: String(key.value), place: text.placeAt(key.offset), node: sourceNode(value, text) }]
      : [];
  });
  return { kind: "object", place, members };
}
