import type { Problems } from "../model/problem.ts";
import type { ToolFile } from "../model/tool-file.ts";
import { typeInside } from "../read/uses.ts";

/** A type that must contain itself could never be written; through lists and optional fields it can. */
export function checkRecursion({ types }: ToolFile, problems: Problems): void {
  const done = new Set<string>();
  const visit = (type: string, open: readonly string[]): void => {
    if (done.has(type)) return;
    const spec = Object.hasOwn(types, type) ? types[type] : undefined;
    for (const [field, value] of Object.entries(spec?.fields ?? {})) {
      const inner = typeInside(value);
      if (inner === undefined || value.optional || value.shape.kind === "list") continue;
      if (open.includes(inner)) {
        const message = `a ${inner} would have to hold another ${inner}, without end`;
        problems.error(["types", type, "fields", field], message, "Make it optional, or a list.");
      } else {
        visit(inner, [...open, inner]);
      }
    }
    done.add(type);
  };
  for (const type of Object.keys(types)) visit(type, [type]);
}
