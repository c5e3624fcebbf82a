import { maskedLine, type KnownWords } from "./masked-line.ts";
import type { Place } from "./source-node.ts";

const MAX_WIDTH = 120;

/** The lines of a file: converts offsets to places, and shows excerpts. */
export class SourceText {
  readonly text: string;
  readonly #starts: number[] = [0];

  constructor(text: string) {
    this.text = text;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) this.#starts.push(at + 1);
  }

  placeAt(offset: number): Place {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (this.#starts[low] ?? 0) + 1 };
  }

  /** The line before, the line, and a caret under the column; long lines are cut around it. */
  excerpt({ line, column }: Place, words: KnownWords): string {
    const width = String(line).length;
    const start = column > MAX_WIDTH ? column - MAX_WIDTH / 2 : 0;
    const rows = [line - 1, line].filter((number) => number > 0);
    // Tabs are repeated, so that the caret is under the right character.
    const indent = this.#line(line)
      .slice(start, column - 1)
      .replaceAll(/[^\t]/g, " ");
    return [
      ...rows.map(
        (number) =>
          `${String(number).padStart(width)} | ${maskedLine(this.#line(number), { from: start, to: start + MAX_WIDTH, words })}`,
      ),
      `${" ".repeat(width)} | ${indent}^`,
    ].join("\n");
  }

  #line(number: number): string {
    const start = this.#starts[number - 1] ?? 0;
    const end = this.#starts[number] ?? this.text.length + 1;
    return this.text.slice(start, end - 1).replace(/\r$/, "");
  }
}
