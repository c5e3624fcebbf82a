import { shorten } from "../../text/shorten.ts";
import { visible } from "../../text/visible.ts";
import { partsOfEvidence } from "../../workshop/compile/citations.ts";
import { CitedDocument, partText } from "../../workshop/compile/cited-document.ts";

/** The beginning is enough to recognise a part; the document has the rest. */
const SHOWN = 240;

/** Each place of the documents with the beginning of what it says, on one line each. */
export function quotedEvidence(evidence: readonly string[], documents: Readonly<Record<string, string>>): string[] {
  const read = new Map(Object.entries(documents).map(([name, text]) => [name, new CitedDocument(text, name)]));
  return evidence.map((each) => {
    const { document, place } = partsOfEvidence(each);
    const text = read.get(document);
    return `${each}: ${visible(shorten(textAt(text, place).replaceAll(/\s+/g, " ").trim(), SHOWN))}`;
  });
}

function textAt(document: CitedDocument | undefined, place: string): string {
  const [lines, from, to = from] = /^L(\d+)(?:-L(\d+))?$/.exec(place) ?? [];
  if (lines !== undefined) return document?.quote({ from: Number(from), to: Number(to) }) ?? "";
  const page = /^P(\d+)$/.exec(place)?.[1];
  if (page !== undefined) return document?.findPage(Number(page)) ?? "";
  const part = document?.findPart(place);
  return part ? partText(part) : "";
}
