import type { Deviations } from "./deviations.ts";
import { withPlainNumbers } from "../../../json/exact-json.ts";
import { pathOf, type RecordPath } from "./record-path.ts";
import type { FieldPlace, FieldPlan, LeafPlan, RecordPlan, ScopePlan } from "./record-plan.ts";
import { Mismatch } from "./scalar.ts";
import type { Fields } from "./record-source.ts";

/** A value that was invalid; already reported, so it is not reported as missing. */
const UNUSABLE = Symbol("unusable");

/** One record while it is read: its fields by slot, and the objects that were found. */
export class RecordReading {
  readonly plan: RecordPlan;
  readonly found: Deviations;
  readonly place: RecordPath | undefined;
  readonly #slots: unknown[] = [];
  readonly #met: boolean[] = [];
  /** Unknown members, by their object. */
  #kept: Map<number, [name: string, value: unknown][]> | undefined;

  constructor(plan: RecordPlan, found: Deviations, place: RecordPath | undefined) {
    this.plan = plan;
    this.found = found;
    this.place = place;
  }

  meet(scope: number): void {
    this.#met[scope] = true;
  }

  set(slot: number, value: unknown): void {
    this.#slots[slot] = value;
  }

  /** Paths of deviations that are only counted are not written. */
  #pathOf(...inner: string[]): string {
    return this.found.isFull ? "" : pathOf(this.place, ...inner);
  }

  /** Records a field whose value has the wrong type. */
  spoil({ slot, path }: Pick<FieldPlace, "slot" | "path">, problem: string, received: string): void {
    this.#slots[slot] = UNUSABLE;
    this.found.add(this.#pathOf(path), problem, received);
  }

  /** Records that a field has no usable value; the reason is already reported. */
  drop(slot: number): void {
    this.#slots[slot] = UNUSABLE;
  }

  /** The items of a list read so far. */
  items(slot: number): unknown[] {
    return (this.#slots[slot] ??= []) as unknown[];
  }

  /** Stores a field's value; `received` is its text. */
  take(leaf: LeafPlan, value: unknown, received: string): void {
    const { scalar, constant, slot } = leaf;
    if (constant) {
      const isRight = value === constant.value || received === constant.text;
      if (isRight) this.#slots[slot] = constant.value;
      else this.spoil(leaf, `expected ${JSON.stringify(constant.value)}`, received);
    } else if (value instanceof Mismatch) {
      this.spoil(leaf, value.problem, received);
    } else {
      this.#slots[slot] = value;
      const problem = scalar.limit?.(value, this.found.patternBudget);
      if (problem !== undefined) this.found.add(this.#pathOf(leaf.path), problem, received);
    }
  }

  /** Records a deviation that is not about a field: the record, and the path from its node. */
  tell(path: string, problem: string, received: string): void {
    const record = this.#pathOf();
    this.found.add(record === "" || path === "" ? record + path : `${record}/${path}`, problem, received);
  }

  /** False if a field has this name, so that the member cannot be kept. */
  keep(scope: number, name: string, value: unknown): boolean {
    const isTaken = this.plan.scopes[scope]?.fields.some((field) => field.name === name) ?? true;
    if (isTaken || name === "__proto__") return false;
    this.#kept ??= new Map();
    const kept = this.#kept.get(scope);
    if (kept) kept.push([name, withPlainNumbers(value)]);
    else this.#kept.set(scope, [[name, withPlainNumbers(value)]]);
    return true;
  }

  placeOf({ path }: FieldPlace, index: number): RecordPath {
    return { within: this.place, list: path, index };
  }

  finish(): Fields {
    const { scopes } = this.plan;
    for (let index = scopes.length - 1; index > 0; index--) {
      const scope = scopes[index];
      if (scope && this.#isThere(scope, index)) this.#slots[scope.slot] = this.#assemble(scope, index);
    }
    const [whole] = scopes;
    return whole ? this.#assemble(whole, 0) : {};
  }

  #isThere(scope: ScopePlan, index: number): boolean {
    if (!scope.implied) return this.#met[index] === true;
    return !scope.optional || scope.fields.some(({ slot }) => this.#slots[slot] !== undefined);
  }

  /** Fields in the order of the file. Lists and constants are always present. */
  #assemble(scope: ScopePlan, index: number): Fields {
    const record: Fields = {};
    for (const field of scope.fields) {
      const value = this.#slots[field.slot];
      const given = value === UNUSABLE ? undefined : value;
      if (field.constant !== undefined) {
        record[field.name] = field.constant;
        if (value === undefined && field.isOnWire && !field.optional) this.#tellMissing(scope, field);
      } else if (field.kind === "list") {
        record[field.name] = given === undefined ? [] : given;
        if (value !== UNUSABLE && value !== null) {
          this.#checkCount(scope, field, (given as unknown[] | undefined)?.length ?? 0);
        }
      } else if (given !== undefined) {
        record[field.name] = given;
      } else if (field.kind === "presence") {
        if (!field.optional) record[field.name] = false;
      } else if (!field.optional && value === undefined) {
        this.#tellMissing(scope, field);
      }
    }
    for (const [name, value] of this.#kept?.get(index) ?? []) record[name] = value;
    return record;
  }

  #checkCount(scope: ScopePlan, { minItems = 0, maxItems = Infinity, name, optional }: FieldPlan, count: number): void {
    const isFew = count < minItems && !(optional && count === 0);
    if (!isFew && count <= maxItems) return;
    const limit = isFew ? `at least ${minItems}` : `at most ${maxItems}`;
    this.found.add(this.#pathOf(scope.path, name), `expected ${limit} items`, String(count));
  }

  #tellMissing(scope: ScopePlan, { name, constant }: FieldPlan): void {
    const problem = constant === undefined ? "missing" : `missing, expected ${JSON.stringify(constant)}`;
    this.found.add(this.#pathOf(scope.path, name), problem);
  }
}
