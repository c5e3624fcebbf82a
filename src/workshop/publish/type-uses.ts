import type { Shape, ToolFile } from "../file/model/tool-file.ts";
import { findType, shapesOf, typesIn } from "../shape/shape-parts.ts";
import type { CallSide } from "./meaning.ts";

/** How the types of two versions are used, in either of them. */
export class TypeUses {
  readonly #sides = { input: new Set<string>(), output: new Set<string>() };
  readonly #ambiguous = new Set<string>();
  readonly #dropping = new Set<string>();

  constructor(files: readonly ToolFile[]) {
    for (const file of files) {
      for (const { input, response, unknown } of Object.values(file.tools)) {
        reach(file, [input], this.#sides.input, "input");
        if (response.type !== undefined) reach(file, [response.type], this.#sides.output, "output");
        if (unknown === "drop") reach(file, [input], this.#dropping, "input");
      }
      for (const shape of Object.values(file.types).flatMap((type) => shapesOf(type)))
        reach(file, untagged(shape), this.#ambiguous);
    }
  }

  /** Whether callers send or read values of the type; hidden and computed fields count as well. */
  sidesOf(type: string): CallSide[] {
    return (["input", "output"] as const).filter((side) => this.#sides[side].has(type));
  }

  /** Whether the type is inside alternatives that are told apart by what fits best. */
  isAmbiguous(type: string): boolean {
    return this.#ambiguous.has(type);
  }

  /** Whether unknown members of arguments were accepted and left out. */
  isDropping(type: string): boolean {
    return this.#dropping.has(type);
  }
}

/** Adds the types and all types inside them. */
function reach(file: ToolFile, types: readonly string[], reached: Set<string>, side?: CallSide): void {
  // A list that grows while it is read: types can be nested deeply.
  const open = types.filter((name) => !reached.has(name));
  for (const name of open) {
    if (reached.has(name)) continue;
    reached.add(name);
    const type = findType(file, name);
    if (type) open.push(...shapesOf(type, side).flatMap(typesIn));
  }
}

/** The types in alternatives without a discriminator. */
function untagged(shape: Shape): string[] {
  switch (shape.kind) {
    case "union":
      return shape.discriminator ? shape.of.flatMap(untagged) : typesIn(shape);
    case "list":
    case "map":
      return untagged(shape.of);
    case "scalar":
    case "object":
    case "any":
      return [];
  }
}
