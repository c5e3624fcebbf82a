import type {
  FieldSpec,
  ListShape,
  MapShape,
  ScalarShape,
  Shape,
  ToolFile,
  UnionShape,
} from "../file/model/tool-file.ts";
import { findType, findUnion, isOnSide } from "../shape/shape-parts.ts";
import { type Tag, tagOf } from "../shape/union-tags.ts";
import { sampleOf } from "./schema-sample.ts";
import { TypeHeights } from "./type-heights.ts";

type Value = Record<string, unknown>;

/** How values are made. */
export interface Making {
  side: "input" | "output";
  /** Whether a field gets a value; `isDeep`: only what is needed. */
  isGiven(field: FieldSpec, isDeep: boolean): boolean;
  /** A single value; undefined if none is found. */
  single(shape: ScalarShape, name: string): unknown;
}

/** From here on, only what is needed: recursive types would not end. */
const DEEP = 4;
/** Lists that must have items of their own type never end. */
const MAX_DEPTH = 40;
/** Of one value; further ones stay empty. */
const MAX_OBJECTS = 5_000;

/** Makes values of types: always the same, and as small as possible. */
export class ValueMaker {
  readonly #file: ToolFile;
  readonly #making: Making;
  readonly #heights: TypeHeights;
  #objects = 0;

  constructor(file: ToolFile, making: Making, heights = new TypeHeights(file)) {
    this.#file = file;
    this.#making = making;
    this.#heights = heights;
  }

  value(type: string, depth = 0, tag?: Tag): Value {
    // Types that have each other twice double with each level.
    if (++this.#objects > MAX_OBJECTS) return {};
    const members: (readonly [string, unknown])[] = [];
    for (const [name, field] of Object.entries(findType(this.#file, type)?.fields ?? {})) {
      if (name === tag?.field) members.push([name, tag.values[0]]);
      else if (field.const !== undefined) {
        if (this.#making.isGiven(field, depth >= DEEP)) members.push([name, field.const]);
      } else if (isOnSide(field, this.#making.side) && this.#making.isGiven(field, depth >= DEEP)) {
        members.push([name, this.#ofField(field, name, depth)]);
      }
    }
    return Object.fromEntries(members.filter(([, value]) => value !== undefined));
  }

  #ofField(field: FieldSpec, name: string, depth: number): unknown {
    const { shape, optional, nullable } = field;
    if (depth >= DEEP && optional && this.#heights.of(shape) > 0) return undefined;
    if (depth >= DEEP && nullable && this.#heights.of(shape) === Infinity) return null;
    return this.#ofShape(shape, name, depth) ?? (nullable ? null : undefined);
  }

  #ofShape(shape: Shape, name: string, depth: number): unknown {
    if (depth > MAX_DEPTH) return undefined;
    const union = findUnion(this.#file, shape);
    if (union) return this.#ofUnion(union, name, depth);
    switch (shape.kind) {
      case "scalar":
        return this.#making.single(shape, name);
      case "object":
        return this.value(shape.type, depth + 1);
      case "list":
        return this.#items(shape, name, depth);
      case "map":
        return this.#entries(shape, name, depth);
      case "any":
        if (shape.schema?.["type"] === "null") return null;
        if (shape.schema && this.#making.side === "input") return sampleOf(shape.schema);
        return shape.only === "object" ? {} : "example";
      case "union":
        return undefined;
    }
  }

  #items(shape: ListShape, name: string, depth: number): unknown[] {
    const { minItems = 0, maxItems = Infinity } = shape;
    if (depth >= DEEP && this.#making.side === "output" && this.#heights.of(shape.of) === Infinity) return [];
    const length = Math.max(minItems, Math.min(depth >= DEEP ? 0 : 1, maxItems));
    if (shape.uniqueItems && length > 1) return this.#distinct(shape, length, name, depth);
    return Array.from({ length }, () => this.#ofShape(shape.of, name === "" ? "" : `${name}[]`, depth + 1));
  }

  #entries(shape: MapShape, name: string, depth: number): Value {
    const { minEntries = 0, maxEntries = Infinity } = shape;
    if (depth >= DEEP && this.#making.side === "output" && this.#heights.of(shape.of) === Infinity) return {};
    const length = Math.max(minEntries, Math.min(depth >= DEEP ? 0 : 1, maxEntries));
    const keys = Array.from({ length }, (_, index) => (index === 0 ? "key" : `key${index + 1}`));
    const values = keys.map((key) => [key, this.#ofShape(shape.of, `${name}.*`, depth + 1)] as const);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  }

  /** Items that differ from each other. */
  #distinct({ of }: ListShape, length: number, name: string, depth: number): unknown[] {
    if (of.kind !== "scalar") return [this.#ofShape(of, name, depth + 1)];
    const names = of.codes ? Object.values(of.codes) : of.enum;
    if (names) return [...new Set(names)].slice(0, length);
    const first = this.#making.single(of, name);
    return Array.from({ length }, (_, index) => {
      if (typeof first === "number") return first + index * (of.multipleOf ?? 1);
      return index === 0 || typeof first !== "string" ? first : `${first}${index + 1}`.slice(0, of.maxLength);
    });
  }

  /** The first alternative; deep inside, the one that ends first. */
  #ofUnion(union: UnionShape, name: string, depth: number): unknown {
    const order = depth >= DEEP ? union.of.toSorted((a, b) => this.#heights.of(a) - this.#heights.of(b)) : union.of;
    for (const shape of order) {
      const tag = shape.kind === "object" ? tagOf(this.#file, union, shape.type) : undefined;
      const value =
        tag && shape.kind === "object" ? this.value(shape.type, depth + 1, tag) : this.#ofShape(shape, name, depth + 1);
      if (value !== undefined) return value;
    }
    return undefined;
  }
}
