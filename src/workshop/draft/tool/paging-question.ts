import { allFields } from "../types/draft-type.ts";
import type { DraftedParameters, ToolPlace } from "./draft-parameters.ts";
import type { DraftedResponse } from "./draft-response.ts";

const PAGES = [
  {
    kind: "cursor",
    is: /^(?:cursor|next_?cursor|start_?cursor|page_?token|next_?token|continue|after|starting_?after)$/i,
  },
  { kind: "page", is: /^(?:page|page_?number|page_?index|p)$/i },
  { kind: "offset", is: /^(?:offset|skip|start|start_?at|start_?index)$/i },
] as const;

/** Proposes to gather pages, where parameters and the answer look like a list in pages. */
export function askAboutPaging(
  { query, fields }: DraftedParameters,
  { type }: DraftedResponse,
  { tool, questions }: ToolPlace,
  evidence: string,
): void {
  const lists = type ? [...allFields(type)].filter(([, field]) => field.shape.kind === "list") : [];
  if (lists.length !== 1) return;
  for (const { kind, is } of PAGES) {
    const names = Object.keys(query).filter((name) => is.test(name));
    if (names.length !== 1 || fields.size === 0) continue;
    const ask = `The answer seems to come in pages (by ${kind}). Should the tool gather them? See "paging" in the reference.`;
    questions.add(ask, `tools.${tool}`, evidence);
    return;
  }
}
