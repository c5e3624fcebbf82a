import { isRecord } from "../../json/is-record.ts";
import { AlternativeChooser } from "../codec/union/alternative-chooser.ts";
import type { FieldSpec, Shape, ToolFile, UnionShape } from "../file/model/tool-file.ts";
import { findType, findUnion, isOnSide, shapesOf, typesIn } from "../shape/shape-parts.ts";
import { tagOf } from "../shape/union-tags.ts";

type Fields = Record<string, unknown>;

/** How arguments of one type are copied and completed; made once. */
interface TypePlan {
  kind: "type";
  /** The fields that a caller may set, with the plans of those that hold objects. */
  shown: Map<string, Plan | undefined>;
  /** Defaults of visible and of hidden fields. */
  defaults: [field: string, value: unknown][];
  hiddenDefaults: [field: string, value: unknown][];
  /** For further members; undefined if there are none. */
  further: { plan: Plan | undefined } | undefined;
}

/** Undefined where nothing is completed: the value is used as it is. */
type Plan = TypePlan | { kind: "list" | "map"; of: Plan } | { kind: "union"; union: UnionShape };

/** Copies arguments and fills in defaults; the given arguments are not changed. */
export class Completion {
  readonly #file: ToolFile;
  readonly #plans = new Map<string, TypePlan>();
  readonly #chooser: AlternativeChooser;
  readonly #root: TypePlan;
  readonly #drops: boolean;
  readonly #extra: ReadonlySet<string>;

  /** `extra`: arguments of the tool itself, which are in no type. */
  constructor(file: ToolFile, type: string, { drops, extra }: { drops: boolean; extra: ReadonlySet<string> }) {
    this.#file = file;
    this.#chooser = new AlternativeChooser(file.types, "names", "input");
    this.#drops = drops;
    this.#extra = extra;
    this.#root = this.#planOf(type);
  }

  /** Fills in visible defaults; leaves out unknown members if the tool says so. */
  complete(given: Fields): Fields {
    return this.#copy(given, this.#root, true);
  }

  /** Adds hidden fields, in place. */
  addHidden(value: Fields): void {
    this.#addHidden(value, this.#root);
  }

  /** `tag`: the field that tells the type from others, which callers give even if it is constant. */
  #planOf(name: string, tag?: string): TypePlan {
    const key = tag === undefined ? name : `${name} ${tag}`;
    const known = this.#plans.get(key);
    if (known) return known;
    const plan: TypePlan = {
      kind: "type",
      shown: new Map(),
      defaults: [],
      hiddenDefaults: [],
      further: undefined,
    };
    this.#plans.set(key, plan);
    const type = findType(this.#file, name);
    if (type?.additional) plan.further = { plan: this.#planFor(type.additional) };
    for (const [field, spec] of Object.entries(type?.fields ?? {})) {
      if (!isOnSide(spec, "input")) continue;
      const isShown = isForCallers(spec) || field === tag;
      if (isShown) plan.shown.set(field, this.#planFor(spec.shape));
      if (spec.default !== undefined) (isShown ? plan.defaults : plan.hiddenDefaults).push([field, spec.default]);
    }
    return plan;
  }

  #planFor(shape: Shape, union?: UnionShape): Plan | undefined {
    switch (shape.kind) {
      case "list":
      case "map": {
        const of = this.#planFor(shape.of);
        return of && { kind: shape.kind, of };
      }
      case "union":
        return this.#completes(shape) ? { kind: "union", union: shape } : undefined;
      case "object": {
        if (!this.#completes(shape)) return undefined;
        const named = findUnion(this.#file, shape);
        if (named) return { kind: "union", union: named };
        return this.#planOf(shape.type, union && tagOf(this.#file, union, shape.type)?.field);
      }
      case "scalar":
      case "any":
        return undefined;
    }
  }

  /** Whether something is added to values of the shape or left out of them. Hardly any types are completed. */
  #completes(shape: Shape): boolean {
    if (this.#drops) return true;
    const names = new Set(typesIn(shape));
    // The set grows while it is read.
    for (const name of names) {
      const type = findType(this.#file, name);
      if (!type) continue;
      if (Object.values(type.fields).some((spec) => spec.default !== undefined && isOnSide(spec, "input"))) return true;
      for (const inner of shapesOf(type, "input").flatMap(typesIn)) names.add(inner);
    }
    return false;
  }

  #variant(union: UnionShape, value: unknown): Plan | undefined {
    const chosen = this.#chooser.choose(union, value);
    return chosen && this.#planFor(chosen.shape, chosen.union);
  }

  #copy(given: Fields, plan: TypePlan, isRoot = false): Fields {
    const copy: Fields = {};
    for (const name of Object.keys(given)) {
      const value = given[name];
      if (value === undefined) continue;
      if (plan.shown.has(name)) copy[name] = this.#inner(value, plan.shown.get(name));
      else if (!this.#drops || plan.further || (isRoot && this.#extra.has(name))) {
        setMember(copy, name, plan.further ? this.#inner(value, plan.further.plan) : value);
      }
    }
    fill(copy, plan.defaults);
    return copy;
  }

  #inner(value: unknown, plan: Plan | undefined): unknown {
    if (!plan || typeof value !== "object" || value === null) return value;
    if (plan.kind === "union") return this.#inner(value, this.#variant(plan.union, value));
    if (Array.isArray(value)) {
      return plan.kind === "list" ? (value as unknown[]).map((item) => this.#inner(item, plan.of)) : value;
    }
    if (!isRecord(value) || plan.kind === "list") return value;
    if (plan.kind === "type") return this.#copy(value, plan);
    const copy: Fields = {};
    for (const name of Object.keys(value)) setMember(copy, name, this.#inner(value[name], plan.of));
    return copy;
  }

  #addHidden(value: unknown, plan: Plan | undefined): void {
    if (!plan || typeof value !== "object" || value === null) return;
    if (plan.kind === "union") this.#addHidden(value, this.#variant(plan.union, value));
    else if (Array.isArray(value)) {
      if (plan.kind === "list") for (const item of value) this.#addHidden(item, plan.of);
    } else if (isRecord(value) && plan.kind === "map") {
      for (const name of Object.keys(value)) this.#addHidden(value[name], plan.of);
    } else if (isRecord(value) && plan.kind === "type") {
      fill(value, plan.hiddenDefaults);
      for (const [field, inner] of plan.shown) {
        if (inner && Object.hasOwn(value, field)) this.#addHidden(value[field], inner);
      }
      if (!plan.further?.plan) return;
      for (const name of Object.keys(value)) {
        if (!plan.shown.has(name)) this.#addHidden(value[name], plan.further.plan);
      }
    }
  }
}

/** Whether it is an argument: constants, computed and hidden fields are not, nor those of answers. */
export function isForCallers(field: FieldSpec): boolean {
  const { hidden, const: constant, value } = field;
  return !hidden && constant === undefined && value === undefined && isOnSide(field, "input");
}

/** A member named __proto__ must stay a member: names come from callers and from upstream. */
export function setMember(target: Fields, name: string, value: unknown): void {
  if (name !== "__proto__") target[name] = value;
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
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
