import type { LoadedDocument } from "../../parse-document.ts";
import { lineEvidence, type Manual } from "./manual.ts";

/** Reads a manual as blocks. */
export async function readBlocks(document: LoadedDocument): Promise<Manual> {
  return { ...(await readerOf(document)), evidence: (place) => lineEvidence(document.name, place) };
}

async function readerOf({ text, format }: LoadedDocument): Promise<Omit<Manual, "evidence">> {
  if ((format as string) === "html") {
    const { readHtml } = await import("./html/read-html.ts");
    return readHtml(text);
  }
  const { readMarkdown } = await import("./read-markdown.ts");
  return readMarkdown(text);
}
