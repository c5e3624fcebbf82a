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

/** Members of answers that name the next page. */
const NEXT = /^(?:next|next_?(?:page_?)?(?:cursor|token)|cursor|end_?cursor)$/i;

/** Parameters with the number of items of a page. */
const SIZE = /^(?:limit|size|count|top|per_?page|page_?size|max_?results)$/i;

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
    const [to] = names.map((name) => query[name]);
    const next = type && [...allFields(type).keys()].find((name) => NEXT.test(name));
    const from = kind === "cursor" ? `from: ${next ?? "…"}, ` : "";
    const size = Object.keys(query).find((name) => kind !== "cursor" && SIZE.test(name));
    const [field, sized] = [to, size && query[size]].map((value) => (typeof value === "string" ? value : undefined));
    const rest = sized === undefined ? "" : `, size: ${sized}`;
    const items = lists[0]?.[0];
    const line = `paging: { items: ${items}, ${kind}: { ${from}to: ${field ?? "…"}${rest} } }`;
    const ask = `The answer seems to come in pages (by ${kind}). Should the tool gather them? Then add to it: ${line}`;
    const isKnown = field !== undefined && (kind !== "cursor" || next !== undefined);
    const pages = {
      ...(kind === "cursor" ? { from: next } : {}),
      to: field,
      ...(sized === undefined ? {} : { size: sized }),
    };
    const paging = { items, [kind]: pages };
    const choices = [
      { answer: "no", set: {} },
      { answer: "yes", set: { paging } },
    ];
    questions.add(ask, `tools.${tool}`, evidence, isKnown ? choices : []);
    return;
  }
}
