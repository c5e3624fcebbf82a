import type { Output, Style } from "./output.ts";
import { cellsOf, cut, padded } from "./text-width.ts";

export interface Cell {
  text: string;
  style?: Style | undefined;
}

const GAP = 2;
const NARROWEST = 8;

/** Rows in columns with the necessary width. On a terminal the widest columns are cut until a row fits. */
export function tableLines(out: Pick<Output, "columns" | "style">, rows: readonly (readonly Cell[])[]): string[] {
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

function naturalWidths(rows: readonly (readonly Cell[])[]): number[] {
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
