import type { CleanSchema } from "./schema-preparation.ts";

/** One run of the validator: the schema, its schemas by URI, and the value. */
export interface Checked {
  root: CleanSchema;
  lookup: Record<string, CleanSchema>;
  value: unknown;
}

/** What the validator reports: a keyword that was not met, and where. */
export interface OutputUnit {
  keyword: string;
  keywordLocation: string;
  instanceLocation: string;
}

/** Where in the schema and where in the value something was found. */
export interface Place {
  /** A JSON pointer into the value. */
  path: string;
  /** The same in parts; numbers are places in arrays. */
  segments: (string | number)[];
  value: unknown;
  parent: unknown;
  /** The schema whose keyword was not met. */
  schema: CleanSchema;
  /** The schema one step above, where that step was `additionalProperties` or `unevaluatedProperties`. */
  owner: CleanSchema | undefined;
  /** It is about the name of a property, not its value. */
  isName: boolean;
  /** It is about an item that `contains` tried. */
  isCandidate: boolean;
  /** The schema admits nothing. */
  isForbidden: boolean;
}

const MAPS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
const REST = new Set(["additionalProperties", "unevaluatedProperties"]);

/** The validator names both places by pointers; through `$ref` the one into the schema has to be walked. */
export function placeOf({ keywordLocation, instanceLocation }: OutputUnit, checked: Checked): Place {
  const { value, parent, segments } = walkValue(parts(instanceLocation), checked.value);
  const { schema, owner, isName, isCandidate } = walkSchema(parts(keywordLocation).slice(0, -1), checked);
  const not = schema["not"];
  return {
    path: instanceLocation.length > 1 ? `/${parts(instanceLocation).map(escapePart).join("/")}` : "",
    segments,
    value: isName ? segments.at(-1) : value,
    parent,
    schema,
    owner,
    isName,
    isCandidate,
    isForbidden: typeof not === "object" && not !== null && Object.keys(not).length === 0,
  };
}

function walkValue(path: readonly string[], root: unknown) {
  let value = root;
  let parent: unknown;
  const segments = path.map((part) => {
    parent = value;
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[part] : undefined;
    return Array.isArray(parent) ? Number(part) : part;
  });
  return { value, parent, segments };
}

function walkSchema(path: readonly string[], { root, lookup }: Checked) {
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

function parts(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** One part of a JSON pointer. */
export function escapePart(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
