import { beginJson } from "../json/begin-json.ts";
import { isRecord } from "../json/is-record.ts";
import { nearestName } from "../text/nearest-name.ts";
import type { SchemaLocation } from "./location.ts";
import { escapePart } from "./pointer.ts";

const MOST_NAMES = 20;
const MOST_CHOICES = 10;
const LONGEST_VALUE = 60;
/** So many unknown members of an object are compared with a missing name: comparing takes long. */
const MOST_COMPARED = 100;

/** One problem of a value. */
export interface SchemaProblem {
  /** A JSON pointer: `/options/limit`; empty for the whole value. */
  path: string;
  /** For people: the expected type, the actual value, and the nearest valid name. */
  message: string;
}

/** The names of expected types, or expected values; any of them would be valid. */
interface Expected {
  types: readonly string[];
  values: readonly unknown[];
}

/** A problem with what is needed to compare it with others. */
export interface SchemaFinding extends SchemaProblem {
  /** The path in the syntax of a program: `options.limit`. */
  name: string;
  /** What would be valid here, if it can be said in a few words. */
  expected?: Expected;
}

/** The formats that are checked, and their names in messages. */
const FORMATS: Readonly<Record<string, string>> = {
  date: "a date that exists (YYYY-MM-DD)",
  "date-time": "a date with a time (YYYY-MM-DDThh:mm:ss)",
};

/** The meaning of a failed keyword in words. Nothing for keywords whose inner schemas report the problem themselves. */
export function explain(keyword: string, location: SchemaLocation): SchemaFinding[] {
  // Problems of single items under `contains` are not reported: one valid item is enough.
  if (location.isCandidate) return [];
  const { schema, value } = location;
  const demand = schema[keyword];
  const limit = shown(demand);
  const expect = (what: string, received = shown(value)) => [findingAt(location, `expected ${what}, got ${received}`)];
  switch (keyword) {
    case "type":
      return [explainMismatch(location, { types: [demand as string | string[]].flat(), values: [] })];
    case "const":
      return [explainMismatch(location, { types: [], values: [demand] })];
    case "enum":
      return [explainMismatch(location, { types: [], values: demand as unknown[] })];
    case "required":
      return explainMissing(location, demand as string[]);
    case "dependentRequired":
      return Object.entries(demand as Record<string, string[]>).flatMap(([name, needed]) =>
        isRecord(value) && Object.hasOwn(value, name)
          ? explainMissing(location, needed, `, needed beside ${name}`)
          : [],
      );
    case "not":
      return [location.isForbidden ? explainUnknown(location) : findingAt(location, "is excluded by the schema")];
    case "minimum":
      return expect(`at least ${limit}`);
    case "maximum":
      return expect(`at most ${limit}`);
    case "exclusiveMinimum":
      return expect(`more than ${limit}`);
    case "exclusiveMaximum":
      return expect(`less than ${limit}`);
    case "multipleOf":
      return expect(`a multiple of ${limit}`);
    case "minLength":
      return expect(`at least ${counted(demand, "character")}`, lengthOf(value));
    case "maxLength":
      return expect(`at most ${counted(demand, "character")}`, lengthOf(value));
    case "pattern":
      return expect(`text that matches ${limit}`);
    case "format":
      return expect(FORMATS[String(demand)] ?? `text of the format ${limit}`);
    case "minItems":
      return expect(`at least ${counted(demand, "item")}`, sizeOf(value));
    case "maxItems":
      return expect(`at most ${counted(demand, "item")}`, sizeOf(value));
    case "minProperties":
      return expect(`at least ${counted(demand, "property")}`, sizeOf(value));
    case "maxProperties":
      return expect(`at most ${counted(demand, "property")}`, sizeOf(value));
    case "uniqueItems":
      return [findingAt(location, "expected unique items")];
    case "contains":
      return [findingAt(location, 'expected at least one item that matches "contains"')];
    case "minContains":
      return [
        findingAt(location, `expected at least ${counted(demand, "item")} of the kind that the schema describes`),
      ];
    case "maxContains":
      return [findingAt(location, `expected at most ${counted(demand, "item")} of the kind that the schema describes`)];
    default:
      // An intermediate step: the problem itself follows.
      return [];
  }
}

export function findingAt({ path, segments, isName }: SchemaLocation, text: string): SchemaFinding {
  const name = nameOf(segments);
  if (isName) return { path, name, message: `the name of ${name}: ${text}` };
  return { path, name, message: name === "" ? text : `${name}: ${text}` };
}

/** Combines alternatives. */
export function mergeExpected(all: readonly Expected[]): Expected {
  return { types: [...new Set(all.flatMap(({ types }) => types))], values: all.flatMap(({ values }) => values) };
}

/** The value has a different type. */
export function explainMismatch(location: SchemaLocation, expected: Expected): SchemaFinding {
  const { types, values } = expected;
  const { value } = location;
  const strings = values.filter((each) => typeof each === "string");
  const near = typeof value === "string" ? nearestName(value, strings) : undefined;
  const hint = near === undefined ? "" : `: did you mean ${shown(near)}?`;
  const received = values.length > 0 ? shown(value) : typedValue(value);
  const text = `expected ${oneOf([...values.map(shown), ...types])}, got ${received}${hint}`;
  return { ...findingAt(location, text), expected };
}

/** Missing required properties; `why` if they are required only together with others. */
export function explainMissing(location: SchemaLocation, names: readonly string[], why = ""): SchemaFinding[] {
  const { path, segments, schema, value } = location;
  if (!isRecord(value)) return [];
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const unknown = unknownNames(value, properties);
  return names
    .filter((name) => !Object.hasOwn(value, name))
    .map((missing) => {
      const property: unknown = Object.hasOwn(properties, missing) ? properties[missing] : undefined;
      const type =
        isRecord(property) && property["type"] !== undefined
          ? ` (${oneOf([property["type"]].flat().map(String))})`
          : "";
      const near = nearestName(missing, unknown);
      const hint = near === undefined ? "" : `: is ${near} meant to be it?`;
      const name = nameOf([...segments, missing]);
      return { path: `${path}/${escapePart(missing)}`, name, message: `missing property ${name}${type}${why}${hint}` };
    });
}

function unknownNames(value: object, properties: object): string[] {
  const unknown: string[] = [];
  for (const name in value) {
    if (unknown.length === MOST_COMPARED) break;
    if (Object.hasOwn(value, name) && !Object.hasOwn(properties, name)) unknown.push(name);
  }
  return unknown;
}

/** A value where the schema is `false`: usually an unknown property. */
export function explainUnknown(location: SchemaLocation): SchemaFinding {
  const { path, segments, owner, parent } = location;
  const last = segments.at(-1);
  if (!owner || typeof last !== "string" || !isRecord(parent)) return findingAt(location, "is not allowed");
  const known = isRecord(owner["properties"]) ? Object.keys(owner["properties"]) : [];
  const near = nearestName(
    last,
    known.filter((each) => !Object.hasOwn(parent, each)),
  );
  const isNested = segments.length > 1 && known.length > 0;
  const names = isNested ? `; ${nameOf(segments.slice(0, -1))} accepts ${known.slice(0, MOST_NAMES).join(", ")}` : "";
  const hint = near === undefined ? names : `: did you mean ${near}?`;
  const name = nameOf(segments);
  return { path, name, message: `unknown property ${name}${hint}` };
}

/** `string "5"`: type and value, because only both together show why 1.5 and "5" are not integers. */
function typedValue(value: unknown): string {
  if (typeof value === "number") return shown(value);
  return typeof value === "string" || typeof value === "boolean" ? `${typeof value} ${shown(value)}` : typeOf(value);
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** A value in a message: its JSON, shortened. */
function shown(value: unknown): string {
  const json = beginJson(value, LONGEST_VALUE + 1) ?? "nothing";
  return json.length > LONGEST_VALUE ? `${json.slice(0, LONGEST_VALUE)}…` : json;
}

/** With the text itself if it is short. */
function lengthOf(value: unknown): string {
  const length = countCharacters(value as string);
  return length > LONGEST_VALUE ? String(length) : `${length} (${shown(value)})`;
}

/** Pairs of surrogates are one character; an array of all characters would take ten times the memory of the text. */
function countCharacters(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    if ((text.codePointAt(at) ?? 0) > 0xffff) at++;
    count++;
  }
  return count;
}

function sizeOf(value: unknown): string {
  return String(Array.isArray(value) ? value.length : Object.keys(value as object).length);
}

function counted(count: unknown, what: string): string {
  const many = what.endsWith("y") ? `${what.slice(0, -1)}ies` : `${what}s`;
  return `${shown(count)} ${count === 1 ? what : many}`;
}

/** `a`, `a or b`, `one of a, b, c`. */
function oneOf(choices: readonly string[]): string {
  if (choices.length < 3) return choices.join(" or ");
  const more = choices.length > MOST_CHOICES ? ` and ${choices.length - MOST_CHOICES} more` : "";
  return `one of ${choices.slice(0, MOST_CHOICES).join(", ")}${more}`;
}

/** The path to a value in the syntax of a program: `filters[2].name`. */
function nameOf(segments: readonly (string | number)[]): string {
  return segments
    .map((segment) => (typeof segment === "number" ? `[${segment}]` : `.${segment}`))
    .join("")
    .replace(/^\./, "");
}
