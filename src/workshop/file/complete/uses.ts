import { placesIn } from "../model/path-template.ts";
import { shapesOf, typesIn } from "../../shape/shape-parts.ts";
import type { RequestSpec, ToolFile } from "../model/tool-file.ts";

/** How tools use a type, directly or inside another one. */
export interface Use {
  /** The upstream formats; empty if it is in no body. */
  as: Set<Format>;
  sides: Set<"input" | "output">;
  /** The formats in which it is a complete document. */
  whole: Set<Format>;
}

type Format = NonNullable<RequestSpec["body"]>;

/** By type, in the order of their use; unused types are not included. */
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
    // A second visit in the same way finds nothing new.
    const way = `${side} ${as ?? ""}`;
    if (use.seen.has(way)) return;
    use.seen.add(way);
    use.sides.add(side);
    if (as) use.as.add(as);
    for (const inner of shapesOf(type, side).flatMap(typesIn)) visit(inner, { side, as, whole: false });
  };
  for (const { input, request, response } of Object.values(tools)) {
    visit(input, { side: "input", as: request?.body, whole: true });
    const { as, type } = response;
    // The result of steps is made here, so it has no upstream format.
    if (type !== undefined && !request) visit(type, { side: "output", whole: true });
    if (type !== undefined && request) {
      visit(type, {
        side: "output",
        as: as === "auto" ? "json" : as === "xml" || as === "json" ? as : undefined,
        whole: true,
      });
    }
  }
  return uses;
}

/** The input fields in path, query, headers or cookies. */
export function fieldsTaken({ path, query, headers, cookies = {} }: RequestSpec): string[] {
  const parameters = [query, headers, cookies].flatMap((each) => Object.values(each));
  return [...placesIn(path).map(({ field }) => field), ...parameters.flatMap(fieldsOfParameter)];
}

/** The input field of a parameter; none if its value is fixed. */
function fieldsOfParameter(parameter: RequestSpec["headers"][string]): string[] {
  if (typeof parameter === "string") return [parameter];
  return "field" in parameter ? [parameter.field] : [];
}
