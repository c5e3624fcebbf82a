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

/** The terminal on which a person is asked: that of stderr, or that of stdout where stderr goes to a file. */
export function terminalStream(): NodeJS.WriteStream {
  return !process.stderr.isTTY && process.stdout.isTTY ? process.stdout : process.stderr;
}

/** Cells of a row in a question; undefined if rows are not limited. The last cell stays free. */
export function questionColumns(stream = terminalStream()): number | undefined {
  return stream.isTTY ? Math.max(stream.columns, 20) - 1 : undefined;
}
