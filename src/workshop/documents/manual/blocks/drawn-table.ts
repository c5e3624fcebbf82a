import type { ManualCell } from "./manual.ts";
import { isBlank } from "../../text/text-lines.ts";

/** A table of a text: its cells, and the first line after it, counted from 0. */
export interface TextTable {
  head: ManualCell[];
  rows: ManualCell[][];
  next: number;
}

const BORDER = /^\s*[+|]?[-=+:| ]*(?:-{2}|={2})[-=+:| ]*[+|]?\s*$/;
const MOST_COLUMNS = 60;

/** The table at a line that is drawn with bars (`|`, `+---+` or box characters), tabs, or AsciiDoc's `|===`. */
export function drawnTableAt(lines: readonly string[], at: number): TextTable | undefined {
  return asciiDoc(lines, at) ?? barred(lines, at) ?? tabbed(lines, at);
}

/** Box drawing characters as the signs of ASCII. */
function plain(line: string): string {
  if (!/[\u2500-\u257f]/.test(line)) return line;
  return line
    .replaceAll(/[│┃║]/g, "|")
    .replaceAll(/[─━═]/g, "-")
    .replaceAll(/[\u2500-\u257f]/g, "+");
}

function barred(lines: readonly string[], at: number): TextTable | undefined {
  const first = plain(lines[at] ?? "");
  // Without bars at the ends, a border must confirm that the first line is a row.
  if (!/^\s*[|+]/.test(first) && !(first.includes("|") && BORDER.test(plain(lines[at + 1] ?? "")))) return undefined;
  const found: { line: number; text: string; isBorder: boolean }[] = [];
  for (let line = at; line < lines.length; line++) {
    const text = plain(lines[line] ?? "");
    const isBorder = BORDER.test(text);
    if (isBlank(text) || (!text.includes("|") && !isBorder)) break;
    found.push({ line, text, isBorder });
  }
  const rows = found.filter(({ isBorder }) => !isBorder);
  const [one] = rows;
  if (!one || (rows.length < 2 && found.length < 2)) return undefined;
  const borders = found.length - rows.length;
  const isBox = /^\s*\+/.test(first);
  return table(groups(found, isBox && borders > 3), at + found.length);
}

/** Lines of the same row: those between two borders if there are borders between rows, else each line with its text. */
function groups(
  found: readonly { line: number; text: string; isBorder: boolean }[],
  hasBorders: boolean,
): ManualCell[][] {
  const rows: ManualCell[][] = [];
  let isOpen = false;
  for (const { line, text, isBorder } of found) {
    if (isBorder) {
      isOpen = false;
      continue;
    }
    const cells = barCells(text, line + 1);
    const last = rows.at(-1);
    const goesOn = hasBorders ? isOpen : isOpen && cells[0]?.text === "" && cells.some((cell) => cell.text !== "");
    if (last && goesOn) addLine(last, cells);
    else rows.push(cells);
    isOpen = true;
  }
  return rows;
}

function barCells(text: string, line: number): ManualCell[] {
  const inner = text
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner
    .split(/(?<!\\)\|/, MOST_COLUMNS)
    .map((cell) => ({ text: cell.replaceAll("\\|", "|").trim(), place: { from: line, to: line } }));
}

/** Adds a further line of text to the cells of a row. */
export function addLine(row: ManualCell[], more: readonly ManualCell[]): void {
  for (const [column, { text, place }] of more.entries()) {
    const cell = row[column];
    if (text === "") continue;
    if (!cell) continue;
    const separator = cell.text === "" || /[_/-]$/.test(cell.text) ? "" : " ";
    row[column] = { text: `${cell.text}${separator}${text}`, place: { from: cell.place.from, to: place.to } };
  }
}

function tabbed(lines: readonly string[], at: number): TextTable | undefined {
  const width = tabCells(lines[at] ?? "", at).length;
  if (width < 2 || (lines[at] ?? "").startsWith("\t")) return undefined;
  const rows: ManualCell[][] = [];
  for (let line = at; line < lines.length; line++) {
    const cells = tabCells(lines[line] ?? "", line);
    if (isBlank(lines[line]) || cells.length < 2 || cells.length > width) break;
    rows.push(cells);
  }
  return rows.length < 2 ? undefined : table(rows, at + rows.length);
}

function tabCells(text: string, line: number): ManualCell[] {
  return text
    .split(/\t+/, MOST_COLUMNS)
    .map((cell) => ({ text: cell.trim(), place: { from: line + 1, to: line + 1 } }));
}

/** AsciiDoc: as many columns as its first line has cells, or as `cols` says. */
function asciiDoc(lines: readonly string[], at: number): TextTable | undefined {
  const [options] = /^\[.*\]$/.exec(lines[at] ?? "") ?? [];
  const start = options === undefined ? at : at + 1;
  if (!/^\|={3,}\s*$/.test(lines[start] ?? "")) return undefined;
  const cells: ManualCell[] = [];
  let width = asciiDocColumns(options);
  let end = start + 1;
  for (; end < lines.length && !/^\|={3,}\s*$/.test(lines[end] ?? ""); end++) {
    const text = lines[end] ?? "";
    const pieces = text.split(/(?<!\\)(?:^|\s)(?:\d*[.+*]?\d*[<^>]?[aehlmsv]?)?\|/);
    const [before = "", ...after] = pieces;
    const place = { from: end + 1, to: end + 1 };
    const last = cells.at(-1);
    if (before.trim() !== "" && last) addLine([last], [{ text: before.trim(), place }]);
    cells.push(...after.map((cell) => ({ text: cell.trim(), place })));
    if (width === undefined && after.length > 0) width = after.length;
  }
  const columns = Math.min(width ?? 1, MOST_COLUMNS);
  const rows = Array.from({ length: Math.ceil(cells.length / columns) }, (_, row) =>
    cells.slice(row * columns, (row + 1) * columns),
  );
  return rows.length === 0 ? undefined : table(rows, end + 1);
}

function asciiDocColumns(options: string | undefined): number | undefined {
  const cols = /cols\s*=\s*"([^"]*)"/.exec(options ?? "")?.[1] ?? /cols\s*=\s*(\d+)/.exec(options ?? "")?.[1];
  if (cols === undefined) return undefined;
  const repeated = /^(\d+)\*?$/.exec(cols.trim())?.[1];
  return repeated === undefined ? cols.split(/[,;]/).length : Number(repeated);
}

/** The first row is the head; all rows have its width. */
export function table([head = [], ...rows]: readonly ManualCell[][], next: number): TextTable {
  const width = rows.reduce((most, row) => Math.max(most, row.length), head.length);
  const fill = (row: readonly ManualCell[]): ManualCell[] =>
    Array.from(
      { length: width },
      (_, column) => row[column] ?? { text: "", place: row[0]?.place ?? { from: next, to: next } },
    );
  return { head: fill(head), rows: rows.map(fill), next };
}
