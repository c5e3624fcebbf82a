import { sha256 } from "../../protocol/digest.ts";
import type { ToolFile } from "../file/tool-file.ts";

/** A part of a document that the file leans on. */
export interface Citation {
  document: string;
  /** The first and the last line, counted from 1. */
  from: number;
  to: number;
  /** The nearest heading above it, or the document's title. */
  heading: string;
  /** Of the quoted lines: tells whether they still say the same. */
  sha256: string;
}

const EVIDENCE = /^([\w-]+)#L(\d+)(?:-L?(\d+))?$/;

/** Every part that is cited, by how it is written, in the order of the documents. */
export function citationsOf(
  file: ToolFile,
  documents: Readonly<Record<string, string>>,
): { citations: Record<string, Citation>; outside: string[] } {
  const found: [string, Citation][] = [];
  const outside: string[] = [];
  for (const evidence of allEvidence(file)) {
    const citation = citationOf(evidence, file, documents);
    if (citation) found.push([evidence, citation]);
    else outside.push(evidence);
  }
  found.sort(([, a], [, b]) => compare(a.document, b.document) || a.from - b.from || a.to - b.to);
  return { citations: Object.fromEntries(found), outside };
}

/** The lines that are cited. */
export function quote(text: string, { from, to }: Pick<Citation, "from" | "to">): string {
  return text
    .split(/\r?\n/)
    .slice(from - 1, to)
    .join("\n");
}

function citationOf(
  evidence: string,
  file: ToolFile,
  documents: Readonly<Record<string, string>>,
): Citation | undefined {
  const [, document = "", first, last = first] = EVIDENCE.exec(evidence) ?? [];
  const text = documents[document];
  if (text === undefined) return undefined;
  const [from, to] = [Number(first), Number(last)];
  const lines = text.split(/\r?\n/);
  if (!(from >= 1 && from <= to && to <= lines.length)) return undefined;
  const heading = headingAbove(lines, from) ?? file.documents[document]?.title ?? document;
  return { document, from, to, heading, sha256: sha256(quote(text, { from, to })) };
}

function headingAbove(lines: readonly string[], from: number): string | undefined {
  const above = lines.slice(0, from).findLast((line) => /^#{1,6} /.test(line));
  return above?.replace(/^#+ +/, "").trim();
}

function allEvidence(file: ToolFile): Set<string> {
  const places = [
    ...Object.values(file.types).flatMap(({ fields, rules }) => [...Object.values(fields), ...rules]),
    ...Object.values(file.tools),
  ];
  return new Set(places.flatMap(({ evidence }) => evidence));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
