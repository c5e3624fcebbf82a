import type { Evidence } from "../../api-facts.ts";

/** A manual as a list of blocks in reading order, whatever its format. */
export interface Manual {
  title?: string;
  blocks: ManualBlock[];
  /** `doc#L3-L7`, or `doc#P5` for a page of a PDF. */
  evidence(place: LineRange): Evidence;
}

/** Lines of the document's text, counted from 1. */
export interface LineRange {
  from: number;
  to: number;
}

/** Plain text; code spans keep their backquotes. */
export interface ManualCell {
  text: string;
  place: LineRange;
}

/** `text` is plain, except that code spans keep their backquotes. Line breaks in a paragraph or an item are kept. */
export type ManualBlock =
  | { kind: "heading"; level: number; text: string; place: LineRange }
  | { kind: "paragraph"; text: string; place: LineRange }
  /** An item of a list; `level` counts from 1. */
  | { kind: "item"; level: number; text: string; place: LineRange }
  /** All rows have as many cells as the head, whose texts are empty if the table has none. */
  | { kind: "table"; caption?: string; head: ManualCell[]; rows: ManualCell[][]; place: LineRange }
  | CodeBlock;

/** Code as it is written. Its first line is the line `textFrom` of the document. */
export interface CodeBlock {
  kind: "code";
  language?: string;
  text: string;
  textFrom: number;
  place: LineRange;
}
