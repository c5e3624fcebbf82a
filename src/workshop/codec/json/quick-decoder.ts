import { ExactDecimal, isJsonObject } from "../../../json/exact-decimal.ts";
import { isDate, isDateTime } from "../../expression/calendar.ts";
import { memberNames } from "../../file/model/member-names.ts";
import type { FieldSpec, ListShape, MapShape, ScalarShape, Shape, ToolFile } from "../../file/model/tool-file.ts";
import { StepBudget } from "../../pattern/step-budget.ts";
import type { Unknown } from "../record/deviations.ts";
import { Mismatch, scalarOf } from "../record/scalar.ts";

/** The value is not quite as documented, or of a kind that only the complete decoder reads. */
export const NOT_QUICK = Symbol("not quick");

/** Gives the value itself if decoding changes nothing. */
type Read = (value: unknown, depth: number) => unknown;

interface FieldRead {
  name: string;
  wire: string;
  /** The member of the object at `wire` that has the value; undefined if that is the value. */
  inner: string | undefined;
  isList: boolean;
  isNullable: boolean;
  mayBeAbsent: boolean;
  /** Whether nothing is in its place if it is absent. */
  mayBeLeftOut: boolean;
  /** Whether its member upstream has the same name. */
  isAtItsName: boolean;
  read: Read;
}

interface TypeRead {
  fields: FieldRead[];
  /** By their names upstream. */
  known: ReadonlySet<string>;
  /** The names of all fields, and those that members of requests have upstream. */
  names: ReadonlySet<string>;
  further: Read | undefined;
  /** False if a field can only be read by the complete decoder. */
  isComplete: boolean;
}

/** Deeper values are left to the complete decoder, which has limits for them. */
const MAX_DEPTH = 40;

/**
 * Reads JSON answers without deviations: the same result as the complete decoder, or NOT_QUICK. Most values are
 * returned as they are, not rebuilt. Numbers that a double may not hold are left to the complete decoder.
 */
export class QuickDecoder {
  readonly #file: ToolFile;
  readonly #unknown: Unknown;
  readonly #types = new Map<string, TypeRead | undefined>();
  readonly #budget = new StepBudget();

  constructor(file: ToolFile, unknown: Unknown) {
    this.#file = file;
    this.#unknown = unknown;
  }

  /** Undefined for types that only the complete decoder reads. */
  decoderOf(type: string): ((json: unknown) => Record<string, unknown> | typeof NOT_QUICK) | undefined {
    const read = this.#ofType(type);
    if (!read) return undefined;
    return (json) => {
      this.#budget.renew();
      const value = read(json, 0);
      return isJsonObject(value) ? value : NOT_QUICK;
    };
  }

  #of(shape: Shape): Read | undefined {
    switch (shape.kind) {
      case "scalar":
        return this.#ofScalar(shape);
      case "list":
        return this.#ofList(shape);
      case "map":
        return this.#ofMap(shape);
      case "object":
        return this.#ofType(shape.type);
      case "any":
        return shape.only === "object"
          ? (value, depth) => (isJsonObject(value) ? anything(value, depth) : NOT_QUICK)
          : anything;
      case "union":
        return undefined;
    }
  }

  #ofScalar(shape: ScalarShape): Read | undefined {
    if (shape.type === "presence") return undefined;
    const scalar = scalarOf(shape);
    const { limit } = scalar;
    const isKept = keptAsItIs(shape);
    const read = (value: unknown) => {
      if (isKept(value)) return value;
      return typeof value === "number" && isLarge(value) ? NOT_QUICK : converted(scalar.readJson(value));
    };
    if (!limit) return read;
    return (value) => {
      const known = read(value);
      return known !== NOT_QUICK && limit(known, this.#budget) !== undefined ? NOT_QUICK : known;
    };
  }

  #ofList({ of, minItems = 0, maxItems = Infinity }: ListShape): Read | undefined {
    const item = this.#of(of);
    if (!item) return undefined;
    return (value, depth) => {
      if (!Array.isArray(value) || value.length < minItems || value.length > maxItems) return NOT_QUICK;
      const items = value as unknown[];
      let copy: unknown[] | undefined;
      for (let index = 0; index < items.length; index++) {
        const given = items[index];
        const read = given === null ? NOT_QUICK : item(given, depth + 1);
        if (read === NOT_QUICK) return NOT_QUICK;
        if (!copy && !Object.is(read, given)) copy = items.slice(0, index);
        copy?.push(read);
      }
      return copy ?? items;
    };
  }

  #ofMap({ of, minEntries = 0, maxEntries = Infinity }: MapShape): Read | undefined {
    const entry = this.#of(of);
    if (!entry) return undefined;
    return (value, depth) => {
      if (!isJsonObject(value) || depth > MAX_DEPTH) return NOT_QUICK;
      const names = Object.keys(value);
      if (names.length < minEntries || names.length > maxEntries) return NOT_QUICK;
      for (const name of names) {
        const given = value[name];
        if (given === null || !Object.is(entry(given, depth + 1), given)) return NOT_QUICK;
      }
      return value;
    };
  }

  #ofType(type: string): Read | undefined {
    const plan = this.#plan(type);
    return plan && ((value, depth) => (isJsonObject(value) ? this.#record(plan, value, depth) : NOT_QUICK));
  }

  /** The value itself if its members are those of the file, in that order. Each member is read once. */
  #record(plan: TypeRead, value: Record<string, unknown>, depth: number): unknown {
    if (depth > MAX_DEPTH || !plan.isComplete) return NOT_QUICK;
    const { fields } = plan;
    let copy: Record<string, unknown> | undefined;
    let at = 0;
    // Parsed objects inherit nothing that is listed here, and reading members is fastest in such a loop.
    for (const name in value) {
      let field = fields[at++];
      while (field && field.name !== name && field.mayBeLeftOut) field = fields[at++];
      if (field?.name !== name || !field.isAtItsName) return this.#rebuilt(plan, value, depth);
      const given = value[name];
      if (given === null && !field.isNullable) return this.#rebuilt(plan, value, depth);
      const read = given === null ? null : field.read(given, depth + 1);
      if (read === NOT_QUICK) return NOT_QUICK;
      if (!copy && !Object.is(read, given)) copy = membersBefore(value, name);
      if (copy) copy[name] = read;
    }
    for (; at < fields.length; at++) if (!fields[at]?.mayBeLeftOut) return this.#rebuilt(plan, value, depth);
    return copy ?? value;
  }

  #rebuilt({ fields, known, names, further }: TypeRead, value: Record<string, unknown>, depth: number): unknown {
    const record: Record<string, unknown> = {};
    for (const { name, wire, inner, isList, isNullable, mayBeAbsent, read } of fields) {
      let given = Object.hasOwn(value, wire) ? value[wire] : undefined;
      if (inner !== undefined && given !== undefined) {
        if (!isJsonObject(given)) return NOT_QUICK;
        given = Object.hasOwn(given, inner) ? given[inner] : undefined;
      }
      if (given === null && isNullable) record[name] = null;
      else if (given === undefined || given === null) {
        if (!mayBeAbsent) return NOT_QUICK;
        if (isList) record[name] = [];
      } else {
        const member = read(given, depth + 1);
        if (member === NOT_QUICK) return NOT_QUICK;
        record[name] = member;
      }
    }
    for (const name of Object.keys(value)) {
      if (known.has(name)) continue;
      if (names.has(name) || name === "__proto__") return NOT_QUICK;
      if (further) {
        const given = value[name];
        const member = given === null ? NOT_QUICK : further(given, depth + 1);
        if (member === NOT_QUICK) return NOT_QUICK;
        record[name] = member;
      } else if (this.#unknown === "keep") {
        if (anything(value[name], depth + 1) === NOT_QUICK) return NOT_QUICK;
        record[name] = value[name];
      } else if (this.#unknown === "report") return NOT_QUICK;
    }
    return record;
  }

  #plan(type: string): TypeRead | undefined {
    if (this.#types.has(type)) return this.#types.get(type);
    const spec = Object.hasOwn(this.#file.types, type) ? this.#file.types[type] : undefined;
    if (!spec || spec.union) return undefined;
    const fields: FieldRead[] = [];
    const known = new Set<string>();
    const names = new Set(Object.keys(spec.fields));
    const plan: TypeRead = { fields, known, names, further: undefined, isComplete: true };
    // Stored before the fields are looked at: they may contain this type.
    this.#types.set(type, plan);
    plan.isComplete = Object.entries(spec.fields).every(([name, field]) => {
      if (field.wire === false) return field.const === undefined;
      if (field.side === "input") {
        for (const step of (memberNames(field.wire) ?? []).slice(0, 1)) names.add(step.name);
        return true;
      }
      const read = this.#field(name, field);
      if (!read || fields.some((other) => isInWay(other, read))) return false;
      fields.push(read);
      known.add(read.wire);
      return true;
    });
    // Unknown members inside the objects of paths are only looked for by the complete decoder.
    plan.isComplete &&=
      !fields.some(({ inner }) => inner !== undefined) || (this.#unknown === "ignore" && !spec.additional);
    plan.further = spec.additional && this.#of(spec.additional);
    plan.isComplete &&= !spec.additional || plan.further !== undefined;
    if (!plan.isComplete) this.#types.set(type, undefined);
    return this.#types.get(type);
  }

  #field(name: string, { wire, shape, optional, nullable, const: constant }: FieldSpec): FieldRead | undefined {
    const [step, inner, ...more] = (wire !== false && memberNames(wire)) || [];
    const read = this.#of(shape);
    if (!read || !step || more.length > 0 || wire === "." || constant !== undefined) return undefined;
    if (inner && (inner.repeats || step.repeats)) return undefined;
    const isList = shape.kind === "list";
    const mayBeAbsent = optional || (isList && (shape.minItems ?? 0) === 0);
    const isNullable = nullable === true || (shape.kind === "any" && shape.only === undefined);
    const mayBeLeftOut = mayBeAbsent && !isList;
    const isAtItsName = step.name === name && !inner;
    return {
      name,
      wire: step.name,
      inner: inner?.name,
      isList,
      isNullable,
      mayBeAbsent,
      mayBeLeftOut,
      isAtItsName,
      read,
    };
  }
}

/** Whether both are read from the same member, or one from an object that the other is in. */
function isInWay(other: FieldRead, { wire, inner }: FieldRead): boolean {
  return other.wire === wire && (inner === undefined || other.inner === undefined || other.inner === inner);
}

function membersBefore(value: Record<string, unknown>, last: string): Record<string, unknown> {
  const before: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    if (name === last) break;
    before[name] = value[name];
  }
  return before;
}

/** Recognises values that are as documented, and that reading does not change, by one comparison. */
function keptAsItIs({ type, codes, enum: choices, whitespace, exact }: ScalarShape): (value: unknown) => boolean {
  if (codes || exact || choices) return () => false;
  switch (type) {
    case "string":
      return whitespace === "keep" ? (value) => typeof value === "string" : () => false;
    case "date":
      return (value) => typeof value === "string" && isDate(value);
    case "datetime":
      return (value) => typeof value === "string" && isDateTime(value);
    case "integer":
      return (value) => Number.isSafeInteger(value) && !Object.is(value, -0);
    case "number":
      return (value) => typeof value === "number" && !isLarge(value) && !Object.is(value, -0);
    case "boolean":
    case "presence":
    case "binary":
      return () => false;
  }
}

function converted(value: unknown): unknown {
  return value instanceof Mismatch ? NOT_QUICK : value;
}

/** Whether a double may have lost digits of the number. */
function isLarge(value: number): boolean {
  return Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

/** Any JSON value that is not nested too deep. */
function anything(value: unknown, depth: number): unknown {
  if ((typeof value === "number" && isLarge(value)) || typeof value === "bigint") return NOT_QUICK;
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof ExactDecimal) return NOT_QUICK;
  if (depth > MAX_DEPTH) return NOT_QUICK;
  for (const member of Array.isArray(value) ? (value as unknown[]) : Object.values(value)) {
    if (anything(member, depth + 1) === NOT_QUICK) return NOT_QUICK;
  }
  return value;
}
