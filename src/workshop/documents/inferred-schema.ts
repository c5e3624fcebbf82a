import { isRecord } from "../../json/is-record.ts";
import { LEFT_OUT } from "../../masking/clean-prose.ts";
import { escapePart } from "../../schema/pointer.ts";
import type { Evidence, SchemaFacts } from "./api-facts.ts";

/** The most items of a list, and members of an object, that are looked at. */
const MAX_ITEMS = 100;
const MAX_MEMBERS = 1_000;
const MAX_DEPTH = 40;

/** What collections write in place of values, and what it says. */
const PLACEHOLDERS: Readonly<Record<string, Pick<SchemaFacts, "types" | "format">>> = {
  string: { types: ["string"] },
  integer: { types: ["integer"] },
  int: { types: ["integer"] },
  int32: { types: ["integer"], format: "int32" },
  int64: { types: ["integer"], format: "int64" },
  long: { types: ["integer"], format: "int64" },
  number: { types: ["number"] },
  float: { types: ["number"] },
  double: { types: ["number"] },
  boolean: { types: ["boolean"] },
  object: { types: ["object"] },
  array: { types: ["array"] },
  null: { types: [] },
  date: { types: ["string"], format: "date" },
  datetime: { types: ["string"], format: "date-time" },
  "date-time": { types: ["string"], format: "date-time" },
  uuid: { types: ["string"], format: "uuid" },
  email: { types: ["string"], format: "email" },
  uri: { types: ["string"], format: "uri" },
  url: { types: ["string"], format: "uri" },
  binary: { types: ["string"], format: "binary" },
  byte: { types: ["string"], format: "byte" },
  password: { types: ["string"], format: "password" },
};

/** A value that occurs, and where. */
export interface Sample {
  value: unknown;
  evidence: Evidence;
}

/**
 * The schema of values of which only examples are known. Nothing is required, and every number may have decimals:
 * another value may differ from the examples. `<integer>` and the like say more. Its evidence is that of the first.
 */
export function inferSchema(samples: readonly [Sample, ...Sample[]], depth = 0): SchemaFacts {
  const values = samples.map(({ value }) => value);
  const kinds = values.map(kindOf);
  const types = [...new Set(kinds.flatMap(({ types: each }) => each))];
  const formats = new Set(kinds.map(({ format }) => format));
  const [format] = formats;
  const isOpen = depth < MAX_DEPTH;
  const members = isOpen ? membersOf(samples) : new Map<string, [Sample, ...Sample[]]>();
  const [first, ...others] = isOpen ? itemsOf(samples) : [];
  const inner = [...members].map(([name, found]) => [name, () => inferSchema(found, depth + 1)] as const);
  return complete({
    ...plainSchema(samples[0].evidence, types.includes("number") ? types.filter((type) => type !== "integer") : types),
    nullable: values.includes(null),
    ...(formats.size === 1 && format !== undefined && { format }),
    properties: new Map(inner),
    ...(first && { items: () => inferSchema([first, ...others], depth + 1) }),
  });
}

function membersOf(samples: readonly Sample[]): Map<string, [Sample, ...Sample[]]> {
  const members = new Map<string, [Sample, ...Sample[]]>();
  for (const { value, evidence } of samples) {
    if (!isRecord(value)) continue;
    for (const [name, member] of Object.entries(value)) {
      const sample = { value: member, evidence: `${evidence}/${escapePart(name)}` };
      const known = members.get(name);
      if (known) known.push(sample);
      else if (members.size < MAX_MEMBERS) members.set(name, [sample]);
    }
  }
  return members;
}

function itemsOf(samples: readonly Sample[]): Sample[] {
  return samples.flatMap(({ value, evidence }) =>
    Array.isArray(value)
      ? value.slice(0, MAX_ITEMS).map((item: unknown, index) => ({ value: item, evidence: `${evidence}/${index}` }))
      : [],
  );
}

/** A schema that says only the type; no type: any value. */
export function plainSchema(evidence: Evidence, types: SchemaFacts["types"] = ["string"]): SchemaFacts {
  return {
    evidence,
    types,
    nullable: false,
    examples: [],
    deprecated: false,
    readOnly: false,
    writeOnly: false,
    uniqueItems: false,
    prefixItems: [],
    properties: new Map(),
    required: new Set(),
    additional: "undeclared",
    allOf: [],
    oneOf: [],
    anyOf: [],
    others: [],
    asJsonSchema: () => (types.length === 0 ? {} : { type: types.length === 1 ? types[0] : types }),
  };
}

/** With a JSON Schema of all its members. */
function complete(schema: SchemaFacts): SchemaFacts {
  const { types, nullable, format, properties, required, items } = schema;
  const all = nullable && types.length > 0 ? [...types, "null"] : types;
  const inner = () => [...properties].map(([name, of]) => [name, of().asJsonSchema()] as const);
  return {
    ...schema,
    asJsonSchema: () => ({
      ...(all.length > 0 && { type: all.length === 1 ? all[0] : all }),
      ...(format !== undefined && { format }),
      ...(properties.size > 0 && { properties: Object.fromEntries(inner()) }),
      ...(required.size > 0 && { required: [...required] }),
      ...(items && { items: items().asJsonSchema() }),
    }),
  };
}

/** The schema of an object with these members, of which some are required. */
export function objectSchema(
  evidence: Evidence,
  members: Iterable<readonly [string, SchemaFacts]>,
  required: Iterable<string> = [],
): SchemaFacts {
  const properties = new Map([...members].map(([name, schema]) => [name, () => schema]));
  return complete({ ...plainSchema(evidence, ["object"]), properties, required: new Set(required) });
}

/** Whether a text stands for a value: `<integer>`, also several: `<string>,<string>`. */
export function isPlaceholder(text: string): boolean {
  return /^(?:<[A-Za-z][\w -]*>[,|; ]*)+$/.test(text);
}

/** The type that a placeholder names; undefined if the text is not one. */
export function placeholderSchema(text: string, evidence: Evidence): SchemaFacts | undefined {
  const kind = placeholderKind(text);
  if (!kind) return undefined;
  return complete({ ...plainSchema(evidence, kind.types), ...(kind.format !== undefined && { format: kind.format }) });
}

/** Whether any text in a value stands for another, so that it cannot serve as an example. */
export function hasPlaceholder(value: unknown): boolean {
  // What stands for a credential is replaced when an example is made.
  if (value === LEFT_OUT) return false;
  if (typeof value === "string") return isPlaceholder(value) || /\{\{[^{}]*\}\}/.test(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(hasPlaceholder);
}

function placeholderKind(text: string): Pick<SchemaFacts, "types" | "format"> | undefined {
  const [, name = ""] = /^<([A-Za-z][\w -]*)>$/.exec(text.trim()) ?? [];
  const key = name.toLowerCase();
  return Object.hasOwn(PLACEHOLDERS, key) ? PLACEHOLDERS[key] : undefined;
}

function kindOf(sample: unknown): Pick<SchemaFacts, "types" | "format"> {
  if (typeof sample === "string") return placeholderKind(sample) ?? { types: ["string"] };
  if (typeof sample === "bigint") return { types: ["integer"], format: "int64" };
  if (typeof sample === "number") return { types: ["number"] };
  if (typeof sample === "boolean") return { types: ["boolean"] };
  if (Array.isArray(sample)) return { types: ["array"] };
  return { types: isRecord(sample) ? ["object"] : [] };
}
