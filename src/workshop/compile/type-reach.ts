import type { ToolFile } from "../file/model/tool-file.ts";
import { findType, typesIn } from "../shape/shape-parts.ts";
import { isShown } from "./schema-writer.ts";

/** A type inside another: how deep it is at least, and how often it is referred to. */
export interface Reached {
  depth: number;
  uses: number;
}

/** All types that callers see in a type, with itself, by name. */
export function reachedTypes(file: ToolFile, root: string, side: "input" | "output"): Map<string, Reached> {
  const reached = new Map<string, Reached>([[root, { depth: 0, uses: 1 }]]);
  // The map grows while it is read: the nearest types come first.
  for (const [name, { depth }] of reached) {
    const type = findType(file, name);
    if (!type) continue;
    const fields = Object.values(type.fields).filter((field) => isShown(field, side) && field.const === undefined);
    const shapes = [...fields.map(({ shape }) => shape), type.union, type.additional].filter((each) => !!each);
    for (const inner of shapes.flatMap(typesIn)) {
      const known = reached.get(inner);
      if (known) known.uses += 1;
      else reached.set(inner, { depth: depth + 1, uses: 1 });
    }
  }
  return reached;
}
