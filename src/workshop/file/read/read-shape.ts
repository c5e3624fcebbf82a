import { nearestName } from "../../../text/nearest-name.ts";
import { type Part, present } from "../../../format/part.ts";
import { FOREIGN_KEYS, hintForType } from "./foreign-words.ts";
import { readUnion, UNION_KEYS } from "./read-union.ts";
import { readSchema } from "./read-schema.ts";
import { checkOrder, isScalarType, readFlag, readScalar, SCALAR_KEYS, SCALARS } from "./read-scalar.ts";
import type { AnyShape, ListShape, MapShape, ObjectShape, ScalarShape, Shape } from "../model/tool-file.ts";

/** Names that the file defines and fields refer to. */
export interface Known {
  types: ReadonlySet<string>;
  documents: readonly string[];
}

const LIST_KEYS = ["minItems", "maxItems", "uniqueItems", "keepEmpty"];
const MAP_KEYS = ["minEntries", "maxEntries"];
/** What says the form of a value, in a field and in parts of one. */
export const SHAPE_KEYS: readonly string[] = [
  "type",
  "list",
  "map",
  ...UNION_KEYS,
  "schema",
  ...LIST_KEYS,
  ...MAP_KEYS,
  ...SCALAR_KEYS,
];

/** Words for values that are not single, beside the names of types. A type of the file with such a name wins. */
const FREE = ["any", "object"];

/** What a value can be made of, and the name of its parts in messages. */
const MADE_OF = { list: "the items of the list", map: "the values of the map", oneOf: "one of the alternatives" };

/** The form of a value, from the members of a field or of a part of one. */
export function readShape(part: Part, known: Known): Shape {
  const kind = (["list", "map", "oneOf"] as const).find((key) => part.has(key));
  checkPlaces(part, kind);
  if (kind === "list") return readList(part, known);
  if (kind === "map") return readMap(part, known);
  return kind === "oneOf" ? readUnion(part, (item) => readInner(item, known)) : readSingle(part, known);
}

/** An item, value or alternative: the name of a type, or a map that describes it. */
export function readInner(part: Part, known: Known): Shape {
  if (!part.isMap) return namedShape(part, part.text(), known);
  part.members(SHAPE_KEYS, [], FOREIGN_KEYS);
  return readShape(part, known);
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

function readList(part: Part, known: Known): ListShape {
  checkOrder(part, "minItems", "maxItems");
  return present({
    kind: "list" as const,
    of: readInner(part.part("list"), known),
    minItems: part.part("minItems").integer(),
    maxItems: part.part("maxItems").integer(),
    uniqueItems: readFlag(part.part("uniqueItems")),
    keepEmpty: part.part("keepEmpty").boolean() ?? false,
  });
}

function readMap(part: Part, known: Known): MapShape {
  checkOrder(part, "minEntries", "maxEntries");
  return present({
    kind: "map" as const,
    of: readInner(part.part("map"), known),
    minEntries: part.part("minEntries").integer(),
    maxEntries: part.part("maxEntries").integer(),
  });
}

function readSingle(part: Part, known: Known): Shape {
  const type = part.part("type");
  if (type.isThere) return namedShape(part, type.text(), known);
  if (part.has("schema")) part.part("schema").keyError("schema describes any value", "Write type: any beside it.");
  const isTyped = ["codes", "enum", "const", "value"].some((key) => part.has(key));
  if (!isTyped && part.isMap) {
    part.error("does not say what it is", "Give type, list, map, oneOf, codes, const or value.");
  }
  return readScalar(part, impliedType(part));
}

/** The type of a constant; otherwise text. */
function impliedType(part: Part): ScalarShape["type"] {
  const [first] = part.has("enum") ? part.part("enum").items() : [];
  const sample = first ? first.value() : part.part("const").value();
  if (typeof sample === "boolean") return "boolean";
  if (typeof sample !== "number") return "string";
  return Number.isInteger(sample) ? "integer" : "number";
}

/** `part` has the limits: the field, or the map of an inner part. */
function namedShape(part: Part, name: string | undefined, { types }: Known): ScalarShape | ObjectShape | AnyShape {
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
    return present({ kind: "any" as const, only, schema: part.isMap ? readSchema(part.part("schema")) : undefined });
  }
  if (name === undefined || isScalarType(name)) return readScalar(part, name ?? "string");
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
export function isKnownType(name: unknown, { types }: Known): boolean {
  return typeof name !== "string" || types.has(name) || isScalarType(name) || FREE.includes(name);
}
