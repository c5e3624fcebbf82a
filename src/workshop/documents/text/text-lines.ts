/** The lines of a text, counted from 0 here. Page breaks, running heads and page numbers are blank lines. */
export interface TextLines {
  readonly all: readonly string[];
  /** By line: the page, counted from 1. */
  readonly pages: readonly number[];
}

/** How many lines at each end of a page may be running heads. */
const EDGE = 2;
const PAGE_NUMBER =
  /^\s*(?:[-–—]?\s*\d{1,4}\s*[-–—]?|(?:page|seite|p\.)\s*\d{1,4}(?:\s*(?:of|von|\/)\s*\d{1,4})?|\d{1,4}\s*(?:of|von|\/)\s*\d{1,4})\s*$/i;

export function textLines(text: string): TextLines {
  let page = 1;
  const all: string[] = [];
  const pages: number[] = [];
  for (const line of text.split("\n")) {
    const breaks = line.split("\f").length - 1;
    page += breaks;
    all.push((breaks > 0 ? line.replaceAll("\f", "") : line).trimEnd());
    pages.push(page);
  }
  if (all[0]?.startsWith("\ufeff")) all[0] = all[0].slice(1);
  if (page > 1) for (const line of runningLines(all, pages)) all[line] = "";
  return { all, pages };
}

/** The text of each page, without running heads and page numbers, which change with every edition. */
export function pageTexts(text: string): string[] {
  const { all, pages } = textLines(text);
  const found: string[][] = Array.from({ length: pages.at(-1) ?? 1 }, () => []);
  for (const [line, written] of all.entries()) {
    if (!isBlank(written)) found[(pages[line] ?? 1) - 1]?.push(written);
  }
  return found.map((lines) => lines.join("\n"));
}

/** Lines that are at the same end of most pages, apart from their numbers. */
function runningLines(all: readonly string[], pages: readonly number[]): number[] {
  const edges = [...linesByPage(all, pages)].flatMap((lines) => {
    const end = lines.length - EDGE;
    return [
      ...lines.slice(0, EDGE).map((line) => ({ line, key: `top ${sample(all[line])}` })),
      ...lines.slice(Math.max(EDGE, end)).map((line) => ({ line, key: `end ${sample(all[line])}` })),
    ];
  });
  const counts = new Map<string, number>();
  for (const { key } of edges) counts.set(key, (counts.get(key) ?? 0) + 1);
  const often = Math.max(2, (pages.at(-1) ?? 1) / 2);
  return edges
    .filter(({ line, key }) => {
      const text = all[line] ?? "";
      if (PAGE_NUMBER.test(text)) return true;
      // The head of a table that goes on is also at the top of each page.
      const isTable = !/\d/.test(text) && text.trim().split(/ {2,}/).length > 2;
      return !isTable && (counts.get(key) ?? 0) >= often;
    })
    .map(({ line }) => line);
}

function sample(line = ""): string {
  return line.trim().replaceAll(/\d+/g, "0").replaceAll(/\s+/g, " ");
}

/** The lines with text, by page. */
function linesByPage(all: readonly string[], pages: readonly number[]): Iterable<number[]> {
  const found = new Map<number, number[]>();
  for (const [line, text] of all.entries()) {
    if (text.trim() === "") continue;
    const page = pages[line] ?? 1;
    const lines = found.get(page) ?? [];
    found.set(page, lines);
    lines.push(line);
  }
  return found.values();
}

export function isBlank(line: string | undefined): boolean {
  return line === undefined || line.trim() === "";
}

/** How many columns are free before the text; a tab counts as four. */
export function indentOf(line: string): number {
  const [blanks = ""] = /^[ \t]*/.exec(line) ?? [];
  return blanks.replaceAll("\t", "    ").length;
}
