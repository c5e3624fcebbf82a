import { isRecord } from "../json/is-record.ts";

/** A schema of our own without booleans: `true` became `{}`, `false` became `{ not: {} }`. */
export interface CleanSchema {
  [keyword: string]: unknown;
}

interface PreparedSchema {
  root: CleanSchema;
  draft: "7" | "2020-12";
  /** All subschemas with a `$ref`. */
  references: CleanSchema[];
}

/** Why a schema cannot be used, in words for people. */
export class UnusableSchema extends Error {
  override readonly name = "UnusableSchema";
}

const MAX_SCHEMA_LENGTH = 1024 * 1024;
const MAX_SCHEMA_DEPTH = 64;

const DIALECTS: readonly [RegExp, PreparedSchema["draft"]][] = [
  [/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, "2020-12"],
  [/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/, "7"],
];

/**
 * Copies the parts of a server's schema that the validator may see. The copy has only known keywords with valid values,
 * because the validator trusts them, writes into the schema, and takes the `id` of an example for a base URI.
 */
export function prepareSchema(schema: unknown): PreparedSchema {
  const text = JSON.stringify(schema) as string | undefined;
  if (text === undefined) throw new UnusableSchema("it is not a schema");
  if (text.length > MAX_SCHEMA_LENGTH) throw new UnusableSchema(`it is larger than ${MAX_SCHEMA_LENGTH} characters`);
  const copy: unknown = JSON.parse(text);
  const draft = draftOf(copy);
  const references: CleanSchema[] = [];
  return { root: cleanSchema(copy, { draft, references, path: "", depth: 0 }), draft, references };
}

function draftOf(schema: unknown): PreparedSchema["draft"] {
  const dialect = isRecord(schema) ? schema["$schema"] : undefined;
  // Without `$schema`, MCP says 2020-12.
  if (dialect === undefined) return "2020-12";
  const known = DIALECTS.find(([uri]) => typeof dialect === "string" && uri.test(dialect));
  if (known) return known[1];
  throw new UnusableSchema(`its dialect ${JSON.stringify(dialect)} is not supported; 2020-12 and draft-07 are`);
}

interface Place {
  draft: PreparedSchema["draft"];
  references: CleanSchema[];
  /** Its path within the whole schema. */
  path: string;
  depth: number;
}

type Cleaner = (value: unknown, place: Place) => unknown;

function cleanSchema(schema: unknown, place: Place): CleanSchema {
  if (schema === true) return {};
  if (schema === false) return { not: {} };
  if (!isRecord(schema)) throw misshapen(place, "a schema");
  if (place.depth > MAX_SCHEMA_DEPTH) throw new UnusableSchema(`it is nested deeper than ${MAX_SCHEMA_DEPTH} schemas`);
  if (schema["$schema"] !== undefined && draftOf(schema) !== place.draft) {
    throw new UnusableSchema(`it mixes dialects, at ${place.path || "/"}`);
  }
  const keywords = place.draft === "7" ? DRAFT_07 : DRAFT_2020_12;
  const clean: CleanSchema = Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]) => {
      const cleaner = keywords.get(keyword);
      const cleaned = cleaner?.(value, { ...place, path: `${place.path}/${keyword}`, depth: place.depth + 1 });
      return cleaned === undefined ? [] : [[keyword, cleaned]];
    }),
  );
  if (clean["$ref"] !== undefined) {
    place.references.push(clean);
    // In draft-07 nothing beside `$ref` counts, not even a base URI.
    if (place.draft === "7") delete clean["$id"];
  }
  if (clean["dependencies"] !== undefined) splitDependencies(clean);
  return clean;
}

/** Replaces `dependencies` by its two successors; the validator would look for `$id` among its property names. */
function splitDependencies(clean: CleanSchema): void {
  const dependencies = Object.entries(clean["dependencies"] as Record<string, unknown>);
  delete clean["dependencies"];
  clean["dependentRequired"] = Object.fromEntries(dependencies.filter(([, value]) => Array.isArray(value)));
  clean["dependentSchemas"] = Object.fromEntries(dependencies.filter(([, value]) => !Array.isArray(value)));
}

const schemaList: Cleaner = (value, place) => {
  if (!Array.isArray(value)) throw misshapen(place, "a list of schemas");
  return value.map((item, index) => cleanSchema(item, { ...place, path: `${place.path}/${index}` }));
};

const schemaOrList: Cleaner = (value, place) => (Array.isArray(value) ? schemaList : cleanSchema)(value, place);

function mapOf(clean: Cleaner): Cleaner {
  return (value, place) => {
    if (!isRecord(value)) throw misshapen(place, "an object");
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, clean(item, { ...place, path: `${place.path}/${name}` })]),
    );
  };
}

const names: Cleaner = (value, place) => {
  if (!Array.isArray(value) || !value.every((name) => typeof name === "string"))
    throw misshapen(place, "a list of names");
  return value;
};

const namesOrSchema: Cleaner = (value, place) => (Array.isArray(value) ? names : cleanSchema)(value, place);

function ofType(type: "string" | "number" | "boolean"): Cleaner {
  return (value, place) => {
    if (typeof value !== type) throw misshapen(place, `a ${type}`);
    return value;
  };
}

const TYPES = new Set(["string", "number", "integer", "boolean", "null", "array", "object"]);

/** The validator accepts no value for an unknown type, so no argument would ever be valid. */
const typeNames: Cleaner = (value, place) => {
  const given = typeof value === "string" ? [value] : (names(value, place) as string[]);
  const stranger = given.find((name) => !TYPES.has(name));
  if (stranger !== undefined) throw new UnusableSchema(`${place.path} names a type ${JSON.stringify(stranger)}`);
  return value;
};

const values: Cleaner = (value, place) => {
  if (!Array.isArray(value)) throw misshapen(place, "a list");
  return value;
};

/** A pattern in another syntax cannot be checked, and the sender of unchecked arguments should know that. */
const pattern: Cleaner = (value, place) => {
  if (typeof value !== "string") throw misshapen(place, "a string");
  return requirePattern(value, place);
};

const patternMap: Cleaner = (value, place) => {
  const clean = mapOf(cleanSchema)(value, place) as Record<string, CleanSchema>;
  for (const key of Object.keys(clean)) requirePattern(key, place);
  return clean;
};

const refused: Cleaner = (_value, { path }) => {
  throw new UnusableSchema(`${path} is not supported`);
};

const string = ofType("string");
const number = ofType("number");
const schemaMap = mapOf(cleanSchema);

// `format` is missing on purpose: in 2020-12 it is an annotation, and servers rely on that.
const COMMON: readonly [string, Cleaner][] = [
  ["$id", string],
  ["$ref", string],
  ["$defs", schemaMap],
  ["definitions", schemaMap],
  ["properties", schemaMap],
  ["patternProperties", patternMap],
  ["additionalProperties", cleanSchema],
  ["propertyNames", cleanSchema],
  ["items", schemaOrList],
  ["contains", cleanSchema],
  ["allOf", schemaList],
  ["anyOf", schemaList],
  ["oneOf", schemaList],
  ["not", cleanSchema],
  ["if", cleanSchema],
  ["then", cleanSchema],
  ["else", cleanSchema],
  ["type", typeNames],
  ["enum", values],
  ["const", (value) => value],
  ["required", names],
  ["pattern", pattern],
  ["uniqueItems", ofType("boolean")],
  ["minimum", number],
  ["maximum", number],
  ["exclusiveMinimum", number],
  ["exclusiveMaximum", number],
  ["multipleOf", number],
  ["minLength", number],
  ["maxLength", number],
  ["minItems", number],
  ["maxItems", number],
  ["minProperties", number],
  ["maxProperties", number],
];

const DRAFT_07 = new Map<string, Cleaner>([
  ...COMMON,
  ["additionalItems", cleanSchema],
  ["dependencies", mapOf(namesOrSchema)],
]);

const DRAFT_2020_12 = new Map<string, Cleaner>([
  ...COMMON,
  ["$anchor", string],
  ["$dynamicRef", refused],
  ["prefixItems", schemaList],
  ["unevaluatedProperties", cleanSchema],
  ["unevaluatedItems", cleanSchema],
  ["dependentRequired", mapOf(names)],
  ["dependentSchemas", schemaMap],
  ["minContains", number],
  ["maxContains", number],
]);

function requirePattern(source: string, { path }: Place): string {
  if (isPattern(source)) return source;
  throw new UnusableSchema(`${path} is not a valid JavaScript regular expression: ${JSON.stringify(source)}`);
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

function misshapen({ path }: Place, expected: string): UnusableSchema {
  return new UnusableSchema(`${path || "the schema"} must be ${expected}`);
}
