import type { ScalarShape } from "../../file/model/tool-file.ts";
import { isDate, isDateTime } from "../../expression/calendar.ts";
import { decimalText } from "../../../json/decimal-text.ts";
import { ExactDecimal, isDoubleText, jsonNumber } from "../../../json/exact-decimal.ts";
import { survives, survivesAsNumber, wholeNumber } from "../../../json/exact-json.ts";
import { linearPattern } from "../../pattern/linear-pattern.ts";
import { StepsExceeded, type StepBudget } from "../../pattern/step-budget.ts";

/** A value of the wrong type. */
export class Mismatch {
  readonly problem: string;

  constructor(problem: string) {
    this.problem = problem;
  }
}

/** How one type of value is written upstream, and read back. */
export interface Scalar {
  readonly type: ScalarShape["type"];
  /** As text: in XML, forms, addresses and headers. */
  write(value: unknown): string | Mismatch;
  read(text: string): unknown;
  /** As a JSON value. */
  writeJson(value: unknown): unknown;
  readJson(value: unknown): unknown;
  /** The broken limit of an otherwise valid value; undefined if there are no limits. */
  readonly limit: Limit | undefined;
}

const INTEGER = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

export function scalarOf(shape: ScalarShape): Scalar {
  const plain = shape.codes ? coded(shape, shape.codes) : plainScalar(shape);
  return { type: shape.type, ...plain, limit: shape.codes ? undefined : limitsOf(shape) };
}

type Conversion = Omit<Scalar, "limit" | "type">;

function plainScalar(shape: ScalarShape): Conversion {
  switch (shape.type) {
    case "string":
      return text(shape, () => true, "text");
    case "date":
      return dateInText(text(shape, isDate, "a date (YYYY-MM-DD)"));
    case "datetime":
      return text(shape, isDateTime, "a date with a time (YYYY-MM-DDThh:mm:ss)");
    case "integer":
    case "number":
      return shape.exact ? exactNumber(shape) : number(shape);
    case "boolean":
      return boolean();
    case "presence":
      return presence();
    case "binary":
      return binary();
  }
}

/** Base64, which callers may also give as a data URL. */
function binary(): Conversion {
  const mismatch = new Mismatch("expected base64 or a data URL");
  const write = (value: unknown) => (typeof value === "string" ? base64In(value) : undefined) ?? mismatch;
  // XML often has line ends in it.
  const read = (text: string) => write(/\s/.test(text) ? text.replaceAll(/\s+/g, "") : text);
  return { write, read, writeJson: write, readJson: write };
}

/** The base64 of a text or of a data URL; undefined if it is neither. */
export function base64In(text: string): string | undefined {
  const [, prefix = ""] = /^(data:[^,]{0,200};base64,)/.exec(text) ?? [];
  const base64 = text.slice(prefix.length);
  return base64.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(base64) ? base64 : undefined;
}

/**
 * A number whose digits stay: callers and the reader have text where a double would lose some, upstream has a number.
 */
function exactNumber(shape: ScalarShape): Conversion {
  const plain = number(shape);
  const mismatch = new Mismatch("expected a number");
  const digits = shape.type === "integer" ? INTEGER : NUMBER;
  const digitsIn = (value: unknown) =>
    typeof value === "string" && digits.test(value.trim()) ? value.trim().replace(/^\+/, "") : undefined;
  const shown = (text: string) => (survivesAsNumber(text) ? plain.read(text) : String(wholeNumber(text) ?? text));
  return {
    write: (value) => digitsIn(value) ?? plain.write(value),
    read: (text) => {
      const given = digitsIn(text);
      return given === undefined ? mismatch : shown(given);
    },
    writeJson: (value) => {
      const given = digitsIn(value);
      if (given === undefined) return plain.writeJson(value);
      return survivesAsNumber(given) ? Number(given) : (wholeNumber(given) ?? new ExactDecimal(jsonNumber(given)));
    },
    readJson: (value) => {
      if (typeof value === "bigint") return shown(String(value));
      const given = digitsIn(value instanceof ExactDecimal ? value.text : value);
      return given === undefined ? plain.readJson(value) : shown(given);
    },
  };
}

function text(shape: ScalarShape, isRight: (text: string) => boolean, kind: string): Conversion {
  const mismatch = new Mismatch(`expected ${kind}`);
  const allowed = shape.enum && new Set<unknown>(shape.enum);
  const notAllowed = shape.enum && new Mismatch(`expected one of ${shape.enum.join(", ")}`);
  const isFree = shape.type === "string" && shape.whitespace === "keep";
  const write = (value: unknown) => (typeof value === "string" && isRight(value) ? value : mismatch);
  const read = (text: string) => {
    const value = isFree ? text : shape.type === "string" ? collapsed(text) : text.trim();
    if (!isRight(value)) return mismatch;
    return allowed && !allowed.has(value) ? notAllowed : value;
  };
  return {
    write,
    read,
    writeJson: write,
    readJson: (value) => (typeof value === "string" ? read(value) : isWhole(value) ? read(String(value)) : mismatch),
  };
}

/** In XML a date may have a zone (`xsd:date`): it is the same day of the calendar. */
function dateInText(plain: Conversion): Conversion {
  return {
    ...plain,
    read: (text) => plain.read(text.replace(/^(\s*\d{4}-\d\d-\d\d)(?:Z|[+-]\d\d:\d\d)(?=\s*$)/, "$1")),
  };
}

/** Ids may be numbers that no double can hold; their digits are text. */
function isWhole(value: unknown): boolean {
  return typeof value === "bigint" || Number.isSafeInteger(value);
}

function number(shape: ScalarShape): Conversion {
  const isInteger = shape.type === "integer";
  const mismatch = new Mismatch(isInteger ? "expected a whole number" : "expected a number");
  const tooLarge = new Mismatch("is too large to be an exact number; as type: string it would be text");
  const tooPrecise = new Mismatch("has too many digits to be an exact number; with exact: true it would be text");
  const allowed = shape.enum && new Set<unknown>(shape.enum);
  const notAllowed = shape.enum && new Mismatch(`expected one of ${shape.enum.join(", ")}`);
  const isRight = (value: unknown): value is number =>
    typeof value === "number" && (isInteger ? Number.isSafeInteger(value) : Number.isFinite(value));
  const exactly = (value: bigint) => (isInteger || !survives(value) ? tooLarge : kept(Number(value)));
  const kept = (value: number) => {
    if (isInteger ? !Number.isSafeInteger(value) : !Number.isFinite(value)) return tooLarge;
    return allowed && !allowed.has(value) ? notAllowed : value;
  };
  const read = (given: string) => {
    const text = given.trim();
    // -0 would differ from 0 in comparisons; upstream means the same.
    if (!(isInteger ? INTEGER : NUMBER).test(text)) return mismatch;
    const value = Number(text) + 0;
    const whole = Number.isSafeInteger(value) ? undefined : wholeNumber(text);
    if (whole !== undefined) return exactly(whole);
    return !Number.isFinite(value) || isDoubleText(text) ? kept(value) : tooPrecise;
  };
  return {
    write: (value) => (isRight(value) ? decimalText(value, shape.decimals) : mismatch),
    read,
    writeJson: (value) =>
      !isRight(value) ? mismatch : shape.decimals === undefined ? value : Number(decimalText(value, shape.decimals)),
    // Many APIs write amounts as text, because their own numbers lose cents.
    readJson: (value) => {
      if (typeof value === "string") return read(value);
      if (typeof value === "bigint") return exactly(value);
      if (value instanceof ExactDecimal) return isInteger ? mismatch : read(value.text);
      return typeof value === "number" && (!isInteger || Number.isInteger(value)) ? kept(value + 0) : mismatch;
    },
  };
}

function boolean(): Conversion {
  const mismatch = new Mismatch("expected true or false");
  const read = (text: string) => {
    const word = text.trim();
    if (word === "true" || word === "1") return true;
    return word === "false" || word === "0" ? false : mismatch;
  };
  return {
    write: (value) => (typeof value === "boolean" ? String(value) : mismatch),
    read,
    writeJson: (value) => (typeof value === "boolean" ? value : mismatch),
    readJson: (value) => (typeof value === "boolean" ? value : mismatch),
  };
}

/** Whether it is present at all; callers of this do not write false. */
function presence(): Conversion {
  const mismatch = new Mismatch("expected true or false");
  return {
    write: (value) => (value === true ? "" : mismatch),
    read: (text) => (text.trim() === "" ? true : new Mismatch("expected nothing inside")),
    writeJson: (value) => (value === true ? true : mismatch),
    readJson: (value) => value !== false,
  };
}

function coded(shape: ScalarShape, codes: Record<string, string>): Conversion {
  const names = new Map(Object.entries(codes));
  // If several codes have one name, the first is written.
  const codeOf = new Map(
    Object.entries(codes)
      .toReversed()
      .map(([code, name]) => [name, code]),
  );
  const notCode = new Mismatch(`expected one of the codes ${[...names.keys()].join(", ")}`);
  const notName = new Mismatch(`expected one of ${[...codeOf.keys()].toReversed().join(", ")}`);
  const write = (value: unknown) => (typeof value === "string" ? codeOf.get(value) : undefined) ?? notName;
  const read = (text: string) => names.get(text) ?? names.get(text.trim()) ?? notCode;
  return {
    write,
    read,
    writeJson: (value) => {
      const code = write(value);
      return code instanceof Mismatch ? code : inJson(code, shape.type);
    },
    readJson: (value) => (isSimple(value) ? read(String(value)) : notCode),
  };
}

function isSimple(value: unknown): value is string | number | bigint | boolean {
  return ["string", "number", "bigint", "boolean"].includes(typeof value);
}

function inJson(code: string, type: ScalarShape["type"]): unknown {
  if (type === "integer" || type === "number") return Number(code);
  return type === "boolean" ? code === "true" || code === "1" : code;
}

/** Collapses runs of blanks and trims the ends. */
function collapsed(text: string): string {
  // Most texts need no change; one check is cheaper than two replacements.
  if (!/[\t\r\n]|^ | $| {2}/.test(text)) return text;
  return text.replace(/[ \t\r\n]+/g, " ").replace(/^ | $/g, "");
}

/** `budget`: for all texts of the same document. */
type Limit = (value: unknown, budget: StepBudget) => string | undefined;

/** Checks the limits of a shape. Values of answers that break them are kept and reported. */
function limitsOf(shape: ScalarShape): Limit | undefined {
  const limits = [...ofNumbers(shape), ...ofTexts(shape)];
  if (limits.length === 0) return undefined;
  return (value, budget) => {
    for (const limit of limits) {
      const problem = limit(value, budget);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

function ofNumbers(shape: ScalarShape): Limit[] {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below, multipleOf } = shape;
  if (shape.type !== "integer" && shape.type !== "number") return [];
  const limits: Limit[] = [];
  // An exact number may be text.
  const isBelow = (value: unknown, limit: number) => Number(value) < limit;
  const isAbove = (value: unknown, limit: number) => Number(value) > limit;
  if (above !== undefined) limits.push((value) => (isAbove(value, above) ? undefined : `expected more than ${above}`));
  if (below !== undefined) limits.push((value) => (isBelow(value, below) ? undefined : `expected less than ${below}`));
  if (multipleOf !== undefined)
    limits.push((value) => (isMultiple(value, multipleOf) ? undefined : `expected a multiple of ${multipleOf}`));
  if (minimum !== undefined)
    limits.push((value) => (isBelow(value, minimum) ? `expected at least ${minimum}` : undefined));
  if (maximum !== undefined)
    limits.push((value) => (isAbove(value, maximum) ? `expected at most ${maximum}` : undefined));
  return limits;
}

/** By decimal digits: 0.3 is a multiple of 0.1, although the doubles are not. Text is not checked. */
function isMultiple(value: unknown, of: number): boolean {
  if (typeof value !== "number" || of <= 0) return true;
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.max(1, Math.abs(quotient));
}

function ofTexts({ type, minLength, maxLength, pattern }: ScalarShape): Limit[] {
  if (type === "integer" || type === "number") return [];
  const limits: Limit[] = [];
  // Characters as people and JSON Schema count them; a text never has more of them than UTF-16 units.
  const isLonger = (text: string, limit: number) => text.length > limit && Array.from(text).length > limit;
  const isShorter = (text: string, limit: number) => text.length < limit || Array.from(text).length < limit;
  if (minLength !== undefined) {
    limits.push((value) =>
      typeof value === "string" && isShorter(value, minLength)
        ? `expected at least ${minLength} characters`
        : undefined,
    );
  }
  if (maxLength !== undefined) {
    limits.push((value) =>
      typeof value === "string" && isLonger(value, maxLength) ? `expected at most ${maxLength} characters` : undefined,
    );
  }
  if (pattern !== undefined) limits.push(ofPattern(pattern));
  return limits;
}

const NOT_CHECKED = "was not checked against its pattern: there is too much text";

function ofPattern(source: string): Limit {
  const pattern = linearPattern(source);
  return (value, budget) => {
    if (typeof value !== "string") return undefined;
    // An error for each of a million texts would take half a minute.
    if (budget.isExceeded) return NOT_CHECKED;
    try {
      return pattern.test(value, budget) ? undefined : `expected text that matches ${JSON.stringify(source)}`;
    } catch (error) {
      if (error instanceof StepsExceeded) return NOT_CHECKED;
      throw error;
    }
  };
}
