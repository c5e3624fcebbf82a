import { visibleLines } from "../../text/visible.ts";
import { fitted } from "./text-width.ts";

const INDENT = "  ";

/**
 * Text of a server or a model for a question, broken between words: every row of the terminal begins with the same indent, so that no part of it
 * can look like a line of this program.
 */
export function quotedLines(text: string, columns: number | undefined): string[] {
  const width = columns === undefined ? undefined : Math.max(columns - INDENT.length, 10);
  return fitted(visibleLines(text).replaceAll("\t", "    "), width).map((row) => `${INDENT}${row}`);
}

/** Cells of a row on stderr; undefined if rows are not limited. The last cell stays free. */
export function questionColumns(): number | undefined {
  return process.stderr.isTTY ? Math.max(process.stderr.columns, 20) - 1 : undefined;
}
