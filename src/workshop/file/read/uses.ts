import { fieldsInPath } from "./read-request.ts";
import type { FieldSpec, RequestSpec, ToolFile } from "../model/tool-file.ts";

/** What the tools do with a type, directly or inside of another. */
export interface Use {
  /** How it is written upstream. Empty: it is in no body. */
  as: Set<Format>;
  sides: Set<"input" | "output">;
  /** It is a whole document in these formats. */
  whole: Set<Format>;
}

type Format = "xml" | "json" | "form";

/** By type, in the order in which tools come to them; types that no tool uses are not there. */
export function usesOf({ types, tools }: ToolFile): Map<string, Use> {
  const uses = new Map<string, Use & { seen: Set<string> }>();
  const visit = (
    name: string,
    { side, as, whole }: { side: "input" | "output"; as?: Format | undefined; whole: boolean },
  ) => {
    const type = Object.hasOwn(types, name) ? types[name] : undefined;
    if (!type) return;
    const use = uses.get(name) ?? { as: new Set(), sides: new Set(), whole: new Set(), seen: new Set() };
    uses.set(name, use);
    if (as && whole) use.whole.add(as);
    // What was visited in the same way before has nothing new inside.
    const way = `${side} ${as ?? ""}`;
    if (use.seen.has(way)) return;
    use.seen.add(way);
    use.sides.add(side);
    if (as) use.as.add(as);
    for (const field of Object.values(type.fields)) visit(typeInside(field) ?? "", { side, as, whole: false });
  };
  for (const { input, request, response } of Object.values(tools)) {
    visit(input, { side: "input", as: request.body, whole: true });
    const { as, type } = response;
    if (type !== undefined && (as === "xml" || as === "json")) visit(type, { side: "output", as, whole: true });
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
