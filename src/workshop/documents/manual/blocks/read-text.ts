import type { ManualBlock, ManualCell, LineRange } from "./manual.ts";
import { alignedTableAt } from "./aligned-table.ts";
import { drawnTableAt, type TextTable } from "./drawn-table.ts";
import { httpDirective, httpFieldsAt } from "./http-directive.ts";
import { deeper, sampleAt, type CodeSample } from "./samples.ts";
import { CONTENTS_ENTRY, headingAt } from "./text-headings.ts";
import { indentOf, isBlank, textLines, type TextLines } from "../../text/text-lines.ts";

const ITEM = /^(\s*)(?:[-*•·▪◦‣–]|\d{1,3}[.)]|[a-z][.)]|\((?:\d{1,2}|[a-z])\))\s+(\S.*)$/;
/** reStructuredText: `:param id: The number.` */
const FIELD = /^(\s*):([A-Za-z][\w -]*):\s+(\S.*)$/;
/** Marks of reStructuredText and AsciiDoc without a meaning of their own. */
const MARKUP =
  /^\s*(?:\.\. (?:_[^:]*:|[\w-]+::.*)|\[\[.*\]\]|\[(?:#|\.|%|cols|options).*\]|:[\w-]+:.*|<<<|'''|={4,}|-{3,}|_{3,}|\*{3,})\s*$/;

/** The blocks of a plain text, of which pages may be separated by form feeds. */
export function readText(text: string): { title?: string; blocks: ManualBlock[] } {
  const reader = new TextReader(textLines(text));
  reader.readAll();
  const blocks = reader.blocks;
  const title = (
    titleLine(blocks[0]) ??
    blocks.find((block) => block.kind === "heading")?.text ??
    blocks.find((block) => block.kind === "paragraph")?.text.split("\n")[0]
  )?.trim();
  return { ...(title === undefined || title === "" || title.length > 120 ? {} : { title }), blocks };
}

/** What a text begins with is its title, unless it is a sentence. */
function titleLine(first: ManualBlock | undefined): string | undefined {
  if (first?.kind !== "heading" && first?.kind !== "paragraph") return undefined;
  const line = first.text.split("\n")[0] ?? "";
  return line.length > 80 || /[.:,;]$|https?:|\t| {3}/.test(line) ? undefined : line;
}

class TextReader {
  readonly blocks: ManualBlock[] = [];
  readonly #text: TextLines;
  readonly #lines: readonly string[];
  /** The indents of the lists that are open. */
  #indents: number[] = [];
  /** Whether the last heading was a directive, whose fields are about one request. */
  #isRequest = false;

  constructor(text: TextLines) {
    this.#text = text;
    this.#lines = text.all;
  }

  readAll(): void {
    let at = 0;
    while (at < this.#lines.length) at = this.#readAt(at);
  }

  /** The first line after the block at a line. */
  #readAt(at: number): number {
    const line = this.#lines[at] ?? "";
    if (isBlank(line) || CONTENTS_ENTRY.test(line)) return at + 1;
    const request = httpDirective(line);
    if (request) {
      this.#indents = [];
      this.#isRequest = true;
      this.blocks.push({ kind: "heading", ...request, place: place(at, at + 1) });
      return at + 1;
    }
    const fields = this.#isRequest ? httpFieldsAt(this.#lines, at) : undefined;
    if (fields) {
      this.blocks.push(...fields.blocks);
      return fields.next;
    }
    const table = this.#tableAt(at);
    if (table) return this.#addTable(table, at);
    const sample = sampleAt(this.#lines, at);
    if (sample) return this.#addCode(sample, at);
    const heading = headingAt(this.#lines, at);
    if (heading) {
      this.#indents = [];
      this.#isRequest = false;
      const { level, text, line: of, next } = heading;
      this.blocks.push({ kind: "heading", level, text, place: place(of, of + 1) });
      return next;
    }
    if (ITEM.test(line) || FIELD.test(line)) return this.#addItem(at);
    return MARKUP.test(line) ? at + 1 : this.#addParagraph(at);
  }

  #tableAt(at: number): TextTable | undefined {
    return drawnTableAt(this.#lines, at) ?? alignedTableAt(this.#text, at);
  }

  #addTable({ head, rows, next }: TextTable, at: number): number {
    this.blocks.push({ kind: "table", ...withCodeHead(head, rows), place: place(at, next) });
    return next;
  }

  #addCode({ language, from, to, next }: CodeSample, at: number): number {
    const lines = this.#lines.slice(from, to);
    const indent = lines.reduce((least, line) => (isBlank(line) ? least : Math.min(least, indentOf(line))), 200);
    const text = lines.map((line) => (indentOf(line) >= indent ? withoutIndent(line, indent) : line)).join("\n");
    const known = language ?? languageOf(text);
    if (text.trim() !== "") {
      const named = known === undefined ? {} : { language: known };
      this.blocks.push({ kind: "code", ...named, text, textFrom: from + 1, place: place(at, next) });
    }
    return Math.max(next, at + 1);
  }

  /** An item goes on in deeper lines. */
  #addItem(at: number): number {
    const line = this.#lines[at] ?? "";
    const [, blanks = "", name, more] = FIELD.exec(line) ?? [];
    const [, indents = blanks, words = line.trim()] = ITEM.exec(line) ?? [];
    const indent = indents.length;
    const texts = [name === undefined ? words : `${name}: ${more}`];
    let next = at + 1;
    while (next < this.#lines.length && this.#isContinued(next, indent)) texts.push((this.#lines[next++] ?? "").trim());
    this.#indents = [...this.#indents.filter((each) => each < indent), indent];
    this.blocks.push({ kind: "item", level: this.#indents.length, text: texts.join("\n"), place: place(at, next) });
    return next;
  }

  #isContinued(line: number, indent: number): boolean {
    const text = this.#lines[line] ?? "";
    return !isBlank(text) && indentOf(text) > indent && !this.#startsBlock(line);
  }

  #addParagraph(at: number): number {
    const texts: string[] = [];
    let next = at;
    do texts.push((this.#lines[next++] ?? "").trim());
    while (next < this.#lines.length && !isBlank(this.#lines[next]) && !this.#startsBlock(next));
    const text = texts.join("\n");
    this.#indents = [];
    this.blocks.push({ kind: "paragraph", text: text.replace(/::$/, ":"), place: place(at, next) });
    if (!text.endsWith("::") || !isBlank(this.#lines[next])) return next;
    // reStructuredText: two colons announce a literal block.
    const literal = deeper(this.#lines, next, { indent: indentOf(this.#lines[next - 1] ?? "") });
    return literal ? this.#addCode(literal, literal.from) : next;
  }

  /** Whether a line begins something else than the paragraph or the item that it is in. */
  #startsBlock(line: number): boolean {
    const text = this.#lines[line] ?? "";
    if (ITEM.test(text) || FIELD.test(text) || /^(?:#{1,6}|={1,6}) +\S|^\s*(?:```|~~~)/.test(text)) return true;
    if (/^\s*[{[<]|HTTP\/\d|^\s*(?:\$ *)?curl\s/.test(text) && sampleAt(this.#lines, line)) return true;
    return /\S {2,}\S|\t|[|│┃+]/.test(text) && this.#tableAt(line) !== undefined;
  }
}

/** Codes beside their meanings often have no head: then the first row is one of them. */
function withCodeHead(head: ManualCell[], rows: ManualCell[][]): { head: ManualCell[]; rows: ManualCell[][] } {
  const [code, meaning, ...more] = head;
  const firsts = [head, ...rows].map(([first]) => first?.text ?? "");
  const isCodes = [/^\d{1,6}$/, /^[A-Z][A-Z\d]{0,3}$/].some((form) => firsts.every((text) => form.test(text)));
  if (!code || !meaning || more.length > 0 || !isCodes) return { head, rows };
  return {
    head: [
      { ...code, text: "Code" },
      { ...meaning, text: "Meaning" },
    ],
    rows: [head, ...rows],
  };
}

function place(from: number, to: number): LineRange {
  return { from: from + 1, to };
}

function withoutIndent(line: string, indent: number): string {
  let left = indent;
  let start = 0;
  while (left > 0 && start < line.length) left -= line[start++] === "\t" ? 4 : 1;
  return line.slice(start);
}

function languageOf(text: string): string | undefined {
  const start = text.trimStart();
  if (/^[{[]/.test(start)) return "json";
  return /^<[?A-Za-z]/.test(start) ? "xml" : undefined;
}
