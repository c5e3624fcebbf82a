import type { DefaultTreeAdapterTypes } from "parse5";
import type { LineRange } from "./manual.ts";

/** Characters without width, which pages have to allow line breaks. */
const INVISIBLE = /\u200b|\u200c|\u200d|\u2060|\ufeff|\u00ad/g;

/** Collects the text of a block and the lines that it is on. */
export class InlineText {
  #pieces: string[] = [];
  #endsWithSpace = true;
  #from: number | undefined;
  #to = 0;

  addText({ value, sourceCodeLocation: at }: DefaultTreeAdapterTypes.TextNode): void {
    const words = value.replaceAll(INVISIBLE, "").replaceAll(/\s+/g, " ");
    this.addMark(words);
    if (words.trim() === "" || !at) return;
    this.#from ??= at.startLine + lineBreaks(/^\s*/.exec(value)?.[0]);
    this.#to = Math.max(this.#to, at.endLine - lineBreaks(value.slice(value.trimEnd().length)));
  }

  /** Text that has no lines of its own, such as a line break. */
  addMark(text: string): void {
    const added = this.#endsWithSpace && text.startsWith(" ") ? text.slice(1) : text;
    if (added === "") return;
    this.#pieces.push(added);
    this.#endsWithSpace = /\s/.test(added.slice(-1));
  }

  /** The last piece of the text so far. */
  get end(): string {
    return this.#pieces.at(-1) ?? "";
  }

  /** Where a code span begins. */
  get mark(): number {
    return this.#pieces.length;
  }

  /** Puts what follows the mark in backquotes. An empty code span is nothing. */
  closeCode(mark: number): void {
    const code = this.#pieces.splice(mark).join("");
    const words = code.trim();
    if (words === "") {
      this.#pieces.push(code);
      return;
    }
    const [before, after] = [/^\s/.test(code) ? " " : "", /\s/.test(code.slice(-1)) ? " " : ""];
    this.#pieces.push(`${before}\`${words.replaceAll("`", "")}\`${after}`);
    this.#endsWithSpace = after !== "";
  }

  /** Undefined if there is no text. */
  take(): { text: string; place: LineRange } | undefined {
    const text = this.#pieces
      .join("")
      .replaceAll(/ ?\n ?/g, "\n")
      .trim();
    const from = this.#from;
    const to = Math.max(this.#to, from ?? 0);
    this.#pieces = [];
    this.#endsWithSpace = true;
    this.#from = undefined;
    this.#to = 0;
    return text === "" || from === undefined ? undefined : { text, place: { from, to } };
  }
}

function lineBreaks(text: string | undefined): number {
  return (text ?? "").split("\n").length - 1;
}
