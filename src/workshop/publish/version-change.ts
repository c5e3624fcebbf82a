import type { CompiledApi } from "../compile/compile.ts";
import type { ApiChange } from "../review/api-change.ts";
import { citedChanges } from "../review/cited-changes.ts";
import { changeInFile } from "../review/file-changes.ts";
import { differingLeaves, type Leaf, type PathStep } from "../review/leaves.ts";
import type { VersionChangeKind } from "./version-number.ts";
import { findTraits } from "../../format/form.ts";
import { isRecord } from "../../json/is-record.ts";
import { TOOL_FILE } from "../file/forms/tool-file.ts";
import { TOOL } from "../file/forms/tools.ts";
import {
  DEFAULT_DOWNLOAD_BYTES,
  type FieldSpec,
  type ToolFile,
  type ToolSpec,
  type Shape,
} from "../file/model/tool-file.ts";
import { findType, isOnSide, shapesOf, typesIn } from "../shape/shape-parts.ts";

/** A difference between two versions, and what it means for callers. */
export interface VersionedChange extends ApiChange {
  means: Meaning;
}

export interface VersionChange {
  /** That of the change with the most consequences; `none` if the hashes are equal. */
  kind: VersionChangeKind;
  /** Those with the most consequences first. */
  changes: VersionedChange[];
}

const ORDER: readonly Meaning[] = ["breaking", "widened", "wording"];

/**
 * What a newer version changes for the callers of an older one. Every changed value of the file is judged by itself, and
 * whatever is not known to be harmless is breaking.
 */
export function changeBetween(before: CompiledApi, after: CompiledApi): VersionChange {
  if (before.hash === after.hash) return { kind: "none", changes: [] };
  const meaning = new ChangeMeaning(before.file, after.file);
  const inFile = differingLeaves(before.file, after.file).map((leaf) => ({
    ...changeInFile(leaf, after.file),
    means: meaning.of(leaf),
  }));
  const cited = citedChanges(before.citations, after.citations, {}).map((change) => ({
    ...change,
    means: "wording" as const,
  }));
  const all = [...inFile, ...cited].toSorted((a, b) => ORDER.indexOf(a.means) - ORDER.indexOf(b.means));
  // The same file, compiled by another version of the program: what is sent and read follows from the file alone.
  const compiled: VersionedChange = { kind: "other", path: "", message: "compiled differently", means: "wording" };
  const changes = all.length > 0 ? all : [compiled];
  return { kind: changes[0]?.means ?? "wording", changes };
}

const WORDS: ReadonlySet<PathStep | undefined> = new Set(["title", "description", "evidence", "example", "say", "try"]);

/** Judges each changed value of a tool file: whatever is not known to be harmless is breaking. */
class ChangeMeaning {
  readonly #before: ToolFile;
  readonly #after: ToolFile;
  readonly #uses: TypeUses;

  constructor(before: ToolFile, after: ToolFile) {
    this.#before = before;
    this.#after = after;
    this.#uses = new TypeUses([before, after]);
  }

  of(leaf: Leaf): Meaning {
    const [section, name, ...rest] = leaf.path;
    if (findTraits(TOOL_FILE, String(section)).forPeople) return "wording";
    switch (section) {
      case "upstream":
        return upstreamMeaning(leaf, name);
      case "secrets":
        // Without a request that uses them, nothing is sent.
        return isAdded(leaf) && rest.length === 0 ? "widened" : "breaking";
      case "settings":
        return settingMeaning(leaf, name === undefined ? 0 : rest.length + 1, rest[0]);
      case "types":
        return this.#type(leaf, String(name), rest);
      case "tools":
        return this.#tool(leaf, String(name), rest);
      case undefined:
      default:
        return "breaking";
    }
  }

  #tool(leaf: Leaf, name: string, [member, ...rest]: readonly PathStep[]): Meaning {
    if (member === undefined) return isAdded(leaf) ? "widened" : "breaking";
    const tools = [this.#before.tools[name], this.#after.tools[name]] as const;
    if (findTraits(TOOL, String(member)).forPeople) return "wording";
    switch (member) {
      case "unknown":
        return leaf.after === "drop" ? "widened" : "breaking";
      case "offer":
        return leaf.before === "none" ? "widened" : "breaking";
      case "limits":
        return limitMeaning(leaf, rest[0]);
      case "errors":
        return errorMeaning(leaf, rest, tools[1]?.effect);
      case "request":
        return this.#request(leaf, tools, rest);
      case "response":
        return this.#response(leaf, tools, rest);
      default:
        return "breaking";
    }
  }

  /** A parameter for a field that did not exist: no call has a value for it. */
  #request(leaf: Leaf, [before, after]: Tools, [place, name]: readonly PathStep[]): Meaning {
    if (place !== "query" && place !== "headers" && place !== "cookies") return "breaking";
    if (isOrder(leaf)) return orderMeaning(leaf);
    const added = !isAdded(leaf) ? [] : name === undefined ? Object.values(asRecord(leaf.after)) : [leaf.after];
    const fields = added.map(fieldOf);
    return fields.length > 0 && fields.every((field) => this.#isNewField(before?.input, after?.input, field))
      ? "widened"
      : "breaking";
  }

  #response(leaf: Leaf, [before, after]: Tools, [member, name]: readonly PathStep[]): Meaning {
    switch (member) {
      case "text":
        return "wording";
      case "sourcePayload":
        return leaf.after === true ? "widened" : "breaking";
      case "unknown":
        return leaf.before === undefined ? "widened" : "breaking";
      case "headers": {
        const added = !isAdded(leaf) ? [] : name === undefined ? Object.values(asRecord(leaf.after)) : [leaf.after];
        const isNew = (field: unknown) => this.#isNewField(before?.response.type, after?.response.type, field);
        return added.length > 0 && added.every(isNew) ? "widened" : "breaking";
      }
      case undefined:
      default:
        return "breaking";
    }
  }

  #isNewField(before: string | undefined, after: string | undefined, field: unknown): boolean {
    if (before === undefined || before !== after || typeof field !== "string") return false;
    const [old, now] = [findType(this.#before, before), findType(this.#after, before)];
    return old !== undefined && !Object.hasOwn(old.fields, field) && Object.hasOwn(now?.fields ?? {}, field);
  }

  #type(leaf: Leaf, name: string, [member, ...rest]: readonly PathStep[]): Meaning {
    // Other changes say where a new type is used, or where one is no longer used.
    if (member === undefined) return isAdded(leaf) ? "widened" : "wording";
    const sides = this.#uses.sidesOf(name);
    if (WORDS.has(member) || sides.length === 0) return "wording";
    const meaning = worst(sides.map((side) => this.#typeOn(side, leaf, name, [member, ...rest])));
    return meaning !== "wording" && this.#uses.isAmbiguous(name) ? "breaking" : meaning;
  }

  #typeOn(side: CallSide, leaf: Leaf, name: string, [member, ...rest]: readonly PathStep[]): Meaning {
    switch (member) {
      case "rules":
        if (WORDS.has(rest[1])) return "wording";
        return rest.length === 1 && (isRemoved(leaf) || (isAdded(leaf) && side === "output")) ? "widened" : "breaking";
      case "union":
        return shapeMeaning(leaf, rest, { side, whole: findType(this.#before, name)?.union });
      case "fields":
        return isOrder(leaf)
          ? side === "output"
            ? "wording"
            : orderMeaning(leaf)
          : this.#field(side, leaf, name, String(rest[0]), rest.slice(1));
      case undefined:
      default:
        return "breaking";
    }
  }

  #field(side: CallSide, leaf: Leaf, type: string, name: string, [member, ...rest]: readonly PathStep[]): Meaning {
    const [before, after] = [this.#before, this.#after].map((file) => findType(file, type)?.fields[name]);
    const field = after ?? before;
    if (!field || ![before, after].some((each) => each && isOnSide(each, side))) return "wording";
    if (member === undefined) return isAdded(leaf) ? this.#newField(side, type, field) : "breaking";
    if (WORDS.has(member)) return "wording";
    // What a field is set to may depend on everything else about it.
    if (field.const !== undefined || field.value !== undefined) return "breaking";
    switch (member) {
      case "optional":
        return (leaf.after === true) === (side === "input") ? "widened" : "breaking";
      case "hidden":
        return side === "output" && leaf.after === false ? "widened" : "breaking";
      case "shape":
        return shapeMeaning(leaf, rest, { side, whole: before?.shape });
      default:
        return "breaking";
    }
  }

  /** No call has a value for it, unless callers could add any member, or had those dropped that are unknown. */
  #newField(side: CallSide, type: string, { const: constant, value, default: standard, ...field }: FieldSpec): Meaning {
    if (findType(this.#before, type)?.additional) return "breaking";
    if (side === "output") return "widened";
    const isSet = [constant, value, standard].some((each) => each !== undefined);
    const isWritten = field.shape.kind === "list" && field.shape.keepEmpty;
    return isSet || isWritten || !field.optional || this.#uses.isDropping(type) ? "breaking" : "widened";
  }
}

type Tools = readonly [before: ToolSpec | undefined, after: ToolSpec | undefined];

function upstreamMeaning(leaf: Leaf, member: PathStep | undefined): Meaning {
  if (member === "allow") return isAdded(leaf) ? "widened" : "breaking";
  return member === "timeoutMs" && isRaised(leaf) ? "widened" : "breaking";
}

/** `depth`: of the place below `settings`. */
function settingMeaning({ before, after }: Leaf, depth: number, member: PathStep | undefined): Meaning {
  if (depth === 2 && WORDS.has(member)) return "wording";
  const added = before !== undefined ? [] : depth === 0 ? Object.values(asRecord(after)) : depth === 1 ? [after] : [];
  // An instance of the version before it has no value for a setting without a default.
  const hasDefaults = added.every((each) => isRecord(each) && each["default"] !== undefined);
  return added.length > 0 && hasDefaults ? "widened" : "breaking";
}

function limitMeaning({ before, after, path }: Leaf, limit: PathStep | undefined): Meaning {
  const standard = limit === "downloadBytes" ? DEFAULT_DOWNLOAD_BYTES : undefined;
  return isRaised({ path, before: before ?? standard, after: after ?? standard }) ? "widened" : "breaking";
}

/** Which failure a status is does not matter for a read; for a write, it decides whether it may be repeated. */
function errorMeaning(leaf: Leaf, [, member]: readonly PathStep[], effect: ToolSpec["effect"] | undefined): Meaning {
  if (WORDS.has(member)) return "wording";
  const { status, that } = asRecord(leaf.after);
  const areFailures = Array.isArray(status) && status.length > 0 && status.every((each) => Number(each) >= 400);
  return member === undefined && isAdded(leaf) && areFailures && that === undefined && effect === "read"
    ? "widened"
    : "breaking";
}

function isOrder({ path, before, after }: Leaf): boolean {
  return path.at(-1) === "(order)" && Array.isArray(before) && Array.isArray(after);
}

/** What was there before must stay in its order; something new may come between. */
function orderMeaning({ before, after }: Leaf): Meaning {
  const [old, now] = [before as string[], after as string[]];
  const kept = (of: readonly string[], others: readonly string[]) =>
    of.filter((each) => others.includes(each)).join("\n");
  return kept(old, now) === kept(now, old) ? "wording" : "breaking";
}

function fieldOf(parameter: unknown): unknown {
  return isRecord(parameter) ? parameter["field"] : parameter;
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** How the types of two versions are used, in either of them. */
class TypeUses {
  readonly #sides = { input: new Set<string>(), output: new Set<string>() };
  readonly #ambiguous = new Set<string>();
  readonly #dropping = new Set<string>();

  constructor(files: readonly ToolFile[]) {
    for (const file of files) {
      for (const { input, response, unknown } of Object.values(file.tools)) {
        reach(file, [input], this.#sides.input, "input");
        if (response.type !== undefined) reach(file, [response.type], this.#sides.output, "output");
        if (unknown === "drop") reach(file, [input], this.#dropping, "input");
      }
      for (const shape of Object.values(file.types).flatMap((type) => shapesOf(type)))
        reach(file, untagged(shape), this.#ambiguous);
    }
  }

  /** Whether callers send or read values of the type; hidden and computed fields count as well. */
  sidesOf(type: string): CallSide[] {
    return (["input", "output"] as const).filter((side) => this.#sides[side].has(type));
  }

  /** Whether the type is inside alternatives that are told apart by what fits best. */
  isAmbiguous(type: string): boolean {
    return this.#ambiguous.has(type);
  }

  /** Whether unknown members of arguments were accepted and left out. */
  isDropping(type: string): boolean {
    return this.#dropping.has(type);
  }
}

/** Adds the types and all types inside them. */
function reach(file: ToolFile, types: readonly string[], reached: Set<string>, side?: CallSide): void {
  // A list that grows while it is read: types can be nested deeply.
  const open = types.filter((name) => !reached.has(name));
  for (const name of open) {
    if (reached.has(name)) continue;
    reached.add(name);
    const type = findType(file, name);
    if (type) open.push(...shapesOf(type, side).flatMap(typesIn));
  }
}

/** The types in alternatives without a discriminator. */
function untagged(shape: Shape): string[] {
  switch (shape.kind) {
    case "union":
      return shape.discriminator ? shape.of.flatMap(untagged) : typesIn(shape);
    case "list":
    case "map":
      return untagged(shape.of);
    case "scalar":
    case "object":
    case "any":
      return [];
  }
}

const UPPER_LIMITS: ReadonlySet<PathStep> = new Set([
  "maximum",
  "exclusiveMaximum",
  "maxLength",
  "maxItems",
  "maxEntries",
]);
const LOWER_LIMITS: ReadonlySet<PathStep> = new Set([
  "minimum",
  "exclusiveMinimum",
  "minLength",
  "minItems",
  "minEntries",
]);

/**
 * Judges a change inside a shape. `place`: the rest of the path; `whole`: the older shape.
 *
 * Arguments may only be allowed more. Results may have other limits, because upstream decides what it answers, but not
 * another type, and what had a name keeps it.
 */
function shapeMeaning(
  leaf: Leaf,
  [member, ...rest]: readonly PathStep[],
  { side, whole }: { side: CallSide; whole: Shape | undefined },
): Meaning {
  if (member === undefined || !whole) return "breaking";
  if (UPPER_LIMITS.has(member)) return isRemoved(leaf) || isRaised(leaf) || side === "output" ? "widened" : "breaking";
  if (LOWER_LIMITS.has(member)) {
    const isLowered = isRaised({ ...leaf, before: leaf.after, after: leaf.before });
    return isRemoved(leaf) || isLowered || side === "output" ? "widened" : "breaking";
  }
  switch (member) {
    case "format":
      return "wording";
    case "pattern":
    case "multipleOf":
    case "uniqueItems":
    case "only":
      return isRemoved(leaf) ? "widened" : "breaking";
    case "enum":
      return enumMeaning(leaf, rest, side);
    case "codes":
      return codeMeaning(leaf, rest, whole);
    case "of":
      return whole.kind === "union"
        ? variantMeaning(leaf, rest, whole)
        : whole.kind === "list" || whole.kind === "map"
          ? shapeMeaning(leaf, rest, { side, whole: whole.of })
          : "breaking";
    case "discriminator":
      return rest.length === 2 && rest[0] === "values" && isAdded(leaf) ? "widened" : "breaking";
    default:
      return "breaking";
  }
}

function enumMeaning(leaf: Leaf, rest: readonly PathStep[], side: CallSide): Meaning {
  if (rest.length === 0) return isRemoved(leaf) && side === "input" ? "widened" : "breaking";
  return rest.length === 1 && isAdded(leaf) ? "widened" : "breaking";
}

/** A code with a name that another one has could be the one that is sent. */
function codeMeaning(leaf: Leaf, rest: readonly PathStep[], whole: Shape): Meaning {
  const names = whole.kind === "scalar" && whole.codes ? Object.values(whole.codes) : undefined;
  if (rest.length !== 1 || !isAdded(leaf) || !names) return "breaking";
  return names.includes(String(leaf.after)) ? "breaking" : "widened";
}

/** One more alternative is told from the others by its discriminator, or not at all. */
function variantMeaning(leaf: Leaf, rest: readonly PathStep[], whole: Extract<Shape, { kind: "union" }>): Meaning {
  return rest.length === 1 && isAdded(leaf) && whole.discriminator ? "widened" : "breaking";
}

/** What one change means for callers. */
type Meaning = Exclude<VersionChangeKind, "none">;

type CallSide = "input" | "output";

function worst(meanings: readonly Meaning[]): Meaning {
  if (meanings.includes("breaking")) return "breaking";
  return meanings.includes("widened") ? "widened" : "wording";
}

function isAdded({ before, after }: Leaf): boolean {
  return before === undefined && after !== undefined;
}

function isRemoved({ before, after }: Leaf): boolean {
  return before !== undefined && after === undefined;
}

/** Whether a limit became larger. */
function isRaised({ before, after }: Leaf): boolean {
  return typeof before === "number" && typeof after === "number" && after > before;
}
