import { isRecord } from "../../json/is-record.ts";
import { parseBoundedYaml } from "../../source/bounded-yaml.ts";
import { changed } from "../../source/source-change.ts";
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
  edit: Edit | undefined;
}

type Edit = Extract<ToolFileChange, { value: unknown }>;

/** What can be learned from the answers that were seen. `text`: of the tool file. */
export function learnedChanges(text: string, file: ToolFile, all: readonly SeenDeviation[]): LearnedChange[] {
  const written: unknown = parseBoundedYaml(text).toJS({ maxAliasCount: 100 });
  const learned = all.map((seen): LearnedChange => {
    const place = placeOf(file, seen);
    const proposal = place && proposalFor(seen, place);
    const decide = { seen, about: place?.path.join("."), words: "look at the answers of this tool", edit: undefined };
    if (!place || !proposal) return decide;
    const edit = { path: place.path, value: withMembers(written, place.path, proposal.members) };
    return { ...decide, words: proposal.words, edit };
  });
  const sound = new Set(rounds(learned).flatMap((round) => soundEdits(written, round)));
  return learned.map((each) => (each.edit && !sound.has(each.edit) ? { ...each, edit: undefined } : each));
}

/** The text with the proposed changes. Several of one field are put together one after the other. */
export function withLearned(text: string, learned: readonly LearnedChange[]): string {
  const { file } = readToolFile(text, "the file");
  const [first = [], ...more] = rounds(learned);
  if (!file || first.length === 0) return text;
  const edited = withEdits(text, first);
  // The values of the others were made of the text as it was.
  const later = new Set(more.flat());
  const others = learned.filter(({ edit }) => edit && later.has(edit)).map(({ seen }) => seen);
  if (others.length === 0) return edited;
  return withLearned(edited, learnedChanges(edited, readToolFile(edited, "the file").file ?? file, others));
}

/** The changes in as many lists as one field has changes, so that each list has a field only once. */
function rounds(learned: readonly LearnedChange[]): Edit[][] {
  const found: Edit[][] = [];
  const used = new Map<string, number>();
  for (const { edit } of learned) {
    if (!edit) continue;
    const key = JSON.stringify(edit.path);
    const round = used.get(key) ?? 0;
    used.set(key, round + 1);
    (found[round] ??= []).push(edit);
  }
  return found;
}

/** The changes with which a file is still valid. A large file takes long to read, so they are tried together first. */
function soundEdits(written: unknown, edits: readonly Edit[]): Edit[] {
  const tried = JSON.stringify(edits.reduce((value: unknown, edit) => changed(value, edit), written));
  if (readToolFile(tried, "the file").problems.every(isHarmless)) return [...edits];
  return edits.length < 2 ? [] : halves(edits).flatMap((half) => soundEdits(written, half));
}

/** The text with all changes, or with those that it can have together. */
function withEdits(text: string, edits: readonly Edit[]): string {
  const edited = editToolFile(text, edits);
  if (readToolFile(edited, "the file").problems.every(isHarmless)) return edited;
  return edits.length < 2 ? text : halves(edits).reduce(withEdits, text);
}

function halves<T>(all: readonly T[]): [T[], T[]] {
  const middle = Math.ceil(all.length / 2);
  return [all.slice(0, middle), all.slice(middle)];
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
  const [record, wire] = isUnknown ? (at < 1 ? ["", path] : [path.slice(0, at), path.slice(at + 1)]) : [path, ""];
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
