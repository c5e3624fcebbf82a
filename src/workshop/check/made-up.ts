import { Mismatch, scalarOf } from "../codec/record/scalar.ts";
import { sampleText } from "../pattern/sample-text.ts";
import { StepBudget } from "../pattern/step-budget.ts";
import type { FieldSpec, ScalarShape, ToolFile } from "../file/model/tool-file.ts";
import { isForCallers } from "./completion.ts";
import type { TypeHeights } from "./type-heights.ts";
import { type Making, ValueMaker } from "./value-maker.ts";

const DAY_MS = 86_400_000;
/** Tried in order for a text that has to match a pattern. */
const TEXTS = ["example", "AB", "A1", "1", "10:00", "T-1", "12345", "AT", "de", "2026-01-01", "a@example.com"];
const OF_FORMATS: Readonly<Record<string, string>> = {
  email: "a@example.com",
  uri: "https://example.com/",
  url: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
  date: "2026-01-01",
  "date-time": "2026-01-01T12:00:00Z",
  time: "12:00:00Z",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  hostname: "example.com",
};

/**
 * A value of a type, always the same: the value of the request with the same name, otherwise the smallest valid one.
 * For tools whose fake answers are not in the file.
 */
export function madeUp(
  file: ToolFile,
  type: string,
  { input, heights }: { input: Record<string, unknown>; heights?: TypeHeights },
): Record<string, unknown> {
  const asked = (name: string) => (Object.hasOwn(input, name) ? input[name] : undefined);
  const making: Making = {
    side: "output",
    isGiven: isMadeUp,
    single: (shape, name) => madeUpValue(shape, asked(name)),
  };
  return new ValueMaker(file, making, heights).value(type);
}

/**
 * Whether a field gets a value: computed and constant fields get theirs elsewhere, and fields that are read for errors
 * would cause one.
 */
function isMadeUp({ wire, value, const: constant, hidden, optional }: FieldSpec): boolean {
  return wire !== false && value === undefined && constant === undefined && !(hidden && optional);
}

/** Generates arguments: the smallest valid value of each field, and each date one day later than the one before. */
export function madeUpCall(
  file: ToolFile,
  type: string,
  { from, all }: { from: number; all: boolean },
): Record<string, unknown> {
  let day = from;
  const nextDay = () => {
    const text = new Date(day).toISOString().slice(0, 10);
    day += DAY_MS;
    return text;
  };
  const isNeeded = (field: FieldSpec) => !field.optional && field.default === undefined;
  return new ValueMaker(file, {
    side: "input",
    isGiven: (field, isDeep) => isForCallers(field) && (isNeeded(field) || (all && !isDeep)),
    single: (shape) => (shape.type === "date" && !shape.enum && !shape.codes ? nextDay() : madeUpValue(shape)),
  }).value(type);
}

/** The requested value if it is valid, otherwise the smallest valid one; undefined if none is found. */
export function madeUpValue(shape: ScalarShape, asked?: unknown): unknown {
  const scalar = scalarOf(shape);
  const isRight = (value: unknown) => {
    const text = scalar.write(value);
    if (typeof text !== "string" || scalar.read(text) instanceof Mismatch) return false;
    if (scalar.limit?.(value, new StepBudget()) !== undefined) return false;
    return typeof value !== "number" || isWithin(shape, value);
  };
  return [asked, ...candidates(shape)].find((value) => value !== undefined && isRight(value));
}

function isWithin(shape: ScalarShape, value: number): boolean {
  const { exclusiveMinimum: above = -Infinity, exclusiveMaximum: below = Infinity, multipleOf } = shape;
  return value > above && value < below && (multipleOf === undefined || Number.isInteger(value / multipleOf));
}

function candidates(shape: ScalarShape): unknown[] {
  if (shape.codes) return Object.values(shape.codes);
  if (shape.enum) return shape.enum;
  switch (shape.type) {
    case "string":
      return [OF_FORMATS[shape.format ?? ""], sampleText(TEXTS, shape)];
    case "integer":
    case "number":
      return numbers(shape);
    case "boolean":
    case "presence":
      return [true];
    case "date":
      return ["2026-01-01"];
    case "datetime":
      return ["2026-01-01T12:00:00", "2026-01-01T12:00:00Z"];
    case "binary":
      return ["ZXhhbXBsZQ=="];
  }
}

/** 1 or the limits; between limits that are not included, and multiples near them. */
function numbers({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: ScalarShape): unknown[] {
  const low = minimum ?? exclusiveMinimum;
  const high = maximum ?? exclusiveMaximum;
  const middle = low === undefined ? (high ?? 1) - 1 : high === undefined ? low + 1 : (low + high) / 2;
  const plain = [1, minimum, maximum, 0, middle, Math.floor(middle), Math.ceil(middle)];
  if (multipleOf === undefined) return plain;
  const steps = [low ?? 0, high ?? 0, middle].flatMap((near) => {
    const count = Math.floor(near / multipleOf);
    return [count, count + 1, count + 2, count - 1].map((each) => each * multipleOf + 0);
  });
  return [...plain, multipleOf, ...steps];
}
