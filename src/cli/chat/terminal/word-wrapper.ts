import { visible } from "../../../text/visible.ts";
import { cellsOf } from "../../output/text-width.ts";

export interface WrapperOptions {
  write: (text: string) => void;
  /** Cells of a line; undefined: lines are not broken. */
  width: () => number | undefined;
}

const GRAPHEMES = new Intl.Segmenter();
// oxlint-disable-next-line no-control-regex -- most words are plain
const PLAIN = /^[\u0000-\u02ff]*$/;
/** What may be a part of the emoji before it, which came in an earlier piece. */
const CONTINUES = /^(?:[\p{ExtPict}\p{EMod}\p{RI}\u200d]|[\ufe0e-\ufe0f])/u;

type Paint = (text: string) => string;

interface Piece {
  text: string;
  paint: Paint;
}

/**
 * Writes text that comes in pieces, broken between words. A word is written when it is complete. A word that is wider
 * than a line stays whole, so that it can be copied.
 */
export class WordWrapper {
  readonly #options: WrapperOptions;
  #word: Piece[] = [];
  #wordCells = 0;
  #spaces = "";
  #column = 0;
  #hanging = "";
  #hangingCells = 0;
  #isFirst = true;

  constructor(options: WrapperOptions) {
    this.#options = options;
  }

  /** Begins a line with `first`; lines that continue it begin with `hanging`, which has the same width. */
  begin(first: string, hanging: string, cells: number): void {
    this.#options.write(first);
    this.#hanging = hanging;
    this.#hangingCells = cells;
    this.#column = cells;
    this.#isFirst = true;
    this.#spaces = "";
  }

  add(text: string, paint: Paint): void {
    for (const [part] of text.matchAll(/\s+|\S+/g)) {
      if (/^\s/.test(part)) {
        this.#flush();
        this.#spaces += part.replaceAll("\t", "    ").replaceAll(/\s/g, " ");
      } else this.#addWord(part, paint);
    }
  }

  /** Ends the line. */
  end(): void {
    this.#flush();
    this.#options.write("\n");
  }

  /** Text of wide characters, such as Chinese, may be broken between any two of them. An emoji stays whole. */
  #addWord(text: string, paint: Paint): void {
    if (PLAIN.test(text)) return this.#take(text, paint);
    let part = "";
    for (const { segment } of GRAPHEMES.segment(this.#continued(text) + text)) {
      if (cellsOf(segment) >= 2) {
        this.#take(part, paint);
        this.#flush();
        this.#take(segment, paint);
        part = "";
      } else part += segment;
    }
    this.#take(part, paint);
  }

  /** Takes back the piece that the text may continue. */
  #continued(text: string): string {
    const last = CONTINUES.test(text) ? this.#word.pop() : undefined;
    if (last) this.#wordCells -= cellsOf(visible(last.text));
    return last?.text ?? "";
  }

  #take(text: string, paint: Paint): void {
    if (text === "") return;
    this.#word.push({ text, paint });
    this.#wordCells += cellsOf(visible(text));
  }

  #flush(): void {
    if (this.#word.length === 0) return;
    const width = this.#options.width();
    const spaces = this.#isFirst ? "" : this.#spaces;
    const isTooWide = width !== undefined && this.#column + spaces.length + this.#wordCells > width;
    if (isTooWide && !this.#isFirst) {
      this.#options.write(`\n${this.#hanging}`);
      this.#column = this.#hangingCells;
    } else {
      this.#options.write(spaces);
      this.#column += spaces.length;
    }
    for (const { text, paint } of this.#word) this.#options.write(paint(visible(text)));
    this.#column += this.#wordCells;
    this.#word = [];
    this.#wordCells = 0;
    this.#spaces = "";
    this.#isFirst = false;
  }
}
