import { visible } from "../../../text/visible.ts";
import { broken, cellsOf, wrapped } from "../../output/text-width.ts";
import type { LineEditor } from "./line-editor.ts";

interface ViewOptions {
  /** Before the first line. */
  prompt: string;
  columns: number;
  /** Rows of the terminal. */
  rows: number;
}

/** The text of an editor as rows of a terminal. */
export interface EditorView {
  rows: string[];
  cursor: { row: number; column: number };
}

interface Row {
  text: string;
  /** The part of the characters that it shows. */
  from: number;
  to: number;
}

interface Shape {
  characters: readonly string[];
  /** Rows of the prompt; the text begins in the last one. */
  prompt: readonly string[];
  indent: string;
  width: number;
  /** Characters of one line that are looked at, however long it is. */
  most: number;
}

const CONTINUED = ". ";
/** Cells for text beside the prompt. */
const MIN_BESIDE = 6;

/**
 * Breaks the text into rows; of a text with more rows than the terminal, those around the cursor. Only these are
 * computed, because a pasted text may be very long.
 */
export function viewOf(editor: LineEditor, { prompt, columns, rows }: ViewOptions): EditorView {
  const most = Math.max(rows - 1, 1);
  const shape = shapeOf(editor.characters, prompt, columns, most);
  const at = editor.cursor;
  const before = rowsTo(shape, at, most);
  const after = rowsFrom(shape, before.at(-1)?.from ?? 0, most);
  // The row of the cursor is in both.
  const all = [...before.slice(0, -1), ...after];
  const row = before.length - 1;
  const first = Math.max(0, Math.min(row - Math.floor(most / 2), all.length - most));
  const shown = all.slice(first, first + most);
  const cursorRow = shown[row - first];
  const left = cursorRow?.text.slice(0, cursorRow.text.length - textOf(shape, at, cursorRow.to).length) ?? "";
  return {
    rows: withCounts(shape, shown, row - first),
    cursor: { row: row - first, column: cellsOf(left) },
  };
}

function shapeOf(characters: readonly string[], prompt: string, columns: number, rows: number): Shape {
  // The last cell stays free: the terminal would break the line.
  const width = Math.max(columns - 1, 8);
  const lines = wrapped(prompt.trimEnd(), width).flatMap((line) => broken(line, width));
  if (cellsOf(lines.at(-1) ?? "") > width - MIN_BESIDE) lines.push("");
  const end = lines.pop() ?? "";
  const last = end === "" ? "" : `${end}${/ *$/.exec(prompt)?.[0] ?? ""}`;
  // A question of several rows would leave little room beside it.
  const isWide = lines.length > 0 || cellsOf(last) > width / 2;
  const indent = isWide ? CONTINUED : " ".repeat(Math.max(0, cellsOf(last) - CONTINUED.length)) + CONTINUED;
  return { characters, prompt: [...lines, last], indent, width, most: rows * width };
}

/** The rows that end with the one of a position: at least `most` of them, if there are so many. */
function rowsTo(shape: Shape, position: number, most: number): Row[] {
  let found: Row[] = [];
  for (let end = position; ;) {
    const start = startOfLine(shape, end);
    // Of a very long line, rows are counted from a place that stays the same while something is typed.
    const skipped = Math.max(0, Math.floor((end - start) / shape.most) - 1) * shape.most;
    const rows: Row[] = [];
    for (const row of rowsOfLine(shape, start + skipped)) {
      if (row.from > end) break;
      rows.push(row);
      if (end < row.to) break;
    }
    found = [...rows, ...found];
    if (start + skipped === 0) return [...promptRows(shape), ...found];
    if (found.length > most || skipped > 0) return found;
    end = start - 1;
  }
}

function promptRows({ prompt }: Shape): Row[] {
  return prompt.slice(0, -1).map((text) => ({ text, from: 0, to: 0 }));
}

/** At most `most` rows from the one that begins at a position. */
function rowsFrom(shape: Shape, position: number, most: number): Row[] {
  const found: Row[] = [];
  for (let start = position; start <= shape.characters.length && found.length < most;) {
    for (const row of rowsOfLine(shape, start)) {
      found.push(row);
      start = row.to + 1;
      if (found.length >= most) break;
    }
  }
  return found;
}

/** The rows of a line, from a position on that begins a row. */
function* rowsOfLine({ characters, prompt, indent, width }: Shape, position: number): Generator<Row> {
  let text = position === 0 ? (prompt.at(-1) ?? "") : indent;
  let cells = cellsOf(text);
  let from = position;
  for (let at = position; ; at++) {
    const character = characters[at] ?? "\n";
    const isEnd = character === "\n";
    const shown = isEnd ? "" : shownAs(character);
    const more = cellsOf(shown);
    // The cursor after the last character needs a cell as well.
    if (cells + more > width && at > from) {
      yield { text, from, to: at };
      text = indent;
      cells = cellsOf(indent);
      from = at;
    }
    if (isEnd) return yield { text, from, to: at };
    text += shown;
    cells += more;
  }
}

function startOfLine({ characters }: Shape, position: number): number {
  return position === 0 ? 0 : characters.lastIndexOf("\n", position - 1) + 1;
}

/** In place of the first and the last row, if lines are not shown: how many. */
function withCounts(shape: Shape, shown: readonly Row[], cursorRow: number): string[] {
  const { characters, width } = shape;
  const rows = shown.map(({ text }) => text);
  if (rows.length < 4) return rows;
  const [, second] = shown;
  const isCutAbove = (shown[0]?.from ?? 0) > 0;
  if (isCutAbove && cursorRow > 0) rows[0] = countLine(breaksIn(characters, 0, second?.from ?? 0), "above", width);
  const last = shown.at(-1);
  const isCutBelow = (last?.to ?? 0) < characters.length;
  if (isCutBelow && last && cursorRow < rows.length - 1) {
    const below = breaksIn(characters, last.from - 1, characters.length);
    rows[rows.length - 1] = countLine(below, "below", width);
  }
  return rows;
}

function countLine(lines: number, where: string, width: number): string {
  const count = lines === 1 ? "1 line" : `${lines.toLocaleString("en")} lines`;
  return broken(lines === 0 ? `… more ${where}` : `… ${count} ${where}`, width)[0] ?? "";
}

function breaksIn(characters: readonly string[], from: number, to: number): number {
  let count = 0;
  for (let at = Math.max(0, from); at < to; at++) if (characters[at] === "\n") count += 1;
  return count;
}

function textOf({ characters }: Shape, from: number, to: number): string {
  return characters.slice(from, to).map(shownAs).join("");
}

function shownAs(character: string): string {
  return character === "\t" ? "    " : visible(character);
}
