import { type Path, type Problems } from "../../../format/problem.ts";
import type { FieldSpec, FixedValue, ParameterStyle, RequestToolSpec, Shape, ToolFile } from "../model/tool-file.ts";
import { placesIn } from "../model/path-template.ts";
import { kindOfParameter, type ParameterKind } from "../../shape/parameter-kind.ts";
import { checkExpression } from "./check-expressions.ts";
import { joined, knownType, SINGLE, withMembers } from "./known-value.ts";
import { refer } from "./refer.ts";

/** Styles by what they can write; `json` writes everything. */
const WRITES: Record<ParameterStyle, readonly (ParameterKind | undefined)[]> = {
  repeat: ["single", "list", "object"],
  comma: ["single", "list"],
  space: ["single", "list"],
  pipe: ["single", "list"],
  tab: ["single", "list"],
  members: ["single", "object"],
  pairs: ["single", "object"],
  deep: ["single", "list", "object"],
  json: ["single", "list", "object", undefined],
};
const WORDS = { path: "a path", query: "a query", headers: "a header", cookies: "a cookie", parts: "a form" };

/** The parameters of a request: their fields exist, and their styles can write them. */
export function checkParameters(file: ToolFile, tool: RequestToolSpec, path: Path, problems: Problems): void {
  const { request } = tool;
  const fields = file.types[tool.input]?.fields ?? {};
  const names = Object.keys(fields);
  const find = (field: string, at: Path) =>
    refer(field, names, "field of the input", at, problems) ? fields[field] : undefined;
  for (const { field } of placesIn(request.path)) {
    const found = find(field, [...path, "path"]);
    if (found) checkInPath(file, found, field, [...path, "path"], problems);
  }
  for (const place of ["query", "headers", "cookies"] as const) {
    for (const [name, parameter] of Object.entries(request[place] ?? {})) {
      const at = [...path, place, name];
      const long =
        typeof parameter === "string"
          ? { field: parameter, style: place === "headers" ? ("comma" as const) : ("repeat" as const) }
          : parameter;
      if (!("field" in long)) {
        checkFixed(file, tool, long, at, problems);
        continue;
      }
      const found = find(long.field, at);
      if (found) checkStyle(file, found, { ...long, place }, at, problems);
    }
  }
  for (const [field, { style }] of Object.entries(request.parts ?? {})) {
    const at = [...path, "parts", field];
    const found = find(field, at);
    if (found && style !== undefined) checkStyle(file, found, { field, style, place: "parts" }, at, problems);
  }
}

function checkInPath(file: ToolFile, spec: FieldSpec, name: string, at: Path, problems: Problems): void {
  const kind = kindOfParameter(file, spec.shape);
  if (kind === undefined || !isFlat(file, spec.shape)) {
    const hint = "Single values, lists of them, and objects and maps with only single values do.";
    problems.error(at, `"${name}" does not fit into a path`, hint);
  } else if (spec.optional && spec.default === undefined) {
    problems.error(at, `"${name}" is optional, but there is no address without it`);
  }
}

function checkStyle(
  file: ToolFile,
  { shape }: FieldSpec,
  { field, style, place }: { field: string; style: ParameterStyle; place: keyof typeof WORDS },
  at: Path,
  problems: Problems,
): void {
  const kind = kindOfParameter(file, shape);
  const isDeep = style === "deep" || style === "json";
  if (WRITES[style].includes(kind) && (isDeep || isFlat(file, shape))) return;
  const fitting = place === "headers" ? ["members", "pairs", "json"] : ["members", "pairs", "deep", "json"];
  const hint =
    kind === "object" && isFlat(file, shape)
      ? `Write it with style: ${fitting.join(" | ")}.`
      : `Single values and lists of them do; write others with style: json${place === "headers" || place === "cookies" ? "" : " or deep"}.`;
  problems.error(at, `"${field}" does not fit into ${WORDS[place]} in the style ${style}`, hint);
}

function checkFixed(file: ToolFile, tool: RequestToolSpec, fixed: FixedValue, at: Path, problems: Problems): void {
  if (!("value" in fixed)) return;
  const settings = Object.fromEntries(Object.keys(file.settings ?? {}).map((name) => [name, SINGLE]));
  const around = { input: knownType(file, tool.input), settings: withMembers(settings) };
  checkExpression(fixed.value, { scope: joined(withMembers(around)), by: "runner" }, [...at, "value"], problems);
}

/** Whether lists and objects hold only single values. */
function isFlat(file: ToolFile, shape: Shape): boolean {
  const isSingle = (each: Shape) => kindOfParameter(file, each) === "single";
  if (shape.kind === "list" || shape.kind === "map") return isSingle(shape.of);
  const type = shape.kind === "object" ? file.types[shape.type] : undefined;
  if (!type || type.union) return true;
  const inner = Object.values(type.fields).map((field) => field.shape);
  return [...inner, ...(type.additional ? [type.additional] : [])].every(isSingle);
}
