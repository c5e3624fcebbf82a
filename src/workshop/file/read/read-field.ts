import { nearestName } from "../../../text/nearest-name.ts";
import { type Part, present } from "./part.ts";
import { FOREIGN_KEYS, hintForType } from "./foreign-words.ts";
import { readEvidence } from "./read-evidence.ts";
import { checkOrder, isScalarType, misfit, readScalar, SCALAR_KEYS, SCALARS } from "./read-scalar.ts";
import type { FieldSpec, ListShape, ObjectShape, ScalarShape } from "../model/tool-file.ts";

/** Names that the file defines and fields refer to. */
export interface Known {
  types: readonly string[];
  documents: readonly string[];
}

const KEYS = ["description", "wire", "type", "list", "const", "value", "optional", "hidden", "default", "evidence"];
const LIST_KEYS = ["minItems", "maxItems", "keepEmpty"];

export function readField(part: Part, name: string, known: Known): FieldSpec {
  part.members([...KEYS, ...LIST_KEYS, ...SCALAR_KEYS], [], FOREIGN_KEYS);
  const shape = readShape(part, known);
  const constant = readConstant(part.part("const"), shape);
  const evidence = readEvidence(part.part("evidence"), known.documents);
  checkTogether(part);
  if (isOfKnownType(part, known)) checkDefault(part.part("default"), shape);
  return present({
    description: part.part("description").text(),
    wire: readWire(part.part("wire")) ?? name,
    shape,
    optional: part.part("optional").boolean() ?? false,
    hidden: part.part("hidden").boolean() ?? false,
    default: part.part("default").value(),
    const: constant,
    value: part.part("value").text(),
    evidence,
  });
}

function readWire(part: Part): string | false | undefined {
  if (part.node?.kind === "scalar" && part.node.value === false) return false;
  return part.text();
}

function readShape(part: Part, known: Known): FieldSpec["shape"] {
  if (part.has("list")) return readList(part, known);
  for (const key of LIST_KEYS) {
    if (part.has(key))
      part.part(key).keyError(`${key} says something about lists only`, "Write list: instead of type:.");
  }
  return readSingle(part, known);
}

function readList(part: Part, known: Known): ListShape {
  for (const key of ["type", "const", ...SCALAR_KEYS]) {
    if (part.has(key)) {
      part.part(key).keyError(`${key} belongs to the items of the list`, `Write list: { ${key}: … }`);
    }
  }
  const list = part.part("list");
  if (list.isMap) list.members(["type", ...SCALAR_KEYS], [], FOREIGN_KEYS);
  checkOrder(part, "minItems", "maxItems");
  return present({
    kind: "list" as const,
    of: list.isMap ? readSingle(list, known) : namedShape(list, list.text(), known),
    minItems: part.part("minItems").integer(),
    maxItems: part.part("maxItems").integer(),
    keepEmpty: part.part("keepEmpty").boolean() ?? false,
  });
}

function readSingle(part: Part, known: Known): ScalarShape | ObjectShape {
  const type = part.part("type");
  if (type.isThere) return namedShape(part, type.text(), known);
  const isTyped = ["codes", "enum", "const", "value"].some((key) => part.has(key));
  if (!isTyped && part.isMap) part.error("does not say what it is", "Give type, list, codes, const or value.");
  return readScalar(part, impliedType(part));
}

/** The type of a constant; otherwise text. */
function impliedType(part: Part): ScalarShape["type"] {
  const [sample = part.part("const").value()] =
    (part.has("enum") &&
      part
        .part("enum")
        .items()
        .map((item) => item.value())) ||
    [];
  if (typeof sample === "boolean") return "boolean";
  if (typeof sample !== "number") return "string";
  return Number.isInteger(sample) ? "integer" : "number";
}

/** `part` has the limits: the field, or the map of `list`. */
function namedShape(part: Part, name: string | undefined, { types }: Known): ScalarShape | ObjectShape {
  if (name !== undefined && types.includes(name)) {
    for (const key of part.isMap ? SCALAR_KEYS : []) {
      if (part.has(key)) part.part(key).keyError(`${key} says nothing about the type ${name}`);
    }
    return { kind: "object", type: name };
  }
  if (name === undefined || isScalarType(name)) return readScalar(part, name ?? "string");
  const meant = nearestName(name, [...types, ...SCALARS]);
  const place = part.isMap ? part.part("type") : part;
  const hint = hintForType(name) ?? (meant && `Did you mean "${meant}"?`);
  place.error(
    `there is no type "${name}"`,
    hint ?? `Types of values are ${SCALARS.join(", ")}; others are defined under types.`,
  );
  return { kind: "scalar", type: "string", whitespace: "keep" };
}

/** A value of an unknown type cannot be checked. */
function isOfKnownType(part: Part, { types }: Known): boolean {
  const of = part.has("list") ? part.part("list") : part;
  const name = of.isMap ? of.part("type").value() : of.value();
  return typeof name !== "string" || types.includes(name) || isScalarType(name);
}

function readConstant(part: Part, shape: FieldSpec["shape"]): string | number | boolean | undefined {
  if (!part.isThere) return undefined;
  const value = part.value();
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
    part.error("must be text, a number, true or false");
    return undefined;
  }
  const wrong = shape.kind === "scalar" ? misfit(shape, value) : { what: "cannot be used for a type or a list" };
  if (wrong) part.error(wrong.what, wrong.hint);
  return value;
}

function checkTogether(part: Part): void {
  if (part.has("type") && part.has("list")) return;
  if (part.has("const") && part.has("value")) part.part("value").keyError("const already says what it is");
  if (part.has("default") && (part.has("const") || part.has("value"))) {
    part.part("default").keyError("callers do not give this field, so it cannot have a default");
  }
}

function checkDefault(part: Part, shape: FieldSpec["shape"]): void {
  if (!part.isThere) return;
  if (shape.kind === "scalar") {
    const wrong = misfit(shape, part.value());
    if (wrong) part.error(wrong.what, wrong.hint);
  } else if (shape.kind === "object") {
    part.record();
  } else if (shape.kind === "list") {
    for (const item of part.items()) {
      const wrong = shape.of.kind === "scalar" ? misfit(shape.of, item.value()) : undefined;
      if (wrong) item.error(wrong.what, wrong.hint);
    }
  }
}
