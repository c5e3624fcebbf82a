import type { FieldSpec, Shape, ToolFile, TypeSpec } from "../file/model/tool-file.ts";

/** The heights of the types of one file; looked for when they are needed first, because most values need none. */
export class TypeHeights {
  readonly #file: Pick<ToolFile, "types">;
  #heightOf: ((shape: Shape) => number) | undefined;

  constructor(file: Pick<ToolFile, "types">) {
    this.#file = file;
  }

  /** How many types are at least inside each other in values of the shape; Infinity for endless ones. */
  of(shape: Shape): number {
    this.#heightOf ??= heightsIn(this.#file);
    return this.#heightOf(shape);
  }
}

function heightsIn(file: Pick<ToolFile, "types">): (shape: Shape) => number {
  const heights = new Map<string, number>();
  const heightOf = (shape: Shape): number => {
    switch (shape.kind) {
      case "object":
        return heights.get(shape.type) ?? Infinity;
      case "union":
        return Math.min(...shape.of.map(heightOf));
      case "list":
        return shape.minItems ? heightOf(shape.of) : 0;
      case "map":
        return shape.minEntries ? heightOf(shape.of) : 0;
      case "scalar":
      case "any":
        return 0;
    }
  };
  const types = Object.entries(file.types);
  for (let isChanged = true; isChanged;) {
    isChanged = false;
    for (const [name, type] of types) {
      const height = 1 + Math.max(0, ...neededShapes(type).map(heightOf));
      if (height >= (heights.get(name) ?? Infinity)) continue;
      heights.set(name, height);
      isChanged = true;
    }
  }
  return heightOf;
}

/** What every value of the type contains. */
function neededShapes(type: TypeSpec): Shape[] {
  if (type.union) return [type.union];
  const isNeeded = ({ optional, nullable }: FieldSpec) => !optional && !nullable;
  return Object.values(type.fields)
    .filter(isNeeded)
    .map(({ shape }) => shape);
}
