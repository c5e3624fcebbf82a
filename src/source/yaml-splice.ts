import { isMap, isScalar, isSeq, stringify, type Node, type Pair, type YAMLMap, type YAMLSeq } from "yaml";
import { parseBoundedYaml } from "./bounded-yaml.ts";
import type { SourceChange } from "./source-change.ts";
import { keyOf } from "./yaml-source.ts";
import { yamlStyle } from "./yaml-style.ts";

/** Changes single lines of a YAML text; throws if that is not possible, for example inside { } and [ ]. */
export function spliceYaml(text: string, changes: readonly SourceChange[]): string {
  return changes.reduce((edited, change) => new Splice(edited).apply(change), text);
}

type Block = YAMLMap | YAMLSeq;

class Splice {
  readonly #text: string;
  readonly #eol: string;

  constructor(text: string) {
    this.#text = text;
    this.#eol = text.includes("\r\n") ? "\r\n" : "\n";
  }

  apply({ path, value }: SourceChange): string {
    const [last, ...above] = path.toReversed();
    let node: unknown = parseBoundedYaml(this.#text, { merge: true }).contents;
    for (const key of above.toReversed()) node = valueOf(itemAt(blockOf(node), key));
    const block = blockOf(node);
    const item = last === undefined ? undefined : itemAt(block, last);
    if (item === undefined && value !== undefined) return this.#withAnother(block, last, value);
    if (item === undefined) throw new TypeError("not found");
    return value === undefined ? this.#without(block, item) : this.#withValue(valueOf(item), value);
  }

  #withValue(before: unknown, value: unknown): string {
    if (!isScalar(before) || typeof value !== "boolean" || before.source === "") throw new TypeError("no simple value");
    const [from, to] = rangeOf(before);
    return this.#text.slice(0, from) + String(value) + this.#text.slice(to);
  }

  #withAnother(block: Block, key: string | number | undefined, value: unknown): string {
    const column = this.#columnOf(block, block.items[0]);
    const indent = " ".repeat(column);
    const style = yamlStyle(this.#text);
    // Indented like its neighbours, even if other parts of the file differ.
    const inner = block.items.map(valueOf).find((item) => isMap(item) && !item.flow && item.items.length > 0);
    const step = isMap(block) && isMap(inner) ? this.#columnOf(inner, inner.items[0]) - column : style.indent;
    const written = stringify(isMap(block) ? { [String(key)]: value } : [value], { ...style, indent: step });
    const lines = written.trimEnd().split("\n");
    const end = this.#lineEnd(endOf(block));
    const before = this.#text.slice(0, end);
    const broken = before.endsWith("\n") ? before : before + this.#eol;
    return broken + lines.map((line) => indent + line + this.#eol).join("") + this.#text.slice(end);
  }

  #without(block: Block, item: unknown): string {
    const isFirst = block.items[0] === item;
    // An empty collection can only be written as {} or [].
    if (block.items.length === 1) throw new TypeError("nothing would be left");
    let start = this.#lineStart(rangeOf(startOf(item))[0]);
    const indent = this.#columnOf(block, item);
    // A comment right above the first member may be about all of them.
    const above = this.#commentsAbove(start);
    const isAboutIt = above.search(/#/) === indent;
    if (!isFirst && isAboutIt) start -= above.length;
    const rest = this.#text.slice(this.#lineEnd(endOf(item)));
    const before = this.#text.slice(0, start);
    // The space between two members is removed with the member.
    const hasSpace = !isFirst && /^[ \t]*(?:\r?\n|$)/.test(rest);
    return (hasSpace ? withoutBlankLines(before) : before) + rest;
  }

  /** The comment lines right above a line. */
  #commentsAbove(start: number): string {
    let from = start;
    for (let line = this.#lineStart(from - 1); from > 0; line = this.#lineStart(from - 1)) {
      if (!/^[ \t]*#/.test(this.#text.slice(line, from))) break;
      from = line;
    }
    return this.#text.slice(from, start);
  }

  /** The column of a key or a dash, if it is the first in its line. */
  #columnOf(block: Block, item: unknown): number {
    const [at] = rangeOf(startOf(item));
    const before = this.#text.slice(this.#lineStart(at), at);
    if (isMap(block) && (before.trim() === "" || block.items[0] === item)) {
      if (/^[\s-]*$/.test(before)) return before.length;
    }
    const [, indent] = /^( *)- +$/.exec(before) ?? [];
    if (!isSeq(block) || indent === undefined) throw new TypeError("not on a line of its own");
    return indent.length;
  }

  #lineStart(offset: number): number {
    return this.#text.lastIndexOf("\n", offset - 1) + 1;
  }

  /** The position after the line break; only a comment may be before it. */
  #lineEnd(offset: number): number {
    if (this.#text[offset - 1] === "\n") return offset;
    const [rest] = /^[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/.exec(this.#text.slice(offset)) ?? [];
    if (rest === undefined) throw new TypeError("the line has other content");
    return offset + rest.length;
  }
}

/** Without the empty lines at its end. */
function withoutBlankLines(text: string): string {
  let end = text.length;
  while (end > 0 && " \t\r\n".includes(text[end - 1] ?? "x")) end--;
  const line = text.indexOf("\n", end);
  return line === -1 ? text : text.slice(0, line + 1);
}

function blockOf(node: unknown): Block {
  if ((isMap(node) || isSeq(node)) && !node.flow && node.items.length > 0) return node;
  throw new TypeError("no block");
}

function itemAt(block: Block, key: string | number): unknown {
  return isMap(block) ? block.items.find((pair) => keyOf(pair) === String(key)) : block.items[Number(key)];
}

function isPair(item: unknown): item is Pair {
  return typeof item === "object" && item !== null && "key" in item;
}

function valueOf(item: unknown): unknown {
  return isPair(item) ? item.value : item;
}

/** For a pair its key. A map in a list starts at its first key. */
function startOf(item: unknown): unknown {
  return isPair(item) ? item.key : item;
}

function endOf(item: unknown): number {
  if (isPair(item)) return item.value === null ? rangeOf(item.key)[1] : endOf(item.value);
  const last = (isMap(item) || isSeq(item)) && !item.flow ? item.items.at(-1) : undefined;
  return last === undefined ? rangeOf(item)[1] : endOf(last);
}

function rangeOf(node: unknown): readonly [number, number] {
  const { range, anchor, tag } = (node ?? {}) as Partial<Node> & { anchor?: string };
  if (!range || anchor !== undefined || tag !== undefined) throw new TypeError("it has a name, a tag, or no place");
  return [range[0], range[1]];
}
