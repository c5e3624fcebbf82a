import { isJsonObject } from "../../../json/exact-decimal.ts";
import type { Shape, ToolFile, UnionShape } from "../../file/model/tool-file.ts";
import { findUnion } from "../../shape/shape-parts.ts";
import type { Side } from "../record/planner.ts";
import { Acceptance } from "./acceptance.ts";
import { Differences } from "./differences.ts";
import { Discriminators, type Wording } from "./discriminators.ts";

/** A shape that is not a union itself, and the union that lists it. */
export interface Alternative {
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
