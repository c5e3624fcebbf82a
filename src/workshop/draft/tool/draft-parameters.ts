import type { OperationFacts, ParameterFacts } from "../../documents/api-facts.ts";
import type { FieldSpec, ParameterStyle } from "../../file/model/tool-file.ts";
import { isSecretValue } from "../examples/secret-values.ts";
import { fittingValue, UNFIT } from "../examples/fitting-value.ts";
import { fieldNameFor } from "../names/field-names.ts";
import { pascalCase, shortHash } from "../names/words.ts";
import type { QuestionList } from "../questions.ts";
import { cleanText } from "../texts.ts";
import { TEXT_SHAPE } from "../types/draft-type.ts";
import type { TypeDrafter } from "../types/type-drafter.ts";
import type { YamlMap } from "../yaml/write-yaml.ts";
import { isWritable, parameterStyle, pathPlace } from "./parameter-style.ts";

const CREDENTIAL =
  /^(?:authorization|proxy-authorization|token|api[-_]?(?:key|token)|x[-_]?api[-_]?(?:key|token)|x[-_]?(?:auth|access)[-_]?token|(?:auth|access)[-_]?token|client[-_]?secret|apikey|secret[-_]?key)$/i;

/** The parameters of an operation as input fields, and what the request says about them. */
export interface DraftedParameters {
  fields: Map<string, FieldSpec>;
  /** The parameter of each field. */
  sources: Map<string, ParameterFacts>;
  path: string;
  query: YamlMap;
  headers: YamlMap;
  cookies: YamlMap;
  accept?: string;
  /** Parameters that carry credentials. */
  credentials: ParameterFacts[];
}

export interface ToolPlace {
  tool: string;
  types: TypeDrafter;
  questions: QuestionList;
}

const PLACES = ["path", "query", "header", "cookie"] as const;
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** Headers that are set by the program itself; OpenAPI ignores the first ones as well. */
const OWN_HEADERS = /^(?:accept|content-type|host|content-length|transfer-encoding|connection|cookie|user-agent)$/i;

/** Lists with other signs than a comma between their items. */
const SEPARATED: ReadonlySet<ParameterStyle> = new Set(["space", "pipe", "tab"]);

/** Path, query, header and cookie parameters. Of two with one name, that of the later place is called `idInQuery`. */
export function draftParameters(operation: OperationFacts, place: ToolPlace): DraftedParameters {
  const drafted: DraftedParameters = {
    fields: new Map(),
    sources: new Map(),
    path: "",
    query: {},
    headers: {},
    cookies: {},
    credentials: [],
  };
  const inPath = new Map<string, string>();
  for (const where of PLACES) {
    for (const parameter of operation.parameters.filter((each) => each.in === where)) {
      if (isCredential(parameter)) {
        drafted.credentials.push(parameter);
        const ask = `The ${where} parameter "${parameter.name}" seems to carry credentials, so it became a secret. Is it one?`;
        place.questions.add(ask, `tools.${place.tool}.request.secrets`, parameter.evidence);
      } else {
        addParameter(drafted, parameter, { ...place, inPath, path: operation.path });
      }
    }
  }
  const { path, query } = requestPath(operation.path, inPath, (name) => addUndeclared(drafted, name, operation, place));
  drafted.path = path;
  for (const [name, value] of Object.entries(query)) drafted.query[name] ??= { const: value };
  return drafted;
}

function addParameter(
  drafted: DraftedParameters,
  parameter: ParameterFacts,
  { tool, types, questions, inPath, path }: ToolPlace & { inPath: Map<string, string>; path: string },
): void {
  const { name, in: where } = parameter;
  const about = `tools.${tool}.request`;
  if (where === "path" && !path.includes(`{${name}}`)) {
    questions.add(
      "The document declares a path parameter that the path does not have; it was left out.",
      about,
      parameter.evidence,
    );
    return;
  }
  if (where === "header" && (!HEADER.test(name) || OWN_HEADERS.test(name)))
    return addOwnHeader(drafted, parameter, { questions, about });
  const { constant } = parameter;
  if (constant !== undefined && where !== "path") {
    const target = { query: drafted.query, header: drafted.headers, cookie: drafted.cookies }[where];
    target[name] = { const: constant };
    return;
  }
  const only = onlyValue(parameter);
  if (where === "header" && parameter.required && only !== undefined) {
    drafted.headers[name] = { const: only };
    return;
  }
  const field = freeName(fieldNameFor(name), where, drafted.fields, name);
  const spec = fieldOf(parameter, { tool, types, field });
  const style = parameterStyle(spec.shape, parameter);
  let { shape } = spec;
  let written = style;
  const isPlain = where === "header" || where === "cookie";
  if (isPlain && style !== undefined && SEPARATED.has(style)) {
    const ask = "Only in an address can a list be separated like this; callers write it as text, as the document says.";
    questions.add(ask, `types.${pascalCase(tool.split("_"))}Input.fields.${field}`, parameter.evidence);
    shape = TEXT_SHAPE;
    written = undefined;
  } else if (where === "path" && !isWritable(shape, style, types.types)) {
    const ask = "The document does not say how this nested value is written in a path; callers write it as text.";
    questions.add(ask, `types.${pascalCase(tool.split("_"))}Input.fields.${field}`, parameter.evidence);
    shape = TEXT_SHAPE;
    written = undefined;
  } else if (!isWritable(shape, style, types.types) || (isPlain && style === "deep")) {
    questions.add(
      "The document does not say how this nested value is written as a parameter; it is sent as JSON.",
      `types.${pascalCase(tool.split("_"))}Input`,
      parameter.evidence,
    );
    shape = types.shapeOf(parameter.schema, { form: "json", name: pascalCase([tool, name]), about }).shape;
    written = "json";
  }
  drafted.fields.set(field, { ...spec, shape });
  drafted.sources.set(field, parameter);
  if (where === "path") inPath.set(name, pathPlace(field, shape, parameter));
  else {
    const target = { query: drafted.query, header: drafted.headers, cookie: drafted.cookies }[where];
    target[name] =
      written === undefined || (where === "header" && written === "comma" && shape.kind === "scalar")
        ? field
        : { field, style: written };
  }
}

function fieldOf(
  parameter: ParameterFacts,
  { tool, types, field }: { tool: string; types: TypeDrafter; field: string },
): FieldSpec {
  const { name, in: where, required, schema, description, deprecated, evidence } = parameter;
  const form = parameter.style === "json" ? "json" : "flat";
  const input = pascalCase(tool.split("_"));
  const about = `types.${input}Input.fields.${field}`;
  const spec = types.fieldOf(schema, {
    owner: input,
    member: name,
    required: required || where === "path",
    place: { form, name: "", about },
  });
  const { nullable: _nullable, side: _side, description: own, ...rest } = spec;
  const text = cleanText(description ?? own ?? "", 400);
  const said = deprecated && text !== "" && !/deprecated/i.test(text) ? `${text} (deprecated)` : text;
  const usual = usualValue(parameter);
  const isKnown = usual !== undefined && !isSecretValue(usual, name);
  const value = isKnown ? fittingValue(usual, spec.shape, { types: types.types, side: "input" }) : UNFIT;
  return {
    ...(said === "" ? {} : { description: said }),
    ...rest,
    wire: field,
    ...(value === UNFIT || where === "path" ? {} : { default: value }),
    evidence: [evidence, ...(schema.also ?? [])],
  };
}

/** The default; of a header with a version also an example, because requests without one are often refused. */
function usualValue({ name, in: where, schema, examples }: ParameterFacts): unknown {
  if (schema.default !== undefined) return schema.default;
  if (where !== "header" || !/version/i.test(name)) return undefined;
  return examples[0] ?? schema.examples[0];
}

function onlyValue({ schema }: ParameterFacts): string | undefined {
  const value = schema.const ?? (schema.enum?.length === 1 ? schema.enum[0] : undefined);
  return typeof value === "string" && value !== "" ? value : undefined;
}

function addOwnHeader(
  drafted: DraftedParameters,
  { name, schema, evidence }: ParameterFacts,
  { questions, about }: { questions: QuestionList; about: string },
): void {
  const value = schema.default ?? schema.enum?.[0] ?? schema.const;
  if (/^accept$/i.test(name) && typeof value === "string") drafted.accept = value;
  else if (!OWN_HEADERS.test(name)) {
    questions.add(`The header "${name}" cannot be sent, so it was left out.`, about, evidence);
  }
}

/** A placeholder of the path that no parameter describes is text. */
function addUndeclared(
  drafted: DraftedParameters,
  name: string,
  { evidence }: OperationFacts,
  { tool, questions }: ToolPlace,
): string {
  const field = freeName(fieldNameFor(name), "path", drafted.fields, name);
  drafted.fields.set(field, {
    wire: field,
    shape: { kind: "scalar", type: "string", minLength: 1, whitespace: "keep" },
    optional: false,
    hidden: false,
    evidence: [evidence],
  });
  questions.add(
    "The document does not describe a parameter of the path; it is text here.",
    `tools.${tool}.request.path`,
    evidence,
  );
  return `{${field}}`;
}

const SUFFIX = { path: "InPath", query: "InQuery", header: "InHeader", cookie: "InCookie" } as const;

function freeName(
  name: string,
  where: ParameterFacts["in"],
  taken: ReadonlyMap<string, unknown>,
  whole: string,
): string {
  if (!taken.has(name)) return name;
  const placed = `${name}${SUFFIX[where]}`;
  return taken.has(placed) ? `${placed}_${shortHash(whole, 4)}` : placed;
}

/**
 * The path of a request: `/pets/{pet-id}?v=1` with the places of its parameters, without the first slash, and the
 * parameters that the document writes into it. `undeclared` gives the place of a name that no parameter has.
 */
function requestPath(
  path: string,
  places: ReadonlyMap<string, string>,
  undeclared: (name: string) => string,
): { path: string; query: Record<string, string> } {
  const [before, after] = splitOnce(path, "?");
  const own = new Map(places);
  const placed = before.replaceAll(/\{([^{}]*)\}|[^{}]+|[{}]/g, (text, name: string | undefined) => {
    if (name === undefined) return fixedText(text);
    const place = own.get(name) ?? undeclared(name);
    own.set(name, place);
    return place;
  });
  // A colon in the first step would look like the scheme of an address.
  const relative = placed.replace(/^\/+/, "").replace(/^[^/{}:]*:/, (first) => first.replace(":", "%3A"));
  const query = Object.fromEntries(
    [...new URLSearchParams(after)].filter(([name, value]) => name !== "" && !value.includes("{")),
  );
  return { path: relative, query };
}

function splitOnce(text: string, sign: string): [string, string] {
  const at = text.indexOf(sign);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** Characters that cannot stand in an address are encoded; what is encoded stays. */
function fixedText(text: string): string {
  return (
    text
      .replaceAll(/[\s\\{}^`|"<>#]/g, (sign) => encodeURIComponent(sign))
      // An encoded dot is a dot, also in a step that goes up.
      .replaceAll(/%2e/gi, ".")
      .replaceAll(/\/\.{1,2}(?=\/|$)/g, "")
      .replaceAll(/%2f|%5c/gi, "-")
  );
}

/** Whether a parameter carries credentials, by its name; outside of headers its description has to say so as well. */
function isCredential({ name, in: place, description = "" }: ParameterFacts): boolean {
  if (place === "path" || !CREDENTIAL.test(name)) return false;
  if (place === "header") return true;
  return /authenticat|authoriz|api[ -]?key|access token|credential|oauth/i.test(description);
}
