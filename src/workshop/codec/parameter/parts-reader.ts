import { asNexusError } from "../../../errors/nexus-error.ts";
import { textOf } from "../../expression/arithmetic.ts";
import { evaluate } from "../../expression/evaluate.ts";
import type { Expression } from "../../expression/expression.ts";
import { callsIn, innerOf, mentioned } from "../../expression/names.ts";
import { parseExpression } from "../../expression/parse.ts";
import { placesIn, type PathPlace } from "../../file/model/path-template.ts";
import type {
  FieldSpec,
  FixedValue,
  ParameterStyle,
  RequestSpec,
  SecretsSpec,
  Shape,
  ToolFile,
  RequestToolSpec,
} from "../../file/model/tool-file.ts";
import type { Pair } from "./form-text.ts";
import { flatName } from "../../file/model/member-names.ts";
import { jsonValue } from "../json/json-codec.ts";
import type { Fields } from "../record/record-source.ts";
import { belongsTo, readPairs, treeOfPairs, type PairReading } from "./pair-styles.ts";
import { ParameterTrees, type ParameterTree } from "./parameter-tree.ts";
import { kindOfParameter, type ParameterKind } from "../../shape/parameter-kind.ts";
import { parameterOf } from "./parameter.ts";

/** The parts of a received request besides its body. */
interface ReceivedParts {
  /** The texts in the places of the path, still encoded. */
  path: readonly string[];
  query: readonly Pair[];
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The fields in these parts, and the problems of those that are not as the file says. */
interface ReadParts {
  input: Fields;
  problems: string[];
  /** How many of the problems are about constants, if any: the request may be meant for another tool. */
  wrongConstants?: number;
}

/** Computed parameters are compared when all fields are read. */
interface Reading extends ReadParts {
  computed: { name: string; expression: Expression; given: string | undefined }[];
}

/** Reads path, query, headers and cookies of a tool's requests, strictly: the reverse of `requestPartsFor`. */
export class PartsReader {
  readonly #file: ToolFile;
  readonly #request: RequestSpec;
  readonly #fields: Record<string, FieldSpec>;
  readonly #secrets: SecretsSpec | undefined;
  readonly #trees: ParameterTrees;
  readonly #inParameters: ReadonlySet<string>;

  constructor(file: ToolFile, { request, input }: Pick<RequestToolSpec, "request" | "input">) {
    this.#file = file;
    this.#request = request;
    this.#fields = file.types[input]?.fields ?? {};
    this.#secrets = request.secrets === undefined ? undefined : file.secrets[request.secrets];
    this.#trees = new ParameterTrees(file);
    const { path, query, headers, cookies = {} } = request;
    const given = [query, headers, cookies].flatMap((each) => Object.values(each));
    this.#inParameters = new Set([
      ...placesIn(path).map(({ field }) => field),
      ...given.flatMap((each) => (typeof each === "string" ? each : "field" in each ? each.field : [])),
    ]);
  }

  /** `body`: the fields in the body, for what is computed from them. */
  read({ path, query, headers }: ReceivedParts, body: Fields = {}): ReadParts {
    const reading: Reading = { input: {}, problems: [], computed: [] };
    for (const [index, place] of placesIn(this.#request.path).entries()) {
      const kind = this.#kind(place.field);
      this.#take(place.field, kind && readPlace(place, kind, path[index] ?? ""), reading);
    }
    this.#readPairs("query", query, reading);
    this.#readPairs("cookies", cookiesIn(headers["cookie"]), reading);
    for (const [name, header] of Object.entries(this.#request.headers)) {
      const given = headers[name.toLowerCase()];
      const parameter = parameterOf(header, "headers");
      const line = given === undefined ? undefined : [given].flat().join(",");
      if (!("field" in parameter)) readFixed(parameter, name, line === undefined ? [] : [line], reading);
      else this.#takeLine(parameter.field, parameter.style, line, reading);
    }
    const { input, problems, wrongConstants, computed } = reading;
    for (const { name, expression, given } of problems.length > 0 ? [] : computed) {
      if (!this.#isRepeatable(expression)) continue;
      const value = evaluate(expression, { input: { ...body, ...input } });
      const expected = value === null || value === undefined ? undefined : textOf(value);
      if (given === expected) continue;
      problems.push(`${name}: expected ${expected === undefined ? "nothing" : JSON.stringify(expected)}`);
    }
    return { input, problems, ...(wrongConstants === undefined ? {} : { wrongConstants }) };
  }

  /** Whether all that an expression uses is in the request. Settings and times are not. */
  #isRepeatable(expression: Expression): boolean {
    if (["now", "today", "request_key"].some((name) => callsIn(expression, name))) return false;
    if (mentioned(expression).some((name) => name !== "input")) return false;
    const hasBody = this.#request.body !== undefined;
    return membersOf(expression, "input").every((name) => {
      const field = name === undefined ? undefined : this.#fields[name];
      if (name === undefined || !field) return false;
      if (!this.#inParameters.has(name) && (!hasBody || field.wire === false)) return false;
      // A file may be given as a data URL, which is not sent.
      return field.shape.kind !== "scalar" || field.shape.type !== "binary";
    });
  }

  #readPairs(place: "query" | "cookies", pairs: readonly Pair[], reading: Reading): void {
    const parameters = Object.entries(this.#request[place] ?? {});
    const credentials = Object.keys(this.#secrets?.[place] ?? {});
    const declared = new Set([...parameters.map(([name]) => name), ...credentials]);
    const used = new Set<Pair>();
    for (const [name, each] of parameters) {
      const parameter = parameterOf(each, place);
      if (!("field" in parameter)) {
        const own = pairs.filter(([given]) => given === name);
        for (const pair of own) used.add(pair);
        readFixed(
          parameter,
          name,
          own.map(([, text]) => text),
          reading,
        );
        continue;
      }
      const { field, style } = parameter;
      const kind = style === "json" ? "single" : (this.#kind(field) ?? "single");
      const how: PairReading = { name, style, kind, isMember: this.#memberTest(field, name, declared) };
      const own = pairs.filter((pair) => !used.has(pair) && belongsTo(how, pair[0]));
      for (const pair of own) used.add(pair);
      if (style === "json")
        this.#takeJson(
          field,
          own.map(([, text]) => text),
          reading,
        );
      else this.#take(field, readPairs(how, own), reading);
    }
    const unknown = pairs.filter((pair) => !used.has(pair) && !credentials.includes(pair[0])).map(([name]) => name);
    const word = place === "query" ? "parameter" : "cookie";
    for (const name of new Set(unknown)) reading.problems.push(`${name}: unknown ${word}`);
  }

  /** Whether a name is one of the members of an object; those of a map are all that nothing else has. */
  #memberTest(field: string, own: string, declared: ReadonlySet<string>): (name: string) => boolean {
    const shape = this.#fields[field]?.shape;
    const type = shape?.kind === "object" ? this.#file.types[shape.type] : undefined;
    const isFree = shape?.kind === "map" || type?.additional !== undefined;
    const names = new Set(
      Object.values(type?.fields ?? {}).map(({ wire }) => (wire === false ? wire : flatName(wire))),
    );
    return (name) => names.has(name) || (isFree && (name === own || !declared.has(name)));
  }

  #takeLine(field: string, style: ParameterStyle, line: string | undefined, reading: Reading): void {
    if (style === "json") return this.#takeJson(field, line === undefined ? [] : [line], reading);
    const kind = this.#kind(field);
    this.#take(field, line === undefined || !kind ? undefined : treeOfLine(line, style, kind), reading);
  }

  #take(field: string, tree: ParameterTree | undefined, reading: ReadParts): void {
    const { input, problems } = reading;
    const spec = this.#fields[field];
    if (!spec) return;
    if (spec.const !== undefined) {
      const isRight = tree === this.#trees.constant(spec.shape, spec.const);
      if (isRight) input[field] = spec.const;
      else reading.wrongConstants = (reading.wrongConstants ?? 0) + 1;
      if (!isRight) problems.push(`${field}: expected ${JSON.stringify(spec.const)}`);
      return;
    }
    const value =
      tree === undefined ? this.#absent(field, spec, problems) : this.#trees.read(spec.shape, tree, field, problems);
    if (value !== undefined) input[field] = value;
  }

  #absent(field: string, { shape, optional, default: standard }: FieldSpec, problems: string[]): unknown {
    if (standard !== undefined) return standard;
    if (shape.kind === "list" && (optional || (shape.minItems ?? 0) === 0)) return [];
    if (optional) return undefined;
    // An object without members leaves no trace.
    if (shape.kind === "map" || shape.kind === "object")
      return this.#trees.read(shape, { members: [] }, field, problems);
    problems.push(`${field}: missing`);
    return undefined;
  }

  #takeJson(field: string, texts: readonly string[], reading: ReadParts): void {
    const { input, problems } = reading;
    const spec = this.#fields[field];
    const [text] = texts;
    if (!spec) return;
    if (texts.length > 1) problems.push(`${field}: is given more than once`);
    else if (text === undefined) this.#take(field, undefined, reading);
    else if (text === "null" && spec.nullable) input[field] = null;
    else this.#readJson(spec.shape, field, text, reading);
  }

  #readJson(shape: Shape, field: string, text: string, { input, problems }: ReadParts): void {
    try {
      const { value, deviations } = jsonValue(this.#file, shape).decode(text, field);
      for (const { path, problem } of deviations) problems.push(`${path}: ${problem}`);
      if (value !== undefined) input[field] = value;
    } catch (error) {
      problems.push(`${field}: ${asNexusError(error).message}`);
    }
  }

  #kind(field: string): ReturnType<typeof kindOfParameter> {
    const shape = this.#fields[field]?.shape;
    return shape && kindOfParameter(this.#file, shape);
  }
}

/** A constant must be there; what is computed is compared later. */
function readFixed(parameter: FixedValue, name: string, given: readonly string[], reading: Reading): void {
  if (given.length > 1) reading.problems.push(`${name}: is given more than once`);
  else if ("value" in parameter) {
    reading.computed.push({ name, expression: parseExpression(parameter.value), given: given[0] });
  } else if (given[0] !== parameter.const) {
    reading.wrongConstants = (reading.wrongConstants ?? 0) + 1;
    reading.problems.push(`${name}: expected ${JSON.stringify(parameter.const)}`);
  }
}

function cookiesIn(header: string | string[] | undefined): Pair[] {
  const texts = [header ?? []].flat().flatMap((line) => line.split(";"));
  return texts
    .map((text) => splitMember(text.trim()))
    .filter(([name]) => name !== "")
    .map(decoded);
}

function decoded([name, value]: Pair): Pair {
  try {
    return [decodeURIComponent(name), decodeURIComponent(value)];
  } catch {
    return [name, value];
  }
}

/** The members of a name that an expression uses; undefined in it where the name is used otherwise. */
function membersOf(expression: Expression, name: string): (string | undefined)[] {
  const isMeant = (each: Expression) => each.kind === "name" && each.name === name;
  if (isMeant(expression)) return [undefined];
  if (expression.kind === "member" && isMeant(expression.of)) return [expression.name];
  return innerOf(expression).flatMap((inner) => membersOf(inner, name));
}

/** The value in the text of a place, which is still encoded; undefined if it was not written in this style. */
function readPlace(
  { field, operator, explode }: PathPlace,
  kind: ParameterKind,
  text: string,
): ParameterTree | undefined {
  if (!text.startsWith(operator)) return undefined;
  if (operator === "") return decodedTree(text, kind, { explode, delimiter: "," });
  const inner = text.slice(1);
  if (operator === ".") return decodedTree(inner, kind, { explode, delimiter: explode ? "." : "," });
  const pairs = inner.split(";").map(splitMember);
  if (kind === "object" && explode) return { members: pairs.map(([name, value]) => [plain(name), plain(value)]) };
  if (pairs.some(([name]) => name !== field)) return undefined;
  const values = pairs.map(([, value]) => value);
  if (kind === "list" && explode) return values.map(plain);
  return values.length === 1 ? decodedTree(values[0] ?? "", kind, { explode: false, delimiter: "," }) : undefined;
}

function decodedTree(
  text: string,
  kind: ParameterKind,
  { explode, delimiter }: { explode: boolean; delimiter: string },
): ParameterTree {
  if (kind === "single") return plain(text);
  const parts = text.split(delimiter);
  if (kind === "list") return parts.map(plain);
  if (!explode) return treeOfPairs(parts.map(plain));
  return { members: parts.map(splitMember).map(([name, value]) => [plain(name), plain(value)]) };
}

function plain(text: string): string {
  return decodeURIComponent(text);
}

/** The reverse of `lineOf`. */
function treeOfLine(line: string, style: ParameterStyle, kind: ParameterKind): ParameterTree {
  if (kind === "single") return line;
  const texts = line.split(",").map((text) => text.trim());
  if (kind === "list") return texts;
  return style === "pairs" ? treeOfPairs(texts) : { members: texts.map(splitMember) };
}

function splitMember(text: string): [string, string] {
  const at = text.indexOf("=");
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
