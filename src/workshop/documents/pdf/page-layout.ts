/** A piece of text on a page. `x` and `y` count in points from the bottom left, `y` of its baseline. */
export interface PageText {
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
export interface PageLine {
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
export function pageLines(pieces: readonly PageText[]): PageLine[] {
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

export interface LayoutOptions {
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
export function pageText(lines: readonly PageLine[], options: LayoutOptions): string {
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
export function isTitleLine({ segments: [first, ...more] }: PageLine): boolean {
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
