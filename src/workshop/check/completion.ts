import { isRecord } from "../../json/is-record.ts";
import type { FieldSpec, ToolFile } from "../file/model/tool-file.ts";

type Fields = Record<string, unknown>;

/** How the arguments of one type are copied and completed; made once. */
interface TypePlan {
  /** Fields that a caller may give, and the type of those that hold objects. */
  shown: Map<string, TypePlan | undefined>;
  /** Defaults of fields that a caller sees, and of those that are sent by themselves. */
  defaults: [field: string, value: unknown][];
  hiddenDefaults: [field: string, value: unknown][];
}

/** Makes a copy of arguments in which what is absent has its default, so that what was given stays as it is. */
export class Completion {
  readonly #plans = new Map<string, TypePlan>();
  readonly #root: TypePlan;
  readonly #drops: boolean;
  readonly #extra: ReadonlySet<string>;

  /** `extra`: arguments of the tool itself, which no type has. */
  constructor(file: ToolFile, type: string, { drops, extra }: { drops: boolean; extra: ReadonlySet<string> }) {
    this.#root = this.#planOf(file, type);
    this.#drops = drops;
    this.#extra = extra;
  }

  /** With defaults that a caller sees; what no type knows is left out if the tool says so. */
  complete(given: Fields): Fields {
    return this.#copy(given, this.#root, true);
  }

  /** Adds, in place, what a caller neither sees nor gives. */
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
        // A member called __proto__ must stay one, to be complained about.
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

/** Of JSON; what is general enough for anything else costs as much as all the rest. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copied(member)]));
}
