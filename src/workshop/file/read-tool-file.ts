import { checkCredentials } from "./check/check-credentials.ts";
import { checkExpressions } from "./check/check-expressions.ts";
import { checkGiven } from "./check/check-given.ts";
import { checkPaging } from "./check/check-paging.ts";
import { checkRecursion } from "./check/check-recursion.ts";
import { checkSameRequests } from "./check/check-same-requests.ts";
import { checkRequests } from "./check/check-requests.ts";
import { checkUnions } from "./check/check-unions.ts";
import { checkSteps } from "./check/check-steps.ts";
import { checkTakenNames } from "./check/check-taken-names.ts";
import { checkWires } from "./check/check-wires.ts";
import { Part } from "../../format/part.ts";
import { readPart } from "../../format/read-form.ts";
import { parseDuration } from "../../text/duration.ts";
import { Problems, TooManyErrors, type Problem } from "../../format/problem.ts";
import { TOOL_FILE } from "./forms/tool-file.ts";
import { DEFAULT_TIMEOUT_MS, FileNames, MAX_TIMEOUT_MS } from "./forms/parts.ts";
import { withDiscriminatorFields, discriminatorFields } from "./complete/discriminator-fields.ts";
import { writtenOut } from "./complete/short-forms.ts";
import type { ToolFile, FieldSpec, TypeSpec } from "./model/tool-file.ts";
import type { SourceNode } from "../../source/source-node.ts";
import { readYaml } from "./model/read-yaml.ts";
import { requestTools } from "./model/request-tools.ts";
import { stepsOf } from "./model/steps-of.ts";
import { usesOf, fieldsTaken, type Use } from "./complete/uses.ts";
import type { WholeTypes } from "./complete/included-types.ts";
import { nearestName } from "../../text/nearest-name.ts";

/** Fields and rules of all types, with those that they include: types that include each other grow without bound. */
const MOST_MEMBERS = 200_000;

/** How many steps of a path have to be written; what is deeper may be a default or in a short form. */
const WRITTEN: Readonly<Record<string, number>> = { types: 4, tools: 2, settings: 2, secrets: 2, documents: 2 };

/** Checks that need the whole file. */
const CHECKS = [
  checkSteps,
  checkPaging,
  checkRequests,
  checkRecursion,
  checkUnions,
  checkCredentials,
  checkWires,
  checkTakenNames,
  checkExpressions,
  checkGiven,
  checkSameRequests,
  checkAdvice,
  checkQuestions,
];

/** Reads a tool file and returns it with all problems; `file` is present if there are no errors. */
export function readToolFile(text: string, source: string): { file: ToolFile | undefined; problems: Problem[] } {
  const { tree, problems } = readYaml(text);
  return tree ? readTree(tree, source, problems) : { file: undefined, problems };
}

/** Reads a tool file whose YAML was read. `mistakes`: those of the YAML. */
export function readTree(
  tree: SourceNode,
  source: string,
  mistakes: readonly Problem[] = [],
): { file: ToolFile | undefined; problems: Problem[] } {
  const { tree: whole, misuses } = writtenOut(tree);
  const problems = new Problems(whole);
  const file = untilTooMany(() => {
    for (const { path, message, hint } of misuses) problems.error(path, message, hint);
    return readWhole(whole, problems, source);
  }, problems);
  const all = [...mistakes, ...problems.all()].sort((a, b) => a.line - b.line || a.column - b.column);
  return { file: all.some(({ severity }) => severity === "error") ? undefined : file, problems: all };
}

function untilTooMany(read: () => ToolFile | undefined, problems: Problems): ToolFile | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof TooManyErrors) return undefined;
    if (!(error instanceof RangeError)) throw error;
    // The stack ended: types that contain each other are followed by recursion.
    problems.error([], "its types or expressions are nested too deeply to be read", "Make it flatter.");
    return undefined;
  }
}

function readWhole(tree: SourceNode, problems: Problems, source: string): ToolFile | undefined {
  const part = new Part(tree, [], problems);
  if (!part.isMap) {
    part.error(`${source} is not a tool file`, "It begins with nexus: 1.");
    return undefined;
  }
  if (!part.has("nexus") && (part.has("openapi") || part.has("swagger"))) {
    const hint = "A tool file is written beside it, and says which of its operations become tools.";
    part.error(`${source} is an OpenAPI description, not a tool file`, hint);
    return undefined;
  }
  const written = readPart(TOOL_FILE, new Part(tree, [], problems, { context: namesIn(part) }));
  const types = part.part("types");
  const whole = withIncluded(written.types, types);
  const file: ToolFile = { ...written, types: withDiscriminatorFields(whole.types) };
  const fieldsOf = new Map(types.entries().map(([name, type]) => [name, type.part("fields")]));
  const isWritten = (type: string, field: string) =>
    fieldsOf.get(whole.ownerOf(type, field))?.part(field).has("wire") === true;
  const complete = withWires(file, isWritten);
  for (const check of CHECKS) check(complete, problems, whole);
  return complete;
}

/** What the parts of the file have to know of each other. */
function namesIn(part: Part): FileNames {
  const namesOf = (section: string) => {
    const { node } = part.part(section);
    return node?.kind === "object" ? node.members.map(({ key }) => key) : [];
  };
  const timeout = parseDuration(part.part("upstream").part("timeout").value());
  const isTimeout = timeout !== undefined && timeout > 0 && timeout <= MAX_TIMEOUT_MS;
  return new FileNames({
    types: new Set(namesOf("types")),
    documents: namesOf("documents"),
    timeoutMs: isTimeout ? timeout : DEFAULT_TIMEOUT_MS,
  });
}

/** Warnings for the reviewer: claims without evidence, and effects that do not match the method or the description. */
function checkAdvice(file: ToolFile, problems: Problems): void {
  checkEvidence(file, problems);
  for (const [name, { effect, request, outcomeUnknown }] of requestTools(file)) {
    const { method } = request;
    if (effect === "read" && ["DELETE", "PUT", "PATCH"].includes(method)) {
      problems.warning(["tools", name, "effect"], `${method} changes something, but the effect is read`);
    }
    if (effect !== "read" && method === "GET") {
      problems.warning(["tools", name, "effect"], `GET changes nothing, but the effect is ${effect}`);
    }
    if (effect !== "read" && outcomeUnknown === undefined) {
      const hint = "Say how a caller finds out whether it was done, when no answer came.";
      problems.warning(["tools", name], "outcomeUnknown is missing", hint);
    }
  }
}

function checkEvidence(file: ToolFile, problems: Problems): void {
  if (Object.keys(file.documents).length === 0) {
    problems.warning([], "no document is named, so nothing in this file has evidence");
    return;
  }
  for (const [name, { fields, rules }] of Object.entries(file.types)) {
    for (const [field, { evidence }] of Object.entries(fields)) {
      if (evidence.length === 0) problems.warning(["types", name, "fields", field], "has no evidence");
    }
    rules.forEach(({ evidence }, index) => {
      if (evidence.length === 0) problems.warning(["types", name, "rules", index], "has no evidence");
    });
  }
}

/** Questions about places that are no longer in the file. */
function checkQuestions(file: ToolFile, problems: Problems): void {
  for (const [index, { about }] of (file.questions ?? []).entries()) {
    const steps = stepsOf(about);
    const depth = WRITTEN[String(steps[0])] ?? 1;
    // A section that is absent may be what is asked about.
    if (steps.length === 1 && depth > 1) continue;
    if (problems.hasPlace(steps.slice(0, depth))) continue;
    problems.warning(
      ["questions", index, "about"],
      `there is no ${about} in this file`,
      "Correct the place, or answer the question: nexus api questions.",
    );
  }
}

/**
 * Adds the default wire paths: a field has its own name, except that fields in path, query or headers, also of an answer, are
 * not in the body, computed and constant fields of an answer are not read from it unless they tell types apart, and a list in
 * XML is a repeated element.
 */
function withWires(file: ToolFile, isWritten: (type: string, field: string) => boolean): ToolFile {
  const uses = usesOf(file);
  const taken = new Set(
    requestTools(file)
      .filter(([, { request }]) => request.body !== undefined)
      .flatMap(([, { input, request }]) => fieldsTaken(request).map((field) => `${input}.${field}`)),
  );
  for (const { response } of Object.values(file.tools)) {
    for (const field of Object.values(response.headers ?? {})) taken.add(`${response.type ?? ""}.${field}`);
  }
  const tags = discriminatorFields(file.types);
  const types = Object.entries(file.types).map(([name, type]) => {
    const fields = Object.entries(type.fields).map(([field, spec]) => {
      if (isWritten(name, field) || tags.has(`${name}.${field}`)) return [field, spec];
      return [field, taken.has(`${name}.${field}`) ? { ...spec, wire: false } : withWire(spec, uses.get(name))];
    });
    return [name, { ...type, fields: Object.fromEntries(fields) }];
  });
  return { ...file, types: Object.fromEntries(types) };
}

function withWire(field: FieldSpec, use: Use | undefined): FieldSpec {
  const isOutput = use?.sides.has("output") === true && !use.sides.has("input");
  if (isOutput && (field.const !== undefined || field.value !== undefined)) return { ...field, wire: false };
  const isXml = use?.as.has("xml") === true && use.as.size === 1;
  return isXml && field.shape.kind === "list" ? { ...field, wire: `${String(field.wire)}[]` } : field;
}

/**
 * Adds what types include: fields and rules of other types come first, a field of the same name replaces an included
 * one in its place.
 */
function withIncluded(types: Readonly<Record<string, TypeSpec>>, part: Part): WholeTypes {
  const names = Object.keys(types);
  const parts = new Map(part.entries());
  const done = new Map<string, TypeSpec>();
  const owners = new Map<string, Map<string, string>>();
  const included = new Set<string>();
  let members = 0;

  const whole = (name: string, open: readonly string[]): TypeSpec | undefined => {
    const known = done.get(name);
    const own = Object.hasOwn(types, name) ? types[name] : undefined;
    if (known ?? !own) return known;
    if (!own) return undefined;
    const fields = new Map<string, FieldSpec>();
    const owner = new Map<string, string>();
    const rules = [];
    let { additional } = own;
    for (const item of parts.get(name)?.part("include").oneOrMore() ?? []) {
      const other = item.text();
      if (other === undefined) continue;
      const base = baseOf(item, other, [...open, name]);
      if (!base) continue;
      included.add(other);
      members += Object.keys(base.fields).length + base.rules.length;
      if (members > MOST_MEMBERS) {
        item.error(`the types would have more than ${MOST_MEMBERS} fields and rules with those that they include`);
        break;
      }
      for (const [field, spec] of Object.entries(base.fields)) {
        fields.set(field, spec);
        owner.set(field, owners.get(other)?.get(field) ?? other);
      }
      rules.push(...base.rules);
      additional ??= base.additional;
    }
    for (const [field, spec] of Object.entries(own.fields)) {
      fields.set(field, spec);
      owner.set(field, name);
    }
    const type: TypeSpec = {
      ...own,
      fields: Object.fromEntries(fields),
      rules: [...rules, ...own.rules],
      ...(additional === undefined ? {} : { additional }),
    };
    done.set(name, type);
    owners.set(name, owner);
    return type;
  };

  const baseOf = (item: Part, other: string, open: readonly string[]): TypeSpec | undefined => {
    if (open.includes(other)) {
      item.error(`${other} would include itself, without end`);
      return undefined;
    }
    const base = whole(other, open);
    if (!base) {
      const meant = nearestName(other, names);
      item.error(`there is no type "${other}"`, meant ? `Did you mean "${meant}"?` : "Name a type of this file.");
    } else if (base.union) {
      item.error(`${other} is one of several types and has no fields`, "Include one of them.");
      return undefined;
    }
    return base;
  };

  const all = names.map((name) => [name, whole(name, []) ?? types[name]] as const);
  return {
    types: Object.fromEntries(all.flatMap(([name, type]) => (type ? [[name, type]] : []))),
    included,
    ownerOf: (type, field) => owners.get(type)?.get(field) ?? type,
  };
}
