import type { FieldSpec, ScalarShape, Shape, ToolFile, UnionShape } from "../../file/model/tool-file.ts";
import { exactText } from "../../../json/exact-json.ts";
import { isRecord } from "../../../json/is-record.ts";
import { memberNames } from "../../file/model/member-names.ts";
import { type Fields, own } from "../record/record-source.ts";
import type { Side } from "../record/planner.ts";
import { Mismatch, scalarOf, type Scalar } from "../record/scalar.ts";
import { Acceptance, type Wording } from "./acceptance.ts";

/** Costs of differences between a value and a shape. */
const COST = { kind: 1_000, constant: 200, member: 20, lenient: 5, unknown: 1, free: 50, plain: 0.1 };
/** How far inside values are compared, and how many parts of one value: an answer may hold unions inside of unions. */
const MAX_DEPTH = 4;
const MAX_STEPS = 5_000;
const MAX_ITEMS = 8;

/** Chooses the alternative of a union that a value has. */
export class BestFit {
  readonly #types: ToolFile["types"];
  readonly #side: Wording;
  readonly #acceptance: Acceptance;
  readonly #scalars = new Map<ScalarShape, Scalar>();
  readonly #paths = new Map<string, readonly { name: string }[]>();
  #steps = 0;

  constructor(types: ToolFile["types"], wording: Wording, side: Side) {
    this.#types = types;
    this.#side = wording;
    const tagged = (union: UnionShape, value: unknown) => this.#named(union, value);
    this.#acceptance = new Acceptance(types, { wording, side, tagged });
  }

  /**
   * By its discriminator, otherwise the most specific alternative that accepts the value. If none does, that with the
   * fewest differences; undefined if none has its kind.
   */
  choose(union: UnionShape, value: unknown): Shape | undefined {
    const named = this.#named(union, value);
    if (named) return named;
    const accepted = this.#acceptance.alternatives(union, value);
    if (accepted.length === 1) return accepted[0];
    this.#steps = 0;
    let best: { shape: Shape; cost: number } | undefined;
    for (const shape of accepted.length > 0 ? accepted : union.of) {
      const cost = this.#cost(shape, value, 0);
      if (cost < (best?.cost ?? COST.kind)) best = { shape, cost };
      if (cost === 0) break;
    }
    return best?.shape ?? accepted[0];
  }

  #named({ discriminator }: UnionShape, value: unknown): Shape | undefined {
    if (!discriminator || !isRecord(value)) return undefined;
    for (const [given, type] of Object.entries(discriminator.values)) {
      if (this.#has(type, discriminator.member, given, value)) return { kind: "object", type };
    }
    return undefined;
  }

  #has(type: string, member: string, wanted: string, value: Fields): boolean {
    if (this.#side === "wire") return plainText(own(value, member)) === wanted;
    const found = Object.entries(this.#types[type]?.fields ?? {}).find(([, spec]) => this.#placeOf(spec) === member);
    const [name, field] = found ?? [member];
    const given = own(value, name);
    const codes = field?.shape.kind === "scalar" ? field.shape.codes : undefined;
    return plainText(given) === (codes?.[wanted] ?? wanted);
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
        return isRecord(value) ? COST.unknown + this.#ofItems(shape.of, Object.values(value), depth) : COST.kind;
      case "any":
        return shape.only === "object" && !isRecord(value) ? COST.kind : COST.free;
      case "union":
        return this.#ofUnion(shape, value, depth);
      case "object": {
        const union = this.#types[shape.type]?.union;
        if (union) return this.#cost(union, value, depth + 1);
        return isRecord(value) ? this.#ofObject(shape.type, value, depth) : COST.kind;
      }
    }
  }

  #ofUnion(union: UnionShape, value: unknown, depth: number): number {
    if (union.discriminator && isRecord(value)) {
      const named = this.#named(union, value);
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
    const type = this.#types[name];
    const known = new Set<string>();
    let cost = 0;
    for (const [field, spec] of Object.entries(type?.fields ?? {})) {
      const at = this.#side === "names" ? field : this.#placeOf(spec);
      if (at === undefined) continue;
      known.add(at);
      const given = at === "." ? value : own(value, at);
      if (given !== undefined) cost += this.#ofMember(spec, given, depth);
      else if (!spec.optional && (this.#side === "wire" || isAsked(spec))) cost += COST.member;
    }
    const further = Object.keys(value).filter((member) => !known.has(member));
    const { additional } = type ?? {};
    if (!additional) return cost + further.length * COST.unknown;
    const members = further.map((member) => value[member]);
    return cost + this.#ofItems(additional, members, depth);
  }

  /** The first name of a wire path; undefined if the field is not on the wire. */
  #placeOf({ wire }: FieldSpec): string | undefined {
    if (wire === false || wire === ".") return wire === "." ? wire : undefined;
    return this.#names(wire)[0]?.name;
  }

  #names(wire: string): readonly { name: string }[] {
    const known = this.#paths.get(wire) ?? memberNames(wire) ?? [];
    this.#paths.set(wire, known);
    return known;
  }

  #ofMember(spec: FieldSpec, given: unknown, depth: number): number {
    if (spec.const !== undefined) return this.#isConstant(spec, given) ? 0 : COST.constant;
    if (given === null) return spec.nullable || spec.optional ? 0 : COST.member;
    // The other parts of a path are not looked at.
    if (this.#side === "wire" && spec.wire !== false && spec.wire !== "." && this.#names(spec.wire).length > 1)
      return 0;
    const cost = this.#cost(spec.shape, given, depth + 1);
    const isChoice = spec.shape.kind === "scalar" && (spec.shape.enum !== undefined || spec.shape.codes !== undefined);
    return isChoice && cost >= COST.member ? COST.constant : Math.min(COST.member, cost);
  }

  #isConstant({ shape, const: constant }: FieldSpec, given: unknown): boolean {
    if (plainText(given) === String(constant)) return true;
    if (this.#side === "names" || shape.kind !== "scalar") return false;
    return this.#scalar(shape).writeJson(constant) === given;
  }

  #ofScalar(shape: ScalarShape, value: unknown): number {
    const scalar = this.#scalar(shape);
    const converted = this.#side === "names" ? scalar.writeJson(value) : scalar.readJson(value);
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

function plainText(value: unknown): string | undefined {
  return typeof value === "string" || value === undefined ? value : exactText(value);
}
