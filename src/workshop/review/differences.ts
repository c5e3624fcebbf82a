import type { CompiledApi } from "../compile/compile.ts";
import { toolsByType } from "../compile/type-reach.ts";
import type { ToolFile, ToolSpec } from "../file/model/tool-file.ts";
import { changeOf, type ApiChange, type ApiChangeKind } from "./api-change.ts";
import { citedChanges } from "./cited-changes.ts";
import { fileChanges } from "./file-changes.ts";
import { differingLeaves, pathText } from "./leaves.ts";
import { fromTo, valueText } from "./value-text.ts";
import { isRecord } from "../../json/is-record.ts";
import { fullInputSchema, fullOutputSchema, type JsonSchema } from "../compile/json-schema.ts";
import { toolDefinition } from "../compile/tool-definition.ts";

/** The most important kinds come first. */
const ORDER: readonly ApiChangeKind[] = [
  "effect raised",
  "endpoint added",
  "secret used",
  "tool added",
  "tool removed",
  "field removed",
  "input narrowed",
  "field changed",
  "wire changed",
  "answer changed",
  "fake changed",
  "limits changed",
  "input widened",
  "field added",
  "effect lowered",
  "endpoint removed",
  "secret dropped",
  "document changed",
  "other",
  "description changed",
];

/**
 * The differences between the approved and the current version, by kind; everything if nothing was approved. Empty
 * exactly if the hashes are equal. `documents`: the texts of the file's documents, whose cited lines are served.
 */
export function differences(
  before: CompiledApi | undefined,
  after: CompiledApi,
  documents: Readonly<Record<string, string>> = {},
): ApiChange[] {
  if (before?.hash === after.hash) return [];
  const schemas = before ? schemaChanges(before, after) : [];
  const changes = [
    ...schemas,
    ...fileChanges(before?.file, after.file, schemas),
    ...citedChanges(before?.citations ?? {}, after.citations, documents),
  ];
  return byWeight(changes.length > 0 ? changes : otherwiseCompiled(before, after));
}

/** Differences that callers see: arguments and results, also of tools that are found by searching. */
function schemaChanges(before: CompiledApi, after: CompiledApi): ApiChange[] {
  const changed = changedTools(before.file, after.file);
  return Object.keys(after.file.tools).flatMap((name) => {
    const [old, now] = [schemasIn(before, name, changed), schemasIn(after, name, changed)];
    if (!old || !now) return [];
    return [...inputChanges(old[0], now[0], name), ...outputChanges(old[1], now[1], `${name}()`)];
  });
}

/** Of a listed tool, as it was compiled; undefined if there is no such tool, or it has not changed. */
function schemasIn({ file, tools }: CompiledApi, name: string, changed: ReadonlySet<string>) {
  const listed = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (listed) return [listed.inputSchema, listed.outputSchema ?? {}] as const;
  const spec = Object.hasOwn(file.tools, name) ? file.tools[name] : undefined;
  return spec && changed.has(name) ? schemasOf(file, name, spec) : undefined;
}

/** The tools that differ, or that have a type that does. */
function changedTools(before: ToolFile, after: ToolFile): Set<string> {
  const differ = <T>(old: Readonly<Record<string, T>>, now: Readonly<Record<string, T>>) =>
    Object.keys(now).filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]));
  const users = toolsByType(after);
  const types = differ(before.types, after.types);
  return new Set([...differ(before.tools, after.tools), ...types.flatMap((type) => [...(users.get(type) ?? [])])]);
}

/** The same file, compiled by another version of the program. */
function otherwiseCompiled(before: CompiledApi | undefined, after: CompiledApi): ApiChange[] {
  if (before && before.format !== after.format) {
    const formats = [before.format, after.format] as const;
    return [changeOf({ kind: "other", path: "format", message: fromTo(...formats) }, formats)];
  }
  const leaves = differingLeaves(before?.tools, after.tools, ["compiled", "tools"]);
  if (leaves.length === 0) return [{ kind: "other", path: "", message: "compiled differently" }];
  return leaves.map(({ path, before: old, after: now }) =>
    changeOf({ kind: "other", path: pathText(path), message: fromTo(old, now) }, [old, now]),
  );
}

/** The differences of a tool's arguments: whether fewer or more calls are allowed. */
function inputChanges(before: JsonSchema, after: JsonSchema, path: string): ApiChange[] {
  return new SchemaComparison("input").compare(before, after, path);
}

/** The differences of a tool's results. */
function outputChanges(before: JsonSchema, after: JsonSchema, path: string): ApiChange[] {
  return new SchemaComparison("output").compare(before, after, path);
}

/** Limits for which a larger value allows fewer values. */
const LOWER_LIMITS = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const UPPER_LIMITS = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
const EXACT = ["type", "format", "pattern", "const", "$ref", "multipleOf", "uniqueItems"];

class SchemaComparison {
  readonly #side: "input" | "output";
  readonly #changes: ApiChange[] = [];

  constructor(side: "input" | "output") {
    this.#side = side;
  }

  compare(before: JsonSchema, after: JsonSchema, path: string): ApiChange[] {
    this.#schema(before, after, path);
    return this.#changes;
  }

  #schema(before: JsonSchema, after: JsonSchema, path: string): void {
    this.#properties(before, after, path);
    for (const limit of EXACT) this.#exact(before[limit], after[limit], { path, limit });
    for (const limit of LOWER_LIMITS) this.#limit(before[limit], after[limit], { path, limit, sign: 1 });
    for (const limit of UPPER_LIMITS) this.#limit(before[limit], after[limit], { path, limit, sign: -1 });
    this.#values(before["enum"], after["enum"], path);
    if (!same(before["default"], after["default"])) {
      const values = [before["default"], after["default"]] as const;
      this.#say("field changed", path, `default ${fromTo(...values)}`, values);
    }
    if (before["description"] !== after["description"]) {
      const values = [before["description"], after["description"]] as const;
      this.#say("description changed", path, fromTo(...values), values);
    }
    this.#further(before["additionalProperties"], after["additionalProperties"], path);
    this.#variants(before, after, path);
    for (const part of ["items", "$defs"]) {
      const [old, now] = [before[part], after[part]];
      if (!isRecord(old) || !isRecord(now)) {
        // Definitions change with their references, which are reported.
        if (part === "items" && !same(old, now)) this.#say(this.#kind(true), `${path}[]`, fromTo(old, now), [old, now]);
      } else if (part === "items") this.#schema(old, now, `${path}[]`);
      else this.#properties({ properties: old }, { properties: now }, path);
    }
  }

  #properties(before: JsonSchema, after: JsonSchema, path: string): void {
    const [old, now] = [propertiesOf(before), propertiesOf(after)];
    const [wasRequired, isRequired] = [namesOf(before["required"]), namesOf(after["required"])];
    for (const [name, schema] of old) {
      const place = `${path}.${name}`;
      const next = now.get(name);
      if (!next) {
        this.#say("field removed", place, "is gone");
        continue;
      }
      this.#schema(schema, next, place);
      if (wasRequired.has(name) === isRequired.has(name)) continue;
      const becomes = isRequired.has(name) ? "is required now" : "may be left out now";
      this.#say(this.#kind(isRequired.has(name)), place, becomes, [!wasRequired.has(name), !isRequired.has(name)]);
    }
    for (const name of now.keys()) {
      if (old.has(name)) continue;
      const narrows = this.#side === "input" && isRequired.has(name);
      this.#say(
        narrows ? "input narrowed" : "field added",
        `${path}.${name}`,
        narrows ? "is new and required" : "is new",
      );
    }
  }

  /** Members with free names: whether they are allowed, and what they are. */
  #further(before: unknown, after: unknown, path: string): void {
    if (isRecord(before) && isRecord(after)) this.#schema(before, after, `${path}.*`);
    else this.#exact(before, after, { path, limit: "additionalProperties" });
  }

  /** Alternatives by their names, or by what they are. */
  #variants(before: JsonSchema, after: JsonSchema, path: string): void {
    const [old, now] = [variantsOf(before), variantsOf(after)];
    for (const [name, schema] of old) {
      const next = now.get(name);
      if (next) this.#schema(schema, next, `${path}|${name}`);
      else this.#say(this.#kind(true), path, `is no longer one of ${name}`, [schema, undefined]);
    }
    for (const [name, schema] of now) {
      if (!old.has(name)) this.#say(this.#kind(false), path, `may also be ${name}`, [undefined, schema]);
    }
  }

  #exact(before: unknown, after: unknown, { path, limit }: { path: string; limit: string }): void {
    if (same(before, after)) return;
    const narrows = limit === "additionalProperties" ? after === false : after !== undefined;
    this.#say(this.#kind(narrows), path, `${limit} ${fromTo(before, after)}`, [before, after]);
  }

  #limit(before: unknown, after: unknown, { path, limit, sign }: { path: string; limit: string; sign: 1 | -1 }): void {
    if (before === after) return;
    const narrows = before === undefined || (after !== undefined && (Number(after) - Number(before)) * sign > 0);
    this.#say(this.#kind(narrows), path, `${limit} ${fromTo(before, after)}`, [before, after]);
  }

  #values(before: unknown, after: unknown, path: string): void {
    if (same(before, after)) return;
    const [old, now] = [listOf(before), listOf(after)];
    if (!old || !now)
      return this.#say(this.#kind(now !== undefined), path, now ? `only ${valueText(now)}` : "any value");
    const gone = old.filter((value) => !now.includes(value));
    const added = now.filter((value) => !old.includes(value));
    if (gone.length > 0) this.#say(this.#kind(true), path, `no longer ${gone.map(valueText).join(", ")}`);
    if (added.length > 0) this.#say(this.#kind(false), path, `also ${added.map(valueText).join(", ")}`);
    if (gone.length + added.length === 0) this.#say("description changed", path, `in another order: ${valueText(now)}`);
  }

  #kind(narrows: boolean): ApiChangeKind {
    if (this.#side === "output") return "field changed";
    return narrows ? "input narrowed" : "input widened";
  }

  #say(kind: ApiChangeKind, path: string, message: string, values?: readonly [before: unknown, after: unknown]): void {
    this.#changes.push(changeOf({ kind, path, message }, values));
  }
}

function propertiesOf({ properties }: JsonSchema): Map<string, JsonSchema> {
  return new Map(isRecord(properties) ? Object.entries(properties as Record<string, JsonSchema>) : []);
}

function variantsOf(schema: JsonSchema): Map<string, JsonSchema> {
  const all = [schema["anyOf"], schema["oneOf"]].flatMap((each) => listOf(each) ?? []).filter(isRecord);
  return new Map(all.map((variant) => [variantName(variant), variant]));
}

function variantName({ $ref, type, properties, ...rest }: JsonSchema): string {
  if (typeof $ref === "string") return $ref.replace("#/$defs/", "");
  if (!isRecord(properties)) return valueText({ type, ...rest });
  const tag = Object.values(properties).find((member) => isRecord(member) && "const" in member);
  return isRecord(tag) ? valueText(tag["const"]) : `{ ${Object.keys(properties).join(", ")} }`;
}

function namesOf(value: unknown): Set<string> {
  return new Set(Array.isArray(value) ? (value as string[]) : []);
}

function listOf(value: unknown): unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function byWeight(changes: readonly ApiChange[]): ApiChange[] {
  return [...changes].sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
}

/** The arguments and the result of a tool, as its definition shows them; complete if it is described on request. */
function schemasOf(file: ToolFile, name: string, spec: ToolSpec): [input: JsonSchema, output: JsonSchema] {
  if (spec.offer !== undefined) return [fullInputSchema(file, spec), fullOutputSchema(file, spec)];
  const { inputSchema, outputSchema } = toolDefinition(file, name, spec);
  return [inputSchema, outputSchema ?? {}];
}
