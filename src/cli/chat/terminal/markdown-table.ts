import { visible } from "../../../text/visible.ts";
import { cellsOf, cut, padded, wrapped } from "../../output/text-width.ts";
import { withoutMarks } from "./markdown-inline.ts";

const GAP = "  ";
/** A column is not made narrower than this. */
const MIN_WIDTH = 6;
const SEPARATOR = /^\s*:?-+:?\s*$/;

/** Whether a line can be a row of a table: it begins with a bar. */
export function isTableRow(line: string): boolean {
  return /^\s{0,3}\|/.test(line);
}

/** The lines of a table that fits into the width; undefined if the rows are not a table. */
export function markdownTableLines(
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
