import { applyEdits, createScanner, findNodeAtLocation, modify, parseTree } from "jsonc-parser/lib/esm/main.js";
import type { Change } from "./change.ts";

/** Changes a JSON text, in the indentation and the line ends it has. */
export function editJson(text: string, changes: readonly Change[]): string {
  const [, indent = "  "] = /^([ \t]+)\S/m.exec(text) ?? [];
  const formattingOptions = {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 1 : indent.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
  let edited = text.trim() === "" ? "{}\n" : text;
  for (const { path, value } of changes) {
    edited =
      value === undefined
        ? without(edited, path)
        : applyEdits(edited, modify(edited, [...path], value, { formattingOptions }));
  }
  return edited;
}

/** The library would take the comments of the neighbours along, and lay these out anew. */
function without(text: string, path: Change["path"]): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const value = root && findNodeAtLocation(root, [...path]);
  const node = value?.parent?.type === "property" ? value.parent : value;
  if (!node?.parent?.children) return text;
  const siblings = node.parent.children;
  const before = siblings[siblings.indexOf(node) - 1];

  const end = node.offset + node.length;
  const comma = commaAfter(text, end);
  const cuts = [wholeLines(text, node.offset, comma === undefined ? end : comma + 1)];
  if (comma === undefined && before) {
    // The last one goes: what is last now must not end in a comma, which other programs refuse.
    const left = commaAfter(text, before.offset + before.length);
    if (left !== undefined) cuts.unshift([left, left + 1]);
  }
  return cuts.toReversed().reduce((rest, [from, to]) => rest.slice(0, from) + rest.slice(to), text);
}

function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  scanner.scan();
  const at = scanner.getTokenOffset();
  return text[at] === "," ? at : undefined;
}

/** The range, with its line or lines where nothing else stands in them. */
function wholeLines(text: string, from: number, to: number): [number, number] {
  const [lead = ""] = /(?<=^|\n)[ \t]*$/.exec(text.slice(0, from)) ?? [];
  const [rest] = /^[ \t]*\r?\n/.exec(text.slice(to)) ?? [];
  const alone = rest !== undefined && (text[from - lead.length - 1] ?? "\n") === "\n";
  return alone ? [from - lead.length, to + rest.length] : [from, to];
}
