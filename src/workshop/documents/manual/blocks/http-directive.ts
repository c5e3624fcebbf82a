import { indentOf, isBlank } from "../../text/text-lines.ts";
import type { LineRange, ManualBlock, ManualCell } from "./manual.ts";

/** `.. http:get:: /devices/(int:id)`, as Sphinx writes requests. */
const DIRECTIVE = /^\s*\.\. http:(get|post|put|patch|delete|head|options|any)::\s+(\S.*)$/i;
/** `:query int page: the page`, `:<json string name: the name`, `:status 404: not there`. */
const FIELD =
  /^\s*:(param(?:eter)?|arg(?:ument)?|query(?:parameter|param)?|form(?:parameter|param)?|json(?:parameter|param)?|[<>]json(?:arr)?|req(?:uest)?json(?:obj|arr)?|res(?:ponse)?json(?:obj|arr)?|req(?:uest)?header|<header|res(?:ponse)?header|>header|status(?:code)?|code|type)\s+(?:([^\s:]+)\s+)?([^\s:]+):\s*(.*)$/i;
/** Below all headings that are underlined. */
const LEVEL = 5;

interface FieldLine {
  kind: string;
  type: string;
  name: string;
  text: string;
  place: LineRange;
}

/** The request that a directive describes, as a heading: `GET /devices/{id}`. */
export function httpDirective(line: string): { level: number; text: string } | undefined {
  const [, method, path] = DIRECTIVE.exec(line) ?? [];
  if (method === undefined || path === undefined) return undefined;
  const template = path.trim().replaceAll(/\((?:[^():]*:)?([\w-]+)\)/g, "{$1}");
  return { level: LEVEL, text: `${method.toLowerCase() === "any" ? "POST" : method.toUpperCase()} ${template}` };
}

/** Consecutive fields: a table of what is sent, one of what is answered, and the statuses as items. */
export function httpFieldsAt(
  lines: readonly string[],
  at: number,
): { blocks: ManualBlock[]; next: number } | undefined {
  const fields: FieldLine[] = [];
  let next = at;
  while (next < lines.length) {
    const [, kind, type = "", name = "", text = ""] = FIELD.exec(lines[next] ?? "") ?? [];
    if (kind === undefined) break;
    const from = next++;
    const indent = indentOf(lines[from] ?? "");
    const texts = [text];
    while (!isBlank(lines[next]) && indentOf(lines[next] ?? "") > indent) texts.push((lines[next++] ?? "").trim());
    fields.push({ kind: kind.toLowerCase(), type, name, text: texts.join(" "), place: { from: from + 1, to: next } });
  }
  if (fields.length === 0) return undefined;
  const types = new Map(fields.flatMap(({ kind, name, text }) => (kind === "type" ? [[name, text]] : [])));
  const typed = fields.map((field) => (field.type === "" ? { ...field, type: types.get(field.name) ?? "" } : field));
  const sent = typed.filter(({ kind }) => placeOf(kind) !== undefined);
  const answered = typed.filter(({ kind }) => /^(?:>json|res(?:ponse)?json)/.test(kind));
  const failures = typed.filter(({ kind, name }) => /^(?:status|code)/.test(kind) && /^[45]\d\d$/.test(name));
  return {
    blocks: [
      ...tableOf(sent, "Parameters:"),
      ...tableOf(answered, "Response:"),
      ...failures.map(({ name, text, place }): ManualBlock => ({
        kind: "item",
        level: 1,
        text: `${name}: ${text}`,
        place,
      })),
    ],
    next,
  };
}

function placeOf(kind: string): string | undefined {
  if (/^(?:param|arg)/.test(kind)) return "path";
  if (kind.startsWith("query")) return "query";
  if (/^(?:req(?:uest)?header|<header)/.test(kind)) return "header";
  return /^(?:form|json|<json|req(?:uest)?json)/.test(kind) ? "body" : undefined;
}

function tableOf(fields: readonly FieldLine[], lead: string): ManualBlock[] {
  const [first] = fields;
  if (!first) return [];
  const place = { from: first.place.from, to: fields.at(-1)?.place.to ?? first.place.to };
  const row = (at: LineRange, ...texts: string[]): ManualCell[] => texts.map((text) => ({ text, place: at }));
  return [
    { kind: "paragraph", text: lead, place: first.place },
    {
      kind: "table",
      head: row(first.place, "Name", "In", "Type", "Description"),
      rows: fields.map((field) =>
        row(field.place, field.name, placeOf(field.kind) ?? "", field.type, field.text.replaceAll("``", "`")),
      ),
      place,
    },
  ];
}
