const MAX_LINES = 50;
const MAX_LINE_LENGTH = 2_000;

/** The last lines that a process wrote, limited in size. */
export class StderrTail {
  #lines: string[] = [];
  #partial = "";

  push(text: string): void {
    const pieces = text.split(/\r?\n/);
    pieces[0] = this.#partial + (pieces[0] ?? "");
    this.#partial = (pieces.pop() ?? "").slice(-MAX_LINE_LENGTH);
    for (const line of pieces.slice(-MAX_LINES)) this.#lines.push(line.slice(0, MAX_LINE_LENGTH));
    if (this.#lines.length > MAX_LINES) this.#lines = this.#lines.slice(-MAX_LINES);
  }

  lines(): readonly string[] {
    return this.#partial === "" ? [...this.#lines] : [...this.#lines, this.#partial];
  }
}
