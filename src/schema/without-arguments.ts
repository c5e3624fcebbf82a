import { isRecord } from "../json/is-record.ts";
import { fragmentParts, referenced } from "./pointer.ts";

/** A schema without some arguments, or why they cannot be taken out of it. */
export type WithoutArguments = { kind: "schema"; schema: unknown } | { kind: "problem"; reason: string };

type Schema = Record<string, unknown>;

/**
 * The input schema of a tool for callers who do not know of these arguments, because somebody else gives them. They are taken out
 * of the top level only: elsewhere a schema compares arguments with each other, and would mean something else without them.
 */
export function withoutArguments(schema: unknown, names: readonly string[]): WithoutArguments {
  if (!isRecord(schema)) return { kind: "schema", schema };
  const narrowed = narrow(schema, names);
  for (const name of names) {
    const reason = refersTo(narrowed, name) ?? mentioned(narrowed, name, { root: narrowed, followed: new Set() });
    if (reason !== undefined) return { kind: "problem", reason };
  }
  return { kind: "schema", schema: withUsedDefinitions(narrowed) };
}

/** Keywords with one entry for each argument. */
const BY_NAME = ["properties", "dependentRequired"];
/** Keywords with whole sets of arguments as values. */
const LITERALS = ["default", "const"];
const LISTS_OF_LITERALS = ["examples", "enum"];
const COUNTS = ["minProperties", "maxProperties"];

function narrow(schema: Schema, names: readonly string[]): Schema {
  const isKept = ([name]: [string, unknown]) => !names.includes(name);
  const without = (value: unknown) =>
    isRecord(value) ? Object.fromEntries(Object.entries(value).filter(isKept)) : value;
  const narrowed: Schema = { ...schema };
  for (const keyword of [...BY_NAME, ...LITERALS])
    if (isRecord(schema[keyword])) narrowed[keyword] = without(schema[keyword]);
  for (const keyword of LISTS_OF_LITERALS) {
    const values = schema[keyword];
    if (Array.isArray(values)) narrowed[keyword] = values.map(without);
  }
  for (const keyword of COUNTS) {
    const count = schema[keyword];
    if (typeof count === "number") narrowed[keyword] = Math.max(0, count - names.length);
  }
  const required = requiredWithout(schema, names);
  if (required.length > 0) narrowed["required"] = required;
  else delete narrowed["required"];
  const dependent = narrowed["dependentRequired"];
  if (isRecord(dependent)) {
    const entries = Object.entries(dependent).map(([name, needed]) => [
      name,
      textsIn(needed).filter((each) => !names.includes(each)),
    ]);
    narrowed["dependentRequired"] = Object.fromEntries(entries);
  }
  return narrowed;
}

/** What an argument that is always there requires is always required. */
function requiredWithout(schema: Schema, names: readonly string[]): string[] {
  const dependent = isRecord(schema["dependentRequired"]) ? schema["dependentRequired"] : {};
  const all = new Set([...textsIn(schema["required"]), ...names.flatMap((name) => textsIn(dependent[name]))]);
  return [...all].filter((name) => !names.includes(name));
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

/** The rest of a schema may contain a reference to the place of the argument, or to the whole schema. */
function refersTo(value: unknown, name: string): string | undefined {
  if (Array.isArray(value)) return firstOf(value, (each) => refersTo(each, name));
  if (!isRecord(value)) return undefined;
  return firstOf(Object.entries(value), ([keyword, inside]) => {
    if (MOVING_REFERENCES.has(keyword) && typeof inside === "string") return `it has a ${keyword}`;
    if (keyword !== "$ref" || typeof inside !== "string") return refersTo(inside, name);
    const [keywordOf, argument] = fragmentParts(inside);
    const leadsToIt = inside === "#" || (keywordOf === "properties" && argument === name);
    return leadsToIt ? `$ref "${inside}" leads to it` : undefined;
  });
}

const MOVING_REFERENCES = new Set(["$dynamicRef", "$recursiveRef"]);

interface Place {
  root: Schema;
  followed: Set<string>;
}

const ALTERNATIVES = new Set(["allOf", "anyOf", "oneOf"]);
const CONDITIONS = new Set(["not", "if", "then", "else"]);
const DEPENDENT = new Set(["dependentRequired", "dependentSchemas", "dependencies"]);
/** Keywords that name no argument of this object: plain facts, texts, and schemas of other values. */
const ELSEWHERE = new Set(
  (
    "$schema $id $anchor $comment $vocabulary title description type format deprecated readOnly writeOnly minProperties " +
    "maxProperties $defs definitions additionalProperties unevaluatedProperties patternProperties items prefixItems contains " +
    "additionalItems"
  ).split(" "),
);

/** Where a schema of the arguments still names this one. */
function mentioned(schema: unknown, name: string, place: Place): string | undefined {
  if (!isRecord(schema)) return undefined;
  return firstOf(Object.entries(schema), ([keyword, value]) => {
    if (ELSEWHERE.has(keyword)) return undefined;
    if (keyword === "properties") return isRecord(value) && Object.hasOwn(value, name) ? under(keyword) : undefined;
    if (ALTERNATIVES.has(keyword))
      return Array.isArray(value) ? firstOf(value, (each) => inside(keyword, each)) : undefined;
    if (CONDITIONS.has(keyword)) return inside(keyword, value);
    if (keyword === "$ref") return followed(value, name, place);
    if (DEPENDENT.has(keyword) && isRecord(value)) {
      if (Object.hasOwn(value, name)) return under(keyword);
      return firstOf(
        Object.values(value),
        (each) => (Array.isArray(each) ? anywhere(each, name) : mentioned(each, name, place)) && under(keyword),
      );
    }
    return anywhere(value, name) ? under(keyword) : undefined;
  });

  function inside(keyword: string, value: unknown): string | undefined {
    return mentioned(value, name, place) === undefined ? undefined : under(keyword);
  }
}

function under(keyword: string): string {
  return `it is also named under "${keyword}"`;
}

/** A reference to another document cannot be looked into. */
function followed(reference: unknown, name: string, place: Place): string | undefined {
  const target = typeof reference === "string" ? referenced(reference, place.root) : undefined;
  if (typeof reference !== "string" || target === undefined) return `$ref "${String(reference)}" cannot be followed`;
  if (place.followed.has(reference)) return undefined;
  place.followed.add(reference);
  return mentioned(target, name, place) === undefined ? undefined : `$ref "${reference}" leads to it`;
}

/** As a name or as a text, for keywords that are not known here. */
function anywhere(value: unknown, name: string): boolean {
  if (Array.isArray(value)) return value.some((each) => anywhere(each, name));
  if (!isRecord(value)) return value === name;
  return Object.entries(value).some(([key, inside]) => key === name || anywhere(inside, name));
}

/** What only those arguments used that were taken out would still describe them. */
function withUsedDefinitions(schema: Schema): Schema {
  const { $defs, definitions, ...rest } = schema;
  const used = new Set<string>();
  const waiting: unknown[] = [rest];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    for (const reference of referencesIn(value)) {
      if (used.has(reference)) continue;
      used.add(reference);
      waiting.push(referenced(reference, schema) ?? []);
    }
  }
  const places = [...used].map(fragmentParts);
  // Any other kind of reference may lead to any of them.
  if (places.some(({ length }) => length < 2)) return schema;
  const kept = (keyword: string, all: unknown) => {
    const isUsed = (name: string) => places.some(([first, second]) => first === keyword && second === name);
    const entries = isRecord(all) ? Object.entries(all).filter(([name]) => isUsed(name)) : [];
    return entries.length > 0 ? { [keyword]: Object.fromEntries(entries) } : {};
  };
  return { ...rest, ...kept("$defs", $defs), ...kept("definitions", definitions) };
}

function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([keyword, inside]) =>
    keyword === "$ref" && typeof inside === "string" ? [inside] : referencesIn(inside),
  );
}

function firstOf<T>(values: readonly T[], find: (value: T) => string | undefined | false): string | undefined {
  for (const value of values) {
    const found = find(value);
    if (typeof found === "string") return found;
  }
  return undefined;
}
