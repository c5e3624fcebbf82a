import type { Output } from "../../output/output.ts";
import type { EditorView } from "./editor-view.ts";

const ERASE_LINE = "\u001b[2K";
const ERASE_REST = "\u001b[K";
const ERASE_BELOW = "\u001b[J";

/** The rows of a prompt on the screen, which are drawn again when they change. */
export class DrawnRows {
  readonly #out: Output;
  /** The row of the cursor. */
  #row = 0;
  #rows = 0;

  constructor(out: Output) {
    this.#out = out;
  }

  /** The cursor is at the beginning of an empty line, where the next rows will be. */
  begin(): void {
    this.#row = 0;
    this.#rows = 0;
  }

  /** Line by line: terminals may keep a copy of a screen that is erased as a whole. */
  draw({ rows, cursor }: EditorView): void {
    const left = Math.max(0, this.#rows - rows.length);
    const lines = [...rows.map((row) => `${row}${ERASE_REST}`), ...emptied(left)];
    const right = cursor.column === 0 ? "" : `\u001b[${cursor.column}C`;
    this.#out.draw(`${up(this.#row)}\r${lines.join("\r\n")}${up(lines.length - 1 - cursor.row)}\r${right}`);
    this.#row = cursor.row;
    this.#rows = rows.length;
  }

  erase(): void {
    this.#out.draw(`${up(this.#row)}\r${emptied(this.#rows).join("\r\n")}${up(this.#rows - 1)}\r`);
    this.begin();
  }

  /** After a change of the terminal's size: it broke the rows in its own way, so that their number is not known. */
  eraseBelow(): void {
    this.#out.draw(`${up(this.#row)}\r${ERASE_BELOW}`);
    this.begin();
  }

  clearScreen(): void {
    this.#out.draw("\u001b[H\u001b[2J");
    this.begin();
  }
}

function emptied(rows: number): string[] {
  return Array.from({ length: rows }, () => ERASE_LINE);
}

function up(rows: number): string {
  return rows <= 0 ? "" : `\u001b[${rows}A`;
}
