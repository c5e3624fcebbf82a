import {
  applyEdits,
  findNodeAtLocation,
  modify,
  parseTree,
  type Node,
  createScanner,
} from "jsonc-parser/lib/esm/main.js";
import type { SourceChange } from "./source-change.ts";

const LENIENT = { allowTrailingComma: true };

/** Changes a JSON text and keeps its indentation and line breaks. */
export function editJson(text: string, changes: readonly SourceChange[]): string {
  const style = new JsonStyle(text);
  return changes.reduce((edited, change) => {
    const root = parseTree(edited, [], LENIENT);
    // The text has only comments.
    if (!root)
      return editJson(`${edited}${edited === "" || edited.endsWith("\n") ? "" : style.eol}{}${style.eol}`, [change]);
    const node = findNodeAtLocation(root, [...change.path]);
    if (change.value === undefined) return node ? without(edited, node) : edited;
    if (!node) return withMember(edited, root, { change, style });
    return applyEdits(edited, modify(edited, [...change.path], change.value, { formattingOptions: style.formatting }));
  }, text);
}

/** The library would move the comment after the last member to the new one. */
function withMember(text: string, root: Node, { change, style }: { change: SourceChange; style: JsonStyle }): string {
  const { path } = change;
  let depth = path.length - 1;
  while (depth > 0 && !findNodeAtLocation(root, path.slice(0, depth))) depth--;
  const container = depth === 0 ? root : findNodeAtLocation(root, path.slice(0, depth));
  if (container?.type !== "object" && container?.type !== "array") throw new TypeError("neither an object nor a list");
  const value = path.slice(depth + 1).reduceRight<unknown>((inner, key) => ({ [key]: inner }), change.value);
  const name = container.type === "array" ? "" : `${JSON.stringify(String(path[depth]))}: `;
  const { children: { length } = [] } = container;
  if (length === 0) return withFirst(text, container, { name, value, style });
  return withAnother(text, container, { name, value, style });
}

interface Item {
  /** With its colon; empty in a list. */
  name: string;
  value: unknown;
  style: JsonStyle;
}

function withFirst(text: string, { offset, length, parent }: Node, { name, value, style }: Item): string {
  const end = offset + length - 1;
  // There may be a comment in it.
  const inside = text.slice(offset + 1, end).trimEnd();
  const isInline = parent !== undefined && !text.trim().includes("\n");
  const outer = style.indentAt(text, offset);
  const inner = outer + style.indent;
  const item = isInline
    ? name + JSON.stringify(value)
    : `${style.eol}${inner}${name}${style.json(value, inner)}${style.eol}${outer}`;
  return text.slice(0, offset + 1) + inside + item + text.slice(end);
}

function withAnother(text: string, container: Node, { name, value, style }: Item): string {
  const { offset, length, children = [] } = container;
  const last = children.at(-1) ?? container;
  const end = last.offset + last.length;
  const comma = commaAfter(text, end);
  const after = comma === undefined ? end : comma + 1;
  const separated = comma === undefined ? `${text.slice(0, end)},` : text.slice(0, after);
  if (!text.slice(offset, offset + length).includes("\n")) {
    return `${separated} ${name}${JSON.stringify(value)}${text.slice(after)}`;
  }
  const [comment = ""] =
    /^[ \t]*(?:\/\/[^\r\n]*|(?:\/\*[^\n]*?\*\/[ \t]*)+(?:\/\/[^\r\n]*)?)/.exec(text.slice(after)) ?? [];
  const indent = style.isFirstInLine(text, last.offset)
    ? style.indentAt(text, last.offset)
    : style.indentAt(text, offset) + style.indent;
  const item = `${style.eol}${indent}${name}${style.json(value, indent)}${comma === undefined ? "" : ","}`;
  return separated + comment + item + text.slice(after + comment.length);
}

/** The library would also remove comments of the neighbours, and reformat them. */
function without(text: string, value: Node): string {
  const node = value.parent?.type === "property" ? value.parent : value;
  if (!node.parent?.children) return text;
  const siblings = node.parent.children;
  const before = siblings[siblings.indexOf(node) - 1];

  const end = node.offset + node.length;
  const comma = commaAfter(text, end);
  const [from, to] = wholeLines(text, node.offset, comma === undefined ? end : comma + 1);
  const cuts: [number, number][] = [[from, to]];
  if (comma === undefined && before) {
    // The last member is removed: the new last one must not end in a comma, which other programs refuse.
    const left = commaAfter(text, before.offset + before.length);
    const isNear = left !== undefined && /^[ \t]*$/.test(text.slice(left + 1, from));
    if (isNear) cuts.splice(0, 1, [left, to]);
    else if (left !== undefined) cuts.unshift([left, left + 1]);
  }
  return cuts.toReversed().reduce((rest, [from, to]) => rest.slice(0, from) + rest.slice(to), text);
}

/** The range, extended to whole lines if nothing else is on them. */
function wholeLines(text: string, from: number, to: number): [number, number] {
  const [lead = ""] = /(?<=^|\n)[ \t]*$/.exec(text.slice(0, from)) ?? [];
  const [rest] = /^[ \t]*\r?\n/.exec(text.slice(to)) ?? [];
  const alone = rest !== undefined && (text[from - lead.length - 1] ?? "\n") === "\n";
  return alone ? [from - lead.length, to + rest.length] : [from, to];
}

/** The layout of a JSON text. */
class JsonStyle {
  /** One step of indentation. */
  readonly indent: string;
  readonly eol: string;

  constructor(text: string) {
    [, this.indent = "  "] = /^([ \t]+)\S/m.exec(text) ?? [];
    this.eol = text.includes("\r\n") ? "\r\n" : "\n";
  }

  get formatting(): { insertSpaces: boolean; tabSize: number; eol: string } {
    const isTabs = this.indent.startsWith("\t");
    return { insertSpaces: !isTabs, tabSize: isTabs ? 1 : this.indent.length, eol: this.eol };
  }

  /** A value over several lines; the first line is already indented. */
  json(value: unknown, indent: string): string {
    return JSON.stringify(value, undefined, this.indent).replaceAll("\n", this.eol + indent);
  }

  /** The indentation of the line at an offset. */
  indentAt(text: string, offset: number): string {
    return /^[ \t]*/.exec(text.slice(lineStart(text, offset)))?.[0] ?? "";
  }

  isFirstInLine(text: string, offset: number): boolean {
    return text.slice(lineStart(text, offset), offset).trim() === "";
  }
}

/** The position of the comma after an offset, if there is one; comments may be between. */
function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  scanner.scan();
  const at = scanner.getTokenOffset();
  return text[at] === "," ? at : undefined;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}
