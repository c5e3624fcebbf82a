import type { Effect, FieldSpec } from "../../file/model/tool-file.ts";
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
const NEXT = /^(?:next|next_?page|next_?(?:page_?)?(?:cursor|token)|cursor|end_?cursor)$/i;

/** Parameters with the number of items of a page. */
const SIZE = /^(?:limit|size|count|top|per_?page|page_?size|max_?results)$/i;

/** Proposes to gather pages, where parameters and the answer of a read look like a list in pages. */
export function askAboutPaging(
  { query, fields }: DraftedParameters,
  { type }: DraftedResponse,
  { tool, questions }: ToolPlace,
  { effect, evidence }: { effect: Effect; evidence: string },
): void {
  const members = type ? allFields(type) : new Map<string, FieldSpec>();
  const [list, ...more] = [...members].flatMap(([name, { shape }]) => (shape.kind === "list" ? [name] : []));
  if (effect !== "read" || list === undefined || more.length > 0 || members.has("more")) return;
  const fieldOf = (name: string | undefined) => {
    const field = name === undefined ? undefined : query[name];
    return typeof field === "string" ? field : undefined;
  };
  for (const { kind: usual, is } of PAGES) {
    const names = Object.keys(query).filter((name) => is.test(name));
    if (names.length !== 1 || fields.size === 0) continue;
    const to = fieldOf(names[0]);
    const spec = fields.get(to ?? "");
    const next = [...members.keys()].find((name) => NEXT.test(name));
    // A page that has a text as its name is one that the answer before names.
    const kind = usual === "page" && spec && !isNumber(spec) && next !== undefined ? "cursor" : usual;
    const isCursor = kind === "cursor";
    const sized = isCursor ? undefined : fieldOf(Object.keys(query).find((name) => SIZE.test(name)));
    const size = isNumber(fields.get(sized ?? "")) ? sized : undefined;
    const from = isCursor ? `from: ${next ?? "…"}, ` : "";
    const rest = size === undefined ? "" : `, size: ${size}`;
    const line = `paging: { items: ${list}, ${kind}: { ${from}to: ${to ?? "…"}${rest} } }`;
    const first = [
      ...(spec && !isCursor && !isNumber(spec) ? [`make ${to} an integer`] : []),
      ...(spec && !spec.optional && spec.default === undefined ? [`make ${to} optional`] : []),
    ];
    const ask = `The answer seems to come in pages (by ${kind}). Should the tool gather them? Then ${[...first, "add to it"].join(", ")}: ${line}`;
    const isWhole = to !== undefined && first.length === 0 && (!isCursor || next !== undefined);
    const pages = { ...(isCursor ? { from: next } : {}), to, ...(size === undefined ? {} : { size }) };
    const choices = [
      { answer: "no", set: {} },
      { answer: "yes", set: { paging: { items: list, [kind]: pages } } },
    ];
    questions.add(ask, `tools.${tool}`, evidence, isWhole ? choices : []);
    return;
  }
}

function isNumber(field: FieldSpec | undefined): boolean {
  return field?.shape.kind === "scalar" && (field.shape.type === "integer" || field.shape.type === "number");
}
