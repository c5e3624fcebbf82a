import { hasInvisible, INVISIBLE } from "./invisible.ts";

/** A byte in a URL, also encoded twice; an escape of JSON; other backslashes; a line break; spaces, also as forms write them. */
const ENCODED = /%(?:25)*([0-9a-f]{2})|\\+u([0-9a-f]{4})|\\+([nrt])|\\+|\r?\n[ \t]*|[\t+][ \t+]*| [ \t+]+/gi;
/** The same, and what cannot be seen: few texts have it, and the search takes longer. */
const ENCODED_OR_INVISIBLE = new RegExp(`${ENCODED.source}|${INVISIBLE}`, ENCODED.flags);
const HALF_ENCODED = /(?:%(?:25)*[0-9a-f]?|\\+(?:u[0-9a-f]{0,3})?)$/i;

/** A text after decoding, and where each of its characters was written. */
interface DecodedText {
  text: string;
  startOf: (index: number) => number;
  endOf: (index: number) => number;
}

/** Decodes URLs, forms and JSON, removes line breaks, backslashes and what cannot be seen, and makes one space of several. */
export function decodeText(written: string): string {
  return written.replace(encodedIn(written), (found, byte?: string, unit?: string, sign?: string) => {
    return meaningOf(found, byte ?? unit, sign);
  });
}

/** The same with positions; it takes longer. */
export function decodeWithPositions(written: string): DecodedText {
  const pieces: Piece[] = [];
  let saved = 0;
  const text = written.replace(encodedIn(written), (found: string, ...more: unknown[]) => {
    const [byte, unit, sign, at] = more as [string | undefined, string | undefined, string | undefined, number];
    const meaning = meaningOf(found, byte ?? unit, sign);
    pieces.push({ index: at - saved, start: at, end: at + found.length, length: meaning.length });
    saved += found.length - meaning.length;
    return meaning;
  });
  return { text, startOf: (index) => placeOf(index, pieces).start, endOf: (index) => placeOf(index, pieces).end };
}

function encodedIn(text: string): RegExp {
  return hasInvisible(text) ? ENCODED_OR_INVISIBLE : ENCODED;
}

/** An encoded part of the text. */
interface Piece {
  /** Its position in the decoded text, where it is one character or none. */
  index: number;
  length: number;
  start: number;
  end: number;
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
  if (piece.index === index && piece.length > 0) return piece;
  const start = piece.end + index - piece.index - piece.length;
  return { start, end: start + 1 };
}

/** Removes an incomplete encoded part at the end. */
export function withoutHalfEncoded(written: string): string {
  return written.replace(HALF_ENCODED, "");
}

function meaningOf(found: string, code: string | undefined, sign: string | undefined): string {
  if (code !== undefined) return plain(String.fromCharCode(parseInt(code, 16)));
  if (sign !== undefined) return sign === "t" ? " " : "";
  return found[0] === " " || found[0] === "\t" || found[0] === "+" ? " " : "";
}

function plain(character: string): string {
  if (character === "\n" || character === "\r" || character === "\\") return "";
  return character === "+" || character === "\t" ? " " : character;
}
