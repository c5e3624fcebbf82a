import { Ajv2020 } from "ajv/dist/2020.js";
import { messageOf } from "../../../errors/nexus-error.ts";
import { flag, kinds, lazy, list, map, record, text, whole, type Form, type Infer } from "../../../format/form.ts";
import { oneOf, present, type Part } from "../../../format/part.ts";
import { isRecord } from "../../../json/is-record.ts";
import { nearestName } from "../../../text/nearest-name.ts";
import { linearPattern } from "../../pattern/linear-pattern.ts";
import type { AnyShape, ObjectShape, ScalarShape, Shape, UnionShape } from "../model/tool-file.ts";
import { FileNames, VALUES } from "./parts.ts";
import {
  checkOrder,
  FITTING_SCHEMAS,
  isScalarType,
  SCALAR_KEYS,
  SCALAR_MEMBERS,
  SCALARS,
  scalarOf,
} from "./scalars.ts";

/** An item, value or alternative: the name of a type, or a map that describes it. */
export const INNER: Form<Shape> = kinds({ text: text(), map: lazy<WrittenShape>(() => ITEM) }).to<Shape>({
  typeName: "Shape",
  read: (written, part) => (typeof written === "string" ? namedShape(written, {}, part) : shapeOf(written, part)),
  write: writtenInner,
  fallback: { kind: "scalar", type: "string", whitespace: "keep" },
});

export const ALTERNATIVES = {
  oneOf: list(
    lazy(() => INNER),
    { keepsPlaces: true },
  )
    .check((of, part) => {
      if (of.length === 0) part.error("names no alternative, so nothing fits");
    })
    .schema({ minItems: 1 })
    .says("One of several (JSON): names of types, or types with limits.")
    .example(["Person", "Company"], ["integer", { type: "string", maxLength: 20 }])
    .optional(),
  discriminator: record({
    member: text().says("Its name upstream."),
    values: map(text())
      .says("The type of each of its values. Left out, the values are the names of the types.")
      .optional(),
  })
    .says("The member that tells which of several types a value has.")
    .example({ member: "kind", values: { p: "Person", c: "Company" } })
    .named("discriminator")
    .optional(),
};

/** What says the form of a value, in a field and in parts of one. */
export const SHAPE_MEMBERS = {
  type: text()
    .says(
      "What it is: `string`, `integer`, `number`, `boolean`, `date` (2025-12-17), `datetime` (2025-12-17T10:00:00, zone optional), `presence` (true where an empty element is there), `binary` (bytes upstream; base64 or a data URL for callers), `any` (any JSON value), `object` (an object with any members), or the name of a type of this file. Text, where codes, enum, const or value stand instead.",
    )
    .example("date", "Room")
    .optional(),
  list: lazy(() => INNER)
    .says("A list: the name of a type for its items, or a type with limits. Lists of lists are possible.")
    .example("Room", { type: "integer", minimum: 1 })
    .optional(),
  map: lazy(() => INNER)
    .says("Free names with values of one kind (JSON): the name of a type for the values, or a type with limits.")
    .example("string", { type: "integer", minimum: 0 })
    .optional(),
  ...ALTERNATIVES,
  schema: VALUES.says(
    "Of `type: any` and `type: object`: a JSON Schema (2020-12, without references) for what types cannot say. It is passed on unchanged.",
  ).optional(),
  minItems: whole().says("Of lists: at least so many items.").optional(),
  maxItems: whole().says("Of lists: at most so many items.").optional(),
  uniqueItems: flag().says("Of lists: no item is there twice."),
  keepEmpty: flag().says("Of lists in XML: the elements around the items are written although there are none."),
  minEntries: whole().says("Of maps: at least so many entries.").optional(),
  maxEntries: whole().says("Of maps: at most so many entries.").optional(),
  ...SCALAR_MEMBERS,
};

/** Keywords of JSON Schema and OpenAPI that authors use, and what to write instead. */
export const FOREIGN = {
  required: "Fields are required; write optional: true where one is not.",
  items: "Write list: with the type of the items, in place of type.",
  properties: "Write these fields as a type of their own below types, and its name here.",
  additionalProperties: "Write map: with the type of the values, or additional: at the type.",
  minProperties: "Write minEntries.",
  maxProperties: "Write maxEntries.",
  anyOf: "Write oneOf: with the alternatives.",
  allOf: "Write include: with the types at a type of its own.",
  $ref: "Write type: and the name of a type below types.",
};

const LIST_KEYS = ["minItems", "maxItems", "uniqueItems", "keepEmpty"] as const;
const MAP_KEYS = ["minEntries", "maxEntries"] as const;

/** What JSON Schema can say of members that are only for some kinds of values. */
export const SHAPE_SCHEMAS = {
  ...FITTING_SCHEMAS,
  list: { properties: Object.fromEntries(["type", "const", ...SCALAR_KEYS].map((key) => [key, false])) },
  ...Object.fromEntries(LIST_KEYS.map((key) => [key, { required: ["list"] }])),
  ...Object.fromEntries(MAP_KEYS.map((key) => [key, { required: ["map"] }])),
  discriminator: { required: ["oneOf"] },
  schema: { required: ["type"] },
};

/** One of the members has to say what the value is. */
export function typedBy(...members: readonly string[]): { anyOf: { required: string[] }[] } {
  return { anyOf: ["type", "list", "codes", "enum", "map", "oneOf", ...members].map((name) => ({ required: [name] })) };
}

const ITEM = record(SHAPE_MEMBERS, { foreign: FOREIGN })
  .schema({ ...typedBy(), dependentSchemas: SHAPE_SCHEMAS })
  .says("What an item, a value of a map, or an alternative is.")
  .named("item");

type WrittenShape = Infer<typeof ITEM>;

/** What a value can be made of, and the name of its parts in messages. */
const MADE_OF = { list: "the items of the list", map: "the values of the map", oneOf: "one of the alternatives" };
/** Stands for a part that could not be read. */
const TEXT_SHAPE: Shape = { kind: "scalar", type: "string", whitespace: "keep" };

/** The form of a value, from the members of a field or of a part of one. */
export function shapeOf(members: WrittenShape, part: Part): Shape {
  const kind = (["list", "map", "oneOf"] as const).find((key) => part.has(key));
  checkPlaces(part, kind);
  switch (kind) {
    case "list": {
      const { list: of = TEXT_SHAPE, minItems, maxItems, uniqueItems, keepEmpty = false } = members;
      checkOrder(part, "minItems", "maxItems");
      return present({ kind, of, minItems, maxItems, uniqueItems, keepEmpty });
    }
    case "map": {
      const { map: of = TEXT_SHAPE, minEntries, maxEntries } = members;
      checkOrder(part, "minEntries", "maxEntries");
      return present({ kind, of, minEntries, maxEntries });
    }
    case "oneOf":
      return unionOf(members, part);
    case undefined:
      return singleOf(members, part);
  }
}

function checkPlaces(part: Part, kind: keyof typeof MADE_OF | undefined): void {
  const misplaced = kind === undefined ? [] : ["type", "const", "schema", ...SCALAR_KEYS];
  for (const key of [...misplaced, ...Object.keys(MADE_OF).filter((other) => other !== kind)]) {
    if (kind === undefined || !part.has(key)) continue;
    const example = kind === "oneOf" ? `oneOf: [{ ${key}: … }, …]` : `${kind}: { ${key}: … }`;
    part.part(key).keyError(`${key} belongs to ${MADE_OF[kind]}`, `Write ${example}`);
  }
  const only = { list: LIST_KEYS, map: MAP_KEYS, oneOf: ["discriminator"] } as const;
  for (const [owner, keys] of Object.entries(only)) {
    for (const key of keys) {
      if (owner === kind || !part.has(key)) continue;
      const about = owner === "list" ? "lists" : owner === "map" ? "maps" : "alternatives";
      part.part(key).keyError(`${key} says something about ${about} only`, `Write ${owner}: instead of type:.`);
    }
  }
}

/** `oneOf` with its `discriminator`, of a field, a part of one, or a type. */
export function unionOf({ oneOf: of = [], discriminator }: Pick<WrittenShape, keyof typeof ALTERNATIVES>, part: Part) {
  const items = part.part("oneOf").items();
  const seen = new Set<string>();
  of.forEach((shape, index) => {
    if (shape.kind !== "object") {
      if (discriminator) items[index]?.error("only types with fields have the member of the discriminator");
      return;
    }
    if (seen.has(shape.type)) items[index]?.error(`${shape.type} is named twice`);
    seen.add(shape.type);
  });
  const tagged = discriminator && discriminatorOf(discriminator, [...seen], part.part("discriminator").part("values"));
  return present({ kind: "union" as const, of, discriminator: tagged });
}

function discriminatorOf(
  { member, values }: NonNullable<WrittenShape["discriminator"]>,
  types: readonly string[],
  part: Part,
): UnionShape["discriminator"] {
  if (member === "") return undefined;
  if (!part.isThere) return { member, values: Object.fromEntries(types.map((type) => [type, type])) };
  if (!values) return { member, values: {} };
  for (const [value, type] of Object.entries(values)) {
    if (type === "" || types.includes(type)) continue;
    const meant = nearestName(type, types);
    const hint = meant ? `Did you mean "${meant}"?` : types.length > 0 ? `There is ${oneOf(types)}.` : undefined;
    part.part(value).error(`"${type}" is not one of the alternatives`, hint);
  }
  const named = new Set(Object.values(values));
  for (const type of types.filter((each) => !named.has(each))) {
    part.error(`no value means ${type}`, `Add one: { …: ${type} }`);
  }
  return { member, values };
}

function singleOf(members: WrittenShape, part: Part): Shape {
  if (part.has("type")) return namedShape(members.type, members, part);
  if (part.has("schema")) part.part("schema").keyError("schema describes any value", "Write type: any beside it.");
  const isTyped = ["codes", "enum", "const", "value"].some((key) => part.has(key));
  if (!isTyped) part.error("does not say what it is", "Give type, list, map, oneOf, codes, const or value.");
  const [first] = part.has("enum") ? part.part("enum").items() : [];
  return scalarOf(members, part, impliedType(first ? first.value() : part.part("const").value()));
}

/** The type of a constant; otherwise text. */
export function impliedType(sample: unknown): ScalarShape["type"] {
  if (typeof sample === "boolean") return "boolean";
  if (typeof sample !== "number") return "string";
  return Number.isInteger(sample) ? "integer" : "number";
}

/** Words for values that are not single, beside the names of types. A type of the file with such a name wins. */
const FREE = ["any", "object"];

/** `part` has the limits: the field, or the map of an inner part. */
function namedShape(
  name: string | undefined,
  members: Partial<WrittenShape>,
  part: Part,
): ScalarShape | ObjectShape | AnyShape {
  const { types } = FileNames.of(part);
  const isFree = name !== undefined && !types.has(name) && FREE.includes(name);
  if (part.isMap && part.has("schema") && !isFree) {
    part.part("schema").keyError(`schema says nothing about the type ${name ?? "string"}`, "Write type: any.");
  }
  if (name !== undefined && (types.has(name) || isFree)) {
    for (const key of part.isMap ? SCALAR_KEYS : []) {
      if (part.has(key)) part.part(key).keyError(`${key} says nothing about the type ${name}`);
    }
    if (!isFree) return { kind: "object", type: name };
    const only = name === "object" ? ("object" as const) : undefined;
    if (members.schema) checkSchema(members.schema, part.part("schema"));
    return present({ kind: "any" as const, only, schema: members.schema });
  }
  if (name === undefined || isScalarType(name)) return scalarOf(members, part, name ?? "string");
  const meant = nearestName(name, [...types, ...SCALARS, ...FREE]);
  const place = part.isMap ? part.part("type") : part;
  const hint = hintForType(name) ?? (meant && `Did you mean "${meant}"?`);
  place.error(
    `there is no type "${name}"`,
    hint ?? `Types of values are ${[...SCALARS, ...FREE].join(", ")}; others are defined under types.`,
  );
  return { kind: "scalar", type: "string", whitespace: "keep" };
}

/** Whether the name in `type`, or in an inner part, is one that can be read. */
export function isKnownType(name: unknown, part: Part): boolean {
  return typeof name !== "string" || FileNames.of(part).types.has(name) || isScalarType(name) || FREE.includes(name);
}

const ONE_BY_ONE: Readonly<Record<string, string>> = {
  array: FOREIGN.items,
  file: "Write binary.",
  bytes: "Write binary.",
};

const SAME: Readonly<Record<string, string>> = {
  int: "integer",
  int32: "integer",
  int64: "integer",
  long: "integer",
  float: "number",
  double: "number",
  decimal: "number",
  bool: "boolean",
  str: "string",
  text: "string",
  "date-time": "datetime",
  timestamp: "datetime",
};

/** What to write for a type with this name in other formats. */
function hintForType(name: string): string | undefined {
  if (Object.hasOwn(ONE_BY_ONE, name)) return ONE_BY_ONE[name];
  return Object.hasOwn(SAME, name) ? `Write ${SAME[name]}.` : undefined;
}

/** The members of a field that say its form. */
export function writtenShape(shape: Shape): Partial<WrittenShape> {
  switch (shape.kind) {
    case "scalar": {
      const { kind: _kind, type, ...limits } = shape;
      const isImplied = (limits.enum !== undefined || limits.codes !== undefined) && type !== "number";
      return isImplied ? limits : { type, ...limits };
    }
    case "object":
      return { type: shape.type };
    case "list": {
      const { kind: _kind, of, keepEmpty, ...limits } = shape;
      return { list: of, ...limits, ...(keepEmpty ? { keepEmpty } : {}) };
    }
    case "map": {
      const { kind: _kind, of, ...limits } = shape;
      return { map: of, ...limits };
    }
    case "union":
      return present({ oneOf: shape.of, discriminator: shape.discriminator });
    case "any":
      return present({ type: shape.only ?? "any", schema: shape.schema });
  }
}

/** A name, if there is nothing more to say. */
function writtenInner(shape: Shape): unknown {
  const members = writtenShape(shape);
  const { type, whitespace = "keep", ...more } = members;
  return type !== undefined && whitespace === "keep" && Object.keys(more).length === 0 ? type : members;
}

const MAX_BYTES = 64 * 1024;
/** A schema that refers to others cannot be moved into the schema of a tool. */
const REFERRING = new Set(["$ref", "$dynamicRef", "$id", "$anchor", "$dynamicAnchor", "$recursiveRef", "$schema"]);

/** Of a JSON Schema that is passed on unchanged. */
function checkSchema(schema: Readonly<Record<string, unknown>>, part: Part): void {
  const keyword = referringIn(schema);
  if (keyword !== undefined) {
    part.error(`${keyword} cannot be used here`, "Write the schema out, or describe the value with types.");
  } else if (Buffer.byteLength(JSON.stringify(schema)) > MAX_BYTES) {
    part.error(`is larger than ${MAX_BYTES / 1024} kB`, "Describe the value with types, or leave the schema out.");
  } else {
    const problem = problemOf(schema);
    if (problem !== undefined) part.error(`is not a JSON Schema (2020-12): ${problem}`);
  }
}

function referringIn(value: unknown): string | undefined {
  const isMap = isRecord(value);
  const own = isMap && Object.keys(value).find((key) => REFERRING.has(key) && typeof value[key] === "string");
  if (typeof own === "string") return own;
  const inner: unknown[] = Array.isArray(value) ? value : isMap ? Object.values(value) : [];
  for (const each of inner) {
    const found = referringIn(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

function problemOf(schema: object): string | undefined {
  const regExp = Object.assign((source: string) => ({ ...linearPattern(source), test: () => true }), {
    code: "linear",
  });
  const ajv = new Ajv2020({ strict: false, logger: false, validateFormats: false, code: { regExp } });
  try {
    ajv.compile(schema);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
