import type { Evidence } from "../../api-facts.ts";
import type { ManualCell, Manual } from "../blocks/manual.ts";
import type { Step } from "../fields/field-node.ts";
import { limitsIn, type SaidLimit } from "../fields/said-limits.ts";
import { valuesIn, type SaidValues } from "../fields/said-values.ts";
import { typeOf, type TypeSaid } from "../fields/type-words.ts";
import { plainText } from "../outline.ts";
import { isDeprecated, markIn, withoutMarks, numberWord } from "../words.ts";
import { columnsOf, mostly, type Column } from "./columns.ts";

const RANGE = /^\[?\(?(\d+)\s*(?:\.{2,3}|…|–|—|-|:|,|to|bis)\s*(\d+|n|m|\*|∞|unbounded|many|unlimited)\)?\]?(?:\s|$)/i;
const YES =
  /^(?:yes|y|true|required|mandatory|must|m|r|x|✓|✔|✅|☑|●|•|ja|j|pflicht|muss|always|erforderlich|req\.?|1)\b|^[✓✔✅☑●•*]/i;
const NO =
  /^(?:no|n|false|optional|o|opt\.?|nein|kann|-|–|—|✗|✘|❌|☐|○|never|not required|recommended|may|nicht|0)(?:\W|$)/i;
const CONDITIONAL = /^(?:conditional|c|cond\.?|depends|if\b|when\b|only|bedingt|falls|wenn|either|\*\*)/i;

export type ParameterPlace = "path" | "query" | "header" | "cookie" | "body";

/** What one row of a table, or one item of a list, says about a field. */
export interface FieldRow {
  /** Several names in one cell are several fields. */
  paths: Step[][];
  /** The names as they are written, for parameters, which have no steps. */
  raw: string[];
  /** Steps of indentation. */
  level: number;
  isXmlPath: boolean;
  place?: ParameterPlace;
  attribute?: boolean;
  said: TypeSaid;
  occurs: Occurs;
  description?: string;
  /** Limits with the type or length, which are about text if nothing else is said, and limits in descriptions. */
  typeLimits: SaidLimit[];
  limits: SaidLimit[];
  values: SaidValues;
  secret?: boolean;
  /** The calls that it is for, where the table has a column for them. */
  call?: string;
  deprecated: boolean;
  doubts: string[];
  evidence: Evidence;
  line: number;
}

type Table = { head: ManualCell[]; rows: ManualCell[][] };

/** `name`, `members/member`, `a.b[].c`, `@id`, `X-Key`, `filter[name]`, with a mark for required ones. */
const NAME = /^[-–—>→↳└├─+.•\s]*[`"']?(@?[\p{L}_$][\p{L}\p{N}_$.:/@[\]{}*-]*)[`"']?/u;

/** Which columns make a table one of fields; undefined if it is another kind of table. */
export function fieldColumns(table: Table): Column[] | undefined {
  const columns = columnsOf(table);
  const others: readonly Column[] = ["type", "kind", "required", "optional", "place", "default", "length", "secret"];
  // A column without a head often says only whether a field is required.
  for (const [index, column] of columns.entries()) {
    const isMarks =
      column === "other" &&
      mostly(table, index, (text) => /^(?:required|optional|mandatory|pflicht|conditional)$/i.test(plainText(text)));
    if (isMarks && !columns.includes("required")) columns[index] = "required";
  }
  const hasTypes = columns.some((column) => others.includes(column));
  let name = columns.indexOf("name");
  if (name < 0 && hasTypes) {
    name = columns.findIndex(
      (column, index) =>
        (column === "code" || column === "other" || column === "address" || column === "text") &&
        mostly(table, index, isName),
    );
    if (name >= 0) columns[name] = "name";
  }
  if (name < 0 || !mostly(table, name, isName)) return undefined;
  const isDescribed = columns.some(
    (column, index) =>
      index !== name &&
      (column === "text" || column === "example" || column === "values" || column === "code" || column === "format"),
  );
  if (!hasTypes && !isDescribed) return undefined;
  // Only one column has the names; `Value` beside a name is an example, or what the header has to be.
  return columns.map((column, index) =>
    column === "code" && index !== name ? "values" : column === "name" && index !== name ? "text" : column,
  );
}

function isName(text: string): boolean {
  const found = NAME.exec(text);
  if (!found) return false;
  const rest = text
    .slice(found[0].length)
    .replaceAll(/`[^`]*`/g, "")
    .trim();
  return rest === "" || rest.split(/\s+/).length < 4 || isTyped(typeBeside(rest));
}

/** The type that stands beside a name: `string, required`, `(integer)`. */
function typeBeside(rest: string): TypeSaid {
  const parts = plainText(rest)
    .replaceAll(/^[\s(:–—-]+|[\s)]+$/g, "")
    .split(/[,;]\s*/)
    .filter((part) => !/^(?:required|optional|mandatory|pflicht\w*)$/i.test(part))
    .map(typeOf);
  return parts.find(isTyped) ?? {};
}

function isTyped({ type, list }: TypeSaid): boolean {
  return type !== undefined || list === true;
}

export function fieldRows(table: Table, columns: readonly Column[], manual: Manual): FieldRow[] {
  const required = columns.indexOf("required");
  // `n` may be a number; beside `y` it is a no.
  const isYesNo = table.rows.some((cells) => /^(?:y|yes|j|ja)$/i.test(plainText(cells[required]?.text ?? "")));
  return table.rows.flatMap((cells) => {
    const read = isYesNo
      ? cells.map((cell, index) =>
          index === required && /^n$/i.test(plainText(cell.text)) ? { ...cell, text: "no" } : cell,
        )
      : cells;
    return fieldRow(read, columns, manual) ?? [];
  });
}

function fieldRow(cells: readonly ManualCell[], columns: readonly Column[], manual: Manual): FieldRow | undefined {
  const all = (column: Column) =>
    cells.flatMap((cell, index) => (columns[index] === column && cell.text.trim() !== "" ? [cell.text] : []));
  const one = (column: Column) => all(column)[0] ?? "";
  const name = one("name");
  const names = namesIn(name);
  const [first] = cells;
  if (names.paths.length === 0 || !first) return undefined;
  const type = one("type");
  const beside = type === "" ? typeBeside(names.rest) : {};
  const kind = one("kind");
  const texts = [...all("text"), ...all("other"), ...all("limit")];
  const about = texts.join("; ");
  const given = one("required") === "" ? inverted(occursOf(one("optional"))) : occursOf(one("required"));
  const marked = /^[`*\\]*\?/.test(names.rest) ? { required: false, isMark: true as const } : undefined;
  const occurs = marked ?? (Object.keys(given).length === 0 ? occursIn([names.rest, type, about]) : given);
  const place = placeOf(one("place"));
  const values = valuesIn(about);
  const inValues = valuesIn(valueList(one("values")));
  const usual = one("default") === "" ? undefined : onlyValue(one("default"));
  const example = one("example") === "" ? [] : [onlyValue(one("example"))];
  const marks = cells.flatMap(({ text }) => markIn(text) ?? []);
  const description = withoutMarks([...texts, ...(inValues.codes ? [one("values")] : [])].join("; "));
  const line = first.place.from;
  const to = Math.max(...cells.map((cell) => cell.place.to));
  return {
    ...names,
    ...(place === undefined ? {} : { place }),
    ...(/attribute?/i.test(kind) || /^attribute?\b/i.test(type) ? { attribute: true } : {}),
    said: { ...beside, ...saidType(type, one("format")) },
    occurs,
    ...(description === "" ? {} : { description }),
    typeLimits: [...limitsIn(type.replace(/^[\w ]+\(\d+(?:\s*[,.]\s*\d+)?\)/, "")), ...lengthLimits(one("length"))],
    limits: [...limitsIn(`${about} ${one("values")}`), ...columnLimits(one("minimum"), one("maximum"))],
    values: {
      ...values,
      ...(inValues.codes ? { codes: inValues.codes } : {}),
      ...(inValues.values ? { values: inValues.values } : {}),
      ...(inValues.constant === undefined ? {} : { constant: inValues.constant }),
      ...(usual === undefined || /^(?:-|–|—|none|n\/a|null|empty|keine?)$/i.test(usual) ? {} : { default: usual }),
      ...(example.length === 0 ? {} : { examples: example }),
      ...patternIn([one("format"), type]),
      ...referencesIn([about, type, names.rest]),
    },
    ...(columns.includes("secret") ? { secret: /^(?:yes|y|true|x|ja|✓|✔)/i.test(plainText(one("secret"))) } : {}),
    ...(columns.includes("call") ? { call: plainText(one("call")) } : {}),
    deprecated: cells.some(({ text }) => isDeprecated(text)),
    doubts: marks.map((mark) => `The manual marks this as ${mark}.`),
    evidence: manual.evidence({ from: line, to }),
    line,
  };
}

/** `DD.MM.YYYY`, or a regular expression. */
function patternIn(cells: readonly string[]): Pick<SaidValues, "pattern"> {
  const pattern = cells.map((cell) => valuesIn(cell).pattern).find((each) => each !== undefined);
  return pattern === undefined ? {} : { pattern };
}

function referencesIn(cells: readonly string[]): Pick<SaidValues, "references"> {
  const references = cells.flatMap((cell) => valuesIn(cell).references ?? []);
  return references.length === 0 ? {} : { references: [...new Set(references)] };
}

/** A list of bare values is one of them all: `open, closed`. */
function valueList(text: string): string {
  if (text === "" || /[`"'=:]/.test(text)) return /^`[^`]+`$/.test(text.trim()) ? text : `values: ${text}`;
  return /^[\w-]+(?:\s*[,|/]\s*[\w-]+)+$/.test(text.trim()) ? `one of ${text}` : text;
}

function saidType(type: string, format: string): TypeSaid {
  const said = typeOf(type);
  const form = format === "" ? {} : typeOf(format);
  return { ...said, ...(form.format === undefined ? {} : { format: form.format }) };
}

/** `required` and `optional` may stand in any cell. */
function occursIn(texts: readonly string[]): Occurs {
  for (const text of texts) {
    if (/\bnot required\b|\boptional\b|\bnicht erforderlich\b/i.test(text) && !/\bnot optional\b/i.test(text))
      return { required: false };
    if (
      /^(?:[^.;]{0,40}[\s(,])?(?:required|mandatory|pflichtfeld|erforderlich)\b(?! (?:if|when|for|unless|only))|\((?:required|mandatory)\)|\*$/i.test(
        text.trim(),
      )
    )
      return { required: true };
    const condition = /\b(?:required|mandatory) (?:if|when|for|unless|only)[^.;]*/i.exec(text)?.[0];
    if (condition !== undefined) return { required: false, condition };
  }
  return {};
}

export function placeOf(text: string): ParameterPlace | undefined {
  const plain = plainText(text).toLowerCase();
  if (/^(?:url ?)?path|^uri|^route/.test(plain)) return "path";
  if (/query|^url|^get|search string/.test(plain)) return "query";
  if (/header|^kopf/.test(plain)) return "header";
  if (/cookie/.test(plain)) return "cookie";
  return /body|form|payload|post|json|xml|content/.test(plain) ? "body" : undefined;
}

function onlyValue(cell: string): string {
  return (/`([^`]+)`/.exec(cell)?.[1] ?? withoutMarks(plainText(cell))).replaceAll(/^["']|["']$/g, "").trim();
}

function lengthLimits(cell: string): SaidLimit[] {
  const text = plainText(cell);
  const range = /^(\d+)\s*(?:-|–|…|\.{2,3}|to|bis)\s*(\d+)/.exec(text);
  if (range) return [{ least: Number(range[1]), most: Number(range[2]), of: "length" }];
  const most = /^(?:max\.?\s*|≤\s*|<=\s*|up to\s*|\.{2})?(\d+)/i.exec(text)?.[1];
  return most === undefined ? [] : [{ most: Number(most), of: "length" }];
}

function columnLimits(least: string, most: string): SaidLimit[] {
  const min = numberOf(plainText(least));
  const max = numberOf(plainText(most));
  if (min === undefined && max === undefined) return [];
  return [{ ...(min === undefined ? {} : { least: min }), ...(max === undefined ? {} : { most: max }) }];
}

/** The fields that a cell names. Names after the first one share what is before its last step. */
export function namesIn(cell: string): Pick<FieldRow, "paths" | "raw" | "level" | "isXmlPath"> & { rest: string } {
  const level = indentOf(cell);
  const quoted = [...cell.matchAll(/`([^`]+)`/g)]
    .map(([, name = ""]) => name.trim())
    .filter((name) => NAME.exec(name)?.[0] === name);
  const found = quoted.length > 0 ? quoted : plainNames(cell);
  const rest =
    quoted.length > 0 ? cell.replaceAll(/`[^`]+`/g, " ").trim() : cell.slice(NAME.exec(cell)?.[0].length ?? 0).trim();
  const isXmlPath = found.some((name) => /[/@]/.test(name));
  const [first, ...others] = found.map((name) => stepsOf(name));
  const raw = found.map((name) => name.replace(/[*:]+$/, ""));
  if (!first) return { paths: [], raw, level, isXmlPath, rest };
  const before = first.slice(0, -1);
  return {
    paths: [first, ...others.map((steps) => (steps.length === 1 ? [...before, ...steps] : steps))],
    raw,
    level,
    isXmlPath,
    rest,
  };
}

function plainNames(cell: string): string[] {
  const first = NAME.exec(cell);
  const name = first?.[1]?.replace(/[.:*]+$/, "");
  if (!first || name === undefined || name === "") return [];
  const list = /^((?:\s*,\s*[\w@/.[\]-]+)+)\s*$/.exec(cell.slice(first[0].length));
  return [
    name,
    ...(list?.[1] ?? "")
      .split(",")
      .map((each) => each.trim())
      .filter((each) => each !== ""),
  ];
}

/** `- name`, `-- name`, `↳ name`, `> > name` are inside of the field before them. */
function indentOf(cell: string): number {
  const marks = /^((?:[-–—>→↳└├─+•]|\u00a0{1,8}|\.{2,}(?=\w))\s*)+/.exec(cell)?.[0] ?? "";
  const signs = marks.replaceAll(/[\s\u00a0]/g, "").replaceAll(/[└├]─+/g, "↳");
  return signs === "" ? Math.ceil((/^\u00a0+/.exec(cell)?.[0].length ?? 0) / 4) : signs.length;
}

function stepsOf(path: string): Step[] {
  const text = path
    .replace(/^\/+/, "")
    .replace(/^\$\.?/, "")
    .replace(/[*:]+$/, "");
  const isXml = /[/@]/.test(text);
  const parts = isXml ? text.split("/") : splitDots(text);
  return parts
    .filter((part) => part !== "")
    .map((part) => {
      const list = /\[(?:\d*|n|i|\*|\.{3}|x)\]$/.test(part);
      const bare = part.replace(/\[(?:\d*|n|i|\*|\.{3}|x)\]$/, "");
      const name = isXml ? bare.replace(/^@?[\w-]+:(?=\w)/, (prefix) => (prefix.startsWith("@") ? "@" : "")) : bare;
      return { name: name.replace(/^@/, ""), attribute: name.startsWith("@"), list };
    })
    .filter(({ name }) => name !== "");
}

/** A dot inside of brackets is part of a name. */
function splitDots(text: string): string[] {
  return text.split(/\.(?![^[]*\])/);
}

/** How often something occurs. */
interface Occurs {
  required?: boolean;
  minItems?: number;
  /** More than one: it is a list. Infinity: without limit. */
  maxItems?: number;
  /** Said by a mark at the name: `name?`. Fields without it are required. */
  isMark?: true;
  /** It depends on something that the text says. */
  condition?: string;
}

/** What a cell such as `0…8`, `yes`, `M` or `conditional` says. */
function occursOf(cell: string): Occurs {
  const text = plainText(cell);
  if (text === "") return {};
  const range = RANGE.exec(text);
  if (range) {
    const least = Number(range[1]);
    const most = /^\d+$/.test(range[2] ?? "") ? Number(range[2]) : Infinity;
    return { required: least > 0, ...(most > 1 ? { minItems: least, maxItems: most } : {}) };
  }
  if (/^(?:\d+\s*)?\+$|^1\+|^n$|^one or more/i.test(text)) return { required: true, minItems: 1, maxItems: Infinity };
  if (/^\*$|^0\+|^zero or more|^any number/i.test(text)) return { required: false, minItems: 0, maxItems: Infinity };
  if (text === "?") return { required: false };
  if (CONDITIONAL.test(text)) return { required: false, condition: text };
  if (/^not? (?:required|mandatory)/i.test(text) || NO.test(text)) return { required: false };
  if (YES.test(text)) return { required: true };
  const many = /^(\d+)$/.exec(text);
  if (many) return { required: true, minItems: Number(text), maxItems: Number(text) };
  return { required: false, condition: text };
}

/** `Optional: yes` says that it is not required. */
function inverted({ required, ...rest }: Occurs): Occurs {
  return required === undefined ? rest : { ...rest, required: !required };
}

/** A number at the beginning of a text. */
function numberOf(text: string): number | undefined {
  return numberWord(/^-?\d[\d,'.]*/.exec(text.trim())?.[0].replace(/[.,]+$/, "") ?? "");
}
