import type { FieldSpec, Shape, ToolFile, TypeSpec } from "../file/model/tool-file.ts";

/** How many types a value of each type contains at least, one inside the other. Endless types are not included. */
export function typeHeights(file: Pick<ToolFile, "types">): Map<string, number> {
  const heights = new Map<string, number>();
  const heightOf = (shape: Shape): number => {
    if (shape.kind === "object") return heights.get(shape.type) ?? Infinity;
    return shape.kind === "union" ? Math.min(...shape.of.map(heightOf)) : 0;
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
  return heights;
}

/** What every value of the type contains. */
function neededShapes(type: TypeSpec): Shape[] {
  if (type.union) return [type.union];
  const isNeeded = ({ optional, nullable }: FieldSpec) => !optional && !nullable;
  return Object.values(type.fields)
    .filter(isNeeded)
    .map(({ shape }) => shape);
}
