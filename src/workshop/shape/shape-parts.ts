import type { FieldSpec, Shape, ToolFile, TypeSpec, UnionShape } from "../file/model/tool-file.ts";

/** The names of all types in a shape: of a list's items, a map's values and a union's alternatives. */
export function typesIn(shape: Shape): string[] {
  switch (shape.kind) {
    case "object":
      return [shape.type];
    case "list":
    case "map":
      return typesIn(shape.of);
    case "union":
      return shape.of.flatMap(typesIn);
    case "scalar":
    case "any":
      return [];
  }
}

/** The shapes of a type, with its fields if they are on this side. */
export function shapesOf(type: TypeSpec, side?: "input" | "output"): Shape[] {
  return [
    ...(type.union ? [type.union] : []),
    ...Object.values(type.fields)
      .filter((field) => side === undefined || isOnSide(field, side))
      .map(({ shape }) => shape),
    ...(type.additional ? [type.additional] : []),
  ];
}

/** Whether a field exists in inputs, or in outputs. */
export function isOnSide({ side }: Pick<FieldSpec, "side">, wanted: "input" | "output"): boolean {
  return side === undefined || side === wanted;
}

/** The type with that name; undefined if there is none. */
export function findType({ types }: Pick<ToolFile, "types">, name: string): TypeSpec | undefined {
  return Object.hasOwn(types, name) ? types[name] : undefined;
}

/** The union that a shape is, written here or as a named type. */
export function findUnion(file: Pick<ToolFile, "types">, shape: Shape): UnionShape | undefined {
  if (shape.kind === "union") return shape;
  return shape.kind === "object" ? findType(file, shape.type)?.union : undefined;
}

/** Whether null is a value of the shape, and not an absent one. */
export function takesNull(file: Pick<ToolFile, "types">, shape: Shape, seen = new Set<UnionShape>()): boolean {
  if (shape.kind === "any") return shape.only === undefined;
  const union = findUnion(file, shape);
  if (!union || seen.has(union)) return false;
  seen.add(union);
  return union.of.some((each) => takesNull(file, each, seen));
}
