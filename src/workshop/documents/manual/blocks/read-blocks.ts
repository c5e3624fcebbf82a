import type { ManualFormat } from "../../api-facts.ts";
import { readApart, ReadingProblem } from "../../apart/read-apart.ts";
import { unreadable, type LoadedDocument } from "../../parse-document.ts";
import type { Manual, LineRange } from "./manual.ts";

/** The longest manuals of APIs have two million. */
const MAX_LENGTH = 8 * 1024 * 1024;

/** Reads a manual as blocks. */
export async function readBlocks({ name, text, format }: LoadedDocument): Promise<Manual> {
  const manual = isManual(format) ? format : "text";
  if (text.length > MAX_LENGTH) throw tooLarge(name, `has more than ${MAX_LENGTH} characters`);
  const read = await readApart({ kind: "blocks", text, format: manual }, () => blocksOf(text, manual)).catch(
    (error: unknown) => {
      const isLimit = error instanceof ReadingProblem || error instanceof RangeError;
      throw isLimit ? tooLarge(name, error.message, error) : error;
    },
  );
  return { ...read, evidence: format === "pdf" ? pageEvidence(name, text) : (place) => lineEvidence(name, place) };
}

function isManual(format: LoadedDocument["format"]): format is ManualFormat {
  return ["markdown", "html", "text", "pdf"].includes(format);
}

/** The blocks of a text, read in this thread. A text beyond the limits throws RangeError. */
export async function blocksOf(text: string, format: ManualFormat): Promise<Omit<Manual, "evidence">> {
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
