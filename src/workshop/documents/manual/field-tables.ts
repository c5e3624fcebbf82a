import type { Endpoint } from "./endpoints/endpoints.ts";
import type { Scopes } from "./endpoints/scopes.ts";
import { leadOf, titlesOf, plainText, type Outline, type PlacedBlock } from "./outline.ts";
import { roleOf, type Role } from "./roles.ts";
import { isCode, valuesIn } from "./fields/said-values.ts";
import { fieldColumns, fieldRows, namesIn, placeOf, type FieldRow, type ParameterPlace } from "./tables/field-rows.ts";
import { looseName, markIn, withoutMarks, isDeprecated } from "./words.ts";
import type { Evidence } from "../api-facts.ts";
import { typeOf, type TypeSaid } from "./fields/type-words.ts";
import { limitsIn } from "./fields/said-limits.ts";
import { columnsOf } from "./tables/columns.ts";

/** `name` (string, required): text; `name` – string – text; name: text. */
const ITEM =
  /^\s*(`[^`]+`(?:\s*,\s*`[^`]+`)*|@?[A-Za-z_$][\w$.:/@[\]-]*(?=\s*[(:–—]|\s+-\s))\s*(?:\(([^()]*(?:\([^()]*\)[^()]*)*)\)|\[([^\]]*)\])?\s*(?:[:–—]|-(?=\s))?\s*([\s\S]*)$/;
const NAMED = String.raw`(\x60[^\x60]+\x60|[a-z_$][\w$.[\]-]*)`;
const TYPE_WORD = String.raw`(?:(?:array|list) of )?(?:strings?|str|u?int(?:eger)?s?(?:32|64)?|long|numbers?|num(?:eric)?|float|double|decimal|bool(?:ean)?s?|objects?|arrays?|lists?|date(?:-?time)?|timestamp|uuid|enum|e-?mail|url|map|hash|file)(?:\([\w., ]*\)|<\w+>|\[\])?`;
const FLAGS = String.raw`(?:required|optional|mandatory|nullable|conditional|recommended)`;
/** A name, its type and whether it is required, as words beside each other. */
const BESIDE = new RegExp(
  String.raw`^\s*${NAMED}[\s·|,:–—]+(?:(${TYPE_WORD})(?:[\s·|,]+(${FLAGS}))?|(${FLAGS})(?:[\s·|,]+(${TYPE_WORD}))?)\s*(?:$|[:.–—\n]|-\s)\s*`,
  "i",
);

/** A table or a list of fields, with what its surroundings say about it. */
export interface FieldTable {
  rows: FieldRow[];
  role: Role;
  endpoint?: Endpoint;
  /** Names of objects that it may be the description of, from its titles and the text before it. */
  subjects: string[];
  /** `2.1.1` of the section that it is in. */
  number?: string;
  index: number;
}

/** All tables and lists of fields, in the order of the manual. `taken`: tables that are of another kind. */
export function fieldTables(outline: Outline, scopes: Scopes, taken: ReadonlySet<number>): FieldTable[] {
  const found: FieldTable[] = [];
  for (let index = 0; index < outline.blocks.length; index++) {
    const placed = outline.blocks[index];
    if (!placed || taken.has(index)) continue;
    const { block } = placed;
    if (block.kind === "table") {
      const table = withHead(block);
      const columns = fieldColumns(table);
      if (columns)
        found.push(tableAt(outline, scopes, placed, fieldRows(table, columns, outline.manual), headPlace(table)));
    } else if (block.kind === "item") {
      const { rows, end } = itemsFrom(outline, scopes, index, taken);
      if (rows.length > 0) found.push(tableAt(outline, scopes, placed, rows));
      index = end - 1;
    }
  }
  return found.filter(({ rows }) => rows.length > 0);
}

type Table = Extract<PlacedBlock["block"], { kind: "table" }>;

/** In plain text, names beside sentences often have no head: then the first row is one of the fields. */
function withHead(table: Table): Table {
  const [name, text, ...more] = table.head;
  const isRow =
    name !== undefined &&
    text !== undefined &&
    more.length === 0 &&
    /^[a-z_][\w.-]*$/.test(name.text) &&
    (text.text.split(" ").length > 3 || /\((?:required|optional|mandatory)\b[^)]*\)$/i.test(text.text)) &&
    table.rows.every(([first]) => /^[A-Za-z_][\w.-]*$/.test(first?.text ?? ""));
  if (!isRow) return table;
  const head = [
    { ...name, text: "name" },
    { ...text, text: "description" },
  ];
  return { ...table, head, rows: [table.head, ...table.rows] };
}

function tableAt(
  outline: Outline,
  scopes: Scopes,
  placed: PlacedBlock,
  rows: FieldRow[],
  headed?: Role["place"],
): FieldTable {
  const endpoint = scopes.ownerOf(placed.index);
  const role = roleOf(outline, placed, endpoint);
  return {
    rows: withMarks(rows),
    role: headed === undefined ? role : { ...role, place: role.place ?? headed },
    ...(endpoint ? { endpoint } : {}),
    subjects: subjectsOf(outline, placed),
    ...(placed.section.number === undefined ? {} : { number: placed.section.number }),
    index: placed.index,
  };
}

/** Where only required fields are marked, all others are optional; where `name?` marks optional ones, all others are required. */
function withMarks(rows: FieldRow[]): FieldRow[] {
  if (rows.some(({ occurs }) => occurs.isMark))
    return rows.map((row) =>
      row.occurs.required === undefined ? { ...row, occurs: { ...row.occurs, required: true } } : row,
    );
  const isMarked = (required: boolean) => rows.some(({ occurs }) => occurs.required === required);
  if (!isMarked(true) || isMarked(false)) return rows;
  return rows.map((row) =>
    row.occurs.required !== undefined || row.isXmlPath || row.attribute
      ? row
      : { ...row, occurs: { ...row.occurs, required: false } },
  );
}

/** The items of one list. They are fields if most of them look like it. */
function itemsFrom(
  outline: Outline,
  scopes: Scopes,
  start: number,
  taken: ReadonlySet<number>,
): { rows: FieldRow[]; end: number } {
  const rows: FieldRow[] = [];
  const first = outline.blocks[start];
  const role = first ? roleOf(outline, first, scopes.ownerOf(start)) : {};
  let end = start;
  for (; end < outline.blocks.length; end++) {
    const block = outline.blocks[end]?.block;
    if (block?.kind !== "item" || taken.has(end)) break;
    const row = fieldItem(block.text, role.side === "request" || role.side === "response", {
      evidence: outline.manual.evidence(block.place),
      line: block.place.from,
      level: block.level,
    });
    if (row) rows.push(row);
  }
  return { rows: rows.length * 2 > end - start ? withListedCodes(rows) : [], end: Math.max(end, start + 1) };
}

/** A list below a text, of names without types, has its values and not fields inside of it. */
function withListedCodes(rows: readonly FieldRow[]): FieldRow[] {
  const found: FieldRow[] = [];
  for (let at = 0; at < rows.length;) {
    const row = rows[at++];
    if (!row) break;
    const start = at;
    while (at < rows.length && (rows[at]?.level ?? 0) > row.level) at++;
    const inside = rows.slice(start, at);
    const isCodes =
      row.said.type === "string" &&
      inside.length > 1 &&
      inside.every(
        ({ level, said, occurs, raw }) =>
          level === row.level + 1 &&
          said.type === undefined &&
          said.list !== true &&
          occurs.required === undefined &&
          raw.length === 1 &&
          isCode(raw[0] ?? ""),
      );
    if (!isCodes) {
      found.push(row);
      at = start;
      continue;
    }
    const codes = inside.map(({ raw, description = "", evidence }) => ({
      value: raw[0] ?? "",
      meaning: description,
      evidence,
    }));
    const isExplained = codes.every(({ meaning }) => meaning !== "");
    const values = isExplained ? { codes } : { values: codes.map(({ value }) => value) };
    found.push({ ...row, values: { ...row.values, ...values } });
  }
  return found;
}

/** `Address` of `The Address object`, `address fields:`, `` `address` ``. */
function subjectsOf(outline: Outline, { index, section }: PlacedBlock): string[] {
  const lead = leadOf(outline, index);
  const quoted = [...(lead.length < 200 ? lead : "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  const heading = outline.blocks[section.from]?.block;
  const title = heading?.kind === "heading" ? heading.text : "";
  const inTitle = [...title.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  const words = [lead.length < 60 ? lead : "", ...titlesOf(section).slice(0, 1)].map((text) =>
    text
      .replaceAll(
        /\b(?:the|an?|objects?|objekt|structures?|types?|fields?|attributes?|properties|resource|model|definition|schema|data|element|of|for|felder|each|has|have|contains?|following|entry|entries|items?)\b|[:.]/gi,
        " ",
      )
      .trim(),
  );
  return [
    ...new Set(
      [...quoted, ...inTitle, ...words].map((text) => looseName(lastStep(text))).filter((text) => text.length > 1),
    ),
  ];
}

function lastStep(path: string): string {
  return /^[\w@./[\]-]+$/.test(path) ? (path.replace(/\[\]$/, "").split(/[./]/).at(-1) ?? path) : path;
}

/**
 * An item of a list as a field; undefined if it is not one. `isExpected`: the list is known to be one of fields, so that
 * a name and a text are enough.
 */
function fieldItem(
  item: string,
  isExpected: boolean,
  place: { evidence: Evidence; line: number; level: number },
): FieldRow | undefined {
  const text = withBracket(item.slice(0, 4_000));
  const found = ITEM.exec(text);
  if (!found) return undefined;
  const [, name = "", round = "", square = "", said = ""] = found;
  const bracket = round === "" ? square : round;
  const parts = bracket.split(/[,;]\s*/);
  const types = parts.map((part) => typeOf(part));
  const typed = types.find(isTyped) ?? leadingType(said);
  const isSaid = typed !== undefined || /\b(?:required|optional|mandatory|pflicht)\b/i.test(bracket);
  if (!isSaid && !(isExpected && (name.startsWith("`") || said !== ""))) return undefined;
  const names = namesIn(name);
  if (names.paths.length === 0) return undefined;
  const marks = markIn(text);
  const where = parts
    .map((part) =>
      /^(?:in )?(?:path|query|header|body|cookie)/i.test(part) ? placeOf(part.replace(/^in /i, "")) : undefined,
    )
    .find((each) => each !== undefined);
  const description = withoutMarks(said);
  return {
    ...names,
    level: place.level - 1,
    ...(where === undefined ? {} : { place: where }),
    said: typed ?? {},
    occurs: requiredIn(bracket, said),
    ...(description === "" ? {} : { description }),
    typeLimits: limitsIn(bracket.replaceAll(/\w+\(\d+(?:,\d+)?\)/g, " ")),
    limits: limitsIn(said),
    values: { ...valuesIn(bracket), ...valuesIn(said) },
    deprecated: isDeprecated(text),
    doubts: marks === undefined ? [] : [`The manual marks this as ${marks}.`],
    evidence: place.evidence,
    line: place.line,
  };
}

/** `amount integer Required` and a text as `amount (integer, Required): text`. */
function withBracket(text: string): string {
  const found = BESIDE.exec(text);
  if (!found) return text;
  const [whole, name = "", ...words] = found;
  return `${name} (${words.filter((word) => word !== undefined).join(", ")}): ${text.slice(whole.length)}`;
}

function isTyped({ type, list }: TypeSaid): boolean {
  return type !== undefined || list === true;
}

/** `string – the name`, `integer. The number`. */
function leadingType(text: string): TypeSaid | undefined {
  const word = /^([\w-]+(?:\(\d+\)|\[\])?)(?:\s*[,.;:–—]|\s+-\s)/.exec(text)?.[1];
  const said = word === undefined ? undefined : typeOf(word);
  return said && isTyped(said) ? said : undefined;
}

function requiredIn(bracket: string, text: string): FieldRow["occurs"] {
  if (/\b(?:optional|not required)\b/i.test(bracket)) return { required: false };
  if (/\b(?:required|mandatory|pflicht\w*|erforderlich)\b/i.test(bracket)) return { required: true };
  const start = text.slice(0, 80);
  if (/^(?:optional|not required)\b/i.test(start) || /\boptional\b/i.test(text.slice(0, 300)))
    return { required: false };
  return /^(?:required|mandatory|pflicht)\b|\b(?:is|are) (?:required|mandatory)\b/i.test(start)
    ? { required: true }
    : {};
}

/** The place that the head of the column with the names states: `Header | Value`. */
function headPlace(table: { head: { text: string }[] }): ParameterPlace | undefined {
  const columns = columnsOf({ head: table.head.map(({ text }) => ({ text, place: { from: 0, to: 0 } })), rows: [] });
  const head = plainText(table.head[columns.indexOf("name")]?.text ?? "");
  if (/^(?:http[- ])?headers?(?: name| field)?$/i.test(head)) return "header";
  if (/query/i.test(head)) return "query";
  return /^path (?:param|variable)/i.test(head) ? "path" : undefined;
}
