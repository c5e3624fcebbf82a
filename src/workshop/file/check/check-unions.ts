import { memberPath } from "../model/member-names.ts";
import { findType, shapesOf } from "../../shape/shape-parts.ts";
import type { Problems } from "../../../format/problem.ts";
import type { FieldSpec, Shape, ToolFile, UnionShape } from "../model/tool-file.ts";

/** Unions that cannot be told apart, and places where only a type with fields can be. */
export function checkUnions(file: ToolFile, problems: Problems): void {
  for (const [name, { input, response }] of Object.entries(file.tools)) {
    for (const [key, type] of [
      ["input", input],
      ["response", response.type],
    ] as const) {
      if (type === undefined || !findType(file, type)?.union) continue;
      const path = ["tools", name, ...(key === "input" ? ["input"] : ["response", "type"])];
      const hint = 'Make a type with one field for it: { wire: ".", type: … }.';
      problems.error(path, `${type} is one of several types, and this has to be a type with fields`, hint);
    }
  }
  for (const [name, type] of Object.entries(file.types)) {
    const path = ["types", name];
    for (const shape of shapesOf(type)) checkShape(file, shape, path, problems);
  }
}

function checkShape(file: ToolFile, shape: Shape, path: readonly string[], problems: Problems): void {
  if (shape.kind === "list" || shape.kind === "map") checkShape(file, shape.of, path, problems);
  if (shape.kind !== "union") return;
  for (const inner of shape.of) checkShape(file, inner, path, problems);
  for (const [value, type] of Object.entries(shape.discriminator?.values ?? {})) {
    const problem = problemOf(file, shape, value, type);
    if (problem !== undefined) problems.error(path, problem, "Its values have to be those of the discriminator.");
  }
}

function problemOf(file: ToolFile, union: UnionShape, value: string, name: string): string | undefined {
  const type = findType(file, name);
  const member = union.discriminator?.member ?? "";
  if (!type) return undefined;
  if (type.union) return `${name} has no member "${member}", because it is one of several types`;
  const found = Object.entries(type.fields).find(([, { wire }]) => wire === memberPath(member));
  return found && misfitOf(found[1], value) ? `"${value}" cannot be ${name}.${found[0]}` : undefined;
}

function misfitOf({ shape, const: constant, value: computed }: FieldSpec, value: string): boolean {
  if (constant !== undefined) return String(constant) !== value;
  if (computed !== undefined || shape.kind !== "scalar" || shape.codes) return true;
  return shape.enum !== undefined && !shape.enum.map(String).includes(value);
}
