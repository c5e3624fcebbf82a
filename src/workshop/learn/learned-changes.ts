import { isRecord } from "../../json/is-record.ts";
import { parseBoundedYaml } from "../../source/bounded-yaml.ts";
import { editToolFile, type ToolFileChange } from "../file/edit-tool-file.ts";
import type { FieldSpec, Shape, ToolFile, TypeSpec } from "../file/model/tool-file.ts";
import { memberPath } from "../file/model/member-names.ts";
import { readToolFile } from "../file/read-tool-file.ts";
import { findType } from "../shape/shape-parts.ts";
import type { SeenDeviation } from "./seen-deviations.ts";

/** What answers show about a tool file, and the change that would make it fit. */
export interface LearnedChange {
  seen: SeenDeviation;
  /** Where in the file: `types.Room.fields.adults`; undefined if the place cannot be told. */
  about: string | undefined;
  /** What is proposed, for people. */
  words: string;
  /** Undefined if a person has to decide. */
  edit: ToolFileChange | undefined;
}

/** What can be learned from the answers that were seen. `text`: of the tool file. */
export function learnedChanges(text: string, file: ToolFile, all: readonly SeenDeviation[]): LearnedChange[] {
  const written: unknown = parseBoundedYaml(text).toJS({ maxAliasCount: 100 });
  return all.map((seen) => {
    const place = placeOf(file, seen);
    const proposal = place && proposalFor(seen, place);
    const decide = { seen, about: place?.path.join("."), words: "look at the answers of this tool", edit: undefined };
    if (!place || !proposal) return decide;
    const edit = { path: place.path, value: withMembers(written, place.path, proposal.members) };
    const isSound = readToolFile(editToolFile(text, [edit]), "the file").problems.every(isHarmless);
    return { ...decide, words: proposal.words, edit: isSound ? edit : undefined };
  });
}

/** The text with the proposed changes. Several of one field are put together one after the other. */
export function withLearned(text: string, learned: readonly LearnedChange[]): string {
  const found = readToolFile(text, "the file").file;
  if (!found) return text;
  let edited = text;
  for (const { seen, edit } of learned) {
    if (!edit) continue;
    // The value was made of the text as it was.
    const { file = found } = readToolFile(edited, "the file");
    const [again] = learnedChanges(edited, file, [seen]);
    if (again?.edit) edited = editToolFile(edited, [again.edit]);
  }
  return edited;
}

function isHarmless({ severity }: { severity: string }): boolean {
  return severity !== "error";
}

interface Place {
  path: string[];
  /** Undefined: a new field with this name upstream. */
  field: FieldSpec | undefined;
  wire: string;
}

/** The field that a deviation is about, or where a new one would be. */
function placeOf(file: ToolFile, { tool, path, problem }: SeenDeviation): Place | undefined {
  const response = Object.hasOwn(file.tools, tool) ? file.tools[tool]?.response : undefined;
  const root = response?.type;
  if (root === undefined) return undefined;
  const isJson = response?.as === "json" || response?.as === "auto";
  const isUnknown = /^unknown (?:member|element|attribute)/.test(problem);
  const at = path.indexOf("/");
  const [record, wire] = isUnknown ? (at === -1 ? ["", path] : [path.slice(0, at), path.slice(at + 1)]) : [path, ""];
  const steps = record.split(".").filter((step) => step !== "");
  let name = root;
  for (const [index, step] of steps.entries()) {
    const field = ownField(findType(file, name), step.replaceAll("[]", ""));
    if (!field) return undefined;
    const plain = step.replaceAll("[]", "");
    if (!isUnknown && index === steps.length - 1) return { path: ["types", name, "fields", plain], field, wire: "" };
    const inner = objectIn(field.shape);
    if (inner === undefined) return undefined;
    name = inner;
  }
  if (!isUnknown || !/^@?[A-Za-z_][\w.-]*$/.test(wire)) return undefined;
  const type = findType(file, name);
  const fresh = freshName(type, wire);
  const itsWire = isJson ? memberWire(type, wire) : wire;
  return fresh === undefined ? undefined : { path: ["types", name, "fields", fresh], field: undefined, wire: itsWire };
}

/** A dot is a part of the name, unless another field is in the same object: kept members have their whole path. */
function memberWire(type: TypeSpec | undefined, name: string): string {
  const outer = name.slice(0, name.lastIndexOf(".") + 1);
  const isPath = Object.values(type?.fields ?? {}).some(({ wire }) => wire !== false && wire.startsWith(outer));
  return outer !== "" && isPath ? name : memberPath(name);
}

function ownField(type: TypeSpec | undefined, name: string): FieldSpec | undefined {
  return type && Object.hasOwn(type.fields, name) ? type.fields[name] : undefined;
}

function objectIn(shape: Shape): string | undefined {
  if (shape.kind === "object") return shape.type;
  return shape.kind === "list" ? objectIn(shape.of) : undefined;
}

/** Undefined if the type has no fields of its own, or has this one already. */
function freshName(type: TypeSpec | undefined, wire: string): string | undefined {
  if (!type || type.union) return undefined;
  const name = wire
    .replace(/^@/, "")
    .replaceAll(/[^A-Za-z0-9]+(.)?/g, (_, letter: string | undefined) => letter?.toUpperCase() ?? "");
  const own = name.charAt(0).toLowerCase() + name.slice(1);
  return /^[a-z]/.test(own) && !Object.hasOwn(type.fields, own) ? own : undefined;
}

interface FieldProposal {
  words: string;
  members: Record<string, unknown>;
}

const TYPES: Readonly<Record<string, string>> = {
  text: "string",
  number: "number",
  "whole number": "integer",
  boolean: "boolean",
  object: "object",
  list: "list",
};

function proposalFor(seen: SeenDeviation, { field, wire }: Place): FieldProposal | undefined {
  const { problem, kinds, values } = seen;
  if (!field) return newField(wire, kinds);
  if (problem === "missing") return { words: "make it optional", members: { optional: true } };
  if (problem === "expected a whole number" && kinds.every((kind) => kind.endsWith("number"))) {
    return { words: "make it a number with decimals", members: { type: "number" } };
  }
  if (field.shape.kind !== "scalar") return undefined;
  const { codes, enum: choices } = field.shape;
  if (codes && values.length > 0) {
    const added = values.filter((value) => !Object.hasOwn(codes, value));
    const names = Object.fromEntries(added.map((value) => [value, `code_${value.replaceAll(/\W+/g, "_")}`]));
    return { words: `add the codes ${added.join(", ")}`, members: { codes: { ...codes, ...names } } };
  }
  if (choices && values.length > 0) {
    const isNumber = choices.every((choice) => typeof choice === "number");
    const added = values.map((value) => (isNumber ? Number(value) : value)).filter((value) => !choices.includes(value));
    return { words: `allow ${added.join(", ")}`, members: { enum: [...choices, ...added] } };
  }
  const numbers = values.map(Number).filter((number) => Number.isFinite(number));
  if (numbers.length === 0) return undefined;
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  if (problem.startsWith("expected at most"))
    return { words: `allow values up to ${most}`, members: { maximum: most } };
  return { words: `allow values from ${least}`, members: { minimum: least } };
}

function newField(wire: string, kinds: readonly string[]): FieldProposal | undefined {
  const known = kinds.filter((kind) => kind !== "null").map((kind) => TYPES[kind]);
  const [type] = known;
  const all = new Set(known);
  const isNumber = [...all].every((each) => each === "number" || each === "integer");
  const its = all.size === 1 ? type : isNumber && all.size === 2 ? "number" : undefined;
  if (its === undefined) return undefined;
  // What is inside is not remembered.
  const what = its === "list" ? { list: "any" } : { type: its };
  const members = { wire, ...what, optional: true, description: "Seen in answers; the documents do not name it." };
  return { words: `add it as an optional field (${its})`, members };
}

/** The field as it is written, with other members. One in one line keeps its line. */
function withMembers(
  written: unknown,
  path: readonly string[],
  members: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  let value = written;
  for (const step of path) value = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  if (typeof value === "string") return { is: value, ...members };
  return { ...(isRecord(value) ? value : {}), ...members };
}
