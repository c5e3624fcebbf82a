import { getResolvedPDFJS } from "unpdf";
import { ReadingProblem } from "../apart/read-apart.ts";

const MAX_PAGES = 3_000;
const MAX_PIECES_OF_PAGE = 50_000;
const MAX_LETTERS = 4_000_000;
const SPLIT = "Save only the chapters that describe the API as a PDF, and import that.";

/** The text of a PDF: one text for each page, with form feeds between them. */
export async function pdfText(bytes: Uint8Array): Promise<{ text: string; remarks: string[] }> {
  const pages = await readPages(bytes);
  const empty = pages.flatMap((lines, index) => (lines.length === 0 ? [index + 1] : []));
  if (empty.length === pages.length) {
    throw new ReadingProblem(
      "has no text, only pictures of pages",
      "Run text recognition (OCR) first, for example ocrmypdf in.pdf out.pdf, and import the result.",
    );
  }
  const options = layoutOf(pages);
  const remarks =
    empty.length === 0 ? [] : [`These pages have no text and were not read: ${empty.slice(0, 20).join(", ")}`];
  return { text: pages.map((lines) => pageText(lines, options)).join("\f"), remarks };
}

async function readPages(bytes: Uint8Array): Promise<PageLine[][]> {
  const { getDocument } = await getResolvedPDFJS();
  const loading = getDocument({
    // Its memory is taken over, which must not happen to the shared memory of a Buffer.
    data: Buffer.isBuffer(bytes) ? new Uint8Array(bytes) : bytes,
    isEvalSupported: false,
    useSystemFonts: false,
    disableFontFace: true,
    enableXfa: false,
    maxImageSize: 1,
    stopAtErrors: false,
    verbosity: 0,
  });
  try {
    const document = await loading.promise;
    if (document.numPages > MAX_PAGES) throw new ReadingProblem(`has more than ${MAX_PAGES} pages`, SPLIT);
    const pages: PageLine[][] = [];
    let letters = 0;
    for (let number = 1; number <= document.numPages; number++) {
      const page = await document.getPage(number);
      const pieces = await piecesOf(page.streamTextContent() as ReadableStream<TextChunk>, number);
      letters += pieces.reduce((sum, { text }) => sum + text.length, 0);
      if (letters > MAX_LETTERS) throw new ReadingProblem(`has more than ${MAX_LETTERS} letters`, SPLIT);
      pages.push(pageLines(pieces));
      page.cleanup();
    }
    return pages;
  } catch (error) {
    throw problemOf(error);
  } finally {
    await loading.destroy();
  }
}

/** What pdfjs gives for a part of a page. */
interface TextChunk {
  items: ({ str: string; transform: number[]; width: number; fontName: string } | { type: string })[];
  styles: Record<string, { fontFamily: string } | undefined>;
}

async function piecesOf(stream: ReadableStream<TextChunk>, page: number): Promise<PageText[]> {
  const found: PageText[] = [];
  const reader = stream.getReader();
  const fonts = new Map<string, boolean>();
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    const { items, styles } = chunk.value;
    for (const [name, style] of Object.entries(styles)) fonts.set(name, style?.fontFamily === "monospace");
    for (const item of items) {
      if (!("str" in item)) continue;
      const [a = 1, b = 0, , d = 1, x = 0, y = 0] = item.transform;
      // Text that is turned stands at the edge of a page or is a watermark.
      if (Math.abs(b) > Math.abs(a) * 0.1) continue;
      const isCode = fonts.get(item.fontName) ?? false;
      found.push({ text: item.str, x, y, width: item.width, size: Math.abs(d), isCode, font: item.fontName });
    }
    if (found.length > MAX_PIECES_OF_PAGE) {
      await reader.cancel(new Error("too much text"));
      throw new ReadingProblem(`has more than ${MAX_PIECES_OF_PAGE} pieces of text on page ${page}`, SPLIT);
    }
  }
  return found;
}

/**
 * The sizes of the document's text. Headings are short lines of a size that is larger than that of most of the text, or in
 * a font in which nothing else is written.
 */
function layoutOf(pages: readonly PageLine[][]): LayoutOptions {
  const sizes = new Map<number, number>();
  const titles = new Map<number, TitleCount>();
  const fonts = new Map<string, TitleCount>();
  let code = 0;
  let all = 0;
  for (const line of pages.flat()) {
    const { size, segments, font } = line;
    const letters = segments.reduce((sum, { text }) => sum + text.length, 0);
    const rounded = Math.round(size * 2) / 2;
    sizes.set(rounded, (sizes.get(rounded) ?? 0) + letters);
    all += letters;
    code += segments.reduce((sum, { text, isCode }) => sum + (isCode ? text.length : 0), 0);
    // The head of a table may be in the font of headings.
    if (segments.length > 1) continue;
    countTitle(titles, rounded, line);
    if (font !== undefined) countTitle(fonts, font, line);
  }
  const [[bodySize] = [10]] = [...sizes].toSorted(([, a], [, b]) => b - a);
  const headingSizes = [...sizes.keys()]
    .filter((size) => size > bodySize * 1.12 || (size > bodySize && isOfTitles(titles.get(size))))
    .toSorted((a, b) => b - a);
  const [[bodyFont] = [""]] = [...fonts].toSorted(([, a], [, b]) => b.letters - a.letters);
  const ofTitles = [...fonts].filter(([font, count]) => font !== bodyFont && isOfTitles(count));
  const headingFonts = new Set(ofTitles.map(([font]) => font));
  // In a document that is written in one font of code, code is found by what it says.
  return { bodySize, headingSizes: headingSizes.slice(0, 6), headingFonts, marksCode: code < all * 0.7 };
}

interface TitleCount {
  lines: number;
  titles: number;
  letters: number;
}

function countTitle<K>(counts: Map<K, TitleCount>, key: K, line: PageLine): void {
  const { lines, titles, letters } = counts.get(key) ?? { lines: 0, titles: 0, letters: 0 };
  const more = line.segments.reduce((sum, { text }) => sum + text.length, 0);
  counts.set(key, { lines: lines + 1, titles: titles + (isTitleLine(line) ? 1 : 0), letters: letters + more });
}

function isOfTitles(count: TitleCount | undefined): boolean {
  return count !== undefined && count.titles > 0 && count.titles >= count.lines * 0.8;
}

function problemOf(error: unknown): Error {
  if (error instanceof ReadingProblem) return error;
  const name = error instanceof Error ? error.name : "";
  if (name === "PasswordException") {
    return new ReadingProblem(
      "is encrypted and needs a password",
      "Open it with its password, save it without one, and import that.",
    );
  }
  return new ReadingProblem(
    `is damaged: ${error instanceof Error ? error.message.slice(0, 200) : "it cannot be read"}`,
    "Download it again, or open it in a PDF viewer and save a copy of it.",
  );
}

/** A piece of text on a page. `x` and `y` count in points from the bottom left, `y` of its baseline. */
interface PageText {
  text: string;
  x: number;
  y: number;
  width: number;
  /** Of the font. */
  size: number;
  /** Whether all of its letters have the same width, as code has. */
  isCode: boolean;
  /** A name for its font in this document. */
  font: string;
}

/** A line of a page: its pieces that belong together, from left to right. */
interface PageLine {
  segments: Segment[];
  y: number;
  size: number;
  /** Undefined: it has several. */
  font: string | undefined;
}

interface Segment {
  text: string;
  x: number;
  end: number;
  isCode: boolean;
}

/** The lines of a page from top to bottom. */
function pageLines(pieces: readonly PageText[]): PageLine[] {
  const rows: PageText[][] = [];
  for (const piece of pieces.filter(({ text }) => text.trim() !== "").toSorted((a, b) => b.y - a.y || a.x - b.x)) {
    const row = rows.at(-1);
    const [first] = row ?? [];
    if (row && first && first.y - piece.y < Math.min(first.size, piece.size) * 0.45) row.push(piece);
    else rows.push([piece]);
  }
  return rows.map((row) => ({
    segments: segmentsOf(row.toSorted((a, b) => a.x - b.x)),
    y: row[0]?.y ?? 0,
    size: row.reduce((most, { size }) => Math.max(most, size), 0),
    font: row.every(({ font }) => font === row[0]?.font) ? row[0]?.font : undefined,
  }));
}

/** Pieces with at most a blank between them are one segment; a column of a table is another. */
function segmentsOf(row: readonly PageText[]): Segment[] {
  const segments: Segment[] = [];
  for (const { text, x, width, size, isCode } of row) {
    const last = segments.at(-1);
    const gap = last ? x - last.end : 0;
    if (last && gap < size * 0.8) {
      const blank = gap > size * 0.12 && !/\s$/.test(last.text) && !/^\s/.test(text) ? " " : "";
      // Code in a sentence gets backquotes; a whole line of code does not.
      last.text =
        isCode === last.isCode
          ? last.text + blank + text
          : spans(last) + blank + (isCode ? `\`${text.trim()}\`` : text);
      last.isCode &&= isCode;
      last.end = x + width;
    } else segments.push({ text, x, end: x + width, isCode });
  }
  return segments.map((segment) => ({ ...segment, text: segment.text.trim() }));
}

function spans({ text, isCode }: Segment): string {
  return isCode ? `\`${text.trim()}\`` : text;
}

interface LayoutOptions {
  /** The size of most of the text of the document. */
  bodySize: number;
  /** Sizes of headings, the largest first. */
  headingSizes: readonly number[];
  /** Fonts in which only headings are written, such as a bold one of the size of the text. */
  headingFonts: ReadonlySet<string>;
  /** Whether code is told from text by its font. */
  marksCode: boolean;
}

/**
 * The text of a page: columns of tables are aligned with at least two blanks, headings have `#`, and code is between
 * fences.
 */
function pageText(lines: readonly PageLine[], options: LayoutOptions): string {
  const columns = columnsOf(lines, options.bodySize);
  const written: string[] = [];
  let code: PageLine[] = [];
  const endCode = () => {
    if (code.length > 0) written.push("```", ...codeLines(code), "```");
    code = [];
  };
  for (const [index, line] of lines.entries()) {
    const above = lines[index - 1];
    const isApart = above !== undefined && above.y - line.y > Math.max(above.size, line.size) * 1.65;
    if (options.marksCode && isCodeLine(lines, index)) {
      if (code.length === 0 && written.length > 0) written.push("");
      code.push(line);
      continue;
    }
    const hadCode = code.length > 0;
    endCode();
    const level = headingLevel(line, options, isApart || above === undefined);
    if (isApart || hadCode || (level > 0 && written.length > 0)) written.push("");
    written.push(
      level > 0
        ? `${"#".repeat(level)} ${line.segments.map(({ text }) => text).join(" ")}`
        : row(line, columns, options),
    );
  }
  endCode();
  return `${written.join("\n")}\n`;
}

/** Lines of nothing but code, of which there are at least two or one alone. */
function isCodeLine(lines: readonly PageLine[], index: number): boolean {
  const [line, above, below] = [lines[index], lines[index - 1], lines[index + 1]];
  if (!line || !isAllCode(line)) return false;
  return (
    [above, below].some((near) => near && isAllCode(near)) ||
    (line.segments.length === 1 && isAlone(line, above, below))
  );
}

function isAllCode({ segments }: PageLine): boolean {
  return segments.every(({ isCode }) => isCode);
}

function isAlone(line: PageLine, above: PageLine | undefined, below: PageLine | undefined): boolean {
  const gap = line.size * 1.65;
  return (!above || above.y - line.y > gap) && (!below || line.y - below.y > gap);
}

function headingLevel(line: PageLine, options: LayoutOptions, isApart: boolean): number {
  const { size, segments, font = "" } = line;
  const { headingSizes, headingFonts } = options;
  const length = segments.reduce((sum, { text }) => sum + text.length, 0);
  const at = headingSizes.findIndex((each) => Math.abs(each - size) < 0.3);
  if (at >= 0) return length > 120 || segments.length > 2 ? 0 : Math.min(6, at + 1);
  return isApart && headingFonts.has(font) && isTitleLine(line) ? Math.min(6, headingSizes.length + 1) : 0;
}

/** Short, in one piece, and no sentence. */
function isTitleLine({ segments: [first, ...more] }: PageLine): boolean {
  if (!first || more.length > 0 || first.isCode || first.text.length > 80) return false;
  return /^[\p{Lu}\d]/u.test(first.text) && /\p{Ll}/u.test(first.text) && !/[.,;:!?]$/.test(first.text);
}

/** Indents are kept: one letter of code is 0.6 of its size wide. */
function codeLines(lines: readonly PageLine[]): string[] {
  const left = lines.reduce((least, { segments }) => Math.min(least, segments[0]?.x ?? least), Number.MAX_VALUE);
  return lines.flatMap(({ segments, size, y }, index) => {
    let text = "";
    for (const segment of segments) {
      const column = Math.min(500, Math.round((segment.x - left) / (size * 0.6)));
      text = text.padEnd(Math.max(column, text === "" ? 0 : text.length + 1)) + segment.text;
    }
    const above = lines[index - 1];
    return above && above.y - y > size * 2 ? ["", text] : [text];
  });
}

interface Column {
  x: number;
  /** The first letter. */
  at: number;
}

/**
 * Where the segments of lines begin, so that what is below each other on the page is so in the text, although letters
 * have different widths.
 */
function columnsOf(lines: readonly PageLine[], bodySize: number): Column[] {
  const starts = [...new Set(lines.flatMap(({ segments }) => segments.map(({ x }) => Math.round(x))))].toSorted(
    (a, b) => a - b,
  );
  const columns: Column[] = [];
  for (const x of starts) {
    const last = columns.at(-1);
    if (!last || x - last.x > 3) columns.push({ x, at: 0 });
  }
  const [first] = columns;
  const letter = bodySize * 0.5;
  const needs = lines.flatMap(({ segments }) =>
    segments.slice(1).map((segment, index) => {
      const before = segments[index];
      return {
        from: columnOf(columns, before?.x ?? 0),
        to: columnOf(columns, segment.x),
        length: before?.text.length ?? 0,
      };
    }),
  );
  const wanted = new Map<Column, { from: Column; length: number }[]>();
  for (const { from, to, length } of needs) {
    if (!from || !to) continue;
    const list = wanted.get(to) ?? [];
    wanted.set(to, list);
    list.push({ from, length });
  }
  let least = 0;
  for (const column of columns) {
    const natural = Math.min(400, Math.round((column.x - (first?.x ?? 0)) / letter));
    const needed = (wanted.get(column) ?? []).reduce(
      (most, { from, length }) => Math.max(most, from.at + length + 2),
      0,
    );
    column.at = Math.max(least, needed, natural);
    least = column.at;
  }
  return columns;
}

function columnOf(columns: readonly Column[], x: number): Column | undefined {
  return columns.findLast((column) => column.x <= Math.round(x));
}

function row({ segments }: PageLine, columns: readonly Column[], { marksCode }: LayoutOptions): string {
  let text = "";
  for (const segment of segments) {
    const column = columnOf(columns, segment.x)?.at ?? 0;
    const start = Math.max(column, text === "" ? 0 : text.length + 2);
    text = text.padEnd(start) + (marksCode ? spans(segment) : segment.text);
  }
  return text;
}
