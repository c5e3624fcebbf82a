import { sha256 } from "../../text/digest.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import { CitedDocument } from "./cited-document.ts";

/** A part of a document that is cited as evidence. */
export type Citation = CitedLines | CitedPage | CitedPart;

export interface CitedLines {
  document: string;
  /** The first and the last line, counted from 1. */
  from: number;
  to: number;
  /** The nearest heading above it, or the document's title. */
  heading: string;
  /** Hash of the cited lines, to detect changes. */
  sha256: string;
}

/** A page of a PDF. */
interface CitedPage {
  document: string;
  /** Counted from 1. */
  page: number;
  /** The first heading on it, the nearest one before it, or the document's title. */
  heading: string;
  /** Hash of its text, to detect changes. */
  sha256: string;
}

/** A part of a JSON or YAML document; the evidence has its JSON pointer. */
export interface CitedPart {
  document: string;
  /** Hash of the values of the part, to detect changes. */
  sha256: string;
}

/** Evidence that is not in its document, and its place in the tool file. */
export interface Outside {
  evidence: string;
  path: string;
  /** Why it is not there. */
  problem: string;
}

/** Citations that were made of the same documents before. */
export interface KnownCitations {
  citations: Readonly<Record<string, Citation>>;
  file: Pick<ToolFile, "documents">;
}

const LINES = /^L(\d+)(?:-L?(\d+))?$/;
const PAGE = /^P(\d+)$/;

/** All citations by their text, in the order of the documents. `known` saves the reading of unchanged documents. */
export function citationsOf(
  file: ToolFile,
  documents: Readonly<Record<string, string>>,
  known?: KnownCitations,
): { citations: Record<string, Citation>; outside: Outside[] } {
  const found: [string, Citation][] = [];
  const outside: Outside[] = [];
  const read = new Map(
    Object.entries(documents).map(([name, text]) => {
      const isKnown = known?.file.documents[name]?.sha256 === sha256(text);
      return [name, { cited: new CitedDocument(text, name), old: isKnown ? known?.citations : undefined }];
    }),
  );
  for (const [evidence, path] of allEvidence(file)) {
    const { document, place } = partsOfEvidence(evidence);
    const from = read.get(document);
    // A missing document is reported once, for the document.
    if (!from) continue;
    const { cited, old } = from;
    const kept = old && Object.hasOwn(old, evidence) ? old[evidence] : undefined;
    const citation = kept && !("heading" in kept) ? kept : citationOf(place, cited, { document, file });
    if (typeof citation === "string") outside.push({ evidence, path, problem: citation });
    else found.push([evidence, citation]);
  }
  found.sort(
    ([a, one], [b, other]) => compare(one.document, other.document) || byLines(one, other) || byPart(a, b, one),
  );
  return { citations: Object.fromEntries(found), outside };
}

export function isLines(citation: Citation): citation is CitedLines {
  return "from" in citation;
}

export function isPage(citation: Citation): citation is CitedPage {
  return "page" in citation;
}

/** `manual#L12` is the document `manual` and the place `L12`. */
export function partsOfEvidence(evidence: string): { document: string; place: string } {
  const at = evidence.indexOf("#");
  return { document: evidence.slice(0, at), place: evidence.slice(at + 1) };
}

/** Each place of the file that has evidence, with its path. */
export function evidencedPlaces(file: ToolFile): (readonly [path: string, evidence: readonly string[]])[] {
  return [
    ...Object.entries(file.types).flatMap(([type, { fields, rules, evidence = [] }]) => [
      ...(evidence.length === 0 ? [] : [[`types.${type}`, evidence] as const]),
      ...Object.entries(fields).map(([name, field]) => [`types.${type}.fields.${name}`, field.evidence] as const),
      ...rules.map((rule, index) => [`types.${type}.rules.${index}`, rule.evidence] as const),
    ]),
    ...Object.entries(file.settings ?? {}).map(([name, { evidence }]) => [`settings.${name}`, evidence] as const),
    ...Object.entries(file.tools).map(([name, { evidence }]) => [`tools.${name}`, evidence] as const),
  ];
}

/** The citation, or why there is none. */
function citationOf(
  place: string,
  cited: CitedDocument,
  { document, file }: { document: string; file: ToolFile },
): Citation | string {
  const page = PAGE.exec(place)?.[1];
  if (page !== undefined) return pageCitation(Number(page), cited, { document, file });
  const [lines, first, last = first] = LINES.exec(place) ?? [];
  if (lines === undefined) {
    const hash = cited.partHash(place);
    if (hash !== undefined) return { document, sha256: hash };
    return cited.problem ?? `there is no ${place === "" ? "content" : place} in it`;
  }
  const [from, to] = [Number(first), Number(last)];
  const count = cited.lines.length;
  if (!(from >= 1 && from <= to && to <= count)) {
    return `it has ${cited.lines.at(-1) === "" ? count - 1 : count} lines, counted from 1`;
  }
  const heading = cited.headingAbove(from) ?? file.documents[document]?.title ?? document;
  return { document, from, to, heading, sha256: sha256(cited.quote({ from, to })) };
}

function pageCitation(
  page: number,
  cited: CitedDocument,
  { document, file }: { document: string; file: ToolFile },
): CitedPage | string {
  const text = cited.findPage(page);
  if (text === undefined) return `it has ${cited.pages.length} pages, counted from 1`;
  const heading = cited.headingOfPage(page) ?? file.documents[document]?.title ?? document;
  return { document, page, heading, sha256: sha256(text) };
}

/** Each with the first place where it is used. */
function allEvidence(file: ToolFile): Map<string, string> {
  const found = new Map<string, string>();
  for (const [path, evidence] of evidencedPlaces(file)) {
    for (const each of evidence) if (!found.has(each)) found.set(each, `${path}.evidence`);
  }
  return found;
}

/** Lines come before pages, and those before parts. */
function byLines(a: Citation, b: Citation): number {
  if (isLines(a) && isLines(b)) return a.from - b.from || a.to - b.to;
  if (isPage(a) && isPage(b)) return a.page - b.page;
  return Number(isLines(b)) - Number(isLines(a)) || Number(isPage(b)) - Number(isPage(a));
}

/** Lines that are cited in two ways stay in the order of the file. */
function byPart(a: string, b: string, one: Citation): number {
  return isLines(one) ? 0 : compare(a, b);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
