import type { Part } from "../../../format/part.ts";
import { checkHeader } from "./secret-name.ts";
import type { FixedValue, ParameterStyle, RequestSpec } from "../model/tool-file.ts";

type Place = "query" | "headers" | "cookies";
type Parameter = RequestSpec["headers"][string];
type LongParameter = { field: string; style: ParameterStyle } | FixedValue;

const STYLES: Record<Place, readonly ParameterStyle[]> = {
  query: ["repeat", "comma", "space", "pipe", "tab", "members", "pairs", "deep", "json"],
  headers: ["comma", "members", "pairs", "json"],
  cookies: ["repeat", "comma", "members", "pairs", "json"],
};
const COOKIE = /^[A-Za-z0-9!#$%&'*+.^_`|~[\]-]+$/;

/** Parameters by their names: a field, a field with a style, a constant or a computed value. */
export function readParameters(part: Part, place: "query"): Record<string, LongParameter>;
export function readParameters(part: Part, place: Place): Record<string, Parameter>;
export function readParameters(part: Part, place: Place): Record<string, Parameter> {
  return Object.fromEntries(
    part.entries().map(([name, parameter]) => {
      if (place === "headers") checkHeader(parameter, name, "Name it in secrets, as bearer, basic or headers.");
      if (place === "cookies" && !COOKIE.test(name)) parameter.keyError(`"${name}" cannot be the name of a cookie`);
      return [name, readParameter(parameter, place)];
    }),
  );
}

function readParameter(part: Part, place: Place): Parameter {
  if (!part.isMap) return withStyle(part.text() ?? "", undefined, place);
  part.members(["field", "style", "const", "value"]);
  const ways = ["field", "const", "value"].filter((way) => part.has(way));
  if (ways.length !== 1) {
    part.error("must have one of field, const and value", "field: an argument; const: a text; value: an expression.");
  }
  if (part.has("style") && !part.has("field")) part.part("style").keyError("is for fields", "Leave it out.");
  if (part.has("const")) return { const: readConst(part.part("const"), place) };
  if (part.has("value")) return { value: part.part("value").text() ?? "null" };
  return withStyle(part.part("field").text() ?? "", part.part("style").choice(STYLES[place]), place);
}

/** The same parameter, whether its usual style is written or not. */
function withStyle(field: string, style: ParameterStyle | undefined, place: Place): Parameter {
  if (place === "query") return { field, style: style ?? "repeat" };
  const usual = place === "headers" ? "comma" : "repeat";
  return style === undefined || style === usual ? field : { field, style };
}

/** Numbers and truth values are written as text. */
function readConst(part: Part, place: Place): string {
  const value = part.value();
  const isSingle = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  if (!isSingle) {
    part.error("must be a single value");
    return "";
  }
  const text = typeof value === "string" ? value : (part.source() ?? String(value));
  if (place === "headers" && /[^\x20-\x7e]/.test(text)) part.error("has characters that a header cannot hold");
  return text;
}
