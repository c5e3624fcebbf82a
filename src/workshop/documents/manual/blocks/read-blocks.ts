import type { ManualFormat } from "../../api-facts.ts";
import { readApart, ReadingProblem, type ManualText } from "../../apart/read-apart.ts";
import { unreadable } from "../../parse-document.ts";
import type { Manual, LineRange } from "./manual.ts";

/** The longest manuals of APIs have two million. */
const MAX_LENGTH = 8 * 1024 * 1024;

/** A manual as it comes from the thread that reads it. */
export type ManualBlocks = Omit<Manual, "evidence">;

/** Reads a manual as blocks. */
export async function readBlocks({ name, text, format }: ManualText): Promise<ManualBlocks> {
  if (text.length > MAX_LENGTH) throw tooLarge(name, `has more than ${MAX_LENGTH} characters`);
  return refusingTooLarge(
    name,
    readApart({ kind: "blocks", text, format }, () => blocksOf(text, format)),
  );
}

/** Refuses a manual that is too large to be read. */
export async function refusingTooLarge<T>(name: string, reading: Promise<T>): Promise<T> {
  return reading.catch((error: unknown) => {
    const isLimit = error instanceof ReadingProblem || error instanceof RangeError;
    throw isLimit ? tooLarge(name, error.message, error) : error;
  });
}

/** How places of a manual are cited. */
export function evidenceIn({ name, text, format }: ManualText): Manual["evidence"] {
  return format === "pdf" ? pageEvidence(name, text) : (place) => lineEvidence(name, place);
}

/** The blocks of a text, read in this thread. A text beyond the limits throws RangeError. */
export async function blocksOf(text: string, format: ManualFormat): Promise<ManualBlocks> {
  if (format === "markdown") return (await import("./read-markdown.ts")).readMarkdown(text);
  if (format === "html") return (await import("./read-html.ts")).readHtml(text);
  return (await import("./read-text.ts")).readText(text);
}

function tooLarge(name: string, problem: string, cause?: unknown): Error {
  const fix = "Keep only the chapters that describe the calls of the API, and import those.";
  return unreadable(`The manual ${name} ${problem}`, fix, { cause });
}

function lineEvidence(name: string, { from, to }: LineRange): string {
  return from === to ? `${name}#L${from}` : `${name}#L${from}-L${to}`;
}

/** A PDF is cited by the page on which a place begins. */
function pageEvidence(name: string, text: string): (place: LineRange) => string {
  let page = 1;
  const pages = text.split("\n").map((line) => (page += line.split("\f").length - 1));
  return ({ from }) => `${name}#P${pages[from - 1] ?? page}`;
}
