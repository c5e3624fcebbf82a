import { packJson, type PackedJson, unpackJson } from "../../../json/exact-json.ts";
import type { PackedValue } from "../apart/answer-task.ts";
import { goesApart } from "../apart/read-apart.ts";
import type { ReadValue } from "../told-answer.ts";

/** What a step gave. A value of null: it was not needed, or a person confirmed it and its answer is not known. */
export type StepValue =
  | (Pick<ReadValue, "kind" | "bytes"> & { value: ReadValue["value"] | null })
  | Pick<PackedValue, "kind" | "value">;

interface Step {
  isList: boolean;
  values: StepValue[];
}

/** What the steps of a run gave. Values that are very large together stay JSON until an expression uses them. */
export class StepValues {
  readonly #known: Readonly<Record<string, unknown>>;
  readonly #steps = new Map<string, Step>();
  /** As expressions see them. */
  readonly #seen = new Map<string, unknown>();
  #bytes = 0;

  /** `known`: what expressions see besides the steps. */
  constructor(known: Readonly<Record<string, unknown>>) {
    this.#known = known;
  }

  /** `isList`: the step is made for each item of a list. */
  begin(step: string, isList: boolean): void {
    this.#steps.set(step, { isList, values: [] });
  }

  /** One by one: to pack them all together would take too long at once. */
  add(step: string, value: StepValue): void {
    this.#steps.get(step)?.values.push(value);
    this.#bytes += value.kind === "value" ? value.bytes : value.value.bytes.length;
    if (!goesApart(this.#bytes)) return;
    for (const { values } of this.#steps.values()) {
      for (const [index, each] of values.entries()) {
        if (each.kind === "value") values[index] = { kind: "packed value", value: packJson(each.value) };
      }
    }
  }

  /** What expressions with these names see. */
  scope(names: Iterable<string>): Record<string, unknown> {
    const scope: Record<string, unknown> = { ...this.#known };
    for (const name of names) if (this.#steps.has(name)) scope[name] = this.#valueOf(name);
    return scope;
  }

  /** The same for a thread; undefined if that is not very large. */
  packed(names: Iterable<string>): (readonly [string, PackedJson | PackedJson[]])[] | undefined {
    const steps = [...names].flatMap((name) => {
      const step = this.#steps.get(name);
      return step ? [[name, step] as const] : [];
    });
    const isLarge = steps.some(([, { values }]) => values.some(({ kind }) => kind === "packed value"));
    if (!isLarge) return undefined;
    const known = Object.entries(this.#known).map(([name, value]) => [name, packJson(value)] as const);
    return [...known, ...steps.map(([name, step]) => [name, packedStep(step)] as const)];
  }

  #valueOf(name: string): unknown {
    if (this.#seen.has(name)) return this.#seen.get(name);
    const { isList, values } = this.#steps.get(name) ?? { isList: false, values: [] };
    const all = values.map((each) => (each.kind === "value" ? each.value : unpackJson(each.value)));
    const value = isList ? all : (all[0] ?? null);
    this.#seen.set(name, value);
    return value;
  }
}

function packedStep({ isList, values }: Step): PackedJson | PackedJson[] {
  const all = values.map((each) => (each.kind === "value" ? packJson(each.value) : each.value));
  return isList ? all : (all[0] ?? packJson(null));
}
