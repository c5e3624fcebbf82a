import { memberNames } from "../model/member-names.ts";
import { messageOf, NexusError } from "../../../errors/nexus-error.ts";
import { parseWirePath, type WireStep } from "../../codec/record/wire-path.ts";
import type { Path, Problems } from "../../../format/problem.ts";
import { findUnion } from "../../shape/shape-parts.ts";
import type { FieldSpec, ToolFile } from "../model/tool-file.ts";
import type { WholeTypes } from "../complete/included-types.ts";
import { usesOf } from "../complete/uses.ts";

/** Prefixes with a fixed meaning. */
const PREDEFINED = ["xml", "xsi"];

/** Wire paths that are invalid, do not fit the field, or are used twice. */
export function checkWires(file: ToolFile, problems: Problems, { included }: Pick<WholeTypes, "included">): void {
  const uses = usesOf(file);
  for (const [name, type] of Object.entries(file.types)) {
    const use = uses.get(name);
    const path = ["types", name];
    if (!use && !included.has(name)) problems.warning(path, "no tool uses this type");
    if (use?.whole.has("xml") && type.xml.element === undefined) {
      problems.error(path, "xml.element is missing: which element is the document?", "Add xml: { element: … }");
    }
    if (use?.as.has("xml") && type.additional) {
      problems.error([...path, "additional"], "XML cannot hold members without names", "Only JSON can.");
    }
    const stands = new Map<string, string>();
    for (const [field, spec] of Object.entries(type.fields)) {
      if (!use || use.as.size === 0 || spec.wire === false) continue;
      const at = [...path, "fields", field, "wire"];
      const other = stands.get(spec.wire);
      if (other !== undefined) problems.error(at, `"${spec.wire}" is already the place of ${other}`);
      stands.set(spec.wire, field);
      if (use.as.has("xml")) checkXml(file, spec, spec.wire, at, problems);
      if (use.as.has("json") || use.as.has("form")) checkMember(spec, spec.wire, at, problems);
    }
  }
}

/** What only JSON can hold. */
const FOR_JSON = { map: "a map", union: "one of several types", any: "any value", list: "a list of lists" } as const;

function checkXml(file: ToolFile, { shape }: FieldSpec, wire: string, at: Path, problems: Problems): void {
  const held = shape.kind === "list" ? shape.of : shape;
  const free = findUnion(file, held)?.kind ?? held.kind;
  if (free !== "scalar" && free !== "object" && (free !== "list" || shape.kind === "list")) {
    problems.error(at.slice(0, -1), `XML cannot hold ${FOR_JSON[free]}`, "Only JSON can. Give it a type with fields.");
    return;
  }
  const steps = readSteps(wire, at, problems);
  const last = steps.at(-1);
  if (!last) return;
  for (const { prefix, predicates } of steps) {
    for (const used of [prefix, ...predicates.map((predicate) => predicate.prefix)]) {
      if (used !== undefined && !PREDEFINED.includes(used) && !Object.hasOwn(file.namespaces, used)) {
        problems.error(at, `the prefix "${used}" is not in namespaces`);
      }
    }
  }
  const repeats = steps.some((step) => step.repeats);
  if (shape.kind === "list" && !repeats) {
    problems.error(at, "says not which element repeats", `Write [] behind it, as in ${wire}[]`);
  }
  if (shape.kind !== "list" && repeats)
    problems.error(at, "repeats, but the field is not a list", "Write list: instead of type:.");
  const inner = shape.kind === "list" ? shape.of : shape;
  if (inner.kind === "object" && (last.attribute || last.text)) {
    problems.error(at, `a ${inner.type} is an element, not an attribute or a text`);
  }
  if (inner.kind === "object" && shape.kind === "list" && repeats && !last.repeats) {
    problems.error(at, "[] belongs behind the last element: that is the one that repeats");
  }
  if (inner.kind === "scalar" && inner.type === "presence" && (last.attribute || last.text)) {
    problems.error(at, "presence is about an element that is there or not");
  }
}

function readSteps(wire: string, at: Path, problems: Problems): WireStep[] {
  try {
    return parseWirePath(wire);
  } catch (error) {
    problems.error(at, messageOf(error), error instanceof NexusError ? error.hint : undefined);
    return [];
  }
}

/** JSON and forms: names separated by dots, of which one may repeat; `.` is the whole value. */
function checkMember({ shape }: FieldSpec, wire: string, at: Path, problems: Problems): void {
  if (wire === ".") return;
  const names = memberNames(wire);
  const repeats = names?.filter((name) => name.repeats).length ?? 0;
  if (!names) {
    const hint = "Write member, or outer.member. A dot that is part of a name is written with a backslash before it.";
    problems.error(at, `"${wire}" is not a path of names with dots`, hint);
  } else if (repeats > 1) {
    problems.error(at, "only one step of a path can repeat", "Give the inner list a type of its own.");
  } else if (repeats === 1 && shape.kind !== "list") {
    problems.error(at, "repeats, but the field is not a list", "Write list: instead of type:.");
  } else if (wire.includes("/")) {
    problems.warning(at, `"${wire}" looks like a path of XML, but is one member of JSON or a form`);
  }
}
