import type { DocumentFormat } from "../documents/api-facts.ts";

/** A piece of a document that means something, and the line that it begins in. */
interface Token {
  text: string;
  line: number;
}

/** A text in which words, tags or names follow each other, whatever the layout of the document. */
export class MeaningText {
  readonly #tokens: readonly Token[];
  /** All tokens, each between line feeds. */
  readonly #text: string;
  /** Where each token begins in it. */
  readonly #starts: number[] = [];

  constructor(text: string, format: DocumentFormat | undefined) {
    this.#tokens = [...tokensOf(text, format)];
    let length = 1;
    for (const { text: token } of this.#tokens) {
      this.#starts.push(length);
      length += token.length + 1;
    }
    this.#text = `\n${this.#tokens.map((token) => token.text).join("\n")}\n`;
  }

  /** What lines from the first to the last say. */
  between(from: number, to: number): string[] {
    return this.#tokens.filter(({ line }) => line >= from && line <= to).map(({ text }) => text);
  }

  /** The lines that say the same; those nearest to `line` if there are several. */
  find(tokens: readonly string[], line: number): { from: number; to: number } | undefined {
    if (tokens.length === 0) return { from: line, to: line };
    const needle = `\n${tokens.join("\n")}\n`;
    let best: { from: number; to: number } | undefined;
    for (let at = this.#text.indexOf(needle); at >= 0; at = this.#text.indexOf(needle, at + 1)) {
      const first = this.#indexAt(at + 1);
      const found = { from: this.#lineOf(first), to: this.#lineOf(first + tokens.length - 1) };
      if (!best || Math.abs(found.from - line) < Math.abs(best.from - line)) best = found;
      if (best.from > line) break;
    }
    return best;
  }

  #lineOf(index: number): number {
    return this.#tokens[index]?.line ?? 1;
  }

  #indexAt(position: number): number {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** One alternative each: comments, quoted texts, names, and all other characters. */
const GRAPHQL = /#[^\n]*|"""[^]*?"""|"[^"\n]*"|[\w$@!]+|[^\s,]/g;
const MARKUP_COMMENT = /<!--[^]*?-->/g;
/** The line below the head of a table. */
const TABLE_RULE = /^[|:+=-]+$/;

function* tokensOf(text: string, format: DocumentFormat | undefined): Generator<Token> {
  if (format === "wsdl-1.1") return yield* tags(withoutComments(text));
  if (format === "graphql") {
    for (const token of matches(text, GRAPHQL)) if (!token.text.startsWith("#")) yield token;
    return;
  }
  const words = format === "markdown" || format === "html" ? withoutComments(text) : text;
  for (const token of matches(words, /[|]|[^\s|]+/g))
    if (!TABLE_RULE.test(token.text) || token.text === "|") yield token;
}

/** Comments of markup become blanks, and lines stay where they are. */
function withoutComments(text: string): string {
  // Behind the last end, each of many beginnings would be read up to the end of the text.
  const end = text.lastIndexOf("-->") + "-->".length;
  const head = text.slice(0, end).replaceAll(MARKUP_COMMENT, (found) => found.replaceAll(/[^\n]/g, " "));
  return head + text.slice(end);
}

function* matches(text: string, pattern: RegExp): Generator<Token> {
  let [line, from] = [1, 0];
  for (const { 0: found, index } of text.matchAll(pattern)) {
    for (let at = text.indexOf("\n", from); at >= 0 && at < index; at = text.indexOf("\n", at + 1)) line++;
    from = index;
    yield { text: oneLine(found), line };
  }
}

/** From the beginning of a name: at each letter of a long one it would be read again. */
const ATTRIBUTE = /(?<![^\s=<>"'])[^\s=<>"']+\s*=\s*(?:"[^"]*"|'[^']*')/g;

/** Tags of XML with their attributes in alphabetical order, and the words between them. */
function* tags(text: string): Generator<Token> {
  for (const token of matches(text, /<[^<>]*>|[^<>\s]+/g)) {
    const { text: found, line } = token;
    if (!found.startsWith("<")) yield token;
    else {
      const attributes = (found.match(ATTRIBUTE) ?? []).map((each) => each.replace(/\s*=\s*["'](.*)["']$/, '="$1"'));
      const name = /^<[/?!]?[^\s<>/]*/.exec(found)?.[0] ?? "<";
      yield { text: [name, ...attributes.toSorted()].join(" "), line };
      // An empty element is written in two ways.
      if (found.endsWith("/>")) yield { text: name.replace("<", "</"), line };
    }
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}
