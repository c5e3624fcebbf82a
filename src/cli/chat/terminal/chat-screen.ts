import { visible, visibleLines } from "../../../text/visible.ts";
import type { Output, Style } from "../../output/output.ts";
import { questionColumns, quotedLines } from "../../output/quoted-lines.ts";
import { tableLines } from "../../output/table.ts";
import { cellsOf, cut, fitted, padded, wrapped } from "../../output/text-width.ts";
import { MarkdownStream } from "./markdown-stream.ts";

const REDRAW_MS = 200;
const INDENT = "  ";
/** The widest name that has its description beside it. */
const NAME_CELLS = 24;

/**
 * What a chat shows: answers as Markdown on stdout, lines about them on stderr, and below them one line that changes while
 * something runs. Text of models, tools and servers is escaped here.
 */
export class ChatScreen implements Disposable {
  readonly #out: Output;
  readonly #timer: NodeJS.Timeout | undefined;
  #markdown: MarkdownStream | undefined;
  /** Whether the last line of stdout is not complete. */
  #isMidLine = false;
  /** Writes while something may be being typed; replaced by what reads it. */
  above: (write: () => void) => void = (write) => write();
  #status: (() => string | undefined) | undefined;
  #isDrawn = false;
  #hidden = 0;

  constructor(out: Output) {
    this.#out = out;
    if (out.showsProgress) this.#timer = setInterval(() => this.redraw(), REDRAW_MS).unref();
  }

  /** Cells of a line beside the answer, less those of its label; undefined if lines are not limited. */
  get columns(): number | undefined {
    const { people } = this.#out;
    return people.isTTY ? Math.max(people.columns, 20) - 2 : undefined;
  }

  /** A part of an answer. */
  answer(text: string): void {
    this.#markdown ??= new MarkdownStream({
      write: (part) => this.#write(part),
      style: (style, part) => this.#out.style(style, part),
      columns: this.#out.columns,
    });
    this.#markdown.write(text);
  }

  /** Completes the last line of the answer. */
  endAnswer(): void {
    this.#markdown?.end();
    this.#markdown = undefined;
    if (this.#isMidLine) this.#write("\n");
  }

  /** A line beside the answer, broken between words where the terminal is too narrow. */
  note(text: string, style?: Style): void {
    const shown = wrapped(visibleLines(text), this.columns).join("\n");
    this.#show(style === undefined ? shown : this.#out.onStderr(style, shown));
  }

  /** A line with a name that is highlighted; the lines that continue it are indented. */
  labelled(style: Style, label: string, ...texts: readonly string[]): void {
    const shown = visible(label);
    const width = this.columns && this.columns - INDENT.length;
    const [first = "", ...others] = texts.flatMap((text, at) =>
      fitted(at === 0 ? `${shown} ${visible(text)}` : visible(text), width),
    );
    // A long name may itself be broken.
    const styled = first.startsWith(shown) ? this.#out.onStderr(style, shown) + first.slice(shown.length) : first;
    this.#show([styled, ...others.map((line) => INDENT + line)].join("\n"));
  }

  /** Text of a server or a model in a question; returns the number of its rows. */
  quoted(text: string): number {
    const lines = quotedLines(text, questionColumns());
    this.#show(lines.join("\n"));
    return lines.length;
  }

  /** Rows in columns; of each text its first line. */
  rows(rows: readonly (readonly string[])[]): void {
    const shape = { columns: this.columns, style: (_style: Style, text: string) => text };
    const cells = rows.map((row) => row.map((text) => visible(text.split(/\r?\n/)[0] ?? "")));
    for (const line of tableLines(shape, cells)) this.note(line);
  }

  /** Names with their descriptions beside or below them, in full. */
  described(entries: readonly (readonly [name: string, description: string])[]): void {
    for (const [name, description] of entries) {
      const shown = visible(name);
      const width = this.columns && this.columns - NAME_CELLS - 2;
      const lines = wrapped(visible(description.split(/\r?\n/)[0] ?? ""), width);
      if (cellsOf(shown) > NAME_CELLS) this.note(shown);
      else this.note(`${padded(shown, NAME_CELLS)}  ${lines.shift() ?? ""}`.trimEnd());
      for (const line of lines) this.note(`${" ".repeat(NAME_CELLS)}  ${line}`);
    }
  }

  /** What is shown while something runs, asked again and again; undefined: nothing. */
  status(text: (() => string | undefined) | undefined): void {
    this.#status = text;
    this.redraw();
  }

  /** Runs with the changing line removed, for questions. */
  async aside<T>(run: () => Promise<T>): Promise<T> {
    this.endAnswer();
    this.#hidden += 1;
    this.#erase();
    try {
      return await run();
    } finally {
      this.#hidden -= 1;
    }
  }

  redraw(): void {
    if (this.#timer === undefined || this.#hidden > 0 || this.#isMidLine) return;
    const text = this.#status?.();
    if (text === undefined) return this.#erase();
    const columns = Math.max(this.#out.people.columns, 20);
    this.#out.draw(`\r\u001b[2K${this.#out.onStderr("dim", cut(visible(text), columns - 1))}`);
    this.#isDrawn = true;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.endAnswer();
    this.#erase();
  }

  /** Above what is being typed, which may be the answer to a question or the next message. */
  #show(lines: string): void {
    this.above(() => {
      this.endAnswer();
      this.#erase();
      this.#out.note(lines);
    });
  }

  #write(text: string): void {
    if (text === "") return;
    this.#erase();
    this.#out.part(text);
    // In a file it does not matter to the terminal.
    this.#isMidLine = process.stdout.isTTY && !text.endsWith("\n");
  }

  #erase(): void {
    if (this.#isDrawn) this.#out.draw("\r\u001b[2K");
    this.#isDrawn = false;
  }
}
