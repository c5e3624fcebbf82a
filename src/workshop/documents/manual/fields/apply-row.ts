import type { DoubtChoice, Evidence } from "../../api-facts.ts";
import { plainText } from "../outline.ts";
import type { FieldRow } from "../tables/field-rows.ts";
import type { FieldNode } from "./field-node.ts";
import type { SaidLimit } from "./said-limits.ts";

const MOST_EVIDENCE = 6;

/** Adds what a row of a table says to a field. What was said first counts. */
export function applyRow(node: FieldNode, row: FieldRow): void {
  const { said, occurs, values } = row;
  node.said = { ...said, ...node.said };
  if (said.list) node.list = true;
  applyOccurs(node, row);
  if (row.description !== undefined) node.description ??= row.description;
  for (const limit of row.typeLimits) applyLimit(node, limit, "type");
  const unused = row.limits.filter((limit) => !applyLimit(node, limit, "text"));
  if (values.constant !== undefined) node.constant ??= values.constant;
  if (values.default !== undefined) node.default ??= values.default;
  if (values.values) node.values ??= values.values;
  if (values.pattern !== undefined) node.limits.pattern ??= values.pattern;
  if (values.format !== undefined) node.limits.format ??= values.format;
  node.examples.push(...(values.examples ?? []));
  node.references.push(...(values.references ?? []));
  if (node.codes.length === 0) node.codes = (values.codes ?? []).map((code) => ({ evidence: row.evidence, ...code }));
  node.deprecated ||= row.deprecated;
  for (const doubt of row.doubts) addDoubt(node, doubt);
  if (occurs.condition !== undefined)
    addDoubt(node, `The manual says when it is needed: "${conditionText(row)}". It is optional here.`, [
      { answer: "optional", set: { optional: true } },
      { answer: "required", set: { optional: false } },
    ]);
  if (unused.length > 0 && isSpan(node)) {
    const text = plainText(row.description ?? "").slice(0, 200);
    addDoubt(
      node,
      `The manual says: "${text}". A limit of a date cannot say that; add a rule if callers should know it.`,
    );
  }
  node.isDescribed = true;
  cite(node, row.evidence);
}

/** `C` alone does not say when; the description beside it may. */
function conditionText({ occurs, description = "" }: FieldRow): string {
  const { condition = "" } = occurs;
  return condition.length < 4 && description !== "" ? description.slice(0, 200) : condition;
}

/** `Departure, at most 28 nights`: a number beside a date limits the time between two of them. */
function isSpan({ said, limits }: FieldNode): boolean {
  return [said.format, limits.format].some((format) => format === "date" || format === "date-time");
}

function applyOccurs(node: FieldNode, { occurs }: FieldRow): void {
  const { required, minItems, maxItems } = occurs;
  const isMany = maxItems !== undefined && maxItems > 1;
  // An attribute cannot be there several times: its element is.
  const owner = isMany && node.attribute ? node.parent : node;
  if (isMany && owner) {
    owner.list = true;
    if (minItems !== undefined && minItems > 0) owner.limits.minItems ??= minItems;
    if (Number.isFinite(maxItems)) owner.limits.maxItems ??= maxItems;
    if (owner !== node) {
      node.required ??= true;
      if (required !== undefined) owner.required ??= required;
      return;
    }
  }
  if (required !== undefined) node.required ??= required;
}

/** Sets a limit where it fits the type. `from`: limits beside a type are about the length of text. */
export function applyLimit(node: FieldNode, limit: SaidLimit, from: "type" | "text" | "table"): boolean {
  const { least, most, isExclusive, of } = limit;
  const { limits } = node;
  const type = node.said.type ?? sampleType(node) ?? guessedType(node);
  if (of === "items" || (node.list && of === undefined && from !== "type" && !isNumber(type))) {
    if (!node.list) return false;
    if (least !== undefined) limits.minItems ??= least;
    if (most !== undefined) limits.maxItems ??= most;
    return true;
  }
  if (type === "object" || type === "boolean" || node.said.format === "date" || node.said.format === "date-time")
    return false;
  const isLength = of === "length" || (of === undefined && type === "string" && from === "type");
  if (isLength) {
    if (isNumber(type)) return false;
    if (least !== undefined && least > 0) limits.minLength ??= least;
    if (most !== undefined) limits.maxLength ??= most;
    if (limit.of2 !== undefined && least !== undefined && least === most) {
      limits.pattern ??= limit.of2 === "letters" ? `^[A-Za-z]{${least}}$` : `^[0-9]{${least}}$`;
    }
    return true;
  }
  if (!isNumber(type)) return false;
  if (isExclusive) {
    if (least !== undefined) limits.exclusiveMinimum ??= least;
    if (most !== undefined) limits.exclusiveMaximum ??= most;
  } else {
    if (least !== undefined) limits.minimum ??= least;
    if (most !== undefined) limits.maximum ??= most;
  }
  return true;
}

function isNumber(type: string | undefined): boolean {
  return type === "integer" || type === "number";
}

/** `Number of results`, `limit`: a number, though no type is named; and what is false by default is a flag. */
export function guessedType(node: FieldNode): "integer" | "boolean" | undefined {
  const { name, description = "", said, list } = node;
  if (list || said.reference !== undefined || said.format !== undefined) return undefined;
  if (/^(?:true|false)$/i.test(node.default ?? "") && node.codes.length === 0 && node.values === undefined)
    return "boolean";
  const isCounted =
    /^(?:the |an? )?(?:max(?:imum|imal|\.)? )?(?:number|count|anzahl|how many|skip this number) (?:of|der|von)\b(?! (?:the )?(?:recipient|phone|account|invoice|order))/i.test(
      description,
    );
  return isCounted || /^(?:limit|offset|page|page_?size|per_?page|count|quantity|qty|cnt)$/i.test(name)
    ? "integer"
    : undefined;
}

/** The type that samples show, where no table says one. */
function sampleType({ samples, children }: FieldNode): string | undefined {
  if (children.size > 0) return "object";
  const [first] = samples;
  if (first === undefined || first === null) return undefined;
  if (typeof first !== "string") return typeof first;
  return samples.every((sample) => /^-?(?:0|[1-9]\d{0,15})(?:\.\d+)?$/.test(String(sample))) ? "number" : "string";
}

export function addDoubt(node: FieldNode, text: string, choices?: DoubtChoice[]): void {
  if (!node.doubts.some((doubt) => doubt.text === text)) node.doubts.push({ text, ...(choices ? { choices } : {}) });
}

export function cite(node: FieldNode, evidence: Evidence): void {
  if (!node.evidence.includes(evidence) && node.evidence.length < MOST_EVIDENCE) node.evidence.push(evidence);
}
