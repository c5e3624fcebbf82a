import type { ManualCell } from "./manual.ts";
import { addLine, table, type TextTable } from "./drawn-table.ts";
import { isBlank, type TextLines } from "../../text/text-lines.ts";

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
export function alignedTableAt({ all, pages }: TextLines, at: number): TextTable | undefined {
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
