import { isJsonObject } from "../../../json/exact-decimal.ts";
import type { FieldSpec, ScalarShape, Shape, ToolFile, UnionShape } from "../../file/model/tool-file.ts";
import { takesNull } from "../../shape/shape-parts.ts";
import { StepBudget } from "../../pattern/step-budget.ts";
import type { Side } from "../record/planner.ts";
import { own } from "../record/record-source.ts";
import { Mismatch, scalarOf, type Scalar } from "../record/scalar.ts";
import { memberNames } from "../../file/model/member-names.ts";
import type { Discriminators, Wording } from "./discriminators.ts";

/** How values are looked at. */
export interface Comparison {
  wording: Wording;
  side: Side;
  discriminators: Discriminators;
}

/** Where the fields of a type are in its values; made once. */
interface TypePlan {
  /** The shape of the field that is the whole value. */
  whole: Shape | undefined;
  /** Fields that share an object upstream are not looked at. */
  fields: readonly { at: string; spec: FieldSpec; isShared: boolean }[];
  known: ReadonlySet<string>;
  /** Members that only the other side has: of requests in answers, of answers in requests. */
  absent: ReadonlySet<string>;
  additional: Shape | undefined;
}

/** Deeper values, and larger ones, are not looked at completely. */
const MAX_DEPTH = 100;
const MAX_STEPS = 100_000;

/** Decides whether values are valid for shapes in all their parts: by it an alternative of a union is chosen. */
export class Acceptance {
  readonly #types: ToolFile["types"];
  readonly #options: Comparison;
  readonly #scalars = new Map<ScalarShape, Scalar>();
  readonly #plans = new Map<string, TypePlan>();
  readonly #budget = new StepBudget();
  /** Each object is looked at once for each union, however many unions are inside each other. */
  readonly #known = new Map<UnionShape, Map<object, boolean>>();
  #steps = 0;

  constructor(types: ToolFile["types"], options: Comparison) {
    this.#types = types;
    this.#options = options;
  }

  /** The alternatives that accept a value, in their order. */
  among<Each extends { shape: Shape }>(alternatives: readonly Each[], value: unknown): Each[] {
    this.#known.clear();
    this.#budget.renew();
    this.#steps = 0;
    return alternatives.filter(({ shape }) => this.#accepts(shape, value, 0));
  }

  #accepts(shape: Shape, value: unknown, depth: number): boolean {
    if (depth > MAX_DEPTH || ++this.#steps > MAX_STEPS) return true;
    switch (shape.kind) {
      case "scalar":
        return this.#isScalar(shape, value);
      case "list": {
        const { minItems = 0, maxItems = Infinity, of } = shape;
        if (!Array.isArray(value) || value.length < minItems || value.length > maxItems) return false;
        return (value as unknown[]).every((item) => this.#accepts(of, item, depth + 1));
      }
      case "map": {
        if (!isJsonObject(value)) return false;
        const members = Object.values(value);
        const { minEntries = 0, maxEntries = Infinity, of } = shape;
        if (members.length < minEntries || members.length > maxEntries) return false;
        return members.every((member) => this.#accepts(of, member, depth + 1));
      }
      case "any":
        // Only null: the alternative of a list whose items may be null.
        if (shape.schema?.["type"] === "null") return value === null;
        return shape.only === undefined || isJsonObject(value);
      case "union":
        return this.#isOneOf(shape, value, depth);
      case "object": {
        const union = this.#types[shape.type]?.union;
        return union ? this.#isOneOf(union, value, depth) : this.#isOfType(shape.type, value, depth);
      }
    }
  }

  #isOneOf(union: UnionShape, value: unknown, depth: number): boolean {
    if (typeof value !== "object" || value === null) return this.#matchesOne(union, value, depth);
    const results = this.#known.get(union) ?? new Map<object, boolean>();
    this.#known.set(union, results);
    const known = results.get(value);
    if (known !== undefined) return known;
    // A union that holds itself adds nothing.
    results.set(value, false);
    const isOne = this.#matchesOne(union, value, depth);
    results.set(value, isOne);
    return isOne;
  }

  #matchesOne(union: UnionShape, value: unknown, depth: number): boolean {
    if (union.discriminator && isJsonObject(value)) {
      const tagged = this.#options.discriminators.named(union, value);
      return tagged !== undefined && this.#accepts(tagged, value, depth + 1);
    }
    return union.of.some((shape) => this.#accepts(shape, value, depth + 1));
  }

  #isOfType(name: string, value: unknown, depth: number): boolean {
    const { whole, fields, known, absent, additional } = this.#plan(name);
    if (whole) return this.#accepts(whole, value, depth + 1);
    if (!isJsonObject(value)) return false;
    for (const { at, spec, isShared } of fields) {
      if (!isShared && !this.#isField(spec, own(value, at), depth)) return false;
    }
    for (const member of Object.keys(value)) {
      if (known.has(member)) continue;
      if (!additional || absent.has(member) || !this.#accepts(additional, value[member], depth + 1)) return false;
    }
    return true;
  }

  #plan(name: string): TypePlan {
    const made = this.#plans.get(name);
    if (made) return made;
    const { fields = {}, additional } = this.#types[name] ?? {};
    const isWire = this.#options.wording === "wire";
    const whole = Object.values(fields).find((field) => isWire && field.wire === "." && this.#isHere(field));
    const known = new Set<string>();
    const absent = new Set<string>();
    const looked: TypePlan["fields"][number][] = [];
    for (const [field, spec] of Object.entries(fields)) {
      const [at = field, ...inner] = isWire ? namesOf(spec) : [field];
      if (isWire && spec.wire === false) continue;
      if (this.#isHere(spec)) looked.push({ at, spec, isShared: inner.length > 0 });
      if (this.#isHere(spec)) known.add(at);
      else if (isWire) absent.add(at);
    }
    const plan = { whole: whole?.shape, fields: looked, known, absent, additional };
    this.#plans.set(name, plan);
    return plan;
  }

  #isField(spec: FieldSpec, value: unknown, depth: number): boolean {
    const { shape, optional, nullable, const: constant } = spec;
    if (value === undefined) return optional || (this.#options.wording === "names" && isSetLater(spec));
    if (constant !== undefined) return this.#options.wording === "wire" ? true : value === constant;
    if (value === null) return nullable === true || takesNull({ types: this.#types }, shape);
    return this.#accepts(shape, value, depth + 1);
  }

  #isHere({ side }: FieldSpec): boolean {
    return side === undefined || this.#options.side === undefined || side === this.#options.side;
  }

  #isScalar(shape: ScalarShape, value: unknown): boolean {
    const scalar = this.#scalars.get(shape) ?? scalarOf(shape);
    this.#scalars.set(shape, scalar);
    if (this.#options.wording === "names")
      return isWritten(scalar.writeJson(value)) && this.#isWithin(scalar, shape, value);
    const read = scalar.readJson(value);
    // Upstream may write values in several ways; this one is how they are written here.
    return isWritten(read) && this.#isWithin(scalar, shape, read) && scalar.writeJson(read) === value;
  }

  #isWithin({ limit }: Scalar, { enum: allowed, codes }: ScalarShape, value: unknown): boolean {
    const values: readonly unknown[] | undefined = codes ? undefined : allowed;
    if (values && !values.includes(value)) return false;
    return limit?.(value, this.#budget) === undefined;
  }
}

function namesOf({ wire }: FieldSpec): string[] {
  return wire === false || wire === "." ? [] : (memberNames(wire) ?? []).map(({ name }) => name);
}

function isWritten(converted: unknown): boolean {
  return !(converted instanceof Mismatch);
}

/** Whether a field has a value although callers gave none. */
function isSetLater({ const: constant, value, hidden, default: standard }: FieldSpec): boolean {
  return constant !== undefined || value !== undefined || hidden || standard !== undefined;
}
