import type { ManualFormat } from "../../api-facts.ts";
import type { LoadedDocument } from "../../parse-document.ts";
import type { Manual, Place } from "./manual.ts";

/** Reads a manual as blocks. */
export async function readBlocks({ name, text, format }: LoadedDocument): Promise<Manual> {
  const read = await blocksOf(text, isManual(format) ? format : "text");
  return { ...read, evidence: format === "pdf" ? pageEvidence(name, text) : (place) => lineEvidence(name, place) };
}

function isManual(format: LoadedDocument["format"]): format is ManualFormat {
  return ["markdown", "html", "text", "pdf"].includes(format);
}

async function blocksOf(text: string, format: ManualFormat): Promise<Omit<Manual, "evidence">> {
  if (format === "markdown") return (await import("./read-markdown.ts")).readMarkdown(text);
  if (format === "html") return (await import("./html/read-html.ts")).readHtml(text);
  return (await import("./text/read-text.ts")).readText(text);
}

function lineEvidence(name: string, { from, to }: Place): string {
  return from === to ? `${name}#L${from}` : `${name}#L${from}-L${to}`;
}

/** A PDF is cited by the page on which a place begins. */
function pageEvidence(name: string, text: string): (place: Place) => string {
  let page = 1;
  const pages = text.split("\n").map((line) => (page += line.split("\f").length - 1));
  return ({ from }) => `${name}#P${pages[from - 1] ?? page}`;
}
