import { nearestName } from "../../../text/nearest-name.ts";
import type { Part } from "./part.ts";

const EVIDENCE = /^([\w-]+)#L([1-9]\d{0,6})(?:-L([1-9]\d{0,6}))?$/;

/** `manual#L12` or `manual#L12-L20`, one or a list. */
export function readEvidence(part: Part, documents: readonly string[]): string[] {
  return part.oneOrMore().flatMap((item) => {
    const text = item.text();
    if (text === undefined) return [];
    const [, document, from, to = from] = EVIDENCE.exec(text) ?? [];
    if (document === undefined) {
      item.error(`"${text}" names no lines of a document`, "Write document#L12, or document#L12-L20.");
    } else if (!documents.includes(document)) {
      const meant = nearestName(document, documents);
      item.error(`there is no document "${document}"`, meant ? `Did you mean "${meant}"?` : "Name it in documents.");
    } else if (Number(to) < Number(from)) {
      item.error(`"${text}" ends before it begins`);
    }
    return [text];
  });
}
