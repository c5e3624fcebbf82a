import { covers } from "../forms/parts.ts";
import type { Path, Problems } from "../../../format/problem.ts";
import { requestTools } from "../model/request-tools.ts";
import { fieldsInName, secretNames } from "../model/secret-names.ts";
import type {
  FieldSpec,
  RequestToolSpec,
  SecretsSpec,
  ToolFile,
  ToolSpec,
  FixedValue,
  ParameterStyle,
  Shape,
} from "../model/tool-file.ts";
import { fieldsTaken } from "../complete/uses.ts";
import { placesIn } from "../model/path-template.ts";
import { kindOfParameter, type ParameterKind } from "../../shape/parameter-kind.ts";
import { checkExpression } from "./check-expressions.ts";
import { joined, knownType, SINGLE, withMembers } from "./known-value.ts";
import { nearestName } from "../../../text/nearest-name.ts";
import { oneOf } from "../../../format/part.ts";

/** Names that tools refer to, and input fields that are used nowhere. */
export function checkRequests(file: ToolFile, problems: Problems): void {
  const used = new Set<string>();
  const types = Object.keys(file.types);
  const taken = takenByInput(file);
  for (const [name, tool] of Object.entries(file.tools)) {
    const path = ["tools", name];
    refer(tool.input, types, "type", [...path, "input"], problems);
    refer(tool.response.type, types, "type", [...path, "response", "type"], problems);
    checkConfirmed(file, tool, path, problems);
    if (!tool.request) continue;
    const { secrets } = tool.request;
    refer(secrets, Object.keys(file.secrets), "set of secrets", [...path, "request", "secrets"], problems);
    if (secrets !== undefined) used.add(secrets);
    checkRequest(file, tool, path, problems);
    if (tool.request.body !== undefined) checkShared(file, tool, { path, taken: taken.get(tool.input) }, problems);
  }
  for (const name of Object.keys(file.secrets)) {
    if (!used.has(name)) problems.warning(["secrets", name], "no request uses these secrets");
  }
  const tools = Object.keys(file.tools);
  for (const name of Object.keys(file.fake.tools)) {
    refer(name, tools, "tool", ["fake", "tools", name], problems);
  }
}

function checkRequest(file: ToolFile, tool: RequestToolSpec, tools: Path, problems: Problems): void {
  const path = [...tools, "request"];
  const { request } = tool;
  const fields = fieldsOf(file, tool.input);
  if (!fields) return;
  const names = Object.keys(fields);
  const secrets =
    request.secrets !== undefined && Object.hasOwn(file.secrets, request.secrets)
      ? file.secrets[request.secrets]
      : undefined;
  checkParameters(file, tool, path, problems);
  checkResponse(file, tool, [...tools, "response"], problems);
  checkWholeBody(tool, fields, path, problems);
  if (request.base !== undefined && !file.upstream.allow.some((address) => covers(address, request.base ?? ""))) {
    problems.error([...path, "base"], "is not within upstream.allow", `Add ${request.base} there.`);
  }
  const inSecrets = secrets ? secretNames(secrets).flatMap(fieldsInName) : [];
  for (const field of inSecrets) {
    const at = [...path, "secrets"];
    if (!refer(field, names, "field of the input", at, problems)) continue;
    const { shape, optional, default: standard } = fields[field] ?? {};
    if (shape?.kind !== "scalar") problems.error(at, `"${field}" does not fit into the name of a secret`);
    else if (optional && standard === undefined)
      problems.error(at, `"${field}" is optional, but a secret has it in its name`);
  }
  if (secrets) {
    checkClashes(tool, secrets, path, problems);
    checkBodySecrets(file, tool, secrets, path, problems);
  }
  if (request.body !== undefined) return;
  const sent = [...fieldsTaken(request), ...inSecrets];
  for (const [field, spec] of Object.entries(fields)) {
    if (spec.wire === false || spec.side === "output" || sent.includes(field) || tool.confirm?.field === field)
      continue;
    const hint = "Put it into path, query, headers or cookies, give a body, or write wire: false.";
    problems.error(
      ["types", tool.input, "fields", field],
      `${tools.at(-1)} has no body, so this field is sent nowhere`,
      hint,
    );
  }
}

/** The most fields that are reported for one tool. */
const MOST_SHARED = 20;

/** For the input of tools with a body: the fields that any of them takes out of it. */
function takenByInput(file: ToolFile): Map<string, Set<string>> {
  const taken = new Map<string, Set<string>>();
  for (const [, { input, request }] of requestTools(file)) {
    if (request.body === undefined) continue;
    const known = taken.get(input) ?? new Set();
    taken.set(input, known);
    for (const field of fieldsTaken(request)) known.add(field);
  }
  return taken;
}

/** A field that one tool takes out of the body is not in the body of the others either. */
function checkShared(
  file: ToolFile,
  tool: RequestToolSpec,
  { path, taken = [] }: { path: Path; taken: Iterable<string> | undefined },
  problems: Problems,
): void {
  if (!fieldsOf(file, tool.input)) return;
  const own = new Set(fieldsTaken(tool.request));
  let found = 0;
  for (const field of taken) {
    if (own.has(field) || file.types[tool.input]?.fields[field]?.wire !== false) continue;
    if (++found > MOST_SHARED) return;
    const message = `"${field}" is not sent: another tool with this input has it outside of the body`;
    problems.warning(
      [...path, "input"],
      message,
      "Say with wire where it stands, or give the tools inputs of their own.",
    );
  }
}

/** Response headers fill single values and lists of them. */
function checkResponse(file: ToolFile, { response }: RequestToolSpec, path: Path, problems: Problems): void {
  const fields = response.type === undefined ? undefined : fieldsOf(file, response.type);
  for (const [header, field] of Object.entries(fields ? (response.headers ?? {}) : {})) {
    const at = [...path, "headers", header];
    if (!refer(field, Object.keys(fields ?? {}), "field of the answer", at, problems)) continue;
    const shape = fields?.[field]?.shape;
    const inner = shape?.kind === "list" ? shape.of : shape;
    if (inner?.kind !== "scalar") problems.error(at, `"${field}" is not a single value or a list of them`);
  }
}

/** A body of bytes or text is one field. */
function checkWholeBody(
  { request, input }: RequestToolSpec,
  fields: Record<string, FieldSpec>,
  path: Path,
  problems: Problems,
): void {
  if (request.body !== "binary" && request.body !== "text") return;
  const sent = Object.entries(fields).filter(([, { wire, side }]) => wire !== false && side !== "output");
  const [whole, ...others] = sent;
  const at = [...path, "body"];
  if (!whole || others.length > 0 || whole[1].wire !== ".") {
    const hint = `Write wire: "." at the one field of ${input} that is the body.`;
    problems.error(at, `a ${request.body} body is exactly one field`, hint);
  } else if (whole[1].shape.kind !== "scalar" || (whole[1].shape.type === "binary") !== (request.body === "binary")) {
    const type = request.body === "binary" ? "type: binary" : "a single value that is text";
    problems.error(at, `"${whole[0]}" cannot be a ${request.body} body`, `It must be ${type}.`);
  }
}

function checkClashes(
  { request }: RequestToolSpec,
  { query, headers, bearer, basic, cookies }: SecretsSpec,
  path: Path,
  problems: Problems,
): void {
  const places = [
    { key: "query", taken: Object.keys(query) },
    { key: "cookies", taken: Object.keys(cookies ?? {}) },
    { key: "headers", taken: [...Object.keys(headers), ...(bearer !== undefined || basic ? ["authorization"] : [])] },
  ] as const;
  for (const { key, taken } of places) {
    for (const name of Object.keys(request[key] ?? {})) {
      const clashes = taken.some(
        (other) => other === name || (key === "headers" && other.toLowerCase() === name.toLowerCase()),
      );
      if (clashes) problems.error([...path, key, name], `"${name}" already carries a secret`);
    }
  }
}

/** A secret of the body is written in the place of a field that callers do not see. */
function checkBodySecrets(
  file: ToolFile,
  { input, request }: RequestToolSpec,
  { body }: SecretsSpec,
  path: Path,
  problems: Problems,
): void {
  if (!body) return;
  const at = [...path, "secrets"];
  if (request.body === undefined) problems.error(at, "has secrets of a body, but the request has none");
  const fields = fieldsOf(file, input) ?? {};
  for (const name of Object.keys(body)) {
    if (!refer(name, Object.keys(fields), "field of the input", at, problems)) continue;
    const { shape, hidden, wire } = fields[name] ?? {};
    const field = ["types", input, "fields", name];
    if (shape?.kind !== "scalar" || shape.type !== "string") problems.error(field, "is a secret, so it must be text");
    if (!hidden) problems.error(field, "is a secret, so callers must not see it", "Write hidden: true.");
    if (wire === false) problems.error(field, "is a secret, but is not sent", "Write with wire where it stands.");
  }
}

function checkConfirmed(file: ToolFile, { confirm, input }: ToolSpec, tools: Path, problems: Problems): void {
  if (!confirm) return;
  const path = [...tools, "confirm"];
  const fields = fieldsOf(file, input);
  if (fields && refer(confirm.field, Object.keys(fields), "field of the input", [...path, "field"], problems)) {
    const shape = fields[confirm.field]?.shape;
    const isNumber = shape?.kind === "scalar" && (shape.type === "number" || shape.type === "integer");
    if (!isNumber) problems.error([...path, "field"], `"${confirm.field}" is not a number`);
  }
  if (!refer(confirm.call, Object.keys(file.tools), "tool", [...path, "call"], problems)) return;
  if (file.tools[confirm.call]?.effect !== "read") {
    problems.error([...path, "call"], `${confirm.call} does more than read: it cannot be called to make sure`);
  }
}

function fieldsOf(file: ToolFile, type: string): Record<string, FieldSpec> | undefined {
  return Object.hasOwn(file.types, type) ? file.types[type]?.fields : undefined;
}

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
function checkParameters(file: ToolFile, tool: RequestToolSpec, path: Path, problems: Problems): void {
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

/** At most this many names are listed in a hint. */
const MAX_LISTED = 20;

/** Whether a name is given and known; an unknown one is reported. */
function refer(
  name: string | undefined,
  known: readonly string[],
  what: string,
  path: Path,
  problems: Problems,
): boolean {
  if (name === undefined || name === "" || known.includes(name)) return name !== undefined && name !== "";
  const meant = nearestName(name, known);
  const others = known.length > 0 && known.length <= MAX_LISTED ? `There is ${oneOf(known)}.` : undefined;
  problems.error(path, `there is no ${what} "${name}"`, meant ? `Did you mean "${meant}"?` : others);
  return false;
}
