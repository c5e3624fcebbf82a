import type { Output, Style } from "./output.ts";
import { cellsOf, cut, padded } from "./text-width.ts";

interface StyledText {
  text: string;
  style?: Style | undefined;
}

export type Cell = string | StyledText;

const GAP = 2;
const NARROWEST = 8;

/** Rows in columns with the necessary width. On a terminal the widest columns are cut until a row fits. */
export function tableLines(out: Pick<Output, "columns" | "style">, given: readonly (readonly Cell[])[]): string[] {
  const rows = given.map((row) => row.map((cell): StyledText => (typeof cell === "string" ? { text: cell } : cell)));
  const widths = fitting(naturalWidths(rows), out.columns);
  return rows.map((row) => {
    const cells = row.map(({ text, style }, index) => {
      const width = widths[index] ?? 0;
      const fit = out.columns === undefined ? text : cut(text, width);
      const shown = index === row.length - 1 ? fit : padded(fit, width);
      return style === undefined ? shown : out.style(style, shown);
    });
    return cells.join(" ".repeat(GAP)).trimEnd();
  });
}

/** Prints rows, or a note if there are none. */
export function showTable(
  out: Pick<Output, "columns" | "style" | "line" | "note">,
  rows: readonly (readonly Cell[])[],
  none?: string,
): void {
  for (const line of tableLines(out, rows)) out.line(line);
  if (rows.length === 0 && none !== undefined) out.note(none);
}

/** The same without cutting: half of a name or an address looks like another one. */
export function showWhole(
  out: Parameters<typeof showTable>[0],
  rows: readonly (readonly Cell[])[],
  none?: string,
): void {
  const shape = { columns: undefined, style: (style: Style, text: string) => out.style(style, text) };
  for (const line of tableLines(shape, rows)) out.line(line);
  if (rows.length === 0 && none !== undefined) out.note(none);
}

function naturalWidths(rows: readonly (readonly StyledText[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, { text }] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cellsOf(text));
  }
  return widths;
}

function fitting(natural: readonly number[], columns: number | undefined): number[] {
  const widths = [...natural];
  if (columns === undefined) return widths;
  let excess = widths.reduce((sum, width) => sum + width + GAP, -GAP) - columns;
  while (excess > 0) {
    const widest = Math.max(...widths);
    if (widest <= NARROWEST) break;
    widths[widths.indexOf(widest)] = widest - 1;
    excess--;
  }
  return widths;
}
