import { isRecord } from "../../json/is-record.ts";
import { memberPath } from "../file/model/member-names.ts";
import type { FieldSpec, Shape, ToolFile, UnionShape } from "../file/model/tool-file.ts";
import { findType, findUnion, isOnSide } from "./shape-parts.ts";

/** How values of one alternative are recognised: by the values of this field. */
export interface Tag {
  field: string;
  values: (string | number | boolean)[];
}

/** The tag of a type among the alternatives of a union; undefined without a discriminator. */
export function tagOf(file: Pick<ToolFile, "types">, { discriminator }: UnionShape, type: string): Tag | undefined {
  if (!discriminator) return undefined;
  const fields = findType(file, type)?.fields ?? {};
  const place = memberPath(discriminator.member);
  const found = Object.entries(fields).find(([, { wire }]) => wire === place);
  if (!found) return undefined;
  const [field, spec] = found;
  const values = Object.entries(discriminator.values).filter(([, its]) => its === type);
  return { field, values: values.map(([value]) => typed(spec, value)) };
}

/** Names in the file are text; the field may be a number. */
function typed({ shape, const: constant }: FieldSpec, value: string): string | number | boolean {
  const type = shape.kind === "scalar" ? shape.type : "string";
  if (typeof constant === "number" || type === "integer" || type === "number") return Number(value);
  return typeof constant === "boolean" || type === "boolean" ? value === "true" : value;
}

/**
 * The alternatives of a union that a value may belong to, the most likely first. Only its own members are looked at:
 * this is fast, and a value inside may still be wrong. `side`: whether the value is an argument or an answer.
 */
export function likelyVariants(
  file: Pick<ToolFile, "types">,
  union: UnionShape,
  value: unknown,
  side: "input" | "output",
): Shape[] {
  const ranked = union.of.map((shape) => ({ shape, rank: rankOf(file, union, shape, value, side) }));
  return ranked
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank)
    .map(({ shape }) => shape);
}

const NO_MATCH = 0;
const ANY = 1;
const SAME_KIND = 10;
const EXACTLY = 1_000_000;

function rankOf(
  file: Pick<ToolFile, "types">,
  union: UnionShape,
  shape: Shape,
  value: unknown,
  side: "input" | "output",
): number {
  const inner = findUnion(file, shape);
  if (inner) {
    if (inner === union) return NO_MATCH;
    return Math.max(NO_MATCH, ...inner.of.map((each) => rankOf(file, inner, each, value, side)));
  }
  switch (shape.kind) {
    case "any":
      return shape.only === "object" && !isRecord(value) ? NO_MATCH : ANY;
    case "list":
      return Array.isArray(value) ? SAME_KIND : NO_MATCH;
    case "map":
      return isRecord(value) ? SAME_KIND : NO_MATCH;
    case "scalar":
      return rankOfScalar(shape, value);
    case "object":
      return isRecord(value) ? rankOfType(file, union, shape.type, value, side) : NO_MATCH;
    case "union":
      return NO_MATCH;
  }
}

function rankOfScalar(shape: Extract<Shape, { kind: "scalar" }>, value: unknown): number {
  const names: readonly unknown[] | undefined = shape.codes ? Object.values(shape.codes) : shape.enum;
  if (names) return names.includes(value) ? EXACTLY : NO_MATCH;
  const isText = typeof value === "string";
  switch (shape.type) {
    case "integer":
      if (Number.isInteger(value)) return SAME_KIND + 1;
      return shape.exact && isText && /^-?\d+$/.test(value) ? SAME_KIND + 1 : NO_MATCH;
    case "number":
      return typeof value === "number" || (shape.exact === true && isText) ? SAME_KIND : NO_MATCH;
    case "boolean":
    case "presence":
      return typeof value === "boolean" ? SAME_KIND : NO_MATCH;
    case "date":
      return isText && /^\d{4}-\d{2}-\d{2}$/.test(value) ? SAME_KIND + 2 : NO_MATCH;
    case "datetime":
      return isText && /^\d{4}-\d{2}-\d{2}T/.test(value) ? SAME_KIND + 2 : NO_MATCH;
    case "string":
    case "binary":
      return isText ? SAME_KIND : NO_MATCH;
  }
}

/** Members that belong to the type count for it; unknown and missing ones count more against it. */
function rankOfType(
  file: Pick<ToolFile, "types">,
  union: UnionShape,
  name: string,
  value: Record<string, unknown>,
  side: "input" | "output",
): number {
  const type = findType(file, name);
  if (!type) return NO_MATCH;
  const tag = tagOf(file, union, name);
  if (tag) return tag.values.includes(value[tag.field] as string) ? EXACTLY : NO_MATCH;
  let rank = SAME_KIND + 5;
  for (const member of Object.keys(value)) {
    const field = Object.hasOwn(type.fields, member) ? type.fields[member] : undefined;
    if (field && isOnSide(field, side)) rank += fits(file, field, value[member]) ? 2 : -20;
    else if (!type.additional) rank -= 10;
  }
  for (const [member, field] of Object.entries(type.fields)) {
    const isNeeded = !field.optional && field.default === undefined && isOnSide(field, side) && !field.hidden;
    const isSet = field.const !== undefined || field.value !== undefined;
    if (isNeeded && !isSet && !Object.hasOwn(value, member)) rank -= 20;
  }
  return Math.max(rank, ANY + 1);
}

function fits(file: Pick<ToolFile, "types">, { shape, const: constant, nullable }: FieldSpec, value: unknown): boolean {
  if (constant !== undefined) return value === constant;
  if (value === null) return nullable === true;
  if (shape.kind === "scalar") return rankOfScalar(shape, value) > NO_MATCH;
  if (shape.kind === "list") return Array.isArray(value);
  return shape.kind === "map" || (shape.kind === "object" && !findUnion(file, shape)) ? isRecord(value) : true;
}
