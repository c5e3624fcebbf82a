// Made when there is such a text: Node takes a millisecond to find out which characters they are about.
// oxlint-disable-next-line no-misleading-character-class -- joiners and selectors are listed, not matched as one letter
const noCell = () => /^[\p{Mn}\p{Me}\u200b-\u200d\ufe00-\ufe0f]$/u;
/** East Asian wide and full-width characters, and emoji. A flag is two letters of one cell each. */
const twoCells = () =>
  /^(?:[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|(?![\u{1f1e6}-\u{1f1ff}])\p{Emoji_Presentation})$/u;
/** One character, with the selector after it that makes a wide emoji of a sign. */
const UNITS = /.\ufe0f?/gsu;
// oxlint-disable-next-line no-control-regex -- most text is plain, and as wide as it is long
const PLAIN = /^[\u0000-\u02ff]*$/;

/** The number of terminal cells of a text. */
export function cellsOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let cells = 0;
  for (const [unit] of text.matchAll(UNITS)) cells += cellsOfUnit(unit);
  return cells;
}

/** The text, cut with `…` if it is wider than `width`. */
export function cut(text: string, width: number | undefined): string {
  if (width === undefined || cellsOf(text) <= width) return text;
  let kept = "";
  let left = width - 1;
  for (const [unit] of text.matchAll(UNITS)) {
    left -= cellsOfUnit(unit);
    if (left < 0) break;
    kept += unit;
  }
  return width < 1 ? "" : `${kept.trimEnd()}…`;
}

/** Padded with spaces to a width. */
export function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - cellsOf(text)));
}

/** Lines that fit, broken between words. A word that is wider than the line stays whole, so that it can be copied. */
export function wrapped(text: string, width: number | undefined): string[] {
  return text.split(/\r?\n/).flatMap((line) => filled(line.split(" "), " ", width));
}

/** Rows of at most this width, broken between words, and inside of a word only where it is wider than a row. */
export function fitted(text: string, width: number | undefined): string[] {
  const lines = text.split(/\r?\n/);
  return width === undefined ? lines : lines.flatMap((line) => rowsOf(line, width));
}

function rowsOf(line: string, width: number): string[] {
  const rows: string[] = [];
  let row = "";
  for (const [spaced, word = ""] of line.matchAll(/ *([^ ]+)| +$/g)) {
    if (cellsOf(row + spaced) <= width) row += spaced;
    else if (row.trim() !== "" && cellsOf(word) <= width) {
      rows.push(row.trimEnd());
      row = word;
    } else {
      const pieces = broken(row + spaced, width);
      row = pieces.pop() ?? "";
      rows.push(...pieces);
    }
  }
  return [...rows, row];
}

/** One line, broken between words; the lines that continue it begin with spaces: below the text after `lead`. */
export function hanging(lead: string, text: string, width: number | undefined): string[] {
  if (width === undefined || cellsOf(lead) + cellsOf(text) <= width) return [lead + text];
  const cells = cellsOf(lead);
  // Beside a wide lead there would be one word on each line.
  if (cells > (width * 2) / 3)
    return [lead.trimEnd(), ...wrapped(text, width - 10).map((line) => " ".repeat(10) + line)];
  return wrapped(text, width - cells).map((line, at) => (at === 0 ? lead : " ".repeat(cells)) + line);
}

/** As many parts on each line as fit; a line that continues ends with the separator. */
export function filled(parts: readonly string[], separator: string, width: number | undefined): string[] {
  if (width === undefined) return [parts.join(separator)];
  const lines: string[] = [];
  let line: string | undefined;
  for (const part of parts) {
    const longer = line === undefined ? part : `${line}${separator}${part}`;
    if (line === undefined || cellsOf(longer) <= width) {
      line = longer;
    } else {
      lines.push(`${line}${separator}`.trimEnd());
      line = part;
    }
  }
  return [...lines, line ?? ""];
}

/** Rows of at most this width, broken between any two characters. */
export function broken(text: string, width: number | undefined): string[] {
  if (width === undefined || cellsOf(text) <= width) return [text];
  const rows: string[] = [];
  let row = "";
  let left = width;
  for (const [unit] of text.matchAll(UNITS)) {
    const cells = cellsOfUnit(unit);
    if (cells > left) {
      rows.push(row);
      row = "";
      left = width;
    }
    row += unit;
    left -= cells;
  }
  return [...rows, row];
}

function cellsOfUnit(unit: string): number {
  if (noCell().test(unit)) return 0;
  return twoCells().test(unit) || unit.endsWith("\ufe0f") ? 2 : 1;
}
