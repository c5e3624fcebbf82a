// The package's main file is UMD, which bundlers cannot see through.
import { parseTree, printParseErrorCode, type Node, type ParseError } from "jsonc-parser/lib/esm/main.js";
import { JSON_MISTAKES } from "./json-mistakes.ts";
import type { Member, SourceNode } from "./source-node.ts";
import { SourceText } from "./source-text.ts";
import { syntaxError } from "./syntax-error.ts";

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
      ...(JSON_MISTAKES[name] ?? { what: name }),
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
