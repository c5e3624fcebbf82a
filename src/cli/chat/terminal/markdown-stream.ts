import { visible } from "../../../text/visible.ts";
import { cellsOf, cut, padded, wrapped } from "../../output/text-width.ts";
import type { Style } from "../../output/output.ts";
import { readInline, type InlineStyle, withoutMarks } from "./markdown-inline.ts";

/** Where Markdown is shown. */
interface MarkdownTarget {
  write(text: string): void;
  style(style: Style, text: string): string;
  /** Undefined: not a terminal, so Markdown is written unchanged. */
  readonly columns: number | undefined;
}

/** Only characters that may begin a block, so that its kind is not known yet. */
const UNDECIDED = /^(?:[-*+_>#|`~=\s]*|\s*\d{1,9}[.)]?\s*)$/;
const FENCE = /^\s{0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^\s{0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const LEAD = /^(\s*)((?:>\s?)+)?(?:([-*+]|\d{1,9}[.)])(\s+))?/;
/** A high surrogate, whose character is not complete. */
const HALF = /[\ud800-\udbff]$/;
const MAX_RULE = 40;
/** Characters that are read at once: in a longer piece, looking for the ends of marks would take too long. */
const MAX_PIECE = 500;
/** A longer line is text, not a heading or a row of a table. */
const MAX_WHOLE = 4_000;
const INLINE: Record<InlineStyle, Style> = { bold: "bold", italic: "italic", code: "cyan", strike: "dim" };

/**
 * Shows Markdown at a terminal while it comes, word by word. Line breaks stay as the model wrote them, code is not
 * broken, and what cannot be seen is escaped. Without styles, the marks stay.
 */
export class MarkdownStream {
  readonly #target: MarkdownTarget;
  readonly #wrapper: WordWrapper;
  readonly #keepsMarks: boolean;
  /** The first half of a character. */
  #half = "";
  /** Of the line that is not complete. */
  #pending = "";
  /** Whether the line that is not complete is being shown. */
  #isOpen = false;
  /** Its text that was read and not shown yet. */
  #held = "";
  /** The last character of it that was shown. */
  #before: string | undefined;
  #fence: string | undefined;
  #table: string[] = [];

  constructor(target: MarkdownTarget) {
    this.#target = target;
    this.#keepsMarks = target.style("bold", "x") === "x";
    this.#wrapper = new WordWrapper({
      write: (text) => target.write(text),
      width: () => this.#width,
    });
  }

  write(text: string): void {
    for (let at = 0; at < text.length; at += MAX_PIECE) {
      const piece = this.#half + text.slice(at, at + MAX_PIECE);
      this.#half = HALF.exec(piece)?.[0] ?? "";
      this.#take(piece.slice(0, piece.length - this.#half.length));
    }
  }

  #take(text: string): void {
    this.#pending += text;
    const hasLines = text.includes("\n");
    for (let end = hasLines ? this.#pending.indexOf("\n") : -1; end !== -1; end = this.#pending.indexOf("\n")) {
      const line = this.#pending.slice(0, end).replace(/\r$/, "");
      this.#pending = this.#pending.slice(end + 1);
      this.#complete(line);
    }
    if (this.#target.columns !== undefined) this.#showPartly();
  }

  /** Shows what is left; the output is at the beginning of a line afterwards. */
  end(): void {
    const line = this.#pending + this.#half;
    this.#pending = "";
    this.#half = "";
    if (line !== "" || this.#isOpen) this.#complete(line);
    this.#showTable();
    this.#fence = undefined;
  }

  get #width(): number | undefined {
    const { columns } = this.#target;
    // The last cell stays free: some terminals break the line when it is written.
    return columns === undefined ? undefined : columns - 1;
  }

  #complete(line: string): void {
    if (this.#target.columns === undefined) return this.#target.write(`${visible(line)}\n`);
    if (this.#isOpen) {
      this.#inline(line, true);
      this.#wrapper.end();
      this.#isOpen = false;
      return;
    }
    if (this.#fence !== undefined) return this.#codeLine(line, this.#fence);
    if (isTableRow(line)) return void this.#table.push(line);
    this.#showTable();
    this.#block(line);
  }

  #block(line: string): void {
    const fence = FENCE.exec(line)?.[1];
    const [, level, title] = HEADING.exec(line) ?? [];
    if (fence !== undefined) {
      this.#fence = fence;
      this.#target.write(`${this.#paint("dim", visible(line.trim()))}\n`);
    } else if (level !== undefined && title !== undefined) this.#heading(level, title);
    else if (RULE.test(line)) this.#target.write(`${this.#paint("dim", this.#rule())}\n`);
    else {
      this.#open(line);
      this.#inline("", true);
      this.#wrapper.end();
      this.#isOpen = false;
    }
  }

  #codeLine(line: string, fence: string): void {
    const closing = FENCE.exec(line);
    const isEnd = closing?.[1]?.startsWith(fence) === true && closing[2] === "";
    if (isEnd) this.#fence = undefined;
    this.#target.write(`${this.#paint(isEnd ? "dim" : "cyan", visible(isEnd ? line.trim() : line))}\n`);
  }

  #heading(level: string, title: string): void {
    const mark = this.#keepsMarks ? `${level} ` : "";
    this.#wrapper.begin(mark, " ".repeat(mark.length), mark.length);
    const { spans } = readInline(title, { isComplete: true, keepsMarks: this.#keepsMarks });
    for (const { text } of spans) this.#wrapper.add(text, (shown) => this.#paint("bold", shown));
    this.#wrapper.end();
  }

  #rule(): string {
    return "-".repeat(Math.min(MAX_RULE, this.#width ?? MAX_RULE));
  }

  #showTable(): void {
    const rows = this.#table;
    this.#table = [];
    if (rows.length === 0) return;
    const lines =
      markdownTableLines(rows, this.#width ?? Infinity, (text) => this.#paint("bold", text)) ?? rows.map(visible);
    for (const line of lines) this.#target.write(`${line}\n`);
  }

  /** Shows the beginning of a line whose kind is known. */
  #showPartly(): void {
    if (this.#fence !== undefined || (this.#pending === "" && !this.#isOpen)) return;
    if (!this.#isOpen) {
      const line = this.#pending;
      const isWhole = UNDECIDED.test(line) || isTableRow(line) || /^\s{0,3}(?:#|`{3}|~{3})/.test(line);
      if (isWhole && line.length < MAX_WHOLE) return;
      this.#showTable();
      this.#pending = "";
      this.#open(line);
    }
    const text = this.#pending;
    this.#pending = "";
    this.#inline(text, false);
  }

  /** Begins a paragraph, an item of a list or a quote. */
  #open(line: string): void {
    const [lead = "", indent = "", quote = "", marker = "", space = ""] = LEAD.exec(line) ?? [];
    const bars = quote === "" ? "" : "| ".repeat(quote.replaceAll(/[^>]/g, "").length);
    const first = `${indent}${bars}${marker}${space === "" ? "" : " "}`.replaceAll("\t", "    ");
    const hanging = `${indent}${bars}${" ".repeat(marker.length)}${space === "" ? "" : " "}`.replaceAll("\t", "    ");
    const dim = (text: string) => (bars === "" ? text : this.#paint("dim", text));
    this.#wrapper.begin(dim(first), dim(hanging), cellsOf(first));
    this.#isOpen = true;
    this.#before = undefined;
    this.#held = line.slice(lead.length);
  }

  #inline(text: string, isComplete: boolean): void {
    const { spans, rest } = readInline(this.#held + text, {
      isComplete,
      keepsMarks: this.#keepsMarks,
      before: this.#before,
    });
    this.#held = rest;
    for (const { text: part, styles } of spans) {
      this.#before = part.at(-1);
      this.#wrapper.add(part, (shown) => styles.reduce((all, style) => this.#paint(INLINE[style], all), shown));
    }
  }

  #paint(style: Style, text: string): string {
    return this.#target.style(style, text);
  }
}

interface WrapperOptions {
  write: (text: string) => void;
  /** Cells of a line; undefined: lines are not broken. */
  width: () => number | undefined;
}

const GRAPHEMES = new Intl.Segmenter();
// oxlint-disable-next-line no-control-regex -- most words are plain
const PLAIN = /^[\u0000-\u02ff]*$/;
/** What may be a part of the emoji before it, which came in an earlier piece. */
const CONTINUES = /^(?:[\p{ExtPict}\p{EMod}\p{RI}\u200d]|[\ufe0e-\ufe0f])/u;

type Paint = (text: string) => string;

interface Piece {
  text: string;
  paint: Paint;
}

/**
 * Writes text that comes in pieces, broken between words. A word is written when it is complete. A word that is wider
 * than a line stays whole, so that it can be copied.
 */
class WordWrapper {
  readonly #options: WrapperOptions;
  #word: Piece[] = [];
  #wordCells = 0;
  #spaces = "";
  #column = 0;
  #hanging = "";
  #hangingCells = 0;
  #isFirst = true;

  constructor(options: WrapperOptions) {
    this.#options = options;
  }

  /** Begins a line with `first`; lines that continue it begin with `hanging`, which has the same width. */
  begin(first: string, hanging: string, cells: number): void {
    this.#options.write(first);
    this.#hanging = hanging;
    this.#hangingCells = cells;
    this.#column = cells;
    this.#isFirst = true;
    this.#spaces = "";
  }

  add(text: string, paint: Paint): void {
    for (const [part] of text.matchAll(/\s+|\S+/g)) {
      if (/^\s/.test(part)) {
        this.#flush();
        this.#spaces += part.replaceAll("\t", "    ").replaceAll(/\s/g, " ");
      } else this.#addWord(part, paint);
    }
  }

  /** Ends the line. */
  end(): void {
    this.#flush();
    this.#options.write("\n");
  }

  /** Text of wide characters, such as Chinese, may be broken between any two of them. An emoji stays whole. */
  #addWord(text: string, paint: Paint): void {
    if (PLAIN.test(text)) return this.#take(text, paint);
    let part = "";
    for (const { segment } of GRAPHEMES.segment(this.#continued(text) + text)) {
      if (cellsOf(segment) >= 2) {
        this.#take(part, paint);
        this.#flush();
        this.#take(segment, paint);
        part = "";
      } else part += segment;
    }
    this.#take(part, paint);
  }

  /** Takes back the piece that the text may continue. */
  #continued(text: string): string {
    const last = CONTINUES.test(text) ? this.#word.pop() : undefined;
    if (last) this.#wordCells -= cellsOf(visible(last.text));
    return last?.text ?? "";
  }

  #take(text: string, paint: Paint): void {
    if (text === "") return;
    this.#word.push({ text, paint });
    this.#wordCells += cellsOf(visible(text));
  }

  #flush(): void {
    if (this.#word.length === 0) return;
    const width = this.#options.width();
    const spaces = this.#isFirst ? "" : this.#spaces;
    const isTooWide = width !== undefined && this.#column + spaces.length + this.#wordCells > width;
    if (isTooWide && !this.#isFirst) {
      this.#options.write(`\n${this.#hanging}`);
      this.#column = this.#hangingCells;
    } else {
      this.#options.write(spaces);
      this.#column += spaces.length;
    }
    for (const { text, paint } of this.#word) this.#options.write(paint(visible(text)));
    this.#column += this.#wordCells;
    this.#word = [];
    this.#wordCells = 0;
    this.#spaces = "";
    this.#isFirst = false;
  }
}

const GAP = "  ";
/** A column is not made narrower than this. */
const MIN_WIDTH = 6;
const SEPARATOR = /^\s*:?-+:?\s*$/;

/** Whether a line can be a row of a table: it begins with a bar. */
function isTableRow(line: string): boolean {
  return /^\s{0,3}\|/.test(line);
}

/** The lines of a table that fits into the width; undefined if the rows are not a table. */
function markdownTableLines(
  rows: readonly string[],
  width: number,
  bold: (text: string) => string,
): string[] | undefined {
  const [head, separator, ...body] = rows.map(cellsIn);
  if (!head || !separator?.every((cell) => SEPARATOR.test(cell)) || separator.length === 0) return undefined;
  const columns = head.length;
  const texts = [head, ...body].map((row) => Array.from({ length: columns }, (_, at) => cellText(row[at] ?? "")));
  const natural = Array.from({ length: columns }, (_, at) =>
    Math.max(...texts.map((row) => cellsOf(row[at] ?? "")), 1),
  );
  const widths = fitted(natural, width - GAP.length * (columns - 1));
  if (!widths) return undefined;
  const rules = widths.map((cells) => "-".repeat(cells));
  const isRight = widths.map((_, at) => /^\s*-+:\s*$/.test(separator[at] ?? ""));
  const [first = [], ...others] = texts;
  return [
    ...rowLines(first, widths, isRight).map((line) => bold(line)),
    rules.join(GAP),
    ...others.flatMap((row) => rowLines(row, widths, isRight)),
  ];
}

/** The widest columns become narrower until all fit; undefined if they cannot. */
function fitted(natural: readonly number[], room: number): number[] | undefined {
  const widths = [...natural];
  let over = widths.reduce((sum, each) => sum + each, 0) - room;
  while (over > 0) {
    const widest = Math.max(...widths);
    if (widest <= MIN_WIDTH) return undefined;
    const second = Math.max(MIN_WIDTH, ...widths.filter((each) => each < widest));
    for (let at = 0; at < widths.length && over > 0; at++) {
      if (widths[at] !== widest) continue;
      const less = Math.min(over, Math.max(widest - second, 1));
      widths[at] = widest - less;
      over -= less;
    }
  }
  return widths;
}

function rowLines(row: readonly string[], widths: readonly number[], isRight: readonly boolean[]): string[] {
  const cells = row.map((text, at) => wrapped(text, widths[at]).map((line) => cut(line, widths[at])));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    cells
      .map((lines, at) => aligned(lines[line] ?? "", widths[at] ?? 0, isRight[at] === true))
      .join(GAP)
      .trimEnd(),
  );
}

function aligned(text: string, width: number, isRight: boolean): string {
  return isRight ? " ".repeat(Math.max(0, width - cellsOf(text))) + text : padded(text, width);
}

function cellText(cell: string): string {
  return visible(withoutMarks(cell.replaceAll(/<br\s*\/?>/gi, " ")));
}

/** Bars that are escaped are text, also inside code. */
function cellsIn(row: string): string[] {
  const cells = [""];
  const parts = row
    .trim()
    .replace(/^\|/, "")
    .matchAll(/\\\||[^]/g);
  for (const [part] of parts) {
    if (part === "|") cells.push("");
    else cells.push(`${cells.pop() ?? ""}${part === "\\|" ? "|" : part}`);
  }
  if (cells.at(-1)?.trim() === "" && cells.length > 1) cells.pop();
  return cells.map((cell) => cell.trim());
}
