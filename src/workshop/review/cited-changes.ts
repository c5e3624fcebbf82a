import { isLines, isPage, partsOfEvidence, type Citation, type CitedLines } from "../compile/citations.ts";
import { CitedDocument } from "../compile/cited-document.ts";
import { changeOf, type ApiChange } from "./api-change.ts";

type Citations = Readonly<Record<string, Citation>>;

/** Citations that are new or whose text changed: callers can read these parts and the headings above them. */
export function citedChanges(
  before: Citations,
  after: Citations,
  documents: Readonly<Record<string, string>>,
): ApiChange[] {
  const fresh = Object.entries(after).filter(([evidence, citation]) => {
    const old = Object.hasOwn(before, evidence) ? before[evidence] : undefined;
    return !old || old.sha256 !== citation.sha256 || headingOf(old) !== headingOf(citation);
  });
  const names = [...new Set(fresh.map(([, { document }]) => document))];
  return names.map((name) => {
    const cited = fresh.filter(([, { document }]) => document === name);
    const text = documents[name];
    // Without the text, only the places can be shown.
    const shown = text === undefined ? Object.fromEntries(cited) : textsOf(new CitedDocument(text, name), cited);
    const message = `${cited.length} cited ${cited.length === 1 ? "part is" : "parts are"} new or changed`;
    return changeOf({ kind: "document changed", path: `documents.${name}`, message }, [undefined, shown]);
  });
}

function headingOf(citation: Citation): string | undefined {
  return isLines(citation) || isPage(citation) ? citation.heading : undefined;
}

/** What is cited: each line and each part once. */
function textsOf(document: CitedDocument, cited: readonly (readonly [string, Citation])[]): Record<string, unknown> {
  const lines = cited.map(([, citation]) => citation).filter(isLines);
  const pages = cited.map(([, citation]) => citation).filter(isPage);
  const pointers = cited.flatMap(([evidence, each]) =>
    isLines(each) || isPage(each) ? [] : [partsOfEvidence(evidence).place],
  );
  const headings = [...new Set([...lines, ...pages].map(({ heading }) => heading))];
  return {
    ...(headings.length === 0 ? {} : { headings }),
    ...(lines.length === 0 ? {} : { lines: linesOf(document, lines) }),
    ...(pages.length === 0
      ? {}
      : { pages: Object.fromEntries(pages.map(({ page }) => [`P${page}`, document.findPage(page)])) }),
    ...(pointers.length === 0 ? {} : { parts: partsOf(document, pointers) }),
  };
}

/** Each line once, by its number. */
function linesOf(document: CitedDocument, cited: readonly CitedLines[]): Record<string, string> {
  const numbers = cited.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, index) => from + index));
  const unique = [...new Set(numbers)].sort((a, b) => a - b);
  return Object.fromEntries(unique.map((number) => [`L${number}`, document.quote({ from: number, to: number })]));
}

/** By JSON pointer. A part inside of another one is shown with it. */
function partsOf(document: CitedDocument, pointers: readonly string[]): Record<string, unknown> {
  const all = new Set(pointers);
  const outer = pointers.filter((pointer) => {
    for (let end = pointer.lastIndexOf("/"); end >= 0; end = end === 0 ? -1 : pointer.lastIndexOf("/", end - 1)) {
      if (all.has(pointer.slice(0, end))) return false;
    }
    return true;
  });
  return Object.fromEntries(outer.map((pointer) => [pointer, document.findPart(pointer)?.value]));
}
