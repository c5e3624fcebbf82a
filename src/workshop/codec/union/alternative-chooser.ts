import { isJsonObject } from "../../../json/exact-decimal.ts";
import type { Shape, ToolFile, UnionShape, FieldSpec, ScalarShape } from "../../file/model/tool-file.ts";
import { findUnion, takesNull } from "../../shape/shape-parts.ts";
import type { Side } from "../record/planner.ts";
import { Discriminators, plainText, type Wording } from "./discriminators.ts";
import { memberNames } from "../../file/model/member-names.ts";
import { own, type Fields } from "../record/record-source.ts";
import { Mismatch, scalarOf, type Scalar } from "../record/scalar.ts";
import { StepBudget } from "../../pattern/step-budget.ts";

/** Deeper values, and larger ones, are not looked at completely. */
const MAX_ACCEPTED_DEPTH = 100;
const MAX_ACCEPTED_STEPS = 100_000;

/** A shape that is not a union itself, and the union that lists it. */
interface Alternative {
  shape: Shape;
  union: UnionShape;
}

/**
 * Chooses the alternative of a union that a value has. All parts of the workshop use it, so that arguments are completed,
 * checked, written and shown as the same type. In this order:
 *
 * 1. the type that the discriminator names;
 * 2. the alternative that accepts the value in all its parts; of several, the most specific: a constant says more than a
 *    date, a date more than any text, anything more than any value. Equal ones: the first;
 * 3. the type that the discriminator of a union inside this one names;
 * 4. the alternative of the value's kind with the fewest differences. Without one of its kind there is none.
 *
 * The alternatives of a union inside the union are alternatives like the others.
 */
export class AlternativeChooser {
  readonly #types: ToolFile["types"];
  readonly #discriminators: Discriminators;
  readonly #alternatives = new Map<UnionShape, readonly Alternative[]>();
  readonly #acceptance: Acceptance;
  readonly #differences: Differences;

  constructor(types: ToolFile["types"], wording: Wording, side: Side) {
    this.#types = types;
    this.#discriminators = new Discriminators(types, wording);
    const options = { wording, side, discriminators: this.#discriminators };
    this.#acceptance = new Acceptance(types, options);
    this.#differences = new Differences(types, options);
  }

  choose(union: UnionShape, value: unknown): Alternative | undefined {
    const named = this.#discriminators.named(union, value);
    if (named) return { shape: named, union };
    const all = this.#alternativesOf(union);
    // An object without the tag of an inner union is not one of its types.
    const open = isJsonObject(value) ? all.filter((each) => this.#isOpen(each, union, value)) : all;
    const [first, ...more] = this.#acceptance.among(open, value);
    if (first) return more.length === 0 ? first : (this.#differences.fewest([first, ...more], value) ?? first);
    const tagged = open.find((each) => each.union !== union && each.union.discriminator);
    return (
      (isJsonObject(value) ? tagged : undefined) ??
      this.#differences.fewest(open, value) ??
      this.#differences.fewest(all, value)
    );
  }

  #isOpen({ shape, union: inner }: Alternative, union: UnionShape, value: unknown): boolean {
    if (inner === union || !inner.discriminator) return true;
    return shape.kind === "object" && this.#discriminators.named(inner, value)?.type === shape.type;
  }

  /** Each union is followed once: unions may list each other. */
  #alternativesOf(union: UnionShape): readonly Alternative[] {
    const known = this.#alternatives.get(union);
    if (known) return known;
    const seen = new Set<UnionShape>();
    const follow = (inner: UnionShape): Alternative[] => {
      if (seen.has(inner)) return [];
      seen.add(inner);
      return inner.of.flatMap((shape) => {
        const next = findUnion({ types: this.#types }, shape);
        return next ? follow(next) : [{ shape, union: inner }];
      });
    };
    const made = follow(union);
    this.#alternatives.set(union, made);
    return made;
  }
}

/** A field and the member that holds it; `isShared`: with other fields, each in its own part. */
interface FieldPlace {
  at: string;
  spec: FieldSpec;
  isShared: boolean;
}

/** Costs of differences between a value and a shape. */
const COST = { kind: 1_000, constant: 200, member: 20, lenient: 5, unknown: 1, free: 50, plain: 0.1 };
/** How far inside values are compared, and how many parts of one value: an answer may hold unions inside of unions. */
const MAX_DEPTH = 4;
const MAX_STEPS = 5_000;
const MAX_ITEMS = 8;

/** Counts how a value differs from shapes. */
class Differences {
  readonly #types: ToolFile["types"];
  readonly #options: Comparison;
  readonly #scalars = new Map<ScalarShape, Scalar>();
  readonly #plans = new Map<string, readonly FieldPlace[]>();
  #steps = 0;

  constructor(types: ToolFile["types"], options: Comparison) {
    this.#types = types;
    this.#options = options;
  }

  /** The first alternative with the fewest differences; undefined if none has the kind of the value. */
  fewest<Each extends { shape: Shape }>(alternatives: readonly Each[], value: unknown): Each | undefined {
    let best: { alternative: Each; cost: number } | undefined;
    for (const alternative of alternatives) {
      this.#steps = 0;
      const cost = this.#cost(alternative.shape, value, 0);
      if (cost < (best?.cost ?? COST.kind)) best = { alternative, cost };
      if (cost === 0) break;
    }
    return best?.alternative;
  }

  #cost(shape: Shape, value: unknown, depth: number): number {
    if (depth > MAX_DEPTH || ++this.#steps > MAX_STEPS) return 0;
    switch (shape.kind) {
      case "scalar":
        return this.#ofScalar(shape, value);
      case "list":
        if (!Array.isArray(value)) return COST.kind;
        return this.#ofItems(shape.of, value, depth);
      case "map":
        return isJsonObject(value) ? COST.unknown + this.#ofItems(shape.of, Object.values(value), depth) : COST.kind;
      case "any":
        if (shape.schema?.["type"] === "null") return value === null ? 0 : COST.kind;
        return shape.only === "object" && !isJsonObject(value) ? COST.kind : COST.free;
      case "union":
        return this.#ofUnion(shape, value, depth);
      case "object": {
        const union = this.#types[shape.type]?.union;
        if (union) return this.#cost(union, value, depth + 1);
        return isJsonObject(value) ? this.#ofObject(shape.type, value, depth) : COST.kind;
      }
    }
  }

  #ofUnion(union: UnionShape, value: unknown, depth: number): number {
    if (union.discriminator && isJsonObject(value)) {
      const named = this.#options.discriminators.named(union, value);
      return named ? this.#cost(named, value, depth + 1) : COST.constant;
    }
    return Math.min(COST.kind, ...union.of.map((each) => this.#cost(each, value, depth + 1)));
  }

  #ofItems(of: Shape, items: readonly unknown[], depth: number): number {
    let cost = 0;
    for (const item of items.slice(0, MAX_ITEMS)) cost += Math.min(COST.member, this.#cost(of, item, depth + 1));
    return cost;
  }

  #ofObject(name: string, value: Fields, depth: number): number {
    const known = new Set<string>();
    const isWire = this.#options.wording === "wire";
    let cost = 0;
    for (const place of this.#placesOf(name)) {
      const { at, spec } = place;
      known.add(at);
      const given = at === "." ? value : own(value, at);
      if (!this.#isHere(spec)) cost += given === undefined ? 0 : COST.unknown;
      else if (given !== undefined) cost += this.#ofMember(place, given, depth);
      else if (!spec.optional && (isWire || isAsked(spec))) cost += COST.member;
    }
    const further = Object.keys(value).filter((member) => !known.has(member));
    const additional = this.#types[name]?.additional;
    if (!additional) return cost + further.length * COST.unknown;
    const members = further.map((member) => value[member]);
    return cost + this.#ofItems(additional, members, depth);
  }

  /** Fields that only requests have say nothing about answers, and the other way round. */
  #isHere({ side }: FieldSpec): boolean {
    return side === undefined || this.#options.side === undefined || side === this.#options.side;
  }

  #placesOf(name: string): readonly FieldPlace[] {
    const known = this.#plans.get(name);
    if (known) return known;
    const places = Object.entries(this.#types[name]?.fields ?? {}).flatMap(([field, spec]): FieldPlace[] => {
      if (this.#options.wording === "names") return [{ at: field, spec, isShared: false }];
      if (spec.wire === false) return [];
      if (spec.wire === ".") return [{ at: ".", spec, isShared: false }];
      const [first, ...more] = memberNames(spec.wire) ?? [];
      return first ? [{ at: first.name, spec, isShared: more.length > 0 }] : [];
    });
    this.#plans.set(name, places);
    return places;
  }

  #ofMember({ spec, isShared }: FieldPlace, given: unknown, depth: number): number {
    if (spec.const !== undefined) return this.#isConstant(spec, given) ? 0 : COST.constant;
    if (given === null) return spec.nullable || spec.optional ? 0 : COST.member;
    // The other parts of a path are not looked at.
    if (isShared) return 0;
    const cost = this.#cost(spec.shape, given, depth + 1);
    const isChoice = spec.shape.kind === "scalar" && (spec.shape.enum !== undefined || spec.shape.codes !== undefined);
    return isChoice && cost >= COST.member ? COST.constant : Math.min(COST.member, cost);
  }

  #isConstant({ shape, const: constant }: FieldSpec, given: unknown): boolean {
    if (plainText(given) === String(constant)) return true;
    if (this.#options.wording === "names" || shape.kind !== "scalar") return false;
    return this.#scalar(shape).writeJson(constant) === given;
  }

  #ofScalar(shape: ScalarShape, value: unknown): number {
    const scalar = this.#scalar(shape);
    const converted = this.#options.wording === "names" ? scalar.writeJson(value) : scalar.readJson(value);
    if (converted instanceof Mismatch) return typeof value === usualType(shape) ? COST.member : COST.kind;
    if (typeof value !== usualType(shape)) return COST.lenient;
    // Of several kinds of text, a name of a list or a date says more; the same for whole numbers.
    if (shape.codes || shape.enum) return 0;
    return shape.type === "string" || shape.type === "number" || shape.type === "binary" ? COST.plain : COST.plain / 2;
  }

  #scalar(shape: ScalarShape): Scalar {
    const known = this.#scalars.get(shape) ?? scalarOf(shape);
    this.#scalars.set(shape, known);
    return known;
  }
}

/** Whether callers give it: constants and computed fields are set automatically. */
function isAsked({ const: constant, value, hidden, default: standard, side }: FieldSpec): boolean {
  return constant === undefined && value === undefined && !hidden && standard === undefined && side !== "output";
}

function usualType({ type, codes }: ScalarShape): string {
  if (type === "boolean" || type === "presence") return codes ? "string" : "boolean";
  return !codes && (type === "integer" || type === "number") ? "number" : "string";
}

/** How values are looked at. */
interface Comparison {
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

/** Decides whether values are valid for shapes in all their parts: by it an alternative of a union is chosen. */
class Acceptance {
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
    if (depth > MAX_ACCEPTED_DEPTH || ++this.#steps > MAX_ACCEPTED_STEPS) return true;
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
