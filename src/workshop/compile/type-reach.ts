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

/** The tools that have a type in their arguments or results, by the name of the type. */
export function toolsByType(file: ToolFile): Map<string, Set<string>> {
  const users = new Map<string, Set<string>>();
  const use = (tool: string, root: string | undefined, side: "input" | "output") => {
    for (const type of root === undefined ? [] : reachedTypes(file, root, side).keys()) {
      const known = users.get(type) ?? new Set();
      users.set(type, known.add(tool));
    }
  };
  for (const [name, { input, response }] of Object.entries(file.tools)) {
    use(name, input, "input");
    use(name, response.type, "output");
  }
  return users;
}
