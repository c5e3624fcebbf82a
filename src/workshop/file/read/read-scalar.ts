import { asText } from "../../../text/as-text.ts";
import { nearestName } from "../../../text/nearest-name.ts";
import { isExponential } from "../../pattern/exponential-pattern.ts";
import { linearPattern } from "../../pattern/linear-pattern.ts";
import { parsePattern, UnusablePattern } from "../../pattern/parse-pattern.ts";
import { oneOf, type Part, present } from "../../../format/part.ts";
import type { ScalarShape } from "../model/tool-file.ts";

export const SCALARS = ["string", "integer", "number", "boolean", "date", "datetime", "presence", "binary"] as const;
export const SCALAR_KEYS = [
  "minLength",
  "maxLength",
  "pattern",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "enum",
  "format",
  "exact",
  "codes",
  "decimals",
  "whitespace",
] as const;

type ScalarType = ScalarShape["type"];

/** The limits that each type allows. */
const FITTING: Record<(typeof SCALAR_KEYS)[number], readonly ScalarType[]> = {
  minLength: ["string"],
  maxLength: ["string"],
  pattern: ["string", "datetime"],
  minimum: ["integer", "number"],
  maximum: ["integer", "number"],
  exclusiveMinimum: ["integer", "number"],
  exclusiveMaximum: ["integer", "number"],
  multipleOf: ["integer", "number"],
  enum: ["string", "integer", "number"],
  format: ["string"],
  exact: ["integer", "number"],
  codes: ["string", "integer"],
  decimals: ["number"],
  whitespace: ["string"],
};

/** Numbers as text, which keeps all their digits. */
const DIGITS = { integer: /^-?\d+$/, number: /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/ } as const;

export function isScalarType(name: string): name is ScalarType {
  return (SCALARS as readonly string[]).includes(name);
}

/** A single value with its limits, from the members of a field or of `list`. */
export function readScalar(part: Part, type: ScalarType): ScalarShape {
  for (const key of SCALAR_KEYS) {
    if (part.has(key) && !FITTING[key].includes(type)) {
      part.part(key).keyError(`${key} says nothing about a ${type}`, `It is for ${oneOf(FITTING[key])}.`);
    }
  }
  const shape: ScalarShape = present({
    kind: "scalar" as const,
    type,
    minLength: part.part("minLength").integer(),
    maxLength: part.part("maxLength").integer(),
    pattern: readPattern(part.part("pattern")),
    minimum: part.part("minimum").number(),
    maximum: part.part("maximum").number(),
    exclusiveMinimum: part.part("exclusiveMinimum").number(),
    exclusiveMaximum: part.part("exclusiveMaximum").number(),
    multipleOf: readMultiple(part.part("multipleOf")),
    enum: part.has("enum") ? readEnum(part.part("enum"), type) : undefined,
    format: readFormat(part.part("format")),
    exact: readFlag(part.part("exact")),
    codes: part.has("codes") ? readCodes(part.part("codes")) : undefined,
    decimals: readDecimals(part.part("decimals")),
    whitespace: part.part("whitespace").choice(["keep", "collapse"]) ?? "keep",
  });
  if (shape.enum && shape.codes) part.part("enum").keyError("codes already say which values there are");
  for (const key of ["enum", "decimals"] as const) {
    if (shape.exact && shape[key] !== undefined) part.part("exact").keyError(`${key} already says how exact it is`);
  }
  checkOrder(part, "minLength", "maxLength");
  checkOrder(part, "minimum", "maximum");
  checkOrder(part, "exclusiveMinimum", "exclusiveMaximum");
  return shape;
}

export function checkOrder(part: Part, low: string, high: string): void {
  const [least, most] = [part.part(low).value(), part.part(high).value()];
  if (typeof least === "number" && typeof most === "number" && least > most) {
    part.part(low).error(`is more than ${high}, so nothing fits`);
  }
}

/** Only true is kept: false is the same as leaving it out. */
export function readFlag(part: Part): true | undefined {
  return part.boolean() === true ? true : undefined;
}

function readMultiple(part: Part): number | undefined {
  const value = part.number();
  if (value === undefined || value > 0) return value;
  part.error("must be more than 0");
  return undefined;
}

function readFormat(part: Part): string | undefined {
  const format = part.text();
  const type = format === undefined ? undefined : { date: "date", "date-time": "datetime" }[format];
  if (type !== undefined) part.warning("a format is not checked", `Write type: ${type} instead.`);
  return format;
}

function readPattern(part: Part): string | undefined {
  const source = part.text();
  if (source === undefined) return undefined;
  try {
    linearPattern(source);
    if (isExponential(parsePattern(source))) part.warning(EXPONENTIAL, "Write it so that a text fits in one way only.");
  } catch (error) {
    if (!(error instanceof UnusablePattern)) throw error;
    part.error(error.message, "Simplify it; for long texts, use maxLength.");
  }
  return source;
}

/** Callers also get the pattern, and check it with other engines. */
const EXPONENTIAL =
  "can take exponential time in programs that try all ways to match, as (a+)+ does; this one does not, those of callers may";

function readDecimals(part: Part): number | undefined {
  const decimals = part.integer();
  if (decimals !== undefined && decimals > 10) part.error("must be 10 or less");
  return decimals;
}

function readEnum(part: Part, type: ScalarType): (string | number)[] {
  const items = part.items();
  if (items.length === 0) part.error("names no value, so nothing fits");
  const values = items.flatMap((item) => {
    // Some APIs have the empty text for "none of these".
    const text = type === "string" && item.isText && item.value() === "" ? "" : undefined;
    const value = text ?? (type === "string" ? item.text() : item.number());
    return value === undefined ? [] : [value];
  });
  const seen = new Set<string | number>();
  values.forEach((value, index) => {
    if (seen.has(value)) items[index]?.error(`${JSON.stringify(value)} is named twice`);
    seen.add(value);
  });
  return values;
}

/** The upstream codes and their names here: one name for each. */
function readCodes(part: Part): Record<string, string> {
  const entries = part.entries().map(([code, item]) => [code, item.text() ?? "", item] as const);
  if (part.isMap && entries.length === 0) part.error("names no code, so nothing fits");
  entries.forEach(([code, name, item], index) => {
    const first = entries.findIndex(([, other]) => other === name);
    if (name !== "" && first !== index) {
      item.error(
        `"${name}" is already the name of ${entries[first]?.[0]}: which of ${entries[first]?.[0]} and ${code} is sent?`,
      );
    }
  });
  return Object.fromEntries(entries.map(([code, name]) => [code, name]));
}

/** The problem of a value in the file; undefined if it is valid. */
export function misfit(shape: ScalarShape, value: unknown): { what: string; hint?: string } | undefined {
  const names = shape.codes ? Object.values(shape.codes) : shape.enum;
  if (names && !names.includes(value as string | number)) {
    const meant = nearestName(String(value), names.map(String));
    return { what: `must be ${oneOf(names.map(String))}`, ...(meant ? { hint: `Did you mean "${meant}"?` } : {}) };
  }
  if (shape.type === "integer" || shape.type === "number") return misfitNumber(shape, value);
  if (shape.type === "boolean" || shape.type === "presence") {
    return typeof value === "boolean" ? undefined : { what: "must be true or false" };
  }
  if (typeof value !== "string") return { what: "must be text", hint: `Write it in quotes: "${asText(value)}"` };
  if (shape.type === "date" && !/^\d{4}-\d{2}-\d{2}$/.test(value)) return { what: "must be a date like 2025-12-17" };
  if (value.length < (shape.minLength ?? 0)) return { what: `must have at least ${shape.minLength} characters` };
  if (value.length > (shape.maxLength ?? Infinity)) return { what: `must have at most ${shape.maxLength} characters` };
  return undefined;
}

function misfitNumber(shape: ScalarShape, value: unknown): { what: string } | undefined {
  const { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = shape;
  if (shape.exact && typeof value === "string" && DIGITS[type === "integer" ? "integer" : "number"].test(value)) {
    return undefined;
  }
  if (typeof value !== "number" || !Number.isFinite(value)) return { what: "must be a number" };
  if (type === "integer" && !Number.isInteger(value)) return { what: "must be a whole number" };
  if (value < (minimum ?? -Infinity)) return { what: `must be at least ${minimum}` };
  if (value <= (exclusiveMinimum ?? -Infinity)) return { what: `must be more than ${exclusiveMinimum}` };
  if (value >= (exclusiveMaximum ?? Infinity)) return { what: `must be less than ${exclusiveMaximum}` };
  return value > (maximum ?? Infinity) ? { what: `must be at most ${maximum}` } : undefined;
}
