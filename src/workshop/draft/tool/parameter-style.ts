import type { ParameterFacts } from "../../documents/api-facts.ts";
import type { ParameterStyle, Shape } from "../../file/model/tool-file.ts";
import { allFields, type DraftType } from "../types/draft-type.ts";

type Written = Pick<ParameterFacts, "style" | "explode">;

/** How a parameter is written; undefined for single values and for the usual way, the name again for each item. */
export function parameterStyle(shape: Shape, { style, explode }: Written): ParameterStyle | undefined {
  if (style === "json") return "json";
  if (shape.kind === "scalar") return undefined;
  if (shape.kind === "list") return listStyle(style, explode);
  if (style === "deepObject") return "deep";
  return explode ? "members" : "pairs";
}

function listStyle(style: ParameterFacts["style"], explode: boolean): ParameterStyle | undefined {
  if (style === "tabs") return "tab";
  if (style === "deepObject") return "deep";
  if (style === "simple" || style === "label" || style === "matrix") return "comma";
  if (explode) return undefined;
  if (style === "spaceDelimited") return "space";
  return style === "pipeDelimited" ? "pipe" : "comma";
}

/** The place of a parameter in the path: `{name}`, `{.name}`, `{;name*}`. */
export function pathPlace(field: string, shape: Shape, { style, explode }: Written): string {
  const operator = style === "label" ? "." : style === "matrix" ? ";" : "";
  return `{${operator}${field}${explode && shape.kind !== "scalar" ? "*" : ""}}`;
}

/** Whether a value of this shape can be written in this style. */
export function isWritable(
  shape: Shape,
  style: ParameterStyle | undefined,
  types: ReadonlyMap<string, DraftType>,
): boolean {
  if (style === "json" || shape.kind === "scalar") return true;
  if (style === "deep") return isDeep(shape, types, []);
  if (shape.kind === "list" || shape.kind === "map") return shape.of.kind === "scalar";
  if (shape.kind !== "object") return false;
  const type = types.get(shape.type);
  return (
    type !== undefined && !type.union && [...allFields(type).values()].every((field) => field.shape.kind === "scalar")
  );
}

/** Nested objects and lists of single values; not types that contain themselves. */
function isDeep(shape: Shape, types: ReadonlyMap<string, DraftType>, open: readonly string[]): boolean {
  switch (shape.kind) {
    case "scalar":
      return true;
    case "list":
    case "map":
      return isDeep(shape.of, types, open);
    case "object": {
      const type = types.get(shape.type);
      if (!type || type.union || open.includes(shape.type)) return false;
      return [...allFields(type).values()].every((field) => isDeep(field.shape, types, [...open, shape.type]));
    }
    case "union":
    case "any":
      return false;
  }
}
