import type { NexusError } from "../../../errors/nexus-error.ts";
import { depthOf, type RecordPath, unsuitable } from "./record-path.ts";
import type { FieldPlace, LeafPlan, ListPlan, NestedPlan, RecordPlan, ValuePlan } from "./record-plan.ts";
import { Mismatch } from "./scalar.ts";

const MAX_DEPTH = 50;

/** One record while it is written: its values, and the names of fields that cannot be written. */
export class RecordSource {
  readonly #scopes: (Fields | undefined)[];
  readonly #place: RecordPath | undefined;

  constructor(plan: RecordPlan, value: Fields, place: RecordPath | undefined) {
    this.#place = place;
    this.#scopes = [value];
    if (depthOf(place) > MAX_DEPTH) throw this.#unsuitable("", "is nested too deep");
    for (let index = 1; index < plan.scopes.length; index++) {
      const scope = plan.scopes[index];
      const holder = scope && this.#scopes[scope.parent];
      this.#scopes.push(holder && this.#fields(own(holder, scope.field), scope.path));
    }
  }

  has(scope: number): boolean {
    return this.#scopes[scope] !== undefined;
  }

  /** The field's value converted by `write`, or undefined. */
  valueOf<T>(leaf: LeafPlan, write: (value: unknown) => T | Mismatch): T | undefined {
    const holder = this.#scopes[leaf.scope];
    const written = holder && convertedBy(leaf, own(holder, leaf.field), write);
    if (written instanceof Mismatch) throw this.#unsuitable(leaf.path, written.problem);
    return written;
  }

  /** The items of a list of single values, converted by `write`. */
  valuesOf<T>(list: ListPlan, leaf: LeafPlan, write: (value: unknown) => T | Mismatch): T[] {
    const written: T[] = [];
    for (const [index, item] of (this.#listOf(list) ?? []).entries()) {
      if (item === undefined || item === null) throw this.#unsuitable(`${list.path}[${index}]`, "is missing");
      const value = convertedBy(leaf, item, write);
      if (value instanceof Mismatch) throw this.#unsuitable(`${list.path}[${index}]`, value.problem);
      if (value !== undefined) written.push(value);
    }
    return written;
  }

  /** The value of a field that has a codec of its own, and its place. */
  givenOf({ scope, field, path: list }: ValuePlan): { value: unknown; place: RecordPath } {
    const holder = this.#scopes[scope];
    return { value: holder && own(holder, field), place: { within: this.#place, list, index: -1 } };
  }

  isNull({ scope, field }: FieldPlace): boolean {
    const holder = this.#scopes[scope];
    return holder !== undefined && own(holder, field) === null;
  }

  isGiven({ scope, field }: ListPlan): boolean {
    const holder = this.#scopes[scope];
    return holder !== undefined && (own(holder, field) ?? undefined) !== undefined;
  }

  /** Undefined if the object with the list is absent. */
  itemsOf(plan: ListPlan): { record: Fields; place: RecordPath }[] | undefined {
    const { path: list, isRecord } = plan;
    return this.#listOf(plan)?.map((item, index) => {
      if (item === undefined || item === null) throw this.#unsuitable(`${list}[${index}]`, "is missing");
      if (isRecord && !isFields(item)) throw this.#unsuitable(`${list}[${index}]`, "must be an object");
      const record = isRecord ? (item as Fields) : { "": item };
      return { record, place: { within: this.#place, list, index } };
    });
  }

  #listOf({ scope, field, path }: ListPlan): readonly unknown[] | undefined {
    const holder = this.#scopes[scope];
    const value = holder && (own(holder, field) ?? []);
    if (value !== undefined && !Array.isArray(value)) throw this.#unsuitable(path, "must be a list");
    return value;
  }

  nestedOf({ scope, field, path: list }: NestedPlan): { record: Fields; place: RecordPath } | undefined {
    const holder = this.#scopes[scope];
    const record = holder && this.#fields(own(holder, field), list);
    return record && { record, place: { within: this.#place, list, index: -1 } };
  }

  #fields(value: unknown, path: string): Fields | undefined {
    if (value === undefined || value === null) return undefined;
    if (!isFields(value)) throw this.#unsuitable(path, "must be an object");
    return value;
  }

  #unsuitable(path: string, problem: string): NexusError {
    return unsuitable(this.#place, problem, path);
  }
}

export type Fields = Record<string, unknown>;

function convertedBy<T>(
  { type, scalar }: LeafPlan,
  value: unknown,
  write: (value: unknown) => T | Mismatch,
): T | Mismatch | undefined {
  if (value === undefined || value === null || (type === "presence" && value === false)) return undefined;
  return write.call(scalar, value);
}

function isFields(value: {}): value is Fields {
  return typeof value === "object" && !Array.isArray(value);
}

/** An own member of the object: a field may be named `constructor`. */
export function own(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
