import { isRecord } from "../../json/is-record.ts";

type Schema = Record<string, unknown>;

/** Revisions before 2026-07-28 know output schemas of objects only. */
export function describesObject(schema: Schema): boolean {
  return schema["type"] === "object";
}

/** The schemas `true` and `false` as objects: clients of legacy revisions refuse the whole list for one under `properties`. */
export function withObjectProperties(schema: unknown): unknown {
  const properties = isRecord(schema) ? schema["properties"] : undefined;
  if (!isRecord(schema) || !isRecord(properties)) return schema;
  let copy: Schema | undefined;
  for (const name in properties) {
    if (typeof properties[name] !== "boolean") continue;
    copy ??= { ...properties };
    copy[name] = properties[name] ? {} : { not: {} };
  }
  return copy ? { ...schema, properties: copy } : schema;
}

/** The schema of an object whose only member, `result`, is what `schema` describes. */
export function asObjectSchema(schema: Schema): Schema {
  const { $schema, ...inner } = schema;
  return {
    ...($schema === undefined ? {} : { $schema }),
    type: "object",
    properties: { result: rerooted(inner) },
    required: ["result"],
  };
}

const NEW_ROOT = "#/properties/result";
/** Their values are data, in which `$ref` is only a word. */
const DATA = new Set(["const", "enum", "default", "examples"]);
/** Their members are named by the schema's author, and each is a schema. */
const NAMED_SCHEMAS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
const REFERENCES = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);

/** With pointers that lead from the document's root to the same places as before. */
function rerooted(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(rerooted);
  // Below an `$id` of its own, pointers start there.
  if (!isRecord(schema) || typeof schema["$id"] === "string") return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (DATA.has(keyword)) return [keyword, value];
      if (REFERENCES.has(keyword) && typeof value === "string") return [keyword, moved(value)];
      if (NAMED_SCHEMAS.has(keyword) && isRecord(value)) {
        return [keyword, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, rerooted(each)]))];
      }
      return [keyword, rerooted(value)];
    }),
  );
}

/** Anchors (`#name`) and other documents are found from anywhere. */
function moved(reference: string): string {
  if (reference === "#") return NEW_ROOT;
  return reference.startsWith("#/") ? NEW_ROOT + reference.slice(1) : reference;
}
