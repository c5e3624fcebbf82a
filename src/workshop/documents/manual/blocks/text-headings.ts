import { isBlank } from "../../text/text-lines.ts";

export interface TextHeading {
  level: number;
  text: string;
  /** The lines of the text and of its underline, counted from 0. */
  line: number;
  next: number;
}

const UNDERLINE = /^\s*([=\-~^"'*+#._])\1{2,}\s*$/;
const LEVELS: Readonly<Record<string, number>> = { "=": 1, "-": 2, "~": 3, "^": 4 };
const NUMBERED = /^\s{0,8}(\d{1,3}(?:\.\d{1,3}){0,5})(?:\.|\))?\s+(\S.{0,90})$/;
const CHAPTER = /^\s{0,8}(?:chapter|section|appendix|part|kapitel|anhang)\s+[\dA-Z]{1,4}\b.{0,80}$/i;
/** An entry of a table of contents: `2.1 Orders ........ 12`. */
export const CONTENTS_ENTRY = /\S\s*(?:\.\s?){4,}\s*\d{1,4}$/;

/** The heading at a line: marked with # or =, underlined, numbered, or in capitals. */
export function headingAt(lines: readonly string[], at: number): TextHeading | undefined {
  const text = lines[at] ?? "";
  const marked = /^(#{1,6}|={1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?$/.exec(text);
  if (marked) {
    const [, marks = "", words = ""] = marked;
    return { level: marks.length, text: words.trim(), line: at, next: at + 1 };
  }
  if (!isBlank(lines[at - 1]) && !UNDERLINE.test(lines[at - 1] ?? "")) return undefined;
  return underlined(lines, at) ?? numbered(lines, at) ?? inCapitals(lines, at);
}

function underlined(lines: readonly string[], at: number): TextHeading | undefined {
  const over = UNDERLINE.exec(lines[at] ?? "")?.[1];
  const line = over === undefined ? at : at + 1;
  const text = (lines[line] ?? "").trim();
  const under = lines[line + 1] ?? "";
  const mark = UNDERLINE.exec(under)?.[1];
  if (mark === undefined || text === "" || text.length > 120 || UNDERLINE.test(text)) return undefined;
  const length = under.trim().length;
  if ((over !== undefined && over !== mark) || length < text.length * 0.6 || length > text.length + 12)
    return undefined;
  // Chapters may be underlined and their sections not: then only the numbers say what is inside of what.
  const number = /^(\d{1,3}(?:\.\d{1,3}){0,5})[.)]?\s/.exec(text)?.[1];
  const level = number === undefined ? (LEVELS[mark] ?? 3) : Math.min(6, number.split(".").length);
  return { level, text, line, next: line + 2 };
}

function numbered(lines: readonly string[], at: number): TextHeading | undefined {
  const text = (lines[at] ?? "").trim();
  if (CHAPTER.test(text) && isBlank(lines[at + 1])) return { level: 1, text, line: at, next: at + 1 };
  const [, number = "", title = ""] = NUMBERED.exec(lines[at] ?? "") ?? [];
  if (number === "" || !isTitle(title)) return undefined;
  const level = number.split(".").length;
  if (level === 1) {
    // Items of a list may also have blank lines between them.
    const next = lines.slice(at + 1, at + 4).find((line) => !isBlank(line)) ?? "";
    const isList = NUMBERED.exec(next)?.[1] === String(Number(number) + 1);
    if (!isBlank(lines[at + 1]) || isList || Number(number) > 40) return undefined;
  }
  return { level: Math.min(6, level), text, line: at, next: at + 1 };
}

/** The name of a call: `photos.search`, `createOrder`. */
const CALL_NAME = /^[a-z]\w*(?:[.:/][A-Za-z]\w*)+$|^[a-z]+(?:_[a-z]+|[A-Z][a-z]+)+$/;

function isTitle(text: string): boolean {
  if (CALL_NAME.test(text)) return true;
  return /^["'`(]?[\p{Lu}\d/_]/u.test(text) && !/[.,;]$/.test(text) && !/ {3,}|\t/.test(text) && words(text) <= 14;
}

function inCapitals(lines: readonly string[], at: number): TextHeading | undefined {
  const text = (lines[at] ?? "").trim();
  if (text.length > 60 || !/\p{Lu}{4}/u.test(text) || /\p{Ll}/u.test(text)) return undefined;
  if (/[{}<>=|;_]| {3,}|^(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\b/.test(text)) return undefined;
  return isBlank(lines[at + 1]) || /^\s{2,}\S/.test(lines[at + 1] ?? "")
    ? { level: 2, text, line: at, next: at + 1 }
    : undefined;
}

function words(text: string): number {
  return text.split(/\s+/).length;
}
