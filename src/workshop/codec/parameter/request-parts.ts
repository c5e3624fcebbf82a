import { NexusError } from "../../../errors/nexus-error.ts";
import { textOf } from "../../expression/arithmetic.ts";
import { evaluate } from "../../expression/evaluate.ts";
import type { Scope } from "../../expression/expression.ts";
import { parseExpression } from "../../expression/parse.ts";
import { PLACE } from "../../file/model/path-template.ts";
import { findRequestTool } from "../../file/model/request-tools.ts";
import type { FixedValue, ParameterStyle, RequestToolSpec, ToolFile, TypeSpec } from "../../file/model/tool-file.ts";
import { headerText } from "./address.ts";
import { percentEncoded } from "./form-text.ts";
import { jsonValue } from "../json/json-codec.ts";
import { type Fields, own } from "../record/record-source.ts";
import { encodedPair, lineOf, plainPair, requireFreeNames, type StyledPair, writePairs } from "./pair-styles.ts";
import { type ParameterTree, ParameterTrees } from "./parameter-tree.ts";
import { fillPath } from "./path-styles.ts";
import { parameterOf, type FieldParameter } from "./parameter.ts";

/** The parts of a request besides its body. */
interface RequestParts {
  /** Relative to the base, encoded. */
  path: string;
  /** Encoded, without a question mark; empty for none. */
  query: string;
  /** With the cookies as `cookie`. */
  headers: Record<string, string>;
}

type TreeOf = (value: Fields) => ParameterTree | undefined;
type PairsOf = (value: Fields, scope: Scope) => readonly StyledPair[];

/** Prepares how a tool's arguments go into path, query, headers and cookies. `scope`: for computed parameters. */
export function requestPartsFor(file: ToolFile, tool: string): (value: Fields, scope?: Scope) => RequestParts {
  const spec = findRequestTool(file, tool);
  const type = spec && file.types[spec.input];
  if (!spec || !type) throw new NexusError("CONFIG_INVALID", `There is no tool "${tool}"`);
  const writer = new PartsWriter(file, tool, spec, type);
  const { path, query, headers, cookies = {} } = spec.request;
  const inPath = new Map([...path.matchAll(PLACE)].map(([, , field = ""]) => [field, writer.tree(field)]));
  const inQuery = Object.entries(query).map(([name, parameter]) => writer.search(name, parameter));
  const inHeaders = Object.entries(headers).map(([name, header]) => ({ name, write: writer.line(header) }));
  const inCookies = Object.entries(cookies).map(([name, cookie]) => writer.pairs(name, cookie, "cookies"));
  return (value, scope = {}) => {
    const written: Record<string, string> = {};
    for (const { name, write } of inHeaders) {
      const line = write(value, scope);
      if (line !== undefined) written[name] = line;
    }
    const pairs = inCookies.length === 0 ? [] : inCookies.flatMap((pairsOf) => pairsOf(value, scope)).map(plainPair);
    if (pairs.length > 0) {
      written["cookie"] = pairs.map((pair) => pair.map((text) => percentEncoded(text, pair[0])).join("=")).join("; ");
    }
    let search = "";
    for (const write of inQuery) {
      const part = write(value, scope);
      if (part !== "") search += search === "" ? part : `&${part}`;
    }
    return {
      path: inPath.size === 0 ? path : fillPath(path, (field) => inPath.get(field)?.(value)),
      query: search,
      headers: written,
    };
  };
}

/** Prepares the parameters of one tool. */
class PartsWriter {
  readonly #file: ToolFile;
  readonly #place: string;
  readonly #spec: RequestToolSpec;
  readonly #type: TypeSpec;
  readonly #trees: ParameterTrees;

  constructor(file: ToolFile, tool: string, spec: RequestToolSpec, type: TypeSpec) {
    this.#file = file;
    this.#place = `tools.${tool}.request`;
    this.#spec = spec;
    this.#type = type;
    this.#trees = new ParameterTrees(file);
  }

  /** The value of a field: undefined if it is absent. */
  tree(field: string): TreeOf {
    const { shape, const: constant } = this.#field(field);
    return (fields) => {
      const value = own(fields, field);
      if (constant !== undefined && (value === undefined || value === constant)) {
        return this.#trees.constant(shape, constant);
      }
      return this.#trees.write(shape, value, field);
    };
  }

  /** A parameter of the query, encoded; empty if it is absent. Most have one text, and need no list of pairs. */
  search(name: string, parameter: Parameter): (value: Fields, scope: Scope) => string {
    const known = parameterOf(parameter, "query");
    if ("field" in known && known.style !== "json" && this.#field(known.field).shape.kind === "scalar") {
      const tree = this.tree(known.field);
      const before = `${percentEncoded(name, name)}=`;
      return (value) => {
        const text = tree(value);
        return typeof text === "string" ? before + percentEncoded(text, name) : "";
      };
    }
    const pairsOf = this.pairs(name, parameter, "query");
    return (value, scope) => {
      let search = "";
      for (const pair of pairsOf(value, scope)) search += search === "" ? encodedPair(pair) : `&${encodedPair(pair)}`;
      return search;
    };
  }

  pairs(name: string, parameter: Parameter, place: "query" | "cookies"): PairsOf {
    const known = parameterOf(parameter, place);
    if (!("field" in known)) {
      const textOfFixed = fixedText(known);
      return (_, scope) => single(name, textOfFixed(scope));
    }
    const { field, style } = known;
    if (style === "json") {
      const json = this.#json(field);
      return (value) => single(name, json(value));
    }
    const tree = this.tree(field);
    const taken = this.#taken(place, name);
    // Only the members of objects and maps have names of their own.
    const { kind } = this.#field(field).shape;
    const mayHaveNames = kind !== "scalar" && kind !== "list" && (style === "members" || style === "repeat");
    return (value) => {
      const written = tree(value);
      if (written === undefined) return [];
      const pairs = writePairs(name, style, written, field);
      return mayHaveNames ? requireFreeNames(pairs, { name, field, taken }) : pairs;
    };
  }

  line(header: Parameter): (value: Fields, scope: Scope) => string | undefined {
    const known = parameterOf(header, "headers");
    if (!("field" in known)) {
      const textOfFixed = fixedText(known);
      return (_, scope) => {
        const text = textOfFixed(scope);
        return text === undefined ? undefined : headerText(text, "The computed value");
      };
    }
    const write = this.#lineOf(known);
    return (value) => {
      const line = write(value);
      return line === undefined ? undefined : headerText(line, known.field);
    };
  }

  #lineOf({ field, style }: FieldParameter): (value: Fields) => string | undefined {
    if (style === "json") {
      const json = this.#json(field);
      return (value) => json(value)?.replaceAll(/[^\x20-\x7e]/g, escaped);
    }
    const tree = this.tree(field);
    return (value) => {
      const written = tree(value);
      const isEmpty = written === undefined || (Array.isArray(written) && written.length === 0);
      return isEmpty ? undefined : lineOf(style, written, field);
    };
  }

  #json(field: string): (value: Fields) => string | undefined {
    const { shape, nullable, const: constant } = this.#field(field);
    const codec = jsonValue(this.#file, shape);
    return (fields) => {
      const value = own(fields, field) ?? constant;
      if (value === undefined) return undefined;
      if (value === null) return nullable ? "null" : undefined;
      return codec.encode(value, field);
    };
  }

  /** The names of other parameters and of credentials: members must not replace them. */
  #taken(place: "query" | "cookies", name: string): ReadonlySet<string> {
    const { request } = this.#spec;
    const secrets = request.secrets === undefined ? undefined : this.#file.secrets[request.secrets];
    const names = [...Object.keys(request[place] ?? {}), ...Object.keys(secrets?.[place] ?? {})];
    return new Set(names.filter((each) => each !== name).map((each) => each.toLowerCase()));
  }

  #field(field: string): TypeSpec["fields"][string] {
    const { fields } = this.#type;
    const found = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (found) return found;
    throw new NexusError("CONFIG_INVALID", `${this.#place}: there is no field "${field}" in ${this.#spec.input}`);
  }
}

type Parameter = string | { field: string; style: ParameterStyle } | FixedValue;

function fixedText(fixed: FixedValue): (scope: Scope) => string | undefined {
  if ("const" in fixed) return () => fixed.const;
  const expression = parseExpression(fixed.value);
  return (scope) => {
    const value = evaluate(expression, scope);
    return value === null || value === undefined ? undefined : textOf(value);
  };
}

function single(name: string, text: string | undefined): StyledPair[] {
  return text === undefined ? [] : [{ name, texts: [text], delimiter: "" }];
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
