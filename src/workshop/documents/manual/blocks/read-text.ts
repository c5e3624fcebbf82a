import type { ManualBlock, ManualCell, LineRange } from "./manual.ts";
import { drawnTableAt, type TextTable, addLine, table } from "./drawn-table.ts";
import { httpDirective, httpFieldsAt } from "./http-directive.ts";
import { deeper, sampleAt, type CodeSample } from "./samples.ts";
import { indentOf, isBlank, textLines, type TextLines } from "../../text/text-lines.ts";

const ITEM = /^(\s*)(?:[-*•·▪◦‣–]|\d{1,3}[.)]|[a-z][.)]|\((?:\d{1,2}|[a-z])\))\s+(\S.*)$/;
/** reStructuredText: `:param id: The number.` */
const FIELD = /^(\s*):([A-Za-z][\w -]*):\s+(\S.*)$/;
/** Marks of reStructuredText and AsciiDoc without a meaning of their own. */
const MARKUP =
  /^\s*(?:\.\. (?:_[^:]*:|[\w-]+::.*)|\[\[.*\]\]|\[(?:#|\.|%|cols|options).*\]|:[\w-]+:.*|<<<|'''|={4,}|-{3,}|_{3,}|\*{3,})\s*$/;

/** The blocks of a plain text, of which pages may be separated by form feeds. */
export function readText(text: string): { title?: string; blocks: ManualBlock[] } {
  const reader = new TextReader(textLines(text));
  reader.readAll();
  const blocks = reader.blocks;
  const title = (
    titleLine(blocks[0]) ??
    blocks.find((block) => block.kind === "heading")?.text ??
    blocks.find((block) => block.kind === "paragraph")?.text.split("\n")[0]
  )?.trim();
  return { ...(title === undefined || title === "" || title.length > 120 ? {} : { title }), blocks };
}

/** What a text begins with is its title, unless it is a sentence. */
function titleLine(first: ManualBlock | undefined): string | undefined {
  if (first?.kind !== "heading" && first?.kind !== "paragraph") return undefined;
  const line = first.text.split("\n")[0] ?? "";
  return line.length > 80 || /[.:,;]$|https?:|\t| {3}/.test(line) ? undefined : line;
}

class TextReader {
  readonly blocks: ManualBlock[] = [];
  readonly #text: TextLines;
  readonly #lines: readonly string[];
  /** The indents of the lists that are open. */
  #indents: number[] = [];
  /** Whether the last heading was a directive, whose fields are about one request. */
  #isRequest = false;

  constructor(text: TextLines) {
    this.#text = text;
    this.#lines = text.all;
  }

  readAll(): void {
    let at = 0;
    while (at < this.#lines.length) at = this.#readAt(at);
  }

  /** The first line after the block at a line. */
  #readAt(at: number): number {
    const line = this.#lines[at] ?? "";
    if (isBlank(line) || CONTENTS_ENTRY.test(line)) return at + 1;
    const request = httpDirective(line);
    if (request) {
      this.#indents = [];
      this.#isRequest = true;
      this.blocks.push({ kind: "heading", ...request, place: place(at, at + 1) });
      return at + 1;
    }
    const fields = this.#isRequest ? httpFieldsAt(this.#lines, at) : undefined;
    if (fields) {
      this.blocks.push(...fields.blocks);
      return fields.next;
    }
    const table = this.#tableAt(at);
    if (table) return this.#addTable(table, at);
    const sample = sampleAt(this.#lines, at);
    if (sample) return this.#addCode(sample, at);
    const heading = headingAt(this.#lines, at);
    if (heading) {
      this.#indents = [];
      this.#isRequest = false;
      const { level, text, line: of, next } = heading;
      this.blocks.push({ kind: "heading", level, text, place: place(of, of + 1) });
      return next;
    }
    if (ITEM.test(line) || FIELD.test(line)) return this.#addItem(at);
    return MARKUP.test(line) ? at + 1 : this.#addParagraph(at);
  }

  #tableAt(at: number): TextTable | undefined {
    return drawnTableAt(this.#lines, at) ?? alignedTableAt(this.#text, at);
  }

  #addTable({ head, rows, next }: TextTable, at: number): number {
    this.blocks.push({ kind: "table", ...withCodeHead(head, rows), place: place(at, next) });
    return next;
  }

  #addCode({ language, from, to, next }: CodeSample, at: number): number {
    const lines = this.#lines.slice(from, to);
    const indent = lines.reduce((least, line) => (isBlank(line) ? least : Math.min(least, indentOf(line))), 200);
    const text = lines.map((line) => (indentOf(line) >= indent ? withoutIndent(line, indent) : line)).join("\n");
    const known = language ?? languageOf(text);
    if (text.trim() !== "") {
      const named = known === undefined ? {} : { language: known };
      this.blocks.push({ kind: "code", ...named, text, textFrom: from + 1, place: place(at, next) });
    }
    return Math.max(next, at + 1);
  }

  /** An item goes on in deeper lines. */
  #addItem(at: number): number {
    const line = this.#lines[at] ?? "";
    const [, blanks = "", name, more] = FIELD.exec(line) ?? [];
    const [, indents = blanks, words = line.trim()] = ITEM.exec(line) ?? [];
    const indent = indents.length;
    const texts = [name === undefined ? words : `${name}: ${more}`];
    let next = at + 1;
    while (next < this.#lines.length && this.#isContinued(next, indent)) texts.push((this.#lines[next++] ?? "").trim());
    this.#indents = [...this.#indents.filter((each) => each < indent), indent];
    this.blocks.push({ kind: "item", level: this.#indents.length, text: texts.join("\n"), place: place(at, next) });
    return next;
  }

  #isContinued(line: number, indent: number): boolean {
    const text = this.#lines[line] ?? "";
    return !isBlank(text) && indentOf(text) > indent && !this.#startsBlock(line);
  }

  #addParagraph(at: number): number {
    const texts: string[] = [];
    let next = at;
    do texts.push((this.#lines[next++] ?? "").trim());
    while (next < this.#lines.length && !isBlank(this.#lines[next]) && !this.#startsBlock(next));
    const text = texts.join("\n");
    this.#indents = [];
    this.blocks.push({ kind: "paragraph", text: text.replace(/::$/, ":"), place: place(at, next) });
    if (!text.endsWith("::") || !isBlank(this.#lines[next])) return next;
    // reStructuredText: two colons announce a literal block.
    const literal = deeper(this.#lines, next, { indent: indentOf(this.#lines[next - 1] ?? "") });
    return literal ? this.#addCode(literal, literal.from) : next;
  }

  /** Whether a line begins something else than the paragraph or the item that it is in. */
  #startsBlock(line: number): boolean {
    const text = this.#lines[line] ?? "";
    if (ITEM.test(text) || FIELD.test(text) || /^(?:#{1,6}|={1,6}) +\S|^\s*(?:```|~~~)/.test(text)) return true;
    if (/^\s*[{[<]|HTTP\/\d|^\s*(?:\$ *)?curl\s/.test(text) && sampleAt(this.#lines, line)) return true;
    return /\S {2,}\S|\t|[|│┃+]/.test(text) && this.#tableAt(line) !== undefined;
  }
}

/** Codes beside their meanings often have no head: then the first row is one of them. */
function withCodeHead(head: ManualCell[], rows: ManualCell[][]): { head: ManualCell[]; rows: ManualCell[][] } {
  const [code, meaning, ...more] = head;
  const firsts = [head, ...rows].map(([first]) => first?.text ?? "");
  const isCodes = [/^\d{1,6}$/, /^[A-Z][A-Z\d]{0,3}$/].some((form) => firsts.every((text) => form.test(text)));
  if (!code || !meaning || more.length > 0 || !isCodes) return { head, rows };
  return {
    head: [
      { ...code, text: "Code" },
      { ...meaning, text: "Meaning" },
    ],
    rows: [head, ...rows],
  };
}

function place(from: number, to: number): LineRange {
  return { from: from + 1, to };
}

function withoutIndent(line: string, indent: number): string {
  let left = indent;
  let start = 0;
  while (left > 0 && start < line.length) left -= line[start++] === "\t" ? 4 : 1;
  return line.slice(start);
}

function languageOf(text: string): string | undefined {
  const start = text.trimStart();
  if (/^[{[]/.test(start)) return "json";
  return /^<[?A-Za-z]/.test(start) ? "xml" : undefined;
}

interface TextHeading {
  level: number;
  text: string;
  /** The lines of the text and of its underline, counted from 0. */
  line: number;
  next: number;
}

const UNDERLINE = /^\s*([=\-~^"'*+#._])\1{2,}\s*$/;
const LEVELS: Readonly<Record<string, number>> = { "=": 1, "-": 2, "~": 3, "^": 4 };
const NUMBERED = /^\s{0,8}(\d{1,3}(?:\.\d{1,3}){0,5})(?:\.|\))?\s+(\S.{0,90})$/;
const CHAPTER = /^\s{0,8}(?:chapter|section|appendix|part|kapitel|anhang)\s+[\dA-Z]{1,4}\b.{0,80}$/i;
/** An entry of a table of contents: `2.1 Orders ........ 12`. */
const CONTENTS_ENTRY = /\S\s*(?:\.\s?){4,}\s*\d{1,4}$/;

/** The heading at a line: marked with # or =, underlined, numbered, or in capitals. */
function headingAt(lines: readonly string[], at: number): TextHeading | undefined {
  const text = lines[at] ?? "";
  const marked = /^(#{1,6}|={1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?$/.exec(text);
  if (marked) {
    const [, marks = "", words = ""] = marked;
    return { level: marks.length, text: words.trim(), line: at, next: at + 1 };
  }
  if (!isBlank(lines[at - 1]) && !UNDERLINE.test(lines[at - 1] ?? "")) return undefined;
  return underlined(lines, at) ?? numbered(lines, at) ?? inCapitals(lines, at);
}

function underlined(lines: readonly string[], at: number): TextHeading | undefined {
  const over = UNDERLINE.exec(lines[at] ?? "")?.[1];
  const line = over === undefined ? at : at + 1;
  const text = (lines[line] ?? "").trim();
  const under = lines[line + 1] ?? "";
  const mark = UNDERLINE.exec(under)?.[1];
  if (mark === undefined || text === "" || text.length > 120 || UNDERLINE.test(text)) return undefined;
  const length = under.trim().length;
  if ((over !== undefined && over !== mark) || length < text.length * 0.6 || length > text.length + 12)
    return undefined;
  // Chapters may be underlined and their sections not: then only the numbers say what is inside of what.
  const number = /^(\d{1,3}(?:\.\d{1,3}){0,5})[.)]?\s/.exec(text)?.[1];
  const level = number === undefined ? (LEVELS[mark] ?? 3) : Math.min(6, number.split(".").length);
  return { level, text, line, next: line + 2 };
}

function numbered(lines: readonly string[], at: number): TextHeading | undefined {
  const text = (lines[at] ?? "").trim();
  if (CHAPTER.test(text) && isBlank(lines[at + 1])) return { level: 1, text, line: at, next: at + 1 };
  const [, number = "", title = ""] = NUMBERED.exec(lines[at] ?? "") ?? [];
  if (number === "" || !isTitle(title)) return undefined;
  const level = number.split(".").length;
  if (level === 1) {
    // Items of a list may also have blank lines between them.
    const next = lines.slice(at + 1, at + 4).find((line) => !isBlank(line)) ?? "";
    const isList = NUMBERED.exec(next)?.[1] === String(Number(number) + 1);
    if (!isBlank(lines[at + 1]) || isList || Number(number) > 40) return undefined;
  }
  return { level: Math.min(6, level), text, line: at, next: at + 1 };
}

/** The name of a call: `photos.search`, `createOrder`. */
const CALL_NAME = /^[a-z]\w*(?:[.:/][A-Za-z]\w*)+$|^[a-z]+(?:_[a-z]+|[A-Z][a-z]+)+$/;

function isTitle(text: string): boolean {
  if (CALL_NAME.test(text)) return true;
  return /^["'`(]?[\p{Lu}\d/_]/u.test(text) && !/[.,;]$/.test(text) && !/ {3,}|\t/.test(text) && words(text) <= 14;
}

function inCapitals(lines: readonly string[], at: number): TextHeading | undefined {
  const text = (lines[at] ?? "").trim();
  if (text.length > 60 || !/\p{Lu}{4}/u.test(text) || /\p{Ll}/u.test(text)) return undefined;
  if (/[{}<>=|;_]| {3,}|^(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\b/.test(text)) return undefined;
  return isBlank(lines[at + 1]) || /^\s{2,}\S/.test(lines[at + 1] ?? "")
    ? { level: 2, text, line: at, next: at + 1 }
    : undefined;
}

function words(text: string): number {
  return text.split(/\s+/).length;
}

/** The columns between two columns of text that are blank, from and to (not included). */
interface Gutter {
  from: number;
  to: number;
}

/** Two blanks separate columns; one is enough where a border shows the columns. */
const NARROWEST = 2;
/** A long name in a narrow column is broken after such a sign. */
const NAME_GOES_ON = /[_/.-]$/;
const LONGEST_ROW = 60;
const BORDER = /^\s*(?:[-=_]{2,}\s+)*[-=_]{2,}\s*$/;

/** The table at a line whose columns are aligned with blanks. Wrapped cells are joined. */
function alignedTableAt({ all, pages }: TextLines, at: number): TextTable | undefined {
  // Tables of reStructuredText begin with a border.
  const first = BORDER.test(all[at] ?? "") && gaps(all[at] ?? "").length > 0 ? at + 1 : at;
  const head = all[first] ?? "";
  const border = [all[first - 1], all[first + 1]].find(
    (line) => BORDER.test(line ?? "") && gaps(line ?? "", 1).length > 0,
  );
  const start = border === undefined ? gaps(head) : gaps(border, 1);
  if (start.length === 0 || BORDER.test(head) || (border !== undefined && !fits(head, start, 1))) return undefined;
  const narrowest = border === undefined ? NARROWEST : 1;
  const rows = [cellsOf(head, start, first)];
  let gutters = narrowed(head, start);
  let line = first + 1;
  let next = line;
  let hasBlank = false;
  for (; line < all.length; line++) {
    const text = all[line] ?? "";
    // One row of any length is not a table: it is not looked at again and again.
    if (line - first > LONGEST_ROW && rows.length < 3) break;
    if (isBlank(text)) {
      const after = nextWritten(all, line);
      const isEnd = next > first + 2 && BORDER.test(all[next - 1] ?? "");
      if (isEnd || (after > line + 1 && pages[after] === pages[next - 1])) break;
      hasBlank = true;
      line = after - 1;
      continue;
    }
    if (BORDER.test(text)) {
      if (hasBlank) break;
      next = line + 1;
      continue;
    }
    const smaller = narrowed(text, gutters).map((gutter, column) =>
      isAtColumn(text, gutters[column], start[column]) ? (gutters[column] ?? gutter) : gutter,
    );
    if (smaller.some(({ from, to }) => to - from < narrowest)) break;
    const cells = cellsOf(text, smaller, line);
    const filled = cells.filter((cell) => cell.text !== "").length;
    // After a blank line, text in one column is no longer the table.
    const last = rows.at(-1);
    const isName = NAME_GOES_ON.test(last?.[0]?.text ?? "") || isInside(all, line, smaller);
    if (filled < 2 && (hasBlank || (cells[0]?.text !== "" && !isName))) break;
    gutters = smaller;
    if (text.trim() === head.trim()) {
      // The head again, on the next page.
    } else if (last && rows.length > 1 && goesOn(cells, last, hasBlank)) addLine(last, cells);
    else rows.push(cells);
    next = line + 1;
    hasBlank = false;
  }
  const isCertain = rows.length > 2 || (rows.length === 2 && (border !== undefined || start.length > 1));
  if (!isCertain && isParameterList(all, first, rows)) return table([HEAD, ...rows], next);
  return isCertain ? table(rows, next) : undefined;
}

const PARAMETERS = /^\s*(?:\w+ )?(?:parameters?|arguments?|params|fields|parameter)(?: \(\w+\))?\s*:?\s*$/i;
const HEAD: ManualCell[] = ["Parameter", "Description"].map((text) => ({ text, place: { from: 1, to: 1 } }));

/** One or two parameters below `Parameters`: too few lines to be a table for their columns alone. */
function isParameterList(all: readonly string[], first: number, rows: readonly ManualCell[][]): boolean {
  let before = first - 1;
  while (before > first - 3 && isBlank(all[before])) before--;
  return (
    PARAMETERS.test(all[before] ?? "") &&
    rows.every(([name, text, ...more]) => /^[A-Za-z_][\w.-]*$/.test(name?.text ?? "") && text && more.length === 0)
  );
}

/** A cell that fills its column leaves one blank before the next one, which begins where the head has it. */
function isAtColumn(line: string, gutter: Gutter | undefined, head: Gutter | undefined): boolean {
  if (!gutter || gutter.to !== head?.to || gutter.to - gutter.from < NARROWEST) return false;
  return line[gutter.to - 1] === " " && (line[gutter.to] ?? " ") !== " " && line[gutter.to - 2] !== " ";
}

function nextWritten(all: readonly string[], from: number): number {
  let line = from;
  while (line < all.length && isBlank(all[line])) line++;
  return line;
}

/** Whether the table goes on after a line with text in the first column only. */
function isInside(all: readonly string[], line: number, gutters: readonly Gutter[]): boolean {
  const after = all[line + 1] ?? "";
  if (isBlank(after) || narrowed(after, gutters).some(({ from, to }) => to - from < NARROWEST)) return false;
  return cellsOf(after, gutters, line + 1).filter((cell) => cell.text !== "").length > 1;
}

/** Whether a line belongs to the row above: its first column is empty, or was broken in a name. */
function goesOn(cells: readonly ManualCell[], last: readonly ManualCell[], hasBlank: boolean): boolean {
  if (cells[0]?.text === "") return true;
  const isBroken = NAME_GOES_ON.test(last[0]?.text ?? "") && cells.slice(1).some(({ text }) => text === "");
  return !hasBlank && (isBroken || cells.slice(1).every(({ text }) => text === ""));
}

/** The blank runs inside of a line. */
function gaps(line: string, width = NARROWEST): Gutter[] {
  return [...line.matchAll(/(?<=\S) +(?=\S)/g)]
    .filter(([blanks]) => blanks.length >= width)
    .map(({ index, 0: blanks }) => ({ from: index, to: index + blanks.length }));
}

/** What is left of the gutters when a line is added: the widest part of each that is still blank. */
function narrowed(line: string, gutters: readonly Gutter[]): Gutter[] {
  return gutters.map(({ from, to }) => {
    let best = { from, to: from };
    let start = from;
    for (let column = from; column <= to; column++) {
      if (column < to && (line[column] ?? " ") === " ") continue;
      if (column - start > best.to - best.from) best = { from: start, to: column };
      start = column + 1;
    }
    return best;
  });
}

function fits(line: string, gutters: readonly Gutter[], width: number): boolean {
  return narrowed(line, gutters).every(({ from, to }) => to - from >= width);
}

function cellsOf(text: string, gutters: readonly Gutter[], line: number): ManualCell[] {
  const place = { from: line + 1, to: line + 1 };
  const ends = [...gutters.map(({ to }) => to), Math.max(text.length, gutters.at(-1)?.to ?? 0)];
  return ends.map((end, column) => ({
    text: text.slice(column === 0 ? 0 : (ends[column - 1] ?? 0), end).trim(),
    place,
  }));
}
