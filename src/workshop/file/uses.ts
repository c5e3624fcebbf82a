import { fieldsInPath } from "./read-request.ts";
import type { FieldSpec, RequestSpec, ToolFile } from "./tool-file.ts";

/** What the tools do with a type, directly or inside of another. */
export interface Use {
  /** How it is written upstream. Empty: it is in no body. */
  as: Set<"xml" | "json" | "form">;
  sides: Set<"input" | "output">;
  /** It is a whole document in these formats. */
  whole: Set<"xml" | "json" | "form">;
}

/** By type, in the order in which tools come to them; types that no tool uses are not there. */
export function usesOf({ types, tools }: ToolFile): Map<string, Use> {
  const uses = new Map<string, Use>();
  const visit = (type: string, side: "input" | "output", as: "xml" | "json" | "form" | undefined, open: string[]) => {
    const spec = Object.hasOwn(types, type) ? types[type] : undefined;
    if (!spec || open.includes(type)) return;
    const use = uses.get(type) ?? { as: new Set(), sides: new Set(), whole: new Set() };
    uses.set(type, use);
    use.sides.add(side);
    if (as) use.as.add(as);
    if (as && open.length === 0) use.whole.add(as);
    for (const field of Object.values(spec.fields)) {
      const inner = typeInside(field);
      if (inner !== undefined) visit(inner, side, as, [...open, type]);
    }
  };
  for (const { input, request, response } of Object.values(tools)) {
    visit(input, "input", request.body, []);
    const { as, type } = response;
    if (type !== undefined && (as === "xml" || as === "json")) visit(type, "output", as, []);
  }
  return uses;
}

/** The type that a field holds one or a list of. */
export function typeInside({ shape }: FieldSpec): string | undefined {
  const inner = shape.kind === "list" ? shape.of : shape;
  return inner.kind === "object" ? inner.type : undefined;
}

/** The fields of the input that stand in the path, the query or a header. */
export function fieldsTaken({ path, query, headers }: RequestSpec): string[] {
  return [...fieldsInPath(path), ...Object.values(query).map(({ field }) => field), ...Object.values(headers)];
}
