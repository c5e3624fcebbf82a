import type { LoadedDocument } from "../../parse-document.ts";
import { lineEvidence, type Manual } from "./manual.ts";

/** Reads a manual as blocks. */
export async function readBlocks(document: LoadedDocument): Promise<Manual> {
  const { readMarkdown } = await import("./read-markdown.ts");
  return { ...readMarkdown(document.text), evidence: (place) => lineEvidence(document.name, place) };
}
