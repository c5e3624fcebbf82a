import type { ManualBlock, ManualCell } from "./manual.ts";

type Table = Extract<ManualBlock, { kind: "table" }>;

/** A table whose cells need no parser, and the line after it. */
interface PlainTable {
  table: Table;
  end: number;
}

const DELIMITERS = /^\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$/;
/** Cells of words and code spans: nothing in them could be emphasis, a link, HTML or an escape. */
const ROW = /^\|(?:(?:[^\\|*_[\]<&!`]|(?<=[\p{L}\p{N}])_(?=[\p{L}\p{N}])|`[^`|\\]+`(?!`))*\|)+[ \t]*$/u;
const MAX_ROW = 20_000;
/** HTML blocks that do not end at an empty line; what looks like a table may be inside of one. */
const OPEN_HTML = /^ {0,3}<(?:pre|script|style|textarea|[!?])/im;

/** Whether tables of this text can be recognized by their lines alone. */
export function hasPlainTables(text: string): boolean {
  return !OPEN_HTML.test(text);
}

/**
 * The table that begins in a line, if it is written in the plainest way. Large manuals are mostly tables, and the parser
 * of Markdown takes about a millisecond for three rows.
 */
export function plainTableAt(lines: readonly string[], from: number): PlainTable | undefined {
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
    return head.map((_, column): ManualCell => cells[column] ?? { text: "", place: placeOf(from + 2 + index) });
  });
  return { table: { kind: "table", head, rows, place: { from: from + 1, to: end } }, end };
}

function cellsOf(line: string, index: number): ManualCell[] {
  const cells = line.trimEnd().slice(1, -1).split("|");
  return cells.map((cell) => ({ text: plainText(cell), place: placeOf(index) }));
}

function placeOf(index: number): ManualCell["place"] {
  return { from: index + 1, to: index + 1 };
}

/** Blanks next to the marks of a code span are not a part of it. */
function plainText(cell: string): string {
  const text = cell.replaceAll(/`([^`]+)`/g, (whole, code: string) =>
    /^ .*\S.* $/.test(code) ? `\`${code.slice(1, -1)}\`` : whole,
  );
  return text.replaceAll(/\s+/g, " ").trim();
}
