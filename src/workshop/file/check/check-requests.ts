import { nearestName } from "../../../text/nearest-name.ts";
import { oneOf } from "../read/part.ts";
import type { Path, Problems } from "../model/problem.ts";
import { fieldsInPath } from "../read/read-request.ts";
import { findRequestTool } from "../model/request-tools.ts";
import { fieldsInName, secretNames } from "../model/secret-names.ts";
import type { FieldSpec, RequestToolSpec, SecretsSpec, ToolFile, ToolSpec } from "../model/tool-file.ts";
import { fieldsOfParameter, fieldsTaken } from "../read/uses.ts";

/** Names that tools refer to, and input fields that are used nowhere. */
export function checkRequests(file: ToolFile, problems: Problems): void {
  const used = new Set<string>();
  for (const [name, tool] of Object.entries(file.tools)) {
    const path = ["tools", name];
    refer(tool.input, Object.keys(file.types), "type", [...path, "input"], problems);
    refer(tool.response.type, Object.keys(file.types), "type", [...path, "response", "type"], problems);
    checkConfirmed(file, tool, path, problems);
    if (!tool.request) continue;
    const { secrets } = tool.request;
    refer(secrets, Object.keys(file.secrets), "set of secrets", [...path, "request", "secrets"], problems);
    if (secrets !== undefined) used.add(secrets);
    checkRequest(file, tool, path, problems);
  }
  for (const name of Object.keys(file.secrets)) {
    if (!used.has(name)) problems.warning(["secrets", name], "no request uses these secrets");
  }
  for (const name of Object.keys(file.fake.tools)) {
    refer(name, Object.keys(file.tools), "tool", ["fake", "tools", name], problems);
  }
}

function refer(
  name: string | undefined,
  known: readonly string[],
  what: string,
  path: Path,
  problems: Problems,
): boolean {
  if (name === undefined || name === "" || known.includes(name)) return name !== undefined && name !== "";
  const meant = nearestName(name, known);
  const others = known.length > 0 ? `There is ${oneOf(known)}.` : undefined;
  problems.error(path, `there is no ${what} "${name}"`, meant ? `Did you mean "${meant}"?` : others);
  return false;
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
  const look = (field: string, at: Path, kind: keyof typeof FITS) => {
    if (refer(field, names, "field of the input", at, problems)) checkFits(fields[field], kind, field, at, problems);
  };
  for (const field of fieldsInPath(request.path)) look(field, [...path, "path"], "path");
  for (const kind of ["query", "headers"] as const) {
    for (const [key, parameter] of Object.entries(request[kind])) {
      for (const field of fieldsOfParameter(parameter)) look(field, [...path, kind, key], kind);
    }
  }
  const inSecrets = secrets ? secretNames(secrets).flatMap(fieldsInName) : [];
  for (const field of inSecrets) look(field, [...path, "secrets"], "path");
  if (secrets) checkClashes(tool, secrets, path, problems);
  if (request.body !== undefined) return checkShared(file, tools, problems);
  const sent = [...fieldsTaken(request), ...inSecrets];
  for (const [field, spec] of Object.entries(fields)) {
    if (spec.wire === false || sent.includes(field) || tool.confirm?.field === field) continue;
    const hint = "Put it into path, query or headers, give a body, or write wire: false.";
    problems.error(
      ["types", tool.input, "fields", field],
      `${tools.at(-1)} has no body, so this field is sent nowhere`,
      hint,
    );
  }
}

/** A field that one tool takes out of the body is not in the body of the others either. */
function checkShared(file: ToolFile, tools: Path, problems: Problems): void {
  const tool = findRequestTool(file, String(tools.at(-1)));
  const sharing = Object.keys(file.tools).filter((name) => file.tools[name]?.input === tool?.input);
  const others = sharing.flatMap((name) => {
    const other = findRequestTool(file, name);
    return other?.request.body === undefined ? [] : [[name, other] as const];
  });
  if (!tool || others.length < 2) return;
  const own = fieldsTaken(tool.request);
  for (const field of new Set(others.flatMap(([, { request }]) => fieldsTaken(request)))) {
    if (own.includes(field) || file.types[tool.input]?.fields[field]?.wire !== false) continue;
    const message = `"${field}" is not sent: another tool with this input has it outside of the body`;
    problems.warning(
      [...tools, "input"],
      message,
      "Say with wire where it stands, or give the tools inputs of their own.",
    );
  }
}

/** What a place accepts: text, and lists in the query. */
const FITS = { path: "a path", query: "a query", headers: "a header" };

function checkFits(
  field: FieldSpec | undefined,
  kind: keyof typeof FITS,
  name: string,
  at: Path,
  problems: Problems,
): void {
  if (!field) return;
  const inner = field.shape.kind === "list" ? field.shape.of : field.shape;
  if (inner.kind !== "scalar" || (field.shape.kind === "list" && kind !== "query")) {
    problems.error(
      at,
      `"${name}" does not fit into ${FITS[kind]}`,
      kind === "query" ? "Single values and lists of them do." : "Single values do.",
    );
  } else if (kind === "path" && field.optional && field.default === undefined) {
    problems.error(at, `"${name}" is optional, but there is no address without it`);
  }
}

function checkClashes(
  { request }: RequestToolSpec,
  { query, headers, bearer, basic }: SecretsSpec,
  path: Path,
  problems: Problems,
): void {
  const places = [
    { key: "query", taken: Object.keys(query) },
    { key: "headers", taken: [...Object.keys(headers), ...(bearer !== undefined || basic ? ["authorization"] : [])] },
  ] as const;
  for (const { key, taken } of places) {
    for (const name of Object.keys(request[key])) {
      const clashes = taken.some(
        (other) => other === name || (key === "headers" && other.toLowerCase() === name.toLowerCase()),
      );
      if (clashes) problems.error([...path, key, name], `"${name}" already carries a secret`);
    }
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
