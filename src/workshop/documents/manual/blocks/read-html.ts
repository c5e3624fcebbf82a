import type { ManualCell, ManualBlock, LineRange, CodeBlock } from "./manual.ts";
import {
  attribute,
  contains,
  isElement,
  isText,
  parseHtml,
  rawText,
  classes,
  type Element,
  type HtmlNode,
} from "./bounded-tree.ts";
import { headAndRows, isLayoutTable, tableGrid, type GridCell, type TableGrid } from "./html-table.ts";
import { InlineText } from "./inline-text.ts";
import { isPartOfAddress } from "./tag-in-address.ts";
import { isGutter, isLeftOut } from "./left-out.ts";

const LANGUAGE_CLASS = /^(?:language|lang|highlight-source|highlight|brush:?)-?:?([a-z][\w+#.-]*)$/i;
const NOT_LANGUAGES = new Set(["text", "none", "default", "plaintext", "plain", "wrapper", "wrap", "copy", "block"]);

const INLINE = new Set(
  "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q rp rt ruby s samp small span strike strong sub sup time tt u var wbr".split(
    " ",
  ),
);
const CODE = new Set(["code", "tt", "samp", "kbd"]);
const CONTENT = new Set(["main", "article"]);
const BLOCKS_IN_DEFINITION = new Set(["pre", "table", "h1", "h2", "h3", "h4", "h5", "h6"]);
const LISTS = new Set(["ul", "ol", "dl"]);
const NONE: ReadonlySet<string> = new Set();
const LONGEST_TAG = 200;
/** A sample in a cell that is short is also part of its text. */
const SHORT_SAMPLE = 200;

/** The blocks of an HTML page, without what is around its content. Pages beyond the limits throw RangeError. */
export function readHtml(text: string): { title?: string; blocks: ManualBlock[] } {
  const { body, title } = parseHtml(text);
  const reader = new HtmlReader(text);
  if (body) reader.readPage(body);
  const top = reader.blocks.find((block) => block.kind === "heading" && block.level === 1);
  const name = top?.kind === "heading" ? top.text : title;
  return { ...(name === undefined || name === "" ? {} : { title: name }), blocks: reader.blocks };
}

class HtmlReader {
  readonly blocks: ManualBlock[] = [];
  readonly #source: string;
  readonly #inline = new InlineText();
  /** What the next text is, if it is not a paragraph. */
  #next: { kind: "item"; level: number } | { kind: "heading"; level: number } | undefined;
  #listLevel = 0;
  /** The item that is read, whose text goes on in further paragraphs. */
  #open: { block: Extract<ManualBlock, { kind: "item" }>; separator: string } | undefined;
  #headingLevel = 0;
  #isInContent = false;
  /** The texts of tabs by their ids. */
  readonly #tabs = new Map<string, string>();

  constructor(source: string) {
    this.#source = source;
  }

  readPage(body: Element): void {
    this.#collectTabs(body);
    const main = findElement(body, (element) => element.tagName === "main" || attribute(element, "role") === "main");
    const content = main && rawText(main).trim().length > 200 ? main : body;
    this.#isInContent = content === main;
    this.#children(content);
    this.#flush();
  }

  #collectTabs(element: Element): void {
    const id = attribute(element, "id");
    if (id !== undefined && attribute(element, "role") === "tab") {
      this.#tabs.set(id, rawText(element).replaceAll(/\s+/g, " ").trim());
    }
    for (const child of element.childNodes) if (isElement(child)) this.#collectTabs(child);
  }

  #children({ childNodes }: Element): void {
    for (const child of childNodes) this.#read(child);
  }

  #read(node: HtmlNode): void {
    if (isText(node)) this.#inline.addText(node);
    else if (isElement(node) && !isLeftOut(node, this.#isInContent)) this.#element(node);
  }

  #element(element: Element): void {
    const { tagName } = element;
    if (tagName === "br") this.#inline.addMark("\n");
    else if (CODE.has(tagName)) this.#codeSpan(element);
    else if (this.#isPartOfAddress(element)) {
      this.#inline.addMark(this.#tagOf(element));
      this.#children(element);
    } else if (INLINE.has(tagName)) this.#children(element);
    else this.#block(element);
  }

  /** An element that is only a tag in an address: `/orders/<id>`. */
  #isPartOfAddress(element: Element): boolean {
    if (element.sourceCodeLocation?.endTag) return false;
    return isPartOfAddress(this.#tagOf(element), this.#inline.end, NONE);
  }

  #tagOf({ sourceCodeLocation }: Element): string {
    const { startOffset, endOffset } = sourceCodeLocation?.startTag ?? { startOffset: 0, endOffset: 0 };
    return this.#source.slice(startOffset, Math.min(endOffset, startOffset + LONGEST_TAG));
  }

  #codeSpan(element: Element): void {
    const start = this.#inline.mark;
    this.#children(element);
    this.#inline.closeCode(start);
  }

  #block(element: Element): void {
    this.#flush();
    this.#blockContent(element);
    this.#flush();
  }

  #blockContent(element: Element): void {
    const { tagName } = element;
    const level = headingLevel(element);
    if (level !== undefined) return this.#heading(element, level);
    switch (tagName) {
      case "pre":
        return this.#code(element);
      case "ul":
      case "ol":
      case "menu":
        return this.#list(element);
      case "li":
        this.#next = { kind: "item", level: Math.max(1, this.#listLevel) };
        this.#children(element);
        this.#flush();
        this.#next = undefined;
        this.#open = undefined;
        return undefined;
      case "dl":
        return this.#definitions(element);
      case "table":
        return this.#table(element);
      default:
        return this.#part(element);
    }
  }

  #part(element: Element): void {
    const wasInContent = this.#isInContent;
    this.#isInContent ||= CONTENT.has(element.tagName);
    const label = this.#tabs.get(attribute(element, "aria-labelledby") ?? "");
    const at = element.sourceCodeLocation?.startLine;
    if (label !== undefined && label !== "" && at !== undefined) {
      this.blocks.push({ kind: "paragraph", text: label, place: { from: at, to: at } });
    }
    this.#children(element);
    this.#isInContent = wasInContent;
  }

  #heading(element: Element, level: number): void {
    this.#next = { kind: "heading", level };
    this.#children(element);
    this.#flush();
    this.#next = undefined;
  }

  #code(element: Element): void {
    const block = codeBlock(element, this.#source);
    if (block) this.blocks.push(block);
  }

  #list(element: Element): void {
    const outer = this.#next;
    this.#next = undefined;
    this.#listLevel++;
    this.#children(element);
    this.#flush();
    this.#listLevel--;
    this.#next = outer?.kind === "item" ? undefined : outer;
  }

  /** A term and its definition are one item; a term with a chapter under it is a heading. */
  #definitions(list: Element): void {
    let terms: { text: string; place: LineRange }[] = [];
    for (const element of definitionParts(list)) {
      if (isLeftOut(element, this.#isInContent)) continue;
      if (element.tagName === "dt") {
        terms.push(...this.#texts(element));
      } else {
        this.#definition(element, terms);
        terms = [];
      }
    }
    for (const { text, place } of terms) this.blocks.push({ kind: "item", level: this.#listLevel + 1, text, place });
  }

  #definition(element: Element, terms: readonly { text: string; place: LineRange }[]): void {
    const term = joinTexts(terms, ", ");
    if (term && contains(element, BLOCKS_IN_DEFINITION)) {
      const level = Math.min(6, this.#headingLevel + 1);
      this.blocks.push({ kind: "heading", level, ...term });
      const outer = this.#headingLevel;
      this.#headingLevel = level;
      this.#children(element);
      this.#flush();
      this.#headingLevel = outer;
    } else if (contains(element, LISTS)) {
      if (term) {
        const block = { kind: "item" as const, level: this.#listLevel + 1, ...term };
        this.blocks.push(block);
        this.#open = { block, separator: ": " };
      }
      this.#listLevel++;
      this.#children(element);
      this.#flush();
      this.#listLevel--;
      this.#open = undefined;
    } else {
      const whole = joinTexts([...(term ? [term] : []), ...this.#texts(element)], ": ");
      if (whole) this.blocks.push({ kind: "item", level: this.#listLevel + 1, ...whole });
    }
  }

  /** The texts inside of an element, one for each block. */
  #texts(element: Element): { text: string; place: LineRange }[] {
    return this.#inside(element).flatMap((block) =>
      block.kind === "table" || block.kind === "code" ? [] : [{ text: block.text, place: block.place }],
    );
  }

  /** The blocks inside of an element, which are not added to those of the page. */
  #inside(element: Element): ManualBlock[] {
    const [outer, level] = [this.#next, this.#listLevel];
    const start = this.blocks.length;
    this.#flush();
    this.#next = undefined;
    this.#open = undefined;
    this.#listLevel = 0;
    this.#children(element);
    this.#flush();
    this.#next = outer;
    this.#listLevel = level;
    return this.blocks.splice(start);
  }

  #table(table: Element): void {
    const grid = tableGrid(table);
    if (isLayoutTable(table, grid) || isCodeTable(grid)) {
      for (const row of grid.rows) {
        for (const cell of new Set(row)) if (cell && !isGutter(cell.element)) this.#block(cell.element);
      }
      return;
    }
    const at = table.sourceCodeLocation;
    const place = { from: at?.startLine ?? 1, to: at?.endLine ?? at?.startLine ?? 1 };
    const after: ManualBlock[] = [];
    const cells = new Map<GridCell, ManualCell>();
    const cellOf = (cell: GridCell): ManualCell => {
      const known = cells.get(cell) ?? this.#cell(cell.element, { place, after });
      cells.set(cell, known);
      return known;
    };
    const caption = grid.caption && joinTexts(this.#texts(grid.caption), " ")?.text;
    for (const row of grid.rows) {
      const start = after.length;
      for (const cell of row) if (cell) cellOf(cell);
      const name = row[0] && cellOf(row[0]).text;
      for (const block of after.slice(start)) {
        if (block.kind === "table" && name !== undefined && name !== "") block.caption ??= name;
      }
    }
    const { head, rows } = headAndRows(grid, cellOf, place);
    if (rows.length > 0 || head.some(({ text }) => text !== "")) {
      this.blocks.push({ kind: "table", ...(caption === undefined ? {} : { caption }), head, rows, place });
    }
    this.blocks.push(...after);
  }

  /** Tables and samples inside of a cell become blocks after the table. */
  #cell(element: Element, { place, after }: { place: LineRange; after: ManualBlock[] }): ManualCell {
    const texts: { text: string; place: LineRange }[] = [];
    for (const block of this.#inside(element)) {
      if (block.kind === "table") after.push(block);
      else if (block.kind === "code") {
        after.push(block);
        const text = oneLine(block.text);
        if (text.length <= SHORT_SAMPLE) texts.push({ text: `\`${text}\``, place: block.place });
      } else {
        const follows = texts.length > 0 && block.kind === "item" && !/[,;:.]$/.test(texts.at(-1)?.text ?? "");
        if (follows) texts.push({ text: ",", place: block.place });
        texts.push({ text: oneLine(block.text), place: block.place });
      }
    }
    const at = element.sourceCodeLocation?.startLine ?? place.from;
    const all = joinTexts(texts, " ") ?? { text: "", place: { from: at, to: at } };
    return { ...all, text: all.text.replaceAll(" ,", ",") };
  }

  #flush(): void {
    const found = this.#inline.take();
    if (!found) return;
    const next = this.#next;
    // The text after the first one of an item is a paragraph.
    if (next?.kind === "item") this.#next = undefined;
    if (!next && this.#goesOn(found)) return;
    this.#open = undefined;
    if (next?.kind === "heading") {
      this.#headingLevel = next.level;
      const text = oneLine(found.text).replace(/\s*[#¶§🔗]$/u, "");
      if (text !== "") this.blocks.push({ ...next, text, place: found.place });
    } else if (next) {
      const block = { ...next, ...found };
      this.blocks.push(block);
      this.#open = { block, separator: "\n" };
    } else this.blocks.push({ kind: "paragraph", ...found });
  }

  /** A paragraph of an item belongs to its text, unless it announces something. */
  #goesOn({ text, place }: { text: string; place: LineRange }): boolean {
    const open = this.#open;
    if (!open || this.blocks.at(-1) !== open.block || /:\s*$/.test(text)) return false;
    open.block.text += open.separator + text;
    open.block.place = { from: open.block.place.from, to: Math.max(open.block.place.to, place.to) };
    open.separator = "\n";
    return true;
  }
}

function headingLevel(element: Element): number | undefined {
  const level = /^h([1-6])$/.exec(element.tagName)?.[1];
  if (level !== undefined) return Number(level);
  if (attribute(element, "role") !== "heading") return undefined;
  return Math.min(6, Math.max(1, Number.parseInt(attribute(element, "aria-level") ?? "2", 10) || 2));
}

/** Code with its line numbers in a column beside it. */
function isCodeTable({ rows }: TableGrid): boolean {
  return rows.some((row) => row.some((cell) => cell && isGutter(cell.element))) && rows.length < 2;
}

/** Terms and definitions may be grouped in div elements. */
function definitionParts(list: Element): Element[] {
  return list.childNodes
    .filter(isElement)
    .flatMap((element) => (element.tagName === "div" ? definitionParts(element) : [element]))
    .filter(({ tagName }) => tagName === "dt" || tagName === "dd");
}

function joinTexts(
  texts: readonly { text: string; place: LineRange }[],
  separator: string,
): { text: string; place: LineRange } | undefined {
  const [first] = texts;
  if (!first) return undefined;
  const place = texts.reduce(
    ({ from, to }, each) => ({ from: Math.min(from, each.place.from), to: Math.max(to, each.place.to) }),
    first.place,
  );
  return { text: texts.map(({ text }) => text).join(separator), place };
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function findElement(element: Element, matches: (element: Element) => boolean): Element | undefined {
  if (matches(element)) return element;
  for (const child of element.childNodes) {
    const found = isElement(child) ? findElement(child, matches) : undefined;
    if (found) return found;
  }
  return undefined;
}

/** The text of a pre element, with its language. Undefined if it is empty. `source` is the text of the page. */
function codeBlock(pre: Element, source: string): CodeBlock | undefined {
  const all = codeText(pre);
  const leading = /^(?:[ \t]*\n)*/.exec(all)?.[0] ?? "";
  const text = all.slice(leading.length).trimEnd();
  if (text === "") return undefined;
  const at = pre.sourceCodeLocation;
  const textFrom = firstLine(pre, source) + leading.split("\n").length - 1;
  const place = { from: at?.startLine ?? textFrom, to: at?.endLine ?? textFrom };
  const language = languageOf(pre);
  return { kind: "code", ...(language === undefined ? {} : { language }), text, textFrom, place };
}

function codeText(node: HtmlNode): string {
  if (isElement(node) && (isGutter(node) || node.tagName === "button")) return "";
  if (!isElement(node) || node.tagName === "br") return rawText(node);
  return node.childNodes.map(codeText).join("");
}

/** The line of the first character. The line break after the tag is not part of the text. */
function firstLine(pre: Element, source: string): number {
  const node = firstText(pre);
  const at = node?.sourceCodeLocation;
  if (!node || !at) return pre.sourceCodeLocation?.startLine ?? 1;
  const isBreakLeftOut = source[at.startOffset] === "\n" && isText(node) && !node.value.startsWith("\n");
  return at.startLine + (isBreakLeftOut ? 1 : 0);
}

function firstText(node: HtmlNode): HtmlNode | undefined {
  if (isText(node)) return node.value === "" ? undefined : node;
  if (!isElement(node)) return undefined;
  for (const child of node.childNodes) {
    const found = firstText(child);
    if (found) return found;
  }
  return undefined;
}

/** Named by the element, by the code inside, or by up to three elements around it. */
function languageOf(pre: Element): string | undefined {
  const code = pre.childNodes.filter(isElement).find(({ tagName }) => tagName === "code");
  const around: Element[] = [];
  for (let parent = pre.parentNode; around.length < 3 && isElement(parent); parent = parent.parentNode) {
    around.push(parent);
  }
  for (const element of [...(code ? [code] : []), pre, ...around]) {
    const named = attribute(element, "data-lang") ?? attribute(element, "data-language");
    const found = [...(named === undefined ? [] : [`language-${named}`]), ...classes(element)]
      .map((name) => LANGUAGE_CLASS.exec(name)?.[1]?.toLowerCase())
      .find((name) => name !== undefined && !NOT_LANGUAGES.has(name));
    if (found !== undefined) return found;
  }
  return undefined;
}
