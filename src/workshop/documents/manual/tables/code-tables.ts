import type { Evidence } from "../../api-facts.ts";
import type { ManualBlock } from "../blocks/manual.ts";
import type { FieldCode, FieldNode } from "../fields/field-node.ts";
import { isCode } from "../fields/said-values.ts";
import { leadOf, plainText, titlesOf, type Outline, type PlacedBlock } from "../outline.ts";
import { looseName, withoutMarks } from "../words.ts";
import { columnsOf, mostly } from "./columns.ts";
import { fieldColumns } from "./field-rows.ts";

type Table = Extract<ManualBlock, { kind: "table" }>;

/** A list of codes with their meanings, and the names that its surroundings give. */
interface CodeTable {
  codes: FieldCode[];
  /** `4.2` of the section that it is in, and those around it. */
  numbers: string[];
  /** `1` of `Table 1: Levels of detail`. */
  caption?: string;
  /** Names in backquotes in the title or the text before it: the fields that use it. */
  fields: string[];
  /** Titles and text, for a match by words. */
  titles: string[];
  index: number;
  evidence: Evidence;
}

const MOST_CODES = 500;

/** All lists of codes of a manual. */
export function codeTables(outline: Outline): CodeTable[] {
  return outline.blocks
    .flatMap((placed) => {
      const codes = placed.block.kind === "table" ? tableCodes(placed.block, outline, placed) : [];
      const [first] = codes;
      if (!first) return [];
      const around = surroundings(outline, placed);
      const fields = [...around.fields, ...(placed.block.kind === "table" ? fieldInHead(placed.block) : [])];
      return [{ ...around, fields, codes, index: placed.index, evidence: first.evidence }];
    })
    .concat(codeItems(outline));
}

function tableCodes(table: Table, outline: Outline, placed: PlacedBlock): FieldCode[] {
  const columns = columnsOf(table);
  if (
    table.head.length > 4 ||
    table.head.length < 2 ||
    columns.some((column) => column === "required" || column === "method" || column === "limit")
  )
    return [];
  if (columns.includes("type") && columns[0] !== "code") return [];
  if (columns.some((column, index) => column === "status" && isHttpStatus(table, index))) return [];
  const isCodes = (index: number) =>
    mostly(table, index, (text) => isCode(plainText(text).replaceAll(/^["']|["']$/g, "")));
  const named = columns.findIndex(
    (column, index) => (column === "code" || column === "values" || column === "status") && isCodes(index),
  );
  const about = [
    leadOf(outline, placed.index),
    ...titlesOf(placed.section).slice(0, 2),
    ...table.head.map(({ text }) => text),
  ].join(" ");
  const isAnnounced = /\bcodes?\b|\bvalues?\b|\benum|\bconstants?\b|\bschl[üu]ssel\b|\bwerte\b/i.test(about);
  const isFields = fieldColumns(table) !== undefined && named < 0;
  // `State | Meaning`: what a column of meanings stands beside are values.
  const isExplained = columns[0] === "other" && columns[1] === "text" && table.head.length === 2;
  const code = named >= 0 ? named : (isAnnounced || isExplained) && !isFields && isCodes(0) ? 0 : -1;
  if (code < 0 || isHttpStatus(table, code)) return [];
  const meaning = columns.findIndex((column, index) => index !== code && column === "text");
  const other = meaning >= 0 ? meaning : table.head.findIndex((_, index) => index !== code);
  if (!mostly(table, other, (text) => /\p{L}{2}/u.test(text))) return [];
  return table.rows.slice(0, MOST_CODES).flatMap((row) => {
    const value = plainText(row[code]?.text ?? "").replaceAll(/^["']|["']$/g, "");
    const text = withoutMarks(plainText(row[other]?.text ?? ""));
    const place = row[code]?.place ?? table.place;
    return isCode(value) ? [{ value, meaning: text, evidence: outline.manual.evidence(place) }] : [];
  });
}

/** A table of `Status` and `Meaning` is about the field `status`. */
function fieldInHead({ head }: Table): string[] {
  const name = plainText(head[0]?.text ?? "").replace(/\s+codes?$/i, "");
  return /^(?:codes?|values?|id|key|number|no\.?|nr\.?)?$/i.test(name) || !isCode(name.replaceAll(" ", "_"))
    ? []
    : [name];
}

/** Statuses of HTTP are failures of a request and not values of a field. */
function isHttpStatus(table: Table, column: number): boolean {
  return mostly(table, column, (text) => /^[2-5]\d\d\b/.test(plainText(text)));
}

/** `1 = pending` as items of a list, or pairs in one sentence below a title that names the field. */
function codeItems(outline: Outline): CodeTable[] {
  const found: CodeTable[] = [];
  for (let index = 0; index < outline.blocks.length; index++) {
    const first = outline.blocks[index];
    if (first?.block.kind !== "item") continue;
    const codes: FieldCode[] = [];
    let at = index;
    for (; at < outline.blocks.length; at++) {
      const block = outline.blocks[at]?.block;
      if (block?.kind !== "item") break;
      const pair = /^\s*[`"']?([\w.+-]{1,20})[`"']?\s*(?:=|–|—|:|->|→|-(?=\s))\s*([\s\S]{2,160})$/.exec(block.text);
      const value = pair?.[1] ?? "";
      if (pair && isCode(value))
        codes.push({
          value,
          meaning: withoutMarks(plainText(pair[2] ?? "")),
          evidence: outline.manual.evidence(block.place),
        });
    }
    const isNumbers = codes.every(({ value }) => /^-?\d+$/.test(value));
    const isStatuses = codes.every(({ value }) => /^[2-5]\d\d$/.test(value));
    const around = surroundings(outline, first);
    const isAnnounced = /\bcodes?\b|\bvalues?\b|\bone of\b|\bwerte\b/i.test(around.titles.slice(0, 2).join(" "));
    const [head] = codes;
    if (
      head &&
      codes.length > 1 &&
      codes.length === at - index &&
      !isStatuses &&
      (isNumbers || (isAnnounced && around.fields.length > 0))
    ) {
      found.push({ ...around, codes: codes.slice(0, MOST_CODES), index, evidence: head.evidence });
    }
    index = at;
  }
  return found;
}

function surroundings(
  outline: Outline,
  { index, section, block }: PlacedBlock,
): Pick<CodeTable, "numbers" | "caption" | "fields" | "titles"> {
  const before = outline.blocks[index - 1]?.block;
  const lead =
    block.kind === "table" && block.caption !== undefined
      ? block.caption
      : before && before.kind !== "table" && before.kind !== "code"
        ? before.text
        : "";
  const heading = outline.blocks[section.from]?.block;
  const title = heading?.kind === "heading" ? heading.text : "";
  const quoted = [lead.length < 400 ? lead : "", title].flatMap((text) =>
    [...text.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
  );
  const numbers: string[] = [];
  for (let each: typeof section | undefined = section; each; each = each.parent)
    if (each.number !== undefined) numbers.push(each.number);
  const caption = /\b(?:table|tabelle)\s+(\d+(?:\.\d+)*)/i.exec(lead)?.[1];
  return {
    numbers,
    ...(caption === undefined ? {} : { caption }),
    fields: quoted,
    titles: [plainText(lead), ...titlesOf(section)],
  };
}

/** Gives the codes to the fields that use them: by name, or by the number of the section that the field refers to. */
export function attachCodes(
  nodes: readonly FieldNode[],
  tables: readonly CodeTable[],
  isNear: (node: FieldNode, table: CodeTable) => boolean,
): void {
  const byNumber = new Map<string, CodeTable[]>();
  const byField = new Map<string, CodeTable[]>();
  const byTitle = new Map<string, CodeTable[]>();
  const byHeading = new Map<string, CodeTable[]>();
  const add = (map: Map<string, CodeTable[]>, key: string, table: CodeTable) =>
    void (map.get(key)?.push(table) ?? map.set(key, [table]));
  for (const table of tables) {
    const [own] = table.numbers;
    for (const number of new Set([own, table.caption])) if (number !== undefined) add(byNumber, number, table);
    for (const field of new Set(table.fields.map((each) => looseName(lastStep(each))))) add(byField, field, table);
    for (const title of new Set(table.titles.slice(0, 2).map(looseName)))
      if (title.length > 2) add(byHeading, title, table);
    for (const title of new Set(
      table.titles
        .slice(0, 2)
        // Titles in two languages: `Fehler / errors`.
        .flatMap((each) => [each, ...each.split(/\s+\/\s+/)])
        .map((each) =>
          looseName(
            each.replaceAll(
              /\b(?:codes?|values?|list|possible|allowed|types? of|the|of|for|liste|werte|table)\b|\([^)]*\)|:$/gi,
              "",
            ),
          ),
        ),
    )) {
      if (title.length > 2) add(byTitle, title, table);
    }
  }
  for (const node of nodes) {
    if (node.children.size > 0 && ![...node.children.values()].every(({ attribute }) => attribute)) continue;
    if (isUncoded(node)) continue;
    const referred = node.references.flatMap(
      (place) => byNumber.get(place) ?? byHeading.get(looseName(place)) ?? byTitle.get(looseName(place)) ?? [],
    );
    const whole = looseName(`${node.parent?.name ?? ""} ${node.name}`);
    const named = [
      ...(byField.get(looseName(node.name)) ?? []),
      ...(byTitle.get(looseName(node.name)) ?? []),
      ...(byHeading.get(whole) ?? []),
      // `Error/@code` and a table of errors.
      ...(/^(?:code|number|no|id)$/i.test(node.name) ? (byTitle.get(looseName(node.parent?.name ?? "")) ?? []) : []),
    ];
    const candidates =
      referred.length > 0
        ? referred.filter((table) => table.fields.length === 0 || referred.length === 1 || named.includes(table))
        : named;
    const best = candidates.find((table) => isNear(node, table)) ?? candidates[0];
    if (!best || !fits(node, best)) continue;
    for (const code of best.codes) {
      const known = node.codes.find(({ value }) => value === code.value);
      if (!known) node.codes.push(code);
      else if (known.evidence !== code.evidence && !node.evidence.includes(code.evidence))
        node.evidence.push(code.evidence);
    }
    if (!node.evidence.some((place) => place === best.evidence)) node.evidence.push(best.evidence);
  }
}

function lastStep(path: string): string {
  return path.split(/[/.]/).at(-1)?.replace(/^@/, "").replace(/\[\]$/, "") ?? path;
}

/** Dates, amounts and flags have no codes. */
function isUncoded({ said, limits, constant }: FieldNode): boolean {
  return (
    said.type === "boolean" ||
    said.format !== undefined ||
    limits.format !== undefined ||
    constant !== undefined ||
    (said.type === "object" && !said.empty)
  );
}

/** Samples that are none of the codes say that the table is about something else. */
function fits({ samples, said, codes: own }: FieldNode, { codes }: CodeTable): boolean {
  const known = new Set(codes.map(({ value }) => value));
  if (samples.some((sample) => sample !== null && !known.has(String(sample)))) return false;
  if (own.some(({ value }) => !known.has(value))) return false;
  return said.type === "string" || said.type === undefined || codes.every(({ value }) => /^-?\d+$/.test(value));
}
