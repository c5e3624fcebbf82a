import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmTableFromMarkdown } from "mdast-util-gfm-table";
import { gfmTable } from "micromark-extension-gfm-table";
import { readHtml } from "./read-html.ts";
import type { ManualCell, ManualBlock, LineRange } from "./manual.ts";
import { closedIn, isPartOfAddress } from "./tag-in-address.ts";
import { drawnTableAt } from "./drawn-table.ts";

const DELIMITERS = /^\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$/;
/** Cells of words and code spans: nothing in them could be emphasis, a link, HTML or an escape. */
const ROW = /^\|(?:(?:[^\\|*_[\]<&!`]|(?<=[\p{L}\p{N}])_(?=[\p{L}\p{N}])|`[^`|\\]+`(?!`))*\|)+[ \t]*$/u;
const MAX_ROW = 20_000;
/** HTML blocks that do not end at an empty line; what looks like a table may be inside of one. */
const OPEN_HTML = /^ {0,3}<(?:pre|script|style|textarea|[!?])/im;

type RootContent = ReturnType<typeof fromMarkdown>["children"][number];
type Table = Extract<RootContent, { type: "table" }>;
type PhrasingContent = Extract<RootContent, { type: "paragraph" }>["children"][number];

/** The blocks of a Markdown text. */
export function readMarkdown(text: string): { title?: string; blocks: ManualBlock[] } {
  const { body, title } = withoutFrontMatter(text);
  const blocks = partsOf(body).flatMap((part) => {
    if ("table" in part) return [part.table];
    const { lines, from } = part;
    const root = fromMarkdown(lines.join("\n"), options());
    const reader = new MarkdownReader(lines);
    reader.readAll(root.children, 1);
    return from === 0 ? reader.blocks : reader.blocks.map((block) => movedDown(block, from));
  });
  const top = blocks.find((block) => block.kind === "heading" && block.level === 1);
  const heading = title ?? (top?.kind === "heading" ? top.text : undefined);
  return { ...(heading === undefined ? {} : { title: heading }), blocks };
}

const options = () => ({ extensions: [gfmTable()], mdastExtensions: [gfmTableFromMarkdown()] });

/**
 * The tree of a text takes 200 times its memory, and its time grows faster than its length: a long text is read in
 * parts, which begin with headings, and its plain tables are read apart.
 */
const LONG = 32_000;
const PART_LENGTH = 8_000;

type Part = { lines: readonly string[]; from: number } | { table: ManualBlock };

function partsOf(text: string): Part[] {
  const lines = text.split("\n");
  if (text.length < LONG) return [{ lines, from: 0 }];
  const cutsTables = hasPlainTables(text);
  const parts: Part[] = [];
  let from = 0;
  let length = 0;
  let fence: string | undefined;
  const cutAt = (line: number) => {
    if (line > from) parts.push({ lines: lines.slice(from, line), from });
    from = line;
    length = 0;
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined && fence === undefined) fence = mark;
    else if (mark !== undefined && fence !== undefined && mark.startsWith(fence)) fence = undefined;
    const found = cutsTables && fence === undefined ? plainTableAt(lines, at) : undefined;
    if (found) {
      cutAt(at);
      parts.push({ table: found.table });
      from = found.end;
      at = found.end - 1;
    } else if (length >= PART_LENGTH && fence === undefined && /^#{1,6} /.test(line)) cutAt(at);
    length += line.length + 1;
  }
  cutAt(lines.length);
  return parts;
}

class MarkdownReader {
  readonly blocks: ManualBlock[] = [];
  readonly #lines: readonly string[];

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  /** `level`: of the list items in these nodes. */
  readAll(nodes: readonly RootContent[], level: number): void {
    for (const node of nodes) this.#read(node, level);
  }

  #read(node: RootContent, level: number): void {
    const place = placeOf(node);
    if (node.type === "heading") {
      this.blocks.push({ kind: "heading", level: node.depth, text: oneLine(plainText(node.children)), place });
    } else if (node.type === "paragraph") {
      const text = plainText(node.children).trim();
      const drawn = this.#drawn(place);
      if (drawn) this.blocks.push(drawn);
      else if (text !== "") this.blocks.push({ kind: "paragraph", text, place });
    } else if (node.type === "code") {
      this.blocks.push(this.#code(node.value, node.lang ?? undefined, place));
    } else if (node.type === "table") {
      this.blocks.push(tableBlock(node));
    } else if (node.type === "list") {
      for (const item of node.children) this.#item(item.children, { level, place: placeOf(item) });
    } else if (node.type === "blockquote") {
      this.readAll(node.children, level);
    } else if (node.type === "html") {
      this.blocks.push(...readHtml(node.value).blocks.map((block) => movedDown(block, place.from - 1)));
    }
  }

  /**
   * The paragraphs of an item are its text, unless they announce something; what follows are blocks of their own.
   */
  #item(nodes: readonly RootContent[], { level, place }: { level: number; place: LineRange }): void {
    const [first] = nodes;
    if (first?.type === "paragraph") {
      const texts = nodes
        .slice(0, textLength(nodes))
        .flatMap((node) =>
          node.type === "paragraph" ? [{ text: plainText(node.children).trim(), place: placeOf(node) }] : [],
        );
      const { from } = placeOf(first);
      const to = texts.at(-1)?.place.to ?? from;
      this.blocks.push({ kind: "item", level, text: texts.map(({ text }) => text).join("\n"), place: { from, to } });
      this.readAll(nodes.slice(texts.length), level + 1);
    } else {
      this.blocks.push({ kind: "item", level, text: "", place: { from: place.from, to: place.from } });
      this.readAll(nodes, level + 1);
    }
  }

  /** The lines as they are written: emphasis in a drawn table would move its bars. */
  #drawn(place: LineRange): ManualBlock | undefined {
    if (!/^\s*[+┌╔┏]/.test(this.#lines[place.from - 1] ?? "")) return undefined;
    return boxedTable(this.#lines.slice(place.from - 1, place.to).join("\n"), place.from, place);
  }

  #code(text: string, language: string | undefined, place: LineRange): ManualBlock {
    const isFenced = /^[\s>*+\-\d.)]*(?:```|~~~)/.test(this.#lines[place.from - 1] ?? "");
    const textFrom = isFenced ? place.from + 1 : place.from;
    const drawn = boxedTable(text, textFrom, place);
    return drawn ?? { kind: "code", ...(language === undefined ? {} : { language }), text, textFrom, place };
  }
}

/** How many nodes of an item are its text: the first paragraph, and those after it that announce nothing. */
function textLength(nodes: readonly RootContent[]): number {
  const end = nodes.findIndex(
    (node, index) =>
      index > 0 &&
      (node.type !== "paragraph" || /:\s*$/.test(plainText(node.children)) || nodes[index + 1]?.type === "code"),
  );
  return end < 0 ? nodes.length : end;
}

function tableBlock(node: Table): ManualBlock {
  const [head = [], ...rows] = node.children.map((row) =>
    row.children.map((cell): ManualCell => ({ text: oneLine(plainText(cell.children)), place: placeOf(cell) })),
  );
  const filled = rows.map((row) =>
    head.map((cell, column) => row[column] ?? { text: "", place: placeOfRow(row, cell) }),
  );
  return { kind: "table", head, rows: filled, place: placeOf(node) };
}

/** A block of an HTML part, at its lines in the whole text. */
function movedDown(block: ManualBlock, lines: number): ManualBlock {
  const down = ({ from, to }: LineRange): LineRange => ({ from: from + lines, to: to + lines });
  const moved = { ...block, place: down(block.place) };
  if (moved.kind === "code") return { ...moved, textFrom: moved.textFrom + lines };
  if (moved.kind !== "table") return moved;
  const cells = (row: readonly ManualCell[]) => row.map(({ text, place }) => ({ text, place: down(place) }));
  return { ...moved, head: cells(moved.head), rows: moved.rows.map(cells) };
}

function placeOfRow(row: readonly ManualCell[], otherwise: ManualCell): LineRange {
  return (row[0] ?? otherwise).place;
}

function placeOf({ position }: Pick<RootContent, "position">): LineRange {
  return { from: position?.start.line ?? 1, to: position?.end.line ?? 1 };
}

/** Emphasis and links are left out, their texts stay. Code spans keep backquotes, so that they can be told from words. */
function plainText(nodes: readonly PhrasingContent[]): string {
  const tags = nodes.flatMap((node) => (node.type === "html" ? [node.value] : []));
  const closed = closedIn(tags);
  return nodes
    .map((node, index) => {
      const before = nodes[index - 1];
      const isPart =
        node.type === "html" && before?.type === "text" && isPartOfAddress(node.value, before.value, closed);
      return isPart ? node.value : textOf(node);
    })
    .join("");
}

function textOf(node: PhrasingContent): string {
  switch (node.type) {
    case "text":
      return node.value;
    case "inlineCode":
      return node.value === "" ? "" : `\`${node.value}\``;
    case "break":
      return "\n";
    case "html":
      return /^<br\s*\/?>$/i.test(node.value) ? "\n" : methodOf(node.value);
    case "image":
    case "imageReference":
      return node.alt ?? "";
    case "footnoteReference":
      return "";
    case "delete":
    case "emphasis":
    case "link":
    case "linkReference":
    case "strong":
      return plainText(node.children);
  }
}

/** Pages made of components have the method of a request in an attribute: `<Route method="GET">/orders</Route>`. */
function methodOf(tag: string): string {
  const method = /^<[\w.-]+\s[^>]*\b(?:method|verb)=["']?(get|post|put|patch|delete|head)\b/i.exec(tag)?.[1];
  return method === undefined ? "" : `${method.toUpperCase()} `;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

/** Front matter is left out; its lines stay, so that all others keep their numbers. */
function withoutFrontMatter(text: string): { body: string; title?: string } {
  const [front] = /^---[ \t]*\n(?:[^\n]*\n){0,200}?(?:---|\.\.\.)[ \t]*(?:\n|$)/.exec(text) ?? [];
  if (front === undefined || !/^[\w-]+[ \t]*:/m.test(front)) return { body: text };
  const title = /^title[ \t]*:[ \t]*(["']?)(.+?)\1[ \t]*$/m.exec(front)?.[2];
  const body = front.replaceAll(/[^\n]/g, "") + text.slice(front.length);
  return { body, ...(title === undefined ? {} : { title }) };
}

const TOP = /^\s*(?:\+[-=]{2,}[-=+]*\+|[┌╔┏][\u2500-\u257f]{2,})\s*$/;

/**
 * The table that a text consists of, if it is drawn with a box. Markdown and HTML have such tables in paragraphs and in
 * code. `from`: the line where the text begins.
 */
function boxedTable(text: string, from: number, place: LineRange): ManualBlock | undefined {
  const lines = text.trimEnd().split("\n");
  if (!TOP.test(lines[0] ?? "")) return undefined;
  const found = drawnTableAt(lines, 0);
  if (!found || found.next < lines.length || found.rows.length === 0) return undefined;
  const down = (cells: readonly ManualCell[]) =>
    cells.map((cell) => ({
      text: cell.text,
      place: { from: cell.place.from + from - 1, to: cell.place.to + from - 1 },
    }));
  return { kind: "table", head: down(found.head), rows: found.rows.map(down), place };
}

type TableBlock = Extract<ManualBlock, { kind: "table" }>;

/** A table whose cells need no parser, and the line after it. */
interface PlainTable {
  table: TableBlock;
  end: number;
}

/** Whether tables of this text can be recognized by their lines alone. */
function hasPlainTables(text: string): boolean {
  return !OPEN_HTML.test(text);
}

/**
 * The table that begins in a line, if it is written in the plainest way. Large manuals are mostly tables, and the parser
 * of Markdown takes about a millisecond for three rows.
 */
function plainTableAt(lines: readonly string[], from: number): PlainTable | undefined {
  const [before = "", first = "", delimiters = ""] = [lines[from - 1], lines[from], lines[from + 1]];
  if (!first.startsWith("|") || before.trim() !== "" || !DELIMITERS.test(delimiters)) return undefined;
  let end = from;
  while (lines[end]?.startsWith("|")) {
    const line = lines[end] ?? "";
    if (line.length > MAX_ROW || (end !== from + 1 && !ROW.test(line))) return undefined;
    end += 1;
  }
  if ((lines[end] ?? "").trim() !== "") return undefined;
  const head = cellsOf(first, from);
  if (head.length !== cellsOf(delimiters, from).length) return undefined;
  const rows = lines.slice(from + 2, end).map((line, index) => {
    const cells = cellsOf(line, from + 2 + index);
    return head.map((_, column): ManualCell => cells[column] ?? { text: "", place: placeAt(from + 2 + index) });
  });
  return { table: { kind: "table", head, rows, place: { from: from + 1, to: end } }, end };
}

function cellsOf(line: string, index: number): ManualCell[] {
  const cells = line.trimEnd().slice(1, -1).split("|");
  return cells.map((cell) => ({ text: cellText(cell), place: placeAt(index) }));
}

function placeAt(index: number): ManualCell["place"] {
  return { from: index + 1, to: index + 1 };
}

/** Blanks next to the marks of a code span are not a part of it. */
function cellText(cell: string): string {
  const text = cell.replaceAll(/`([^`]+)`/g, (whole, code: string) =>
    /^ .*\S.* $/.test(code) ? `\`${code.slice(1, -1)}\`` : whole,
  );
  return text.replaceAll(/\s+/g, " ").trim();
}
