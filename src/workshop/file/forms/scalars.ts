import { choice, flag, json, list, map, number, text, whole, type Infer, type record } from "../../../format/form.ts";
import { oneOf, present, type Part } from "../../../format/part.ts";
import { asText } from "../../../text/as-text.ts";
import { nearestName } from "../../../text/nearest-name.ts";
import { isExponential } from "../../pattern/exponential-pattern.ts";
import { linearPattern } from "../../pattern/linear-pattern.ts";
import { parsePattern, UnusablePattern } from "../../pattern/parse-pattern.ts";
import type { ScalarShape } from "../model/tool-file.ts";

type ScalarType = ScalarShape["type"];

export const SCALARS = [
  "string",
  "integer",
  "number",
  "boolean",
  "date",
  "datetime",
  "presence",
  "binary",
] as const satisfies readonly ScalarType[];

export function isScalarType(name: string): name is ScalarType {
  return (SCALARS as readonly string[]).includes(name);
}

export const PATTERN = text()
  .check(checkPattern)
  .schema({ format: "regex" })
  .says(
    "Of text, and of dates with times: a regular expression as in JSON Schema. It may match anywhere, so write `^` and `$`. It is checked in time proportional to the text, whatever the pattern; references back to a group (`\\1`) cannot be used.",
  )
  .example("^[A-Z]{2}$")
  .optional();

/** The limits of single values. */
export const SCALAR_MEMBERS = {
  minLength: whole().says("Of text: at least so many characters.").optional(),
  maxLength: whole().says("Of text: at most so many characters.").optional(),
  pattern: PATTERN,
  minimum: number().says("Of numbers: at least.").optional(),
  maximum: number().says("Of numbers: at most.").optional(),
  exclusiveMinimum: number().says("Of numbers: more than.").optional(),
  exclusiveMaximum: number().says("Of numbers: less than.").optional(),
  multipleOf: number({ above: 0 }).says("Of numbers: a multiple of it.").optional(),
  enum: list(json())
    .schema({ minItems: 1, uniqueItems: true, items: { type: ["string", "number"] } })
    .says("The values there are, where names and wire are the same.")
    .optional(),
  format: text()
    .check(checkFormat)
    .says("Of text: what it looks like, such as `email` or `uri`, for callers. It is not checked.")
    .example("uuid")
    .optional(),
  exact: flag().says(
    "Of numbers: those beyond the exact range stay exact. Callers give and see them as text, upstream they are numbers.",
  ),
  codes: map(text())
    .check(checkCodes)
    .schema({ minProperties: 1 })
    .says("What upstream writes, and what it is called here. Callers give and see the names alone.")
    .example({ 1: "breakfast", 2: "half_board" })
    .optional(),
  decimals: whole({ most: 10 }).says("A number is written with exactly so many decimals.").optional(),
  whitespace: choice(["keep", "collapse"])
    .says("`collapse`: in answers, runs of blanks and line breaks become one blank, and ends are trimmed.")
    .default("keep"),
};

type ScalarMembers = Infer<ReturnType<typeof record<typeof SCALAR_MEMBERS>>>;
type ScalarKey = keyof typeof SCALAR_MEMBERS;

export const SCALAR_KEYS = Object.keys(SCALAR_MEMBERS) as ScalarKey[];

/** The types that each limit is for. */
const FITTING: Readonly<Record<ScalarKey, readonly ScalarType[]>> = {
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

/** What JSON Schema can say of the limits: which types they are for. */
export const FITTING_SCHEMAS = Object.fromEntries(
  Object.entries(FITTING).map(([key, types]) => [
    key,
    { properties: { type: { enum: types } }, ...(key === "enum" ? { not: { required: ["codes"] } } : {}) },
  ]),
);

/** A single value with its limits, from the members of a field or of a part of one. */
export function scalarOf(members: Partial<ScalarMembers>, part: Part, type: ScalarType): ScalarShape {
  for (const key of SCALAR_KEYS) {
    if (part.has(key) && !FITTING[key].includes(type)) {
      part.part(key).keyError(`${key} says nothing about a ${type}`, `It is for ${oneOf(FITTING[key])}.`);
    }
  }
  const { whitespace = "keep", ...limits } = limitsIn(members);
  const shape: ScalarShape = present({
    kind: "scalar" as const,
    type,
    ...limits,
    enum: part.isMap && part.has("enum") ? readEnum(part.part("enum"), type) : undefined,
    whitespace,
  });
  if (part.has("enum") && part.has("codes")) part.part("enum").keyError("codes already say which values there are");
  for (const key of ["enum", "decimals"] as const) {
    if (shape.exact && shape[key] !== undefined) part.part("exact").keyError(`${key} already says how exact it is`);
  }
  checkOrder(part, "minLength", "maxLength");
  checkOrder(part, "minimum", "maximum");
  checkOrder(part, "exclusiveMinimum", "exclusiveMaximum");
  return shape;
}

/** Without the other members of a field. */
function limitsIn(members: Partial<ScalarMembers>): Partial<ScalarMembers> {
  return Object.fromEntries(SCALAR_KEYS.flatMap((key) => (members[key] === undefined ? [] : [[key, members[key]]])));
}

export function checkOrder(part: Part, low: string, high: string): void {
  if (!part.has(low)) return;
  const [least, most] = [part.part(low).value(), part.part(high).value()];
  if (typeof least === "number" && typeof most === "number" && least > most) {
    part.part(low).error(`is more than ${high}, so nothing fits`);
  }
}

function checkFormat(format: string, part: Part): void {
  const type = { date: "date", "date-time": "datetime" }[format];
  if (type !== undefined) part.warning("a format is not checked", `Write type: ${type} instead.`);
}

/** Callers also get the pattern, and check it with other engines. */
const EXPONENTIAL =
  "can take exponential time in programs that try all ways to match, as (a+)+ does; this one does not, those of callers may";

function checkPattern(source: string, part: Part): void {
  try {
    linearPattern(source);
    if (isExponential(parsePattern(source))) part.warning(EXPONENTIAL, "Write it so that a text fits in one way only.");
  } catch (error) {
    if (!(error instanceof UnusablePattern)) throw error;
    part.error(error.message, "Simplify it; for long texts, use maxLength.");
  }
}

function readEnum(part: Part, type: ScalarType): (string | number)[] {
  const items = part.items();
  if (items.length === 0) part.error("names no value, so nothing fits");
  const values = items.flatMap((item) => {
    // Some APIs have the empty text for "none of these".
    const isNone = type === "string" && item.isText && item.value() === "";
    const value = isNone ? "" : type === "string" ? item.text() : item.number();
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
function checkCodes(codes: Readonly<Record<string, string>>, part: Part): void {
  const entries = Object.entries(codes);
  if (entries.length === 0) part.error("names no code, so nothing fits");
  const firsts = new Map<string, string>();
  for (const [code, name] of entries) {
    const first = firsts.get(name);
    if (first === undefined || name === "") firsts.set(name, code);
    else {
      const which = `which of ${first} and ${code} is sent?`;
      part.part(code).error(`"${name}" is already the name of ${first}: ${which}`);
    }
  }
}

/** Numbers as text, which keeps all their digits. */
const DIGITS = { integer: /^-?\d+$/, number: /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/ } as const;

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
