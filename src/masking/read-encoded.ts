/**
 * Characters that take no room: soft hyphens, joiners, marks of direction, variation selectors, tags. Without the flag
 * `u`, with which a search takes several times as long.
 */
const INVISIBLE = String.raw`[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\udb40-\udb43][\udc00-\udfff]`;
/** Without the soft hyphen: then a text in Latin letters needs no search, because none of these can be in it. */
const BEYOND_LATIN = new RegExp(INVISIBLE.replace(String.raw`\u00ad`, ""));

/** What begins an encoded part: of an address, of JSON, of markup; a blank of a form; a line break; several blanks. */
const MARK = /[%\\&+\t\n]|\r(?=\n)| (?=[ \t+])/g;
const SIGNS = ["\\", "%", "&", "+", "\n", "\t", "  "];
const ENTITY = /&(?:amp;)*(?:#0{0,9}(\d{1,7})|#x0{0,9}([\da-f]{1,6})|(amp|lt|gt|quot|apos));/iy;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const INDENT = /(?:[ \t]|\\+[t\t])*/iy;
const HALF_ENCODED = /(?:%(?:25)*[0-9a-f]?|\\+(?:u[0-9a-f]{0,3})?|&(?:amp;)*#?\w{0,8})$/i;

/** A text as it is meant, and where each of its characters was written. */
export interface ReadText {
  text: string;
  startOf: (index: number) => number;
  endOf: (index: number) => number;
}

/** An encoded part of a text. */
interface Piece {
  /** Its position in what is read, where it is one or two characters or none. */
  index: number;
  length: number;
  start: number;
  end: number;
}

/**
 * Reads addresses, forms, JSON and markup, also encoded twice; removes line breaks, backslashes and what cannot be seen, and
 * makes one blank of several. A text without any of that is returned as it is, after one search.
 */
export function readEncoded(written: string): string {
  const seen = withoutInvisible(written);
  for (const sign of SIGNS) if (seen.includes(sign)) return decoded(seen);
  return seen;
}

/** The same with positions; it takes longer. */
export function readWithPositions(written: string): ReadText {
  const gaps: Piece[] = [];
  const seen = withoutInvisible(written, gaps);
  const pieces: Piece[] = [];
  const text = decoded(seen, pieces);
  return {
    text,
    startOf: (index) => placeOf(placeOf(index, pieces).start, gaps).start,
    endOf: (index) => placeOf(placeOf(index, pieces).end - 1, gaps).end,
  };
}

/** Removes an incomplete encoded part at the end. */
export function withoutHalfEncoded(written: string): string {
  return written.replace(HALF_ENCODED, "");
}

function withoutInvisible(text: string, gaps?: Piece[]): string {
  if (!text.includes("\u00ad") && !BEYOND_LATIN.test(text)) return text;
  let removed = 0;
  return text.replaceAll(new RegExp(INVISIBLE, "g"), (found, at: number) => {
    gaps?.push({ index: at - removed, start: at, end: at + found.length, length: 0 });
    removed += found.length;
    return "";
  });
}

/** By hand, because every call of a tool passes here: a replacement with a function takes four times as long. */
function decoded(written: string, pieces?: Piece[]): string {
  let text = "";
  let done = 0;
  let isAfterBlank = false;
  MARK.lastIndex = 0;
  while (MARK.test(written)) {
    const start = MARK.lastIndex - 1;
    let { end, meaning } = partAt(written, start);
    if (end === start) continue;
    if (start > done) isAfterBlank = written[start - 1] === " ";
    text += written.slice(done, start);
    if (meaning === " " || (meaning === "" && isAfterBlank)) end = endOfBlanks(written, end);
    if (meaning === " " && isAfterBlank) meaning = "";
    pieces?.push({ index: text.length, start, end, length: meaning.length });
    text += meaning;
    if (meaning !== "") isAfterBlank = meaning === " ";
    MARK.lastIndex = done = end;
  }
  return text + written.slice(done);
}

interface Part {
  /** The start itself where nothing is encoded there. */
  end: number;
  meaning: string;
}

function partAt(text: string, start: number): Part {
  switch (text.charAt(start)) {
    case "%":
      return byteAt(text, start);
    case "\\":
      return escapeAt(text, start);
    case "&":
      return entityAt(text, start);
    case "\r":
    case "\n":
      return { end: endOfIndent(text, text.indexOf("\n", start) + 1), meaning: "" };
    default:
      return { end: start + 1, meaning: " " };
  }
}

function byteAt(text: string, start: number): Part {
  let at = start + 1;
  while (text.startsWith("25", at) && codeAt(text, at + 2, 2) !== undefined) at += 2;
  const code = codeAt(text, at, 2);
  return code === undefined ? { end: start, meaning: "" } : { end: at + 2, meaning: plain(String.fromCharCode(code)) };
}

function escapeAt(text: string, start: number): Part {
  let at = start + 1;
  while (text[at] === "\\") at++;
  switch (text.charAt(at).toLowerCase()) {
    case "u": {
      const code = codeAt(text, at + 1, 4);
      return code === undefined ? { end: at, meaning: "" } : { end: at + 5, meaning: plain(String.fromCharCode(code)) };
    }
    case "n":
    case "r":
      return { end: endOfIndent(text, at + 1), meaning: "" };
    case "t":
      return { end: at + 1, meaning: " " };
    default:
      return { end: at, meaning: "" };
  }
}

function entityAt(text: string, start: number): Part {
  ENTITY.lastIndex = start;
  const found = ENTITY.exec(text);
  if (!found) return { end: start, meaning: "" };
  const [, decimal, hex, name = ""] = found;
  const code = decimal === undefined ? parseInt(hex ?? "", 16) : Number(decimal);
  const meaning = ENTITIES[name.toLowerCase()] ?? (code <= 0x10ffff ? String.fromCodePoint(code) : "");
  return { end: ENTITY.lastIndex, meaning: plain(meaning) };
}

function codeAt(text: string, start: number, digits: number): number | undefined {
  const written = text.slice(start, start + digits);
  return written.length === digits && !/[^\da-f]/i.test(written) ? parseInt(written, 16) : undefined;
}

function plain(character: string): string {
  if (character === "\n" || character === "\r" || character === "\\") return "";
  return character === "+" || character === "\t" ? " " : character;
}

function endOfBlanks(text: string, start: number): number {
  let end = start;
  while (end < text.length && " \t+".includes(text.charAt(end))) end++;
  return end;
}

/** After a line break; a sign for a form may belong to a value that was broken there. */
function endOfIndent(text: string, start: number): number {
  INDENT.lastIndex = start;
  INDENT.test(text);
  return INDENT.lastIndex;
}

function placeOf(index: number, pieces: readonly Piece[]): { start: number; end: number } {
  // The last one that does not begin later.
  let [low, high] = [0, pieces.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pieces[middle]?.index ?? 0) <= index) low = middle + 1;
    else high = middle;
  }
  const piece = pieces[low - 1];
  if (!piece) return { start: index, end: index + 1 };
  if (index < piece.index + piece.length) return piece;
  const start = piece.end + index - piece.index - piece.length;
  return { start, end: start + 1 };
}
