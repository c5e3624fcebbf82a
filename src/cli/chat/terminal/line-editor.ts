/** A key as Node reports it. */
export interface PressedKey {
  name?: string | undefined;
  ctrl?: boolean | undefined;
  meta?: boolean | undefined;
  shift?: boolean | undefined;
}

/** What a key asks for, besides a change of the text. */
type EditorEvent =
  | { kind: "submit"; text: string }
  | { kind: "complete" }
  | { kind: "older" }
  | { kind: "newer" }
  /** Ctrl-C */
  | { kind: "interrupt" }
  /** Ctrl-D in an empty line */
  | { kind: "end" }
  /** Ctrl-L */
  | { kind: "clear" }
  /** A pasted text is too long, and was not taken. */
  | { kind: "refused" };

/** Longer text is not taken. */
const MAX_LENGTH = 1_000_000;
/** Characters around the cursor that may become one with what is inserted there. */
const NEAR = 16;
const GRAPHEMES = new Intl.Segmenter();
/** Letters, digits and signs that are always one character each; or text up to the next of them. */
const PIECES = /[ -~](?![^\n -~])|[^]{1,200}?(?=[\n -~]|$)|[^]{1,200}/gu;

/** The text that is being typed, of one or several lines, and the keys that change it. Draws nothing. */
export class LineEditor {
  /** What a reader sees as one character each. */
  #characters: string[] = [];
  #cursor = 0;
  /** In code units. */
  #length = 0;
  #pasted: string | undefined;

  get text(): string {
    return this.#characters.join("");
  }

  get isEmpty(): boolean {
    return this.#characters.length === 0;
  }

  get characters(): readonly string[] {
    return this.#characters;
  }

  /** The number of characters before the cursor. */
  get cursor(): number {
    return this.#cursor;
  }

  get textBefore(): string {
    return this.#characters.slice(0, this.#cursor).join("");
  }

  /** Whether a block is being pasted, which is shown when it is complete. */
  get isPasting(): boolean {
    return this.#pasted !== undefined;
  }

  replace(text: string): void {
    this.#characters = split(text);
    this.#length = text.length;
    this.moveToEnd();
  }

  moveToEnd(): void {
    this.#cursor = this.#characters.length;
  }

  /** Text that is too long is refused as a whole, so that nothing is cut unnoticed. */
  insert(text: string): boolean {
    if (this.#length + text.length > MAX_LENGTH) return false;
    // Only the characters nearby are split again: the rest may be long.
    const from = Math.max(0, this.#cursor - NEAR);
    const to = Math.min(this.#characters.length, this.#cursor + NEAR);
    const before = this.#characters.slice(from, this.#cursor).join("") + text;
    const after = this.#characters.slice(this.#cursor, to).join("");
    const added = split(before + after);
    this.#cursor = from + (after === "" ? added : split(before)).length;
    // The arguments of a call are limited.
    if (added.length < 1_000) this.#characters.splice(from, to - from, ...added);
    else this.#characters = this.#characters.slice(0, from).concat(added, this.#characters.slice(to));
    this.#length += text.length;
    return true;
  }

  /** Replaces the last `length` code units before the cursor. */
  replaceBefore(length: number, text: string): void {
    let at = this.#cursor;
    for (let left = length; left > 0 && at > 0; at--) left -= this.#characters[at - 1]?.length ?? 0;
    this.#remove(at, this.#cursor);
    this.insert(text);
  }

  /** `text` is what the key types, if it is a letter. */
  press(text: string | undefined, key: PressedKey): EditorEvent | undefined {
    if (this.#pasted !== undefined || key.name === "paste-start") return this.#paste(text, key);
    if (key.ctrl) return this.#control(key.name);
    if (key.name === "return" || key.name === "enter") return this.#enter(key.meta === true);
    if (key.meta) return this.#alternate(key.name);
    switch (key.name ?? "") {
      case "tab":
        return { kind: "complete" };
      case "up":
        return this.#up();
      case "down":
        return this.#down();
      case "left":
        return this.#move(this.#cursor - 1);
      case "right":
        return this.#move(this.#cursor + 1);
      case "home":
        return this.#move(this.#lineStart);
      case "end":
        return this.#move(this.#lineEnd);
      case "backspace":
        return this.#remove(this.#cursor - 1, this.#cursor);
      case "delete":
        return this.#remove(this.#cursor, this.#cursor + 1);
      default:
        if (text !== undefined && isTyped(text)) this.insert(text);
        return undefined;
    }
  }

  #control(name: string | undefined): EditorEvent | undefined {
    switch (name ?? "") {
      case "c":
        return { kind: "interrupt" };
      case "d":
        return this.#characters.length === 0 ? { kind: "end" } : this.#remove(this.#cursor, this.#cursor + 1);
      case "l":
        return { kind: "clear" };
      case "p":
        return { kind: "older" };
      case "n":
        return { kind: "newer" };
      case "a":
        return this.#move(this.#lineStart);
      case "e":
        return this.#move(this.#lineEnd);
      case "b":
        return this.#move(this.#cursor - 1);
      case "f":
        return this.#move(this.#cursor + 1);
      case "h":
        return this.#remove(this.#cursor - 1, this.#cursor);
      case "k":
        return this.#remove(this.#cursor, this.#lineEnd);
      case "u":
        return this.#remove(this.#lineStart, this.#cursor);
      case "w":
        return this.#remove(this.#wordStart, this.#cursor);
      case "left":
        return this.#move(this.#wordStart);
      case "right":
        return this.#move(this.#wordEnd);
      default:
        return undefined;
    }
  }

  #alternate(name: string | undefined): undefined {
    if (name === "b" || name === "left") return this.#move(this.#wordStart);
    if (name === "f" || name === "right") return this.#move(this.#wordEnd);
    if (name === "d") return this.#remove(this.#cursor, this.#wordEnd);
    if (name === "backspace") return this.#remove(this.#wordStart, this.#cursor);
    return undefined;
  }

  /** A backslash at the end of the line, or the Alt key, begins another line. */
  #enter(isAlternate: boolean): EditorEvent | undefined {
    if (isAlternate) {
      this.insert("\n");
      return undefined;
    }
    if (this.#characters[this.#cursor - 1] === "\\") {
      this.#remove(this.#cursor - 1, this.#cursor);
      this.insert("\n");
      return undefined;
    }
    const { text } = this;
    this.replace("");
    return { kind: "submit", text };
  }

  /** A pasted block is one insertion: line breaks in it do not submit anything. */
  #paste(text: string | undefined, key: PressedKey): EditorEvent | undefined {
    if (key.ctrl && key.name === "c") {
      // The end of the paste may never come.
      this.#pasted = undefined;
      return { kind: "interrupt" };
    }
    if (key.name === "paste-start") this.#pasted = "";
    else if (key.name === "paste-end") {
      const isTaken = this.insert((this.#pasted ?? "").replaceAll(/\r\n?/g, "\n"));
      this.#pasted = undefined;
      if (!isTaken) return { kind: "refused" };
    } else if ((this.#pasted?.length ?? 0) <= MAX_LENGTH) {
      this.#pasted += key.name === "return" || key.name === "enter" ? "\n" : (text ?? "");
    }
    return undefined;
  }

  #up(): EditorEvent | undefined {
    const start = this.#lineStart;
    if (start === 0) return { kind: "older" };
    const column = this.#cursor - start;
    const above = this.#startOf(start - 1);
    return this.#move(Math.min(above + column, start - 1));
  }

  #down(): EditorEvent | undefined {
    const end = this.#lineEnd;
    if (end === this.#characters.length) return { kind: "newer" };
    const column = this.#cursor - this.#lineStart;
    const below = this.#characters.indexOf("\n", end + 1);
    return this.#move(Math.min(end + 1 + column, below === -1 ? this.#characters.length : below));
  }

  get #lineStart(): number {
    return this.#startOf(this.#cursor);
  }

  get #lineEnd(): number {
    const end = this.#characters.indexOf("\n", this.#cursor);
    return end === -1 ? this.#characters.length : end;
  }

  #startOf(position: number): number {
    return position === 0 ? 0 : this.#characters.lastIndexOf("\n", position - 1) + 1;
  }

  get #wordStart(): number {
    let at = this.#cursor;
    while (at > 0 && !isWord(this.#characters[at - 1])) at -= 1;
    while (at > 0 && isWord(this.#characters[at - 1])) at -= 1;
    return at;
  }

  get #wordEnd(): number {
    let at = this.#cursor;
    while (at < this.#characters.length && !isWord(this.#characters[at])) at += 1;
    while (at < this.#characters.length && isWord(this.#characters[at])) at += 1;
    return at;
  }

  #move(to: number): undefined {
    this.#cursor = Math.max(0, Math.min(to, this.#characters.length));
  }

  #remove(from: number, to: number): undefined {
    const start = Math.max(0, from);
    for (const removed of this.#characters.splice(start, to - start)) this.#length -= removed.length;
    this.#cursor = start;
  }
}

/** In short pieces, because the time of a segmenter grows with the square of the length. */
function split(text: string): string[] {
  const pieces = text.match(PIECES) ?? [];
  return pieces.flatMap((piece) =>
    piece.length === 1 ? [piece] : Array.from(GRAPHEMES.segment(piece), ({ segment }) => segment),
  );
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_]/u.test(character);
}

/** Other control characters are keys without a meaning here. */
function isTyped(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- keys are control characters
  return text !== "" && !/^[\u0000-\u001f\u007f]/.test(text);
}
