import { findType, typesIn } from "../../shape/shape-parts.ts";
import type { Problems } from "../../../format/problem.ts";
import type { FieldSpec, Shape, ToolFile, TypeSpec } from "../model/tool-file.ts";

/** A type that must contain itself could never be written; through lists, maps and optional fields it can. */
export function checkRecursion(file: ToolFile, problems: Problems): void {
  const endless = endlessTypes(file);
  const done = new Set<string>();
  const open = new Set<string>();
  const visit = (name: string): void => {
    if (done.has(name) || !endless.has(name)) return;
    const type = findType(file, name);
    open.add(name);
    for (const { at, shape } of type ? neededIn(type) : []) {
      for (const inner of typesIn(shape).filter((each) => endless.has(each))) {
        if (open.has(inner)) {
          const message = `a ${inner} would have to hold another ${inner}, without end`;
          problems.error(["types", name, ...at], message, "Make it optional, or a list.");
        } else {
          visit(inner);
        }
      }
    }
    open.delete(name);
    done.add(name);
  };
  for (const name of endless) visit(name);
}

/** The names of the types of which no finite value exists. */
function endlessTypes(file: ToolFile): Set<string> {
  const endless = new Set(Object.keys(file.types));
  const isFinite = (shape: Shape): boolean => {
    if (shape.kind === "object") return !endless.has(shape.type);
    return shape.kind === "union" ? shape.of.some(isFinite) : true;
  };
  const needed = new Map(Object.entries(file.types).map(([name, type]) => [name, neededIn(type)]));
  const users = new Map<string, string[]>();
  for (const [name, parts] of needed) {
    for (const inner of new Set(parts.flatMap(({ shape }) => typesIn(shape)))) {
      const known = users.get(inner);
      if (known) known.push(name);
      else users.set(inner, [name]);
    }
  }
  // Those that use a type are looked at again when it is found to be finite; the list grows while it is read.
  const open = [...endless];
  for (const name of open) {
    if (!endless.has(name) || !(needed.get(name) ?? []).every(({ shape }) => isFinite(shape))) continue;
    endless.delete(name);
    open.push(...(users.get(name) ?? []));
  }
  return endless;
}

/** What every value of the type contains. */
function neededIn(type: TypeSpec): { at: string[]; shape: Shape }[] {
  if (type.union) return [{ at: ["oneOf"], shape: type.union }];
  const isNeeded = ({ optional, nullable, shape }: FieldSpec) =>
    !optional && !nullable && (shape.kind === "object" || shape.kind === "union");
  return Object.entries(type.fields)
    .filter(([, field]) => isNeeded(field))
    .map(([field, { shape }]) => ({ at: ["fields", field], shape }));
}
