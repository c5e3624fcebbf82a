import { nearestName } from "../../../text/nearest-name.ts";
import type { Part } from "../../../format/part.ts";

/** Lines, or a page of a PDF. */
const LINES = /^(?:([\w-]+)#)?(?:L([1-9]\d{0,6})(?:-L([1-9]\d{0,6}))?|P[1-9]\d{0,5})$/;
const POINTER = /^(?:([\w-]+)#)(?:\/[^]*)?$/;
const HOW =
  "Write document#L12, document#L12-L20, document#P5 (a page) or document#/json/pointer; L12 if there is one document.";

/** `manual#L12`, `manual#L12-L20`, `manual#P5` or `openapi#/paths/~1pets`; one, several lines with commas, or a list. */
export function readEvidence(part: Part, documents: readonly string[]): string[] {
  return part.oneOrMore().flatMap((item) => {
    const text = item.text();
    if (text === undefined) return [];
    return inPieces(text).map((piece) => complete(item, piece, documents));
  });
}

/** Commas separate lines; a JSON pointer may contain them. */
function inPieces(text: string): string[] {
  const pieces = text.split(",").map((piece) => piece.trim());
  return pieces.every((piece) => LINES.test(piece)) ? pieces : [text];
}

/** With the name of its document. */
function complete(item: Part, text: string, documents: readonly string[]): string {
  const lines = LINES.exec(text);
  const [only, ...others] = documents;
  const document = lines ? (lines[1] ?? (others.length === 0 ? only : undefined)) : POINTER.exec(text)?.[1];
  if (document === undefined) {
    const why = lines
      ? `"${text}" does not name one of ${documents.length} documents`
      : `"${text}" names no part of a document`;
    item.error(why, HOW);
    return text;
  }
  if (!documents.includes(document)) {
    const meant = nearestName(document, documents);
    item.error(`there is no document "${document}"`, meant ? `Did you mean "${meant}"?` : "Name it in documents.");
  } else if (lines && Number(lines[3] ?? lines[2]) < Number(lines[2])) {
    item.error(`"${text}" ends before it begins`);
  }
  return lines && lines[1] === undefined ? `${document}#${text}` : text;
}
