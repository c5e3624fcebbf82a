import { type Part, present } from "../../../format/part.ts";
import { FOREIGN_KEYS } from "./foreign-words.ts";
import { readEvidence } from "./read-evidence.ts";
import { misfit, readFlag } from "./read-scalar.ts";
import { isKnownType, type Known, readShape, SHAPE_KEYS } from "./read-shape.ts";
import type { FieldSpec, Shape } from "../model/tool-file.ts";

const KEYS = [
  "description",
  "wire",
  "const",
  "value",
  "optional",
  "hidden",
  "nullable",
  "readOnly",
  "writeOnly",
  "default",
  "evidence",
  ...SHAPE_KEYS,
];

/** `evidence`: that of the type, for fields without their own. */
export function readField(part: Part, name: string, known: Known, evidence: readonly string[] = []): FieldSpec {
  part.members(KEYS, [], FOREIGN_KEYS);
  const shape = readShape(part, known);
  const constant = readConstant(part.part("const"), shape);
  const own = readEvidence(part.part("evidence"), known.documents);
  const nullable = readFlag(part.part("nullable"));
  checkTogether(part);
  if (isOfKnownType(part, known) && !(nullable && part.part("default").value() === null)) {
    checkDefault(part.part("default"), shape);
  }
  return present({
    description: part.part("description").text(),
    wire: readWire(part.part("wire")) ?? name,
    shape,
    nullable,
    side: readSide(part),
    optional: part.part("optional").boolean() ?? false,
    hidden: part.part("hidden").boolean() ?? false,
    default: part.part("default").value(),
    const: constant,
    value: part.part("value").text(),
    evidence: part.has("evidence") ? own : [...evidence],
  });
}

function readWire(part: Part): string | false | undefined {
  if (part.node?.kind === "scalar" && part.node.value === false) return false;
  return part.text();
}

function readSide(part: Part): FieldSpec["side"] {
  const [readOnly, writeOnly] = [readFlag(part.part("readOnly")), readFlag(part.part("writeOnly"))];
  if (readOnly && writeOnly) part.part("writeOnly").keyError("readOnly already says where it is");
  if (readOnly) return "output";
  return writeOnly ? "input" : undefined;
}

/** A value of an unknown type cannot be checked. */
function isOfKnownType(part: Part, known: Known): boolean {
  const of = part.has("list") ? part.part("list") : part;
  return isKnownType(of.isMap ? of.part("type").value() : of.value(), known);
}

function readConstant(part: Part, shape: Shape): string | number | boolean | undefined {
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
  if (part.has("nullable") && (part.has("const") || part.has("value"))) {
    part.part("nullable").keyError("callers do not give this field, so it cannot be null");
  }
}

function checkDefault(part: Part, shape: Shape): void {
  if (!part.isThere) return;
  switch (shape.kind) {
    case "scalar": {
      const wrong = misfit(shape, part.value());
      if (wrong) part.error(wrong.what, wrong.hint);
      return;
    }
    case "list":
      for (const item of part.items()) checkItem(item, shape.of);
      return;
    case "map":
      for (const [, item] of part.entries()) checkItem(item, shape.of);
      return;
    case "object":
      // A named union may be something else than an object; the checker refuses a wrong one when the file is checked.
      return;
    case "any":
      if (shape.only === "object") part.entries();
      return;
    case "union":
      return;
  }
}

function checkItem(part: Part, shape: Shape): void {
  if (shape.kind === "scalar" || shape.kind === "list" || shape.kind === "map") checkDefault(part, shape);
}
