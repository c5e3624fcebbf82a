import { drawnTableAt } from "./drawn-table.ts";
import type { LineRange, ManualBlock, ManualCell } from "./manual.ts";

const TOP = /^\s*(?:\+[-=]{2,}[-=+]*\+|[┌╔┏][\u2500-\u257f]{2,})\s*$/;

/**
 * The table that a text consists of, if it is drawn with a box. Markdown and HTML have such tables in paragraphs and in
 * code. `from`: the line where the text begins.
 */
export function boxedTable(text: string, from: number, place: LineRange): ManualBlock | undefined {
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
