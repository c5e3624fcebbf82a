// The package's main file is UMD, which bundlers cannot see through.
import { parseTree, printParseErrorCode, type Node, type ParseError } from "jsonc-parser/lib/esm/main.js";
import type { Member, SourceNode } from "./source-node.ts";
import { SourceText } from "./source-text.ts";
import { syntaxError } from "./syntax-error.ts";

const MISTAKES: Record<string, string> = {
  InvalidSymbol: "this is no value; text stands in double quotes",
  InvalidNumberFormat: "this is no number",
  PropertyNameExpected: "a name in double quotes is expected here",
  ValueExpected: "a value is expected here",
  ColonExpected: "a colon is missing here",
  CommaExpected: "a comma is missing before this",
  CloseBraceExpected: "a } is missing here",
  CloseBracketExpected: "a ] is missing here",
  EndOfFileExpected: "the file should have ended before this",
  UnexpectedEndOfComment: "this comment does not end",
  UnexpectedEndOfString: "this text does not end; its closing quote is missing",
  UnexpectedEndOfNumber: "this number does not end",
  InvalidUnicode: "\\u must be followed by four hexadecimal digits",
  InvalidEscapeCharacter: "this text has a backslash that means nothing",
  InvalidCharacter: "this text has a control character in it",
};

/** JSON, also with comments and trailing commas. */
export function parseJson(content: string, file: string): SourceNode {
  const text = new SourceText(content);
  const errors: ParseError[] = [];
  const root = parseTree(content, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [error] = errors;
  if (error) {
    const name = printParseErrorCode(error.error);
    throw syntaxError({
      file,
      text,
      place: text.placeAt(offsetOf(error, content)),
      format: "JSON",
      what: MISTAKES[name] ?? name,
      hint: name === "InvalidEscapeCharacter" ? String.raw`Write \\ for a backslash: "C:\\tools".` : undefined,
    });
  }
  return root ? sourceNode(root, text) : { kind: "object", place: { line: 1, column: 1 }, members: [] };
}

/** What is missing at the end of the file is missing after its last visible character, not after empty lines. */
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
