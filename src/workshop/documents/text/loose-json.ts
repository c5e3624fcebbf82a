// The package's main file is UMD, which bundlers cannot analyse.
import { createScanner, visit } from "jsonc-parser/lib/esm/main.js";
import { mistakeOf } from "../../../source/json-mistakes.ts";

/** Token kinds of the scanner; the library exports them only as types. */
const CLOSE_BRACE = 2;
const CLOSE_BRACKET = 4;
const COMMA = 5;
const LINE_COMMENT = 12;
const BLOCK_COMMENT = 13;
const LINE_BREAK = 14;
const BLANKS = 15;
const END = 17;

/** JSON text with blanks in place of what JSON does not allow, so that offsets stay. */
export interface PlainJson {
  text: string;
  /** Whether comments were among it. */
  hadComments: boolean;
  /** The offset of the first comment, or of the first comma before a closing bracket. */
  first: number | undefined;
}

/** Whether the first thing in a text, after comments, is an object or a list as JSON writes them. */
export function isJsonLike(text: string): boolean {
  let at = 0;
  for (;;) {
    while (/\s|\uFEFF/.test(text.charAt(at))) at++;
    const [close, length] = text.startsWith("//", at) ? ["\n", 1] : text.startsWith("/*", at) ? ["*/", 2] : ["", 0];
    if (close === "") return text.charAt(at) === "{" || text.charAt(at) === "[";
    const end = text.indexOf(close, at + 2);
    if (end === -1) return false;
    at = end + length;
  }
}

/** Without comments and without commas before a closing bracket, which people and their editors write. */
export function plainJson(text: string): PlainJson {
  const scanner = createScanner(text, false);
  const kept: string[] = [];
  let copied = 0;
  let first: number | undefined;
  let hadComments = false;
  let comma: number | undefined;
  const blank = (from: number, to: number) => {
    first = Math.min(first ?? from, from);
    kept.push(text.slice(copied, from), text.slice(from, to).replaceAll(/[^\n]/g, " "));
    copied = to;
  };
  const comments: [number, number][] = [];
  const blankComments = () => {
    for (const [from, to] of comments.splice(0)) blank(from, to);
  };
  for (let token: number = scanner.scan(); token !== END; token = scanner.scan()) {
    const at = scanner.getTokenOffset();
    if (token === LINE_BREAK || token === BLANKS) continue;
    if (token === LINE_COMMENT || token === BLOCK_COMMENT) {
      // In YAML with braces, an address may have no quotes.
      if (/[\w:.]/.test(text.charAt(at - 1))) continue;
      hadComments = true;
      comments.push([at, at + scanner.getTokenLength()]);
      continue;
    }
    if (comma !== undefined && (token === CLOSE_BRACE || token === CLOSE_BRACKET)) blank(comma, comma + 1);
    blankComments();
    comma = token === COMMA ? at : undefined;
  }
  blankComments();
  return { text: kept.join("") + text.slice(copied), hadComments, first };
}

/** The first mistake in JSON text, and its offset; undefined if the library finds none. */
export function jsonMistake(text: string): { offset: number; what: string } | undefined {
  const onError = (code: number, offset: number) => {
    // Something missing at the end is reported after the last visible character, not after empty lines.
    const place = text.slice(offset).trim() === "" ? text.trimEnd().length : offset;
    throw new FirstMistake(place, mistakeOf(code).what);
  };
  try {
    visit(text, { onError }, { disallowComments: true });
    return undefined;
  } catch (error) {
    if (error instanceof FirstMistake) return { offset: error.offset, what: error.message };
    throw error;
  }
}

/** Ends the reading: behind a mistake, the text may be nested as deep as it likes. */
class FirstMistake extends Error {
  readonly offset: number;

  constructor(offset: number, what: string) {
    super(what);
    this.offset = offset;
  }
}
