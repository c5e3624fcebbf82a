import { escapePart, fragmentParts } from "./pointer.ts";
import type { CleanSchema } from "./preparation.ts";

/** One run of the validator: the schema, its subschemas by URI, and the value. */
export interface ValidatorRun {
  root: CleanSchema;
  lookup: Record<string, CleanSchema>;
  value: unknown;
}

/** A failed keyword and its place, as the validator reports it. */
export interface OutputUnit {
  keyword: string;
  keywordLocation: string;
  instanceLocation: string;
}

/** A place in the value. */
interface ValueLocation {
  /** A JSON pointer into the value. */
  path: string;
  /** The same in parts; numbers are array indexes. */
  segments: (string | number)[];
  value: unknown;
  parent: unknown;
}

/** A place in the schema and in the value. */
export interface SchemaLocation extends ValueLocation {
  /** The schema with the failed keyword. */
  schema: Readonly<Record<string, unknown>>;
  /** The schema one step above, if that step was `additionalProperties` or `unevaluatedProperties`. */
  owner?: Readonly<Record<string, unknown>> | undefined;
  /** Whether it is about the name of a property, not its value. */
  isName?: boolean;
  /** Whether it is about an item under `contains`. */
  isCandidate?: boolean;
  /** Whether the schema allows nothing. */
  isForbidden?: boolean;
}

const MAPS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
const REST = new Set(["additionalProperties", "unevaluatedProperties"]);

/** The validator reports both as pointers; the one into the schema has to be followed through `$ref`. */
export function locationOf({ keywordLocation, instanceLocation }: OutputUnit, run: ValidatorRun): SchemaLocation {
  const found = locateValue(fragmentParts(instanceLocation), run.value);
  const { schema, owner, isName, isCandidate } = walkSchema(fragmentParts(keywordLocation).slice(0, -1), run);
  const not = schema["not"];
  return {
    ...found,
    value: isName ? found.segments.at(-1) : found.value,
    schema,
    owner,
    isName,
    isCandidate,
    isForbidden: typeof not === "object" && not !== null && Object.keys(not).length === 0,
  };
}

/** The value at a pointer; only the value shows which parts are array indexes. */
export function locateValue(parts: readonly string[], root: unknown): ValueLocation {
  let value = root;
  let parent: unknown;
  const segments = parts.map((part) => {
    parent = value;
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[part] : undefined;
    return Array.isArray(parent) ? Number(part) : part;
  });
  return { path: parts.map((part) => `/${escapePart(part)}`).join(""), segments, value, parent };
}

function walkSchema(path: readonly string[], { root, lookup }: ValidatorRun) {
  let node: unknown = root;
  let owner: CleanSchema | undefined;
  let isName = false;
  let isCandidate = false;
  let isKey = false;
  for (const part of path) {
    const schema = node as CleanSchema;
    if (!isKey && part === "$ref") {
      node = lookup[String(schema["__absolute_ref__"])] ?? {};
      continue;
    }
    node = Object.hasOwn(schema, part) ? schema[part] : {};
    owner = !isKey && REST.has(part) ? schema : undefined;
    if (!isKey && part === "propertyNames") isName = true;
    if (!isKey && part === "contains") isCandidate = true;
    isKey = !isKey && (MAPS.has(part) || Array.isArray(node));
  }
  return { schema: node as CleanSchema, owner, isName, isCandidate };
}
