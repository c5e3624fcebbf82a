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
  valueOf<T>({ scope, field, path, type, scalar }: LeafPlan, write: (value: unknown) => T | Mismatch): T | undefined {
    const holder = this.#scopes[scope];
    const value = holder && own(holder, field);
    if (value === undefined || value === null || (type === "presence" && value === false)) return undefined;
    const written = write.call(scalar, value);
    if (written instanceof Mismatch) throw this.#unsuitable(path, written.problem);
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
  itemsOf({ scope, field, path: list, isRecord }: ListPlan): { record: Fields; place: RecordPath }[] | undefined {
    const holder = this.#scopes[scope];
    if (!holder) return undefined;
    const value = own(holder, field) ?? [];
    if (!Array.isArray(value)) throw this.#unsuitable(list, "must be a list");
    return (value as unknown[]).map((item, index) => {
      const name = `${list}[${index}]`;
      if (item === undefined || item === null) throw this.#unsuitable(name, "is missing");
      const record = isRecord ? this.#fields(item, name) : { "": item };
      return { record: record ?? {}, place: { within: this.#place, list, index } };
    });
  }

  nestedOf({ scope, field, path: list }: NestedPlan): { record: Fields; place: RecordPath } | undefined {
    const holder = this.#scopes[scope];
    const record = holder && this.#fields(own(holder, field), list);
    return record && { record, place: { within: this.#place, list, index: -1 } };
  }

  #fields(value: unknown, path: string): Fields | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "object" || Array.isArray(value)) throw this.#unsuitable(path, "must be an object");
    return value as Fields;
  }

  #unsuitable(path: string, problem: string): NexusError {
    return unsuitable(this.#place, problem, path);
  }
}

export type Fields = Record<string, unknown>;

/** An own member of the object: a field may be named `constructor`. */
export function own(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
