import { NotSimple } from "./yaml-scalars.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  "0": "\0",
  a: "\u0007",
  b: "\b",
  e: "\u001b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  N: "\u0085",
  _: "\u00a0",
  L: "\u2028",
  P: "\u2029",
  " ": " ",
  '"': '"',
  "/": "/",
  "\\": "\\",
  "\t": "\t",
};
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

const TAB = 0x09;
const NEWLINE = 0x0a;
const SPACE = 0x20;
const DOUBLE_QUOTE = 0x22;
const HASH = 0x23;
const QUOTE = 0x27;
const BACKSLASH = 0x5c;

/** A place in the text of YAML, and the reading of scalars from there. */
export class YamlCursor {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  code(offset = 0): number {
    return this.text.charCodeAt(this.at + offset);
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** Whether a line ends here, or the text. */
  isBreak(offset = 0): boolean {
    const code = this.code(offset);
    return code === NEWLINE || Number.isNaN(code);
  }

  /** Whether a sign here is followed by a space or the end of the line. */
  isSpaceAfter(): boolean {
    return this.code(1) === SPACE || this.isBreak(1);
  }

  skipSpaces(): void {
    while (this.code() === SPACE) this.at++;
    if (this.code() === TAB) throw new NotSimple();
  }

  /** The column of this place. */
  column(): number {
    return this.at - (this.text.lastIndexOf("\n", this.at - 1) + 1);
  }

  /** After a value nothing but a comment may be in its line. */
  endLine(): void {
    const before = this.at;
    this.skipSpaces();
    if (this.code() === HASH && this.at > before) this.skipLine();
    if (!this.isBreak()) throw new NotSimple();
  }

  /** Goes to the next text that is not a comment. Its column; -1 at the end of the document. */
  nextLine(): number {
    for (;;) {
      if (this.code() === NEWLINE) this.at++;
      else if (!this.isAtEnd && this.at > 0 && this.code(-1) !== NEWLINE) throw new NotSimple();
      const start = this.at;
      this.skipSpaces();
      if (this.isAtEnd) return -1;
      if (this.code() === HASH) this.skipLine();
      else if (this.code() !== NEWLINE) {
        const column = this.at - start;
        if (column === 0 && /^(?:---|\.\.\.)(?:\s|$)/.test(this.text.slice(this.at, this.at + 4)))
          throw new NotSimple();
        return column;
      }
    }
  }

  /** A quoted scalar from its first quote to after its last. Other lines are indented by more than `parent`. */
  quoted(parent: number): string {
    const quote = this.code();
    const parts: string[] = [];
    let start = ++this.at;
    for (;;) {
      const code = this.code();
      if (Number.isNaN(code)) throw new NotSimple();
      if (code === quote) {
        parts.push(this.text.slice(start, this.at));
        this.at++;
        if (quote !== QUOTE || this.code() !== QUOTE) return parts.join("");
        start = this.at++;
      } else if (code === BACKSLASH && quote === DOUBLE_QUOTE) {
        parts.push(this.text.slice(start, this.at));
        if (this.code(1) === NEWLINE) {
          this.at += 2;
          if (this.#emptyLines(parent) > 0) throw new NotSimple();
        } else {
          const { value, end } = escapeAt(this.text, this.at);
          parts.push(value);
          this.at = end;
        }
        start = this.at;
      } else if (code === NEWLINE) {
        let end = this.at;
        while (end > start && (this.text.charCodeAt(end - 1) === SPACE || this.text.charCodeAt(end - 1) === TAB)) end--;
        parts.push(this.text.slice(start, end));
        this.at++;
        const empty = this.#emptyLines(parent);
        parts.push(empty === 0 ? " " : "\n".repeat(empty));
        start = this.at;
      } else this.at++;
    }
  }

  /** Skips empty lines and the indentation of the next one. */
  #emptyLines(parent: number): number {
    for (let empty = 0; ; empty++) {
      const start = this.at;
      this.skipSpaces();
      if (this.isAtEnd) throw new NotSimple();
      if (this.code() !== NEWLINE) {
        if (this.at - start <= parent) throw new NotSimple();
        return empty;
      }
      this.at++;
    }
  }

  /** A block scalar from its sign. Its lines are indented by more than `parent`. */
  block(parent: number): string {
    const end = this.#lineEnd();
    const header = /^([|>])(?:([+-])?([1-9])?|([1-9])([+-]))(?: +#.*| *)$/.exec(this.text.slice(this.at, end));
    if (!header) throw new NotSimple();
    const [, sign, before, digit, first, after] = header;
    const chomp = before ?? after;
    const shape: BlockHeader = {
      isFolded: sign === ">",
      chomping: chomp === "-" ? "strip" : chomp === "+" ? "keep" : "clip",
    };
    const given = digit ?? first;
    this.at = end;
    const indent = given === undefined ? this.#blockIndent(parent) : Math.max(parent, 0) + Number(given);
    const lines: string[] = [];
    while (this.code() === NEWLINE) {
      const start = this.at + 1;
      let content = start;
      while (content - start < indent && this.text.charCodeAt(content) === SPACE) content++;
      const code = this.text.charCodeAt(content);
      const isEmpty = code === NEWLINE || Number.isNaN(code);
      if (!isEmpty && content - start < indent) break;
      if (Number.isNaN(code) && content === start) break;
      this.at = isEmpty ? content : start;
      const lineEnd = this.#lineEnd();
      lines.push(isEmpty ? "" : this.text.slice(content, lineEnd));
      this.at = lineEnd;
    }
    // The library treats the end of a text without a line break in ways of its own.
    if (this.isAtEnd && !this.text.endsWith("\n")) throw new NotSimple();
    return blockText(lines, shape);
  }

  /** The indentation of the first line that is not empty. */
  #blockIndent(parent: number): number {
    let widest = 0;
    for (let start = this.at + 1; start < this.text.length;) {
      let content = start;
      while (this.text.charCodeAt(content) === SPACE) content++;
      const code = this.text.charCodeAt(content);
      if (code === TAB && content - start <= parent) throw new NotSimple();
      if (code !== NEWLINE && !Number.isNaN(code)) {
        const indent = content - start;
        if (widest > (indent > parent ? indent : 0)) throw new NotSimple();
        return indent > parent ? indent : parent + 1;
      }
      widest = Math.max(widest, content - start);
      start = content + 1;
    }
    if (widest > 0) throw new NotSimple();
    return parent + 1;
  }

  /** Goes to the end of the line. */
  skipLine(): void {
    this.at = this.#lineEnd();
  }

  #lineEnd(): number {
    const end = this.text.indexOf("\n", this.at);
    return end === -1 ? this.text.length : end;
  }
}

/** What is after the backslash at `at`, and where it ends. */
function escapeAt(text: string, at: number): { value: string; end: number } {
  const sign = text[at + 1] ?? "";
  const digits = HEX_DIGITS[sign];
  if (digits !== undefined) {
    const hex = text.slice(at + 2, at + 2 + digits);
    const code = /^[\da-fA-F]+$/.test(hex) && hex.length === digits ? parseInt(hex, 16) : Infinity;
    if (code > 0x10ffff) throw new NotSimple();
    return { value: String.fromCodePoint(code), end: at + 2 + digits };
  }
  const value = ESCAPES[sign];
  if (value === undefined) throw new NotSimple();
  return { value, end: at + 2 };
}

interface BlockHeader {
  isFolded: boolean;
  chomping: "clip" | "strip" | "keep";
}

/** The text of a block scalar from its lines without indentation; lines without text are empty. */
function blockText(lines: readonly string[], { isFolded, chomping }: BlockHeader): string {
  let text = "";
  let empty = 0;
  let hasContent = false;
  let wasIndented = false;
  for (const line of lines) {
    if (line === "") {
      empty++;
      continue;
    }
    const isIndented = line[0] === " " || line[0] === "\t";
    if (!isFolded || isIndented || wasIndented) text += "\n".repeat(hasContent ? empty + 1 : empty);
    else if (empty > 0) text += "\n".repeat(empty);
    else if (hasContent) text += " ";
    wasIndented = isIndented;
    hasContent = true;
    empty = 0;
    text += line;
  }
  if (chomping === "keep") return text + "\n".repeat(hasContent ? empty + 1 : empty);
  return chomping === "clip" && hasContent ? `${text}\n` : text;
}
