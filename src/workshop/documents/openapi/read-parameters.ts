import { isRecord } from "../../../json/is-record.ts";
import { present } from "../../../format/part.ts";
import type { ParameterFacts } from "../api-facts.ts";
import {
  itemsOf,
  memberOf,
  membersOf,
  referenceOf,
  textOf,
  type ObjectPart,
  type DocumentPart,
} from "./api-document.ts";
import { plainName, type PathTemplate } from "./path-template.ts";
import { oldStyle, readExamples, styleOf, type ReadContext } from "./read-contents.ts";

/** The parameters of one operation: those of the request line and headers, and those that are a body in 2.0. */
interface ReadParameters {
  parameters: ParameterFacts[];
  body: ObjectPart[];
  /** References that lead nowhere. */
  unresolved: string[];
}

/** Headers that OpenAPI describes in other places. */
const DESCRIBED_ELSEWHERE = new Set(["accept", "content-type"]);
const PLACES = ["path", "query", "header", "cookie"] as const;

interface ParameterOwner {
  /** The path item and the operation, in this order. */
  owners: readonly ObjectPart[];
  /** The names in the template of the path, and in its query. */
  template: Pick<PathTemplate, "names" | "inQuery">;
  /** Whether the operation has security requirements. */
  isSecured: boolean;
}

/** Reads the parameters of a path and of its operation, which replace those with the same name and place. */
export function readParameters(context: ReadContext, { owners, template, isSecured }: ParameterOwner): ReadParameters {
  const reader = new ParameterReader(context, template, isSecured);
  for (const owner of owners) reader.readList(owner);
  return reader.result(owners.at(-1));
}

type ParameterPlace = ParameterFacts["in"] | "body" | "formData" | "querystring";

class ParameterReader {
  readonly #context: ReadContext;
  readonly #inPath: readonly string[];
  readonly #inQuery: PathTemplate["inQuery"];
  readonly #isSecured: boolean;
  readonly #found = new Map<string, ParameterFacts>();
  readonly #body = new Map<string, ObjectPart>();
  readonly #unresolved: string[] = [];

  constructor(context: ReadContext, { names, inQuery }: ParameterOwner["template"], isSecured: boolean) {
    this.#context = context;
    this.#inPath = names;
    this.#inQuery = inQuery;
    this.#isSecured = isSecured;
  }

  readList(owner: ObjectPart): void {
    const { document } = this.#context;
    const list = memberOf(owner, "parameters");
    if (!list || list.value === null) return;
    if (!Array.isArray(list.value)) document.remark(list.pointer, "The parameters are not a list; they are ignored");
    const own = new Set<string>();
    for (const part of itemsOf(list)) {
      const parameter = document.followObject(part);
      if (parameter) this.#add(parameter, own);
      else if (referenceOf(part.value) !== undefined) this.#unresolved.push(referenceOf(part.value) ?? "");
      else document.remark(part.pointer, "This parameter is not an object; it is ignored");
    }
  }

  result(operation: ObjectPart | undefined): ReadParameters {
    const { document } = this.#context;
    for (const name of this.#unresolved.length > 0 ? [] : this.#inPath) {
      if (this.#found.has(`path ${name}`)) continue;
      const pointer = operation?.pointer ?? "";
      document.remark(pointer, `The parameter {${name}} of the path is not declared; it is taken as text`);
      this.#found.set(`path ${name}`, this.#undeclared(name, pointer));
    }
    for (const [name, sentAs] of this.#inQuery) {
      if (this.#found.has(`query ${sentAs}`)) continue;
      const pointer = operation?.pointer ?? "";
      document.remark(pointer, `The parameter {${name}} of the path is not declared; it is taken as text`);
      this.#found.set(`query ${sentAs}`, {
        ...this.#undeclared(sentAs, pointer),
        in: "query",
        ...usualStyle("query"),
      });
    }
    return { parameters: [...this.#found.values()], body: [...this.#body.values()], unresolved: this.#unresolved };
  }

  #add(parameter: ObjectPart, own: Set<string>): void {
    const { document } = this.#context;
    const { value, pointer } = parameter;
    const { name, place } = this.#target(value, pointer);
    if (name === "" && place !== "body" && place !== "querystring") {
      document.remark(pointer, `This ${place} parameter has no name; it is ignored`);
      return;
    }
    const key = `${place} ${place === "header" ? name.toLowerCase() : name}`;
    if (own.has(key)) {
      document.remark(pointer, `The ${place} parameter "${name}" is declared twice; the first one counts`);
      return;
    }
    own.add(key);
    if (place === "body" || place === "formData") this.#body.set(key, parameter);
    else if (place === "querystring") this.#addQueryString(parameter);
    else if (this.#isSent(place, name, pointer)) this.#found.set(key, this.#read(parameter, name, place));
  }

  /** The name and the place that are sent. Placeholders in the query of a path are query parameters. */
  #target(value: ObjectPart["value"], pointer: string): { name: string; place: ParameterPlace } {
    const written = textOf(value["name"])?.trim() ?? "";
    const place = this.#placeOf(value["in"], written, pointer);
    if (place !== "path" && place !== "query") return { name: written, place };
    const isPath = place === "path" && this.#inPath.includes(written);
    const sentAs = isPath ? undefined : this.#inQuery.get(written);
    if (sentAs !== undefined) return { name: sentAs, place: "query" };
    const isPlain = place !== "path" || this.#inPath.includes(written) || !this.#inPath.includes(plainName(written));
    return { name: isPlain ? written : plainName(written), place };
  }

  #placeOf(written: unknown, name: string, pointer: string): ParameterPlace {
    if (written === "body" || written === "formData" || written === "querystring") return written;
    const known = PLACES.find((place) => place === written);
    if (known) return known;
    const place = this.#inPath.includes(name) ? "path" : "query";
    this.#context.document.remark(
      pointer,
      `The parameter "${name}" has no valid place; it is taken as a ${place} parameter`,
    );
    return place;
  }

  #isSent(place: ParameterFacts["in"], name: string, pointer: string): boolean {
    const { document } = this.#context;
    if (place === "path" && !this.#inPath.includes(name)) {
      document.remark(pointer, `The path has no {${name}}; the parameter is ignored`);
      return false;
    }
    const lower = name.toLowerCase();
    const isElsewhere = DESCRIBED_ELSEWHERE.has(lower) || (lower === "authorization" && this.#isSecured);
    if (place !== "header" || !isElsewhere) return true;
    document.remark(pointer, `The header ${name} follows from the rest of the description; the parameter is ignored`);
    return false;
  }

  #read(parameter: ObjectPart, name: string, place: ParameterFacts["in"]): ParameterFacts {
    const { document, schemas } = this.#context;
    const { value, pointer } = parameter;
    const schema = memberOf(parameter, "schema");
    const [content] = membersOf(memberOf(parameter, "content"));
    const inner = content && memberOf(content[1], "schema");
    const contentExamples =
      content && isRecord(content[1].value) ? readExamples(document, { ...content[1], value: content[1].value }) : [];
    const facts = {
      name,
      in: place,
      required: place === "path" || value["in"] === "path" || value["required"] === true,
      ...present({ description: textOf(value["description"]) }),
      deprecated: value["deprecated"] === true,
      examples: [...readExamples(document, parameter), ...contentExamples],
      evidence: document.evidence(pointer),
    };
    if (content) {
      // Text is written as it is; everything else as JSON.
      const isText = /^text\/plain\b/i.test(content[0]);
      const written = inner ?? { value: {}, pointer: content[1].pointer };
      if (!isText && !/json/i.test(content[0])) {
        document.remark(content[1].pointer, `The parameter "${name}" is written as JSON, not as ${content[0]}`);
      }
      return {
        ...facts,
        schema: schemas.schema(written),
        ...(isText ? usualStyle(place) : { style: "json", explode: false }),
      };
    }
    // In 2.0 the parameter itself has the keywords of a schema.
    const described = schemas.schema(schema ?? { value: withoutRequired(value), pointer });
    return { ...facts, schema: described, ...this.#style(parameter, place, schema !== undefined) };
  }

  #style(
    { value, pointer }: ObjectPart,
    place: ParameterFacts["in"],
    hasSchema: boolean,
  ): Pick<ParameterFacts, "style" | "explode"> {
    const { document } = this.#context;
    if ((document.format === "openapi-2.0" || !hasSchema) && place !== "cookie") {
      if (value["style"] === undefined) return oldStyle(value["collectionFormat"], place);
    }
    const written = value["style"] === "cookie" ? "form" : value["style"];
    const style = styleOf(written) ?? usualStyle(place).style;
    if (written !== undefined && style !== written) {
      document.remark(pointer, `The style ${JSON.stringify(written).slice(0, 50)} is not known; ${style} is used`);
    }
    return { style, explode: typeof value["explode"] === "boolean" ? value["explode"] : style === "form" };
  }

  /** The whole query string (3.2): the properties of its form are query parameters. */
  #addQueryString(parameter: ObjectPart): void {
    const { document, schemas } = this.#context;
    const content = membersOf(memberOf(parameter, "content")).find(([type]) => /urlencoded/i.test(type));
    const schema = content && memberOf(content[1], "schema");
    if (!schema) {
      document.remark(parameter.pointer, "Only a form can be written as the query string; the parameter is ignored");
      return;
    }
    const form = schemas.schema(schema);
    for (const [name, read] of form.properties) {
      const property = read();
      this.#found.set(`query ${name}`, {
        name,
        in: "query",
        required: parameter.value["required"] === true && form.required.has(name),
        ...present({ description: property.description }),
        deprecated: property.deprecated,
        schema: property,
        ...usualStyle("query"),
        examples: [],
        evidence: property.evidence,
      });
    }
  }

  #undeclared(name: string, pointer: string): ParameterFacts {
    const { document, schemas } = this.#context;
    const part: DocumentPart = { value: { type: "string" }, pointer: `${pointer}#${name}` };
    return {
      name,
      in: "path",
      required: true,
      deprecated: false,
      schema: { ...schemas.schema(part), evidence: document.evidence(pointer) },
      ...usualStyle("path"),
      examples: [],
      evidence: document.evidence(pointer),
    };
  }
}

function usualStyle(place: ParameterFacts["in"]): Pick<ParameterFacts, "style" | "explode"> {
  const isForm = place === "query" || place === "cookie";
  return { style: isForm ? "form" : "simple", explode: isForm };
}

/** As a keyword of schemas, `required` is a list of names. */
function withoutRequired({ required: _required, ...value }: Record<string, unknown>): Record<string, unknown> {
  return value;
}
