import { visible } from "../../../text/visible.ts";
import { cellsOf } from "../../output/text-width.ts";
import type { LineEditor } from "./line-editor.ts";

export interface ViewOptions {
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

const CONTINUED = ". ";

/** Breaks the text into rows; of a text with more rows than the terminal, those around the cursor. */
export function viewOf(editor: LineEditor, { prompt, columns, rows }: ViewOptions): EditorView {
  const indent = " ".repeat(Math.max(0, cellsOf(prompt) - CONTINUED.length)) + CONTINUED;
  // The last cell stays free: the terminal would break the line.
  const width = Math.max(columns - 1, cellsOf(indent) + 4);
  const lines = [prompt];
  let column = cellsOf(prompt);
  let cursor = { row: 0, column };
  const { characters } = editor;
  for (let at = 0; at <= characters.length; at++) {
    const character = characters[at] ?? "";
    const isBreak = character === "\n";
    const shown = isBreak ? "" : shownAs(character);
    const cells = cellsOf(shown);
    if (column + cells > width) {
      lines.push(indent);
      column = cellsOf(indent);
    }
    if (at === editor.cursor) cursor = { row: lines.length - 1, column };
    lines[lines.length - 1] += shown;
    column += cells;
    if (isBreak) {
      lines.push(indent);
      column = cellsOf(indent);
    }
  }
  const most = Math.max(rows - 1, 1);
  const first = Math.max(0, Math.min(cursor.row - Math.floor(most / 2), lines.length - most));
  return { rows: lines.slice(first, first + most), cursor: { row: cursor.row - first, column: cursor.column } };
}

function shownAs(character: string): string {
  return character === "\t" ? "    " : visible(character);
}
