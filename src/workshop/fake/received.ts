import { asNexusError } from "../../errors/nexus-error.ts";
import type { RuleProblem } from "../check/rules.ts";
import type { Codec } from "../codec/record/codec.ts";
import { Mismatch, scalarOf } from "../codec/record/scalar.ts";
import { StepBudget } from "../pattern/step-budget.ts";
import type { FieldSpec, ScalarShape, ToolFile, RequestToolSpec } from "../file/model/tool-file.ts";
import { fieldsOfParameter } from "../file/read/uses.ts";
import type { FakeRoute } from "./routes.ts";

/** A request as it came. */
export interface Arrival {
  /** The complete address, as its client wrote it. */
  url: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Uint8Array;
}

/** The content of a request and its problems, each with its field. */
export interface Received {
  input: Record<string, unknown>;
  problems: string[];
}

export const CONTENT_TYPES = {
  xml: "application/xml",
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  multipart: "multipart/form-data",
  binary: "application/octet-stream",
  text: "text/plain",
} as const;

/** How the requests of one tool are read. */
export interface RequestReading {
  /** Undefined if it has no body. */
  codec?: Codec;
  rules: (value: Record<string, unknown>) => RuleProblem[];
}

/** Reads a request strictly: every deviation from the file is a problem. */
export function receive(
  file: ToolFile,
  route: FakeRoute,
  arrival: Arrival,
  { codec, rules }: RequestReading,
): Received {
  const { spec } = route;
  const parameters = parametersOf(file, route, arrival);
  const body = bodyOf(spec, arrival, codec);
  const input = { ...body.input, ...parameters.input };
  const problems = [
    ...parameters.problems,
    ...unknownParameters(file, spec, arrival.query),
    ...body.problems,
    ...differences(body.input, parameters.input),
  ];
  if (problems.length > 0) return { input, problems };
  return { input, problems: rules(input).map(({ path, say }) => (path === "" ? say : `${path}: ${say}`)) };
}

function parametersOf(file: ToolFile, { spec, path }: FakeRoute, { query, headers }: Arrival): Received {
  const input: Record<string, unknown> = {};
  const problems: string[] = [];
  const take = (field: string, texts: readonly string[]) => {
    const declared = file.types[spec.input]?.fields[field];
    if (!declared) return;
    const read = fieldFrom(declared, texts);
    if (read instanceof Mismatch) problems.push(`${field}: ${read.problem}`);
    else if (read !== undefined) input[field] = read;
  };
  for (const [field, text] of Object.entries(path)) take(field, [text]);
  for (const [name, parameter] of Object.entries(spec.request.query)) {
    if (!("field" in parameter)) continue;
    const { field, style } = parameter;
    const given = query.getAll(name);
    take(field, style === "comma" ? given.flatMap((text) => (text === "" ? [] : text.split(","))) : given);
  }
  for (const [name, header] of Object.entries(spec.request.headers)) {
    const [field] = fieldsOfParameter(header);
    if (field === undefined) continue;
    const given = headers[name.toLowerCase()];
    const isList = file.types[spec.input]?.fields[field]?.shape.kind === "list";
    take(field, given === undefined ? [] : [given].flat().flatMap((text) => (isList ? text.split(/, */) : [text])));
  }
  return { input, problems };
}

function fieldFrom(field: FieldSpec, texts: readonly string[]): unknown {
  const { shape } = field;
  if (shape.kind === "list") {
    const { of, minItems = 0, maxItems = Infinity } = shape;
    if (of.kind !== "scalar") return new Mismatch("only a list of single values can be a parameter");
    if (texts.length > maxItems) return new Mismatch(`expected at most ${maxItems} items`);
    if (texts.length < minItems && !(texts.length === 0 && field.optional)) {
      return new Mismatch(`expected at least ${minItems} items`);
    }
    const items = texts.map((text) => scalarFrom(of, text));
    return items.find((item) => item instanceof Mismatch) ?? items;
  }
  if (shape.kind !== "scalar") return new Mismatch("only a single value or a list can be a parameter");
  const [text] = texts;
  if (texts.length > 1) return new Mismatch("is given more than once");
  if (field.const !== undefined) {
    return text === String(field.const) ? field.const : new Mismatch(`expected ${JSON.stringify(field.const)}`);
  }
  if (text !== undefined) return scalarFrom(shape, text);
  if (field.default !== undefined) return field.default;
  return field.optional ? undefined : new Mismatch("missing");
}

function scalarFrom(shape: ScalarShape, text: string): unknown {
  const scalar = scalarOf(shape);
  const value = scalar.read(text);
  if (value instanceof Mismatch) return value;
  const limit = scalar.limit?.(value, new StepBudget());
  return limit === undefined ? value : new Mismatch(limit);
}

function unknownParameters(file: ToolFile, { request }: RequestToolSpec, query: URLSearchParams): string[] {
  const secrets = request.secrets === undefined ? undefined : file.secrets[request.secrets];
  const known = new Set([...Object.keys(request.query), ...Object.keys(secrets?.query ?? {})]);
  return [...new Set(query.keys())].filter((name) => !known.has(name)).map((name) => `${name}: unknown parameter`);
}

function bodyOf({ request }: RequestToolSpec, { headers, body }: Arrival, codec: Codec | undefined): Received {
  if (request.body === undefined || !codec) {
    return { input: {}, problems: body.length === 0 ? [] : ["the request has a body, and takes none"] };
  }
  const [type = ""] = String(headers["content-type"] ?? "").split(";");
  const expected = CONTENT_TYPES[request.body];
  const wrongType =
    type.trim().toLowerCase() === expected
      ? []
      : [`the content type is ${type === "" ? "missing" : type}, not ${expected}`];
  try {
    const { value, deviations } = codec.decode(body);
    const problems = deviations.map(({ path, problem }) => `${path}: ${problem}`);
    return { input: value, problems: [...wrongType, ...problems] };
  } catch (error) {
    return { input: {}, problems: [...wrongType, asNexusError(error).message] };
  }
}

/** A value that occurs twice in a request must be the same. */
function differences(body: Record<string, unknown>, parameters: Record<string, unknown>): string[] {
  return Object.entries(parameters)
    .filter(([field, value]) => body[field] !== undefined && JSON.stringify(body[field]) !== JSON.stringify(value))
    .map(([field]) => `${field}: not the same in the address and in the body`);
}
