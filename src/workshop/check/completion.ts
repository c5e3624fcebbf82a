import { isRecord } from "../../json/is-record.ts";
import type { FieldSpec, ToolFile } from "../file/model/tool-file.ts";

type Fields = Record<string, unknown>;

/** How arguments of one type are copied and completed; made once. */
interface TypePlan {
  /** The fields that a caller may set, with the type of those that hold objects. */
  shown: Map<string, TypePlan | undefined>;
  /** Defaults of visible and of hidden fields. */
  defaults: [field: string, value: unknown][];
  hiddenDefaults: [field: string, value: unknown][];
}

/** Copies arguments and fills in defaults; the given arguments are not changed. */
export class Completion {
  readonly #plans = new Map<string, TypePlan>();
  readonly #root: TypePlan;
  readonly #drops: boolean;
  readonly #extra: ReadonlySet<string>;

  /** `extra`: arguments of the tool itself, which are in no type. */
  constructor(file: ToolFile, type: string, { drops, extra }: { drops: boolean; extra: ReadonlySet<string> }) {
    this.#root = this.#planOf(file, type);
    this.#drops = drops;
    this.#extra = extra;
  }

  /** Fills in visible defaults; leaves out unknown members if the tool says so. */
  complete(given: Fields): Fields {
    return this.#copy(given, this.#root, true);
  }

  /** Adds hidden fields, in place. */
  addHidden(value: Fields): void {
    addHidden(value, this.#root);
  }

  #planOf(file: ToolFile, name: string): TypePlan {
    const known = this.#plans.get(name);
    if (known) return known;
    const plan: TypePlan = { shown: new Map(), defaults: [], hiddenDefaults: [] };
    this.#plans.set(name, plan);
    for (const [field, spec] of Object.entries(file.types[name]?.fields ?? {})) {
      const isShown = isForCallers(spec);
      const { shape, default: standard } = spec;
      const of = shape.kind === "list" ? shape.of : shape;
      if (isShown) plan.shown.set(field, of.kind === "object" ? this.#planOf(file, of.type) : undefined);
      if (standard !== undefined) (isShown ? plan.defaults : plan.hiddenDefaults).push([field, standard]);
    }
    return plan;
  }

  #copy(given: Fields, plan: TypePlan, isRoot = false): Fields {
    const copy: Fields = {};
    for (const name of Object.keys(given)) {
      const value = given[name];
      if (value === undefined) continue;
      if (plan.shown.has(name)) copy[name] = this.#inner(value, plan.shown.get(name));
      else if (!this.#drops || (isRoot && this.#extra.has(name))) {
        // A member named __proto__ must stay a member, so that it is reported.
        Object.defineProperty(copy, name, { value, enumerable: true, configurable: true, writable: true });
      }
    }
    fill(copy, plan.defaults);
    return copy;
  }

  #inner(value: unknown, plan: TypePlan | undefined): unknown {
    if (Array.isArray(value)) return (value as unknown[]).map((item) => this.#inner(item, plan));
    return plan && isRecord(value) ? this.#copy(value, plan) : value;
  }
}

/** Whether it is an argument: constants, computed and hidden fields are not. */
export function isForCallers({ hidden, const: constant, value }: FieldSpec): boolean {
  return !hidden && constant === undefined && value === undefined;
}

function addHidden(value: unknown, plan: TypePlan): void {
  if (Array.isArray(value)) for (const item of value) addHidden(item, plan);
  else if (isRecord(value)) {
    fill(value, plan.hiddenDefaults);
    for (const [field, inner] of plan.shown) if (inner && Object.hasOwn(value, field)) addHidden(value[field], inner);
  }
}

function fill(value: Fields, defaults: TypePlan["defaults"]): void {
  for (const [field, standard] of defaults) {
    if (!Object.hasOwn(value, field)) value[field] = copied(standard);
  }
}

/** A copy of JSON; a general copy would cost as much as the rest of the call. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copied(member)]));
}
