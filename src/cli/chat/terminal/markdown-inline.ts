/** How a part of a line looks. */
export type InlineStyle = "bold" | "italic" | "code" | "strike";

interface InlineSpan {
  text: string;
  styles: readonly InlineStyle[];
}

interface InlineOptions {
  /** Whether the line ends here; otherwise a mark without its end is left for later. */
  isComplete: boolean;
  /** Keeps the marks of bold text, code and so on, for terminals without styles. */
  keepsMarks: boolean;
  /** The character before the text, if it continues a line. */
  before?: string | undefined;
}

interface InlineReading {
  spans: InlineSpan[];
  /** The end of the text that cannot be shown before more of it is known. */
  rest: string;
}

/** A mark that is still open after this many characters is text. */
const MAX_HELD = 1_000;

const MARKS: readonly (readonly [mark: string, styles: readonly InlineStyle[]])[] = [
  ["***", ["bold", "italic"]],
  ["**", ["bold"]],
  ["__", ["bold"]],
  ["~~", ["strike"]],
  ["*", ["italic"]],
  ["_", ["italic"]],
];

const SPECIAL = /[\\`*_~[!<]/;
const PUNCTUATION = /^[!-/:-@[-`{-~]$/;
const WORD = /^[\p{L}\p{N}]$/u;
const ASCII_WORD = /^[A-Za-z0-9]$/;
const LINK =
  /^!?\[([^[\]]*(?:\[[^[\]]*\][^[\]]*)*)\]\(\s*<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s+"[^"]*")?\s*\)/;
/** The beginning of a link whose end may follow. */
const OPEN_LINK = /^!?(?:\[[^[\]]*(?:\[[^[\]]*\][^[\]]*)*(?:\[[^[\]]*|\](?:\([^)]*)?)?)?$/;
const ADDRESS = /^<((?:https?:\/\/|mailto:)[^\s<>]+)>/;
const OPEN_ADDRESS = /^<[a-z]*:?[^\s<>]*$/;

/** Reads the marks inside a line of Markdown: bold, italics, code, links as `text (url)`. */
export function readInline(text: string, options: InlineOptions): InlineReading {
  const reader = new InlineReader(options);
  const end = reader.read(text, [], options.before);
  return { spans: reader.spans, rest: text.slice(end) };
}

/** The text without its marks. */
export function withoutMarks(text: string): string {
  const { spans } = readInline(text, { isComplete: true, keepsMarks: false });
  return spans.map((span) => span.text).join("");
}

class InlineReader {
  readonly spans: InlineSpan[] = [];
  readonly #options: InlineOptions;

  constructor(options: InlineOptions) {
    this.#options = options;
  }

  /** Returns the position up to which the text was read. */
  read(text: string, styles: readonly InlineStyle[], before: string | undefined, isInside = false): number {
    const isComplete = isInside || this.#options.isComplete;
    let at = 0;
    let previous = before ?? "";
    while (at < text.length) {
      const next = text.slice(at).search(SPECIAL);
      const plain = next === -1 ? text.slice(at) : text.slice(at, at + next);
      if (plain !== "") {
        this.#add(plain, styles);
        at += plain.length;
        previous = plain.at(-1) ?? "";
      }
      if (next === -1) break;
      const found = this.#mark(text.slice(at), previous, styles);
      if (found === "open" && !isComplete && text.length - at < MAX_HELD) return at;
      const length = typeof found === "number" ? found : this.#literal(text, at, styles);
      at += length;
      previous = text[at - 1] ?? "";
    }
    return at;
  }

  /** The length of what was read; `open` if its end is missing; undefined if the character is only text. */
  #mark(text: string, previous: string, styles: readonly InlineStyle[]): number | "open" | undefined {
    switch (text[0] ?? "") {
      case "\\":
        return this.#escape(text, styles);
      case "`":
        return this.#code(text, styles);
      case "[":
      case "!":
        return this.#link(text, styles);
      case "<":
        return this.#address(text, styles);
      default:
        return this.#emphasis(text, previous, styles);
    }
  }

  #escape(text: string, styles: readonly InlineStyle[]): number | "open" | undefined {
    const next = text[1];
    if (next === undefined) return "open";
    if (!PUNCTUATION.test(next)) return undefined;
    this.#add(next, styles);
    return 2;
  }

  #code(text: string, styles: readonly InlineStyle[]): number | "open" | undefined {
    const mark = /^`+/.exec(text)?.[0] ?? "";
    if (mark.length === text.length) return "open";
    let end = text.indexOf(mark, mark.length);
    while (end !== -1 && text[end + mark.length] === "`") {
      const after = /^`+/.exec(text.slice(end))?.[0].length ?? 1;
      end = text.indexOf(mark, end + after);
    }
    if (end === -1) return "open";
    const inner = text.slice(mark.length, end);
    const shown = /^ .*[^ ].* $/.test(inner) ? inner.slice(1, -1) : inner;
    this.#marked(mark, styles, () => this.#add(shown, [...styles, "code"]));
    return end + mark.length;
  }

  #link(text: string, styles: readonly InlineStyle[]): number | "open" | undefined {
    const [all, label = "", url = ""] = LINK.exec(text) ?? [];
    if (all === undefined) return OPEN_LINK.test(text) ? "open" : undefined;
    this.read(label, styles, undefined, true);
    if (url !== "" && url !== label) this.#add(label === "" ? url : ` (${url})`, styles);
    return all.length;
  }

  #address(text: string, styles: readonly InlineStyle[]): number | "open" | undefined {
    const [all, url] = ADDRESS.exec(text) ?? [];
    if (all === undefined || url === undefined) return OPEN_ADDRESS.test(text) ? "open" : undefined;
    this.#add(url, styles);
    return all.length;
  }

  #emphasis(text: string, previous: string, styles: readonly InlineStyle[]): number | "open" | undefined {
    const [mark, added] = MARKS.find(([each]) => text.startsWith(each)) ?? [];
    if (mark === undefined || added === undefined) return text.length === 1 ? "open" : undefined;
    const next = text[mark.length];
    if (next === undefined) return "open";
    const isInWord = mark === "*" ? ASCII_WORD.test(previous) : mark.startsWith("_") && WORD.test(previous);
    if (/\s/.test(next) || isInWord) return undefined;
    const end = findEnd(text, mark);
    if (end === undefined) return "open";
    const inner = text.slice(mark.length, end);
    this.#marked(mark, styles, () => this.read(inner, [...styles, ...added], undefined, true));
    return end + mark.length;
  }

  #marked(mark: string, styles: readonly InlineStyle[], inside: () => void): void {
    if (this.#options.keepsMarks) this.#add(mark, styles);
    inside();
    if (this.#options.keepsMarks) this.#add(mark, styles);
  }

  /** A run of the same character is one piece of text: its second half is no mark. */
  #literal(text: string, at: number, styles: readonly InlineStyle[]): number {
    const first = text[at] ?? "";
    let length = 1;
    while (/[*_~`]/.test(first) && text[at + length] === first) length += 1;
    this.#add(text.slice(at, at + length), styles);
    return length;
  }

  #add(text: string, styles: readonly InlineStyle[]): void {
    if (text !== "") this.spans.push({ text, styles });
  }
}

/** Where the mark ends that the text begins with: after a word, not inside code or another mark, and not far away. */
function findEnd(text: string, mark: string): number | undefined {
  const last = Math.min(text.length, MAX_HELD);
  for (let at = mark.length; at < last; at++) {
    const character = text[at];
    if (character === "\\") at += 1;
    else if (character === "`") at = endOfCode(text, at);
    else if (character === mark[0]) {
      const run = runAt(text, at);
      const isAfterWord = at > mark.length && !/\s/.test(text[at - 1] ?? " ");
      const isWordEnd = !mark.startsWith("_") || !WORD.test(text[at + run] ?? "");
      if (run === mark.length && isAfterWord && isWordEnd) return at;
      // The end of bold text that contains italics: `**a *b***`.
      if (run > mark.length && run === 3 && isAfterWord) return mark.length === 2 ? at + 1 : at;
      at += run - 1;
    }
  }
  return undefined;
}

function runAt(text: string, at: number): number {
  let run = 1;
  while (text[at + run] === text[at]) run += 1;
  return run;
}

function endOfCode(text: string, at: number): number {
  const run = runAt(text, at);
  const end = text.indexOf("`".repeat(run), at + run);
  return end === -1 ? at + run - 1 : end + run - 1;
}
