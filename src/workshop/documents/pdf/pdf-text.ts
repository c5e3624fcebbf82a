import { getResolvedPDFJS } from "unpdf";
import { ReadingProblem } from "../apart/read-apart.ts";
import { isTitleLine, pageLines, pageText, type LayoutOptions, type PageLine, type PageText } from "./page-layout.ts";

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
