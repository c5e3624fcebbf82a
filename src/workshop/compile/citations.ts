import { sha256 } from "../../text/digest.ts";
import type { ToolFile } from "../file/model/tool-file.ts";

/** A part of a document that is cited as evidence. */
export interface Citation {
  document: string;
  /** The first and the last line, counted from 1. */
  from: number;
  to: number;
  /** The nearest heading above it, or the document's title. */
  heading: string;
  /** Hash of the cited lines, to detect changes. */
  sha256: string;
}

/** Evidence beyond the end of its document, and its place in the tool file. */
export interface Outside {
  evidence: string;
  path: string;
  /** The number of lines of the document. */
  lines: number;
}

const EVIDENCE = /^([\w-]+)#L(\d+)(?:-L?(\d+))?$/;

/** All citations by their text, in the order of the documents. */
export function citationsOf(
  file: ToolFile,
  documents: Readonly<Record<string, string>>,
): { citations: Record<string, Citation>; outside: Outside[] } {
  const found: [string, Citation][] = [];
  const outside: Outside[] = [];
  for (const [evidence, path] of allEvidence(file)) {
    const text = documents[documentOf(evidence)];
    // A missing document is reported once, for the document.
    if (text === undefined) continue;
    const citation = citationOf(evidence, file, text);
    if (citation) found.push([evidence, citation]);
    else outside.push({ evidence, path, lines: linesOf(text.replace(/\n$/, "")).length });
  }
  found.sort(([, a], [, b]) => compare(a.document, b.document) || a.from - b.from || a.to - b.to);
  return { citations: Object.fromEntries(found), outside };
}

/** The lines that are cited. */
export function quote(text: string, { from, to }: Pick<Citation, "from" | "to">): string {
  return linesOf(text)
    .slice(from - 1, to)
    .join("\n");
}

function linesOf(text: string): string[] {
  return text.split(/\r?\n/);
}

function documentOf(evidence: string): string {
  return evidence.slice(0, evidence.indexOf("#"));
}

function citationOf(evidence: string, file: ToolFile, text: string): Citation | undefined {
  const [, document = "", first, last = first] = EVIDENCE.exec(evidence) ?? [];
  const [from, to] = [Number(first), Number(last)];
  const lines = linesOf(text);
  if (!(from >= 1 && from <= to && to <= lines.length)) return undefined;
  const heading = headingAbove(lines, from) ?? file.documents[document]?.title ?? document;
  return { document, from, to, heading, sha256: sha256(quote(text, { from, to })) };
}

function headingAbove(lines: readonly string[], from: number): string | undefined {
  const above = lines.slice(0, from).findLast((line) => /^#{1,6} /.test(line));
  return above?.replace(/^#+ +/, "").trim();
}

/** Each with the first place where it is used. */
function allEvidence(file: ToolFile): Map<string, string> {
  const places = [
    ...Object.entries(file.types).flatMap(([type, { fields, rules }]) => [
      ...Object.entries(fields).map(([name, field]) => [`types.${type}.fields.${name}.evidence`, field] as const),
      ...rules.map((rule) => [`types.${type}.rules`, rule] as const),
    ]),
    ...Object.entries(file.settings ?? {}).map(([name, setting]) => [`settings.${name}.evidence`, setting] as const),
    ...Object.entries(file.tools).map(([name, tool]) => [`tools.${name}.evidence`, tool] as const),
  ];
  const found = new Map<string, string>();
  for (const [path, { evidence }] of places) {
    for (const lines of evidence) if (!found.has(lines)) found.set(lines, path);
  }
  return found;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
