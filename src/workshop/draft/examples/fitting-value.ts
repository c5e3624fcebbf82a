import { isRecord } from "../../../json/is-record.ts";
import { madeUpValue } from "../../check/made-up.ts";
import { maskExample, PLACEHOLDER } from "../../../masking/find-secrets.ts";
import { DATETIME } from "../../compile/schema-writer.ts";
import type { FieldSpec, ScalarShape, Shape, UnionShape } from "../../file/model/tool-file.ts";
import { linearPattern } from "../../pattern/linear-pattern.ts";
import { StepBudget } from "../../pattern/step-budget.ts";
import { allFields, type DraftType } from "../types/draft-type.ts";
import { isSecretValue } from "./secret-values.ts";

/** Types by name, and the side of the wire on which a value is. */
export interface FittingPlace {
  types: Pick<ReadonlyMap<string, DraftType>, "get">;
  side: "input" | "output";
  /** Values are the text of XML or of a form, whatever their types. */
  isText?: boolean;
  /** The member or parameter that the value is of, by its name upstream. */
  name?: string;
  /**
   * The value is made of examples of members, which may not belong together. Members that answers must have are made up
   * if they have none.
   */
  isPartial?: boolean;
}

/** What is given for a value of a document that does not fit its type here. */
export const UNFIT = Symbol("unfit");

const MAX_DEPTH = 40;
const DAY = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;
const TIME = new RegExp(DATETIME);
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * A value of the document, such as an example, with the names of this file; UNFIT if the tool would refuse it. Unknown
 * members are left out, and what is probably a credential is replaced.
 */
export function fittingValue(value: unknown, shape: Shape, place: FittingPlace, depth = 0): unknown {
  if (depth > MAX_DEPTH || value === undefined) return UNFIT;
  switch (shape.kind) {
    case "scalar":
      return withoutSecret(fittingScalar(place.isText ? typedText(value, shape) : value, shape), shape, place);
    case "object": {
      const type = place.types.get(shape.type);
      if (!type) return UNFIT;
      return type.union ? fittingUnion(value, type.union, place, depth) : fittingRecord(value, type, place, depth);
    }
    case "list": {
      if (!Array.isArray(value) || value.length < (shape.minItems ?? 0)) return UNFIT;
      if (value.length > (shape.maxItems ?? Infinity)) return UNFIT;
      if (shape.uniqueItems && new Set(value.map((item) => JSON.stringify(item))).size < value.length) return UNFIT;
      const items = value.map((item: unknown) => fittingValue(item, shape.of, place, depth + 1));
      return items.includes(UNFIT) ? UNFIT : items;
    }
    case "map": {
      if (!isRecord(value)) return UNFIT;
      const entries = Object.entries(value);
      if (entries.length < (shape.minEntries ?? 0) || entries.length > (shape.maxEntries ?? Infinity)) return UNFIT;
      return fromEntries(
        entries.map(([key, item]) => [key, fittingValue(item, shape.of, { ...place, name: key }, depth + 1)]),
      );
    }
    case "union":
      return fittingUnion(value, shape, place, depth);
    case "any":
      if (shape.schema !== undefined || (shape.only && !isRecord(value))) return UNFIT;
      return withoutSecrets(value, place.name);
  }
}

function withoutSecret(value: unknown, shape: ScalarShape, { name }: FittingPlace): unknown {
  if (typeof value !== "string" || shape.type !== "string" || shape.enum || shape.codes) return value;
  const masked = isSecretValue(value, name) ? undefined : maskExample(value);
  if (masked === value) return value;
  return masked !== undefined && fitsText(masked, shape) ? masked : (madeUpValue(shape) ?? UNFIT);
}

function fittingUnion(value: unknown, union: UnionShape, place: FittingPlace, depth: number): unknown {
  const { discriminator } = union;
  if (discriminator) {
    const told = isRecord(value) ? value[discriminator.member] : undefined;
    const type = typeof told === "string" ? discriminator.values[told] : undefined;
    return type === undefined ? UNFIT : fittingValue(value, { kind: "object", type }, place, depth + 1);
  }
  for (const option of union.of) {
    const fitting = fittingValue(value, option, place, depth + 1);
    // With members left out, it could be taken for another alternative.
    if (fitting !== UNFIT && (!isRecord(value) || sizeOf(fitting) === sizeOf(value))) return fitting;
  }
  return UNFIT;
}

function sizeOf(value: unknown): number {
  return isRecord(value) ? Object.keys(value).length : 0;
}

function fittingRecord(value: unknown, type: DraftType, place: FittingPlace, depth: number): unknown {
  if (!isRecord(value) || (place.isPartial && type.rules)) return UNFIT;
  const taken: [string, unknown][] = [];
  const known = new Set<string>();
  for (const [name, field] of allFields(type)) {
    const wire = field.wire === false ? name : field.wire;
    known.add(wire);
    if (field.side !== undefined && field.side !== place.side) continue;
    // Callers do not give what is always the same.
    if (field.const !== undefined && place.side === "input") continue;
    const member = wire === "." && !place.isText ? value : Object.hasOwn(value, wire) ? value[wire] : undefined;
    const fitting = fittingMember(member, field, wire === "." ? place : { ...place, name: wire }, depth);
    if (fitting === UNFIT) return UNFIT;
    if (fitting !== undefined) taken.push([name, fitting]);
  }
  if (type.additional && place.side === "input") {
    for (const [key, member] of Object.entries(value)) {
      if (known.has(key)) continue;
      const fitting = fittingValue(member, type.additional, { ...place, name: key }, depth + 1);
      if (fitting === UNFIT) return UNFIT;
      taken.push([key, fitting]);
    }
  }
  return Object.fromEntries(taken);
}

function fittingMember(member: unknown, field: FieldSpec, place: FittingPlace, depth: number): unknown {
  const isMissing = member === undefined || (member === null && !field.nullable);
  if (isMissing) {
    const isAnswer = place.side === "output";
    if (isAnswer && place.isPartial && !field.optional && field.shape.kind === "scalar")
      return madeUpValue(field.shape);
    return field.optional || isAnswer || field.default !== undefined ? undefined : UNFIT;
  }
  if (member === null) return null;
  const fitting = fittingValue(member, field.shape, place, depth + 1);
  // An answer may lack a member; an optional argument that does not fit is not given.
  return fitting === UNFIT && field.optional ? undefined : fitting;
}

function fromEntries(entries: readonly (readonly [string, unknown])[]): unknown {
  return entries.some(([, value]) => value === UNFIT) ? UNFIT : Object.fromEntries(entries);
}

function fittingScalar(value: unknown, shape: ScalarShape): unknown {
  const { codes } = shape;
  if (codes === undefined) return fitsScalar(value, shape) ? value : UNFIT;
  const code = typeof value === "string" || typeof value === "number" ? String(value) : "";
  return Object.hasOwn(codes, code) ? codes[code] : UNFIT;
}

/** The value of a text by its type. */
function typedText(value: unknown, { type, enum: listed, codes, whitespace }: ScalarShape): unknown {
  if (typeof value !== "string" || codes) return value;
  const text = value.trim();
  if (type === "presence") return true;
  if (type === "boolean")
    return text === "true" || text === "1" ? true : text === "false" || text === "0" ? false : value;
  const isNumber =
    type === "integer" || type === "number" || listed?.every((each) => typeof each === "number") === true;
  if (isNumber) return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : value;
  return type === "string" && whitespace === "keep" ? value : text;
}

function fitsScalar(value: unknown, shape: ScalarShape): boolean {
  if (shape.enum) return shape.enum.includes(value as string | number);
  switch (shape.type) {
    case "boolean":
    case "presence":
      return typeof value === "boolean";
    case "integer":
      return typeof value === "number" && Number.isSafeInteger(value) && fitsNumber(value, shape);
    case "number":
      return typeof value === "number" && Number.isFinite(value) && Math.abs(value) < 1e15 && fitsNumber(value, shape);
    case "date":
      return typeof value === "string" && DAY.test(value) && !Number.isNaN(Date.parse(value));
    case "datetime":
      return typeof value === "string" && TIME.test(value);
    case "binary":
      return typeof value === "string" && BASE64.test(value);
    case "string":
      return typeof value === "string" && value !== "" && fitsText(value, shape);
  }
}

function fitsNumber(value: number, shape: ScalarShape): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = shape;
  if (value < (minimum ?? -Infinity) || value > (maximum ?? Infinity)) return false;
  if (value <= (exclusiveMinimum ?? -Infinity) || value >= (exclusiveMaximum ?? Infinity)) return false;
  return multipleOf === undefined || Number.isInteger(Number((value / multipleOf).toPrecision(12)));
}

function fitsText(value: string, { minLength = 0, maxLength = Infinity, pattern }: ScalarShape): boolean {
  const { length } = Array.from(value);
  if (length < minLength || length > maxLength || /\p{Cs}/u.test(value)) return false;
  return pattern === undefined || (value.length < 1_000 && linearPattern(pattern).test(value, new StepBudget()));
}

/** A value of any form, with placeholders for what is probably a credential. */
function withoutSecrets(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, name));
  if (typeof value === "string") return isSecretValue(value, name) ? PLACEHOLDER : maskExample(value);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutSecrets(member, key)]));
}
