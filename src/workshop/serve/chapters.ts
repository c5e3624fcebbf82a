/** A part of a document under one heading, with its first and last line, counted from 1. */
export interface Chapter {
  heading: string;
  from: number;
  to: number;
}

const LEVELS = [1, 2, 3, 4, 5, 6];

/**
 * The chapters of a Markdown text: the parts under the headings of the highest level with more than one heading. The
 * text before the first of them belongs to none; without such a level there are no chapters.
 */
export function chaptersOf(text: string): Chapter[] {
  const lines = text.split(/\r?\n/);
  const headings = headingsIn(lines);
  const level = LEVELS.find((each) => headings.filter((heading) => heading.level === each).length > 1);
  const starts = headings.filter((heading) => heading.level === level);
  return starts.map(({ heading, line }, index) => {
    const end = starts[index + 1]?.line ?? lines.length + 1;
    return { heading, from: line, to: lastWritten(lines, line, end - 1) };
  });
}

interface Heading {
  level: number;
  heading: string;
  line: number;
}

/** Lines of code that begin with # are not headings. */
function headingsIn(lines: readonly string[]): Heading[] {
  let fence: string | undefined;
  return lines.flatMap((text, index) => {
    const [, marks] = /^ {0,3}(`{3,}|~{3,})/.exec(text) ?? [];
    if (marks !== undefined && fence === undefined) fence = marks;
    else if (marks !== undefined && fence !== undefined && marks.startsWith(fence)) fence = undefined;
    if (fence !== undefined) return [];
    const [, hashes, heading] = /^(#{1,6}) +(.*\S)/.exec(text) ?? [];
    return hashes === undefined || heading === undefined ? [] : [{ level: hashes.length, heading, line: index + 1 }];
  });
}

function lastWritten(lines: readonly string[], from: number, to: number): number {
  const written = lines.slice(from - 1, to).findLastIndex((line) => line.trim() !== "");
  return from + Math.max(0, written);
}
