import type { OperationFacts, ResponseFacts } from "../../documents/api-facts.ts";
import type { FieldSpec, ResponseSpec, Shape } from "../../file/model/tool-file.ts";
import { pascalCase } from "../names/words.ts";
import { asTemplate, fieldText } from "../texts.ts";
import { allFields, type DraftType } from "../types/draft-type.ts";
import type { YamlMap } from "../yaml/write-yaml.ts";
import type { ToolPlace } from "./draft-parameters.ts";
import { chooseMedia, kindOfMedia, type MediaChoice } from "./media-type.ts";
import { fieldNameFor } from "../names/field-names.ts";
import type { TypeDrafter } from "../types/type-drafter.ts";

export interface DraftedResponse {
  response: YamlMap;
  /** The Accept header of the request, if it is not the usual one. */
  accept?: string | undefined;
  status: number;
  type?: DraftType;
  content?: MediaChoice["content"];
  /** How failures are recognised that have the status of a success. */
  errors?: YamlMap[];
}

/** How the first documented success is read: as JSON where the document offers it. */
export function draftResponse(operation: OperationFacts, title: string, place: ToolPlace): DraftedResponse {
  const found = successOf(operation.responses);
  const status = Number(/^2\d\d$/.exec(found?.status ?? "")?.[0] ?? 200);
  const done = `${asTemplate(title)}: done.`;
  if (operation.method.toUpperCase() === "HEAD") return { response: { as: "none", text: done }, status };
  const choice = found && chooseMedia(found.contents.filter((content) => !isMultipart(content.mediaType)));
  if (!found || !choice) {
    const isEmpty = found !== undefined && (found.status === "204" || found.status === "205");
    if (!found) {
      place.questions.add(
        "The document describes no successful answer; it is read by its content type.",
        `tools.${place.tool}.response`,
        operation.evidence,
      );
    }
    return { response: { as: isEmpty ? "none" : "auto", text: done }, status };
  }
  const accept = acceptOf(choice);
  const { schema } = choice.content;
  if (choice.kind === "json") {
    const type = answerType(operation, found, choice, place);
    return {
      response: { as: "json", type: type.type.name, ...type.headers, text: type.text ?? done, unknown: "keep" },
      accept,
      status,
      type: type.type,
      content: choice.content,
    };
  }
  if (choice.kind === "xml" && schema) {
    const about = `tools.${place.tool}.response`;
    const type = place.types.typeOf(schema, { form: "xml", name: `${pascalCase(place.tool.split("_"))}Answer`, about });
    if (type && type.xml.element !== undefined && allFields(type).size > 0) {
      return { response: { as: "xml", type: type.name, text: done }, accept, status, type, content: choice.content };
    }
  }
  const as: ResponseSpec["as"] =
    choice.kind === "text" || choice.kind === "xml" ? "text" : choice.kind === "binary" ? "binary" : "auto";
  return { response: { as, text: done }, accept, status };
}

/** The first 2xx that is described, with JSON before others; otherwise what stands for every status. */
function successOf(responses: readonly ResponseFacts[]): ResponseFacts | undefined {
  const good = responses
    .filter(({ status }) => /^2(?:\d\d|XX)$/i.test(status))
    .toSorted((a, b) => (a.status < b.status ? -1 : 1));
  const withJson = good.find(({ contents }) =>
    contents.some((content) => kindOfMedia(content) === "json" && content.schema),
  );
  const fallback = responses.find(({ status }) => status === "default");
  return (
    withJson ??
    good.find(({ contents }) => contents.length > 0) ??
    good[0] ??
    (fallback?.contents.length ? fallback : undefined)
  );
}

function isMultipart(mediaType: string): boolean {
  return /^multipart\//i.test(mediaType);
}

/** The Accept header, where that of the kind would ask for something else. */
function acceptOf({ contentType, kind }: MediaChoice): string | undefined {
  if (contentType === undefined || kind === "text") return undefined;
  return kind === "binary" && contentType.includes("*") ? undefined : contentType;
}

interface AnswerType {
  type: DraftType;
  text?: string;
  headers?: { headers: Record<string, string> };
}

function answerType(
  operation: OperationFacts,
  found: ResponseFacts,
  { content }: MediaChoice,
  place: ToolPlace,
): AnswerType {
  const { tool, types } = place;
  const name = pascalCase(tool.split("_"));
  const about = `tools.${tool}.response`;
  const { schema } = content;
  const { shape } = schema
    ? types.shapeOf(schema, { form: "json", name: `${name}Answer`, about })
    : { shape: { kind: "any" } as Shape };
  const named = shape.kind === "object" ? types.types.get(shape.type) : undefined;
  const headers = shownHeaders(found, types, about);
  if (named && !named.union && !allFields(named).has("deviations")) {
    const text = isListing(operation) ? countText(allFields(named)) : {};
    if (headers.size === 0 || [...headers.values()].some(({ field }) => allFields(named).has(field)))
      return { type: named, ...text };
    const fields = new Map([...headers.values()].map(({ field, spec }) => [field, spec]));
    const type = types.add(`${name}Result`, found.evidence, {
      evidence: [found.evidence],
      xml: {},
      include: [named],
      fields,
    });
    return {
      type,
      ...text,
      headers: { headers: Object.fromEntries([...headers].map(([header, { field }]) => [header, field])) },
    };
  }
  const isList = shape.kind === "list";
  const item = isList && shape.of.kind === "object" ? shape.of.type : undefined;
  const field: FieldSpec = { wire: ".", shape, optional: false, hidden: false, evidence: [content.evidence] };
  const own = new Map([[isList ? "items" : "result", field]]);
  for (const { field: header, spec } of headers.values()) own.set(header, spec);
  const plain =
    shape.kind === "list" &&
    item !== undefined &&
    headers.size === 0 &&
    shape.minItems === undefined &&
    shape.maxItems === undefined;
  const type = plain
    ? types.add(`${item}Items`, `items of ${item}`, { evidence: [content.evidence], xml: {}, include: [], fields: own })
    : types.add(`${name}Result`, found.evidence, { evidence: [found.evidence], xml: {}, include: [], fields: own });
  const text = isList ? { text: "Found {count(items)} items." } : {};
  const filled =
    headers.size === 0
      ? {}
      : { headers: { headers: Object.fromEntries([...headers].map(([header, each]) => [header, each.field])) } };
  return { type, ...text, ...filled };
}

/** Whether it asks for several things: the path of one thing ends with its id. */
function isListing({ method, path }: OperationFacts): boolean {
  return method.toUpperCase() === "GET" && !path.endsWith("}");
}

/** Names of lists that do not say what is in them, and do not read well after a number. */
const PLAIN = /^(?:data|value|result|list|content)$/i;

/** Counts the only list of things in an answer. */
function countText(fields: ReadonlyMap<string, FieldSpec>): { text?: string } {
  const lists = [...fields].filter(
    ([, { shape, side }]) => shape.kind === "list" && shape.of.kind === "object" && side !== "input",
  );
  const [only] = lists;
  return lists.length === 1 && only
    ? { text: `Found {count(${only[0]})} ${PLAIN.test(only[0]) ? "items" : asTemplate(only[0].replaceAll("_", " "))}.` }
    : {};
}

/** Headers that tell a caller something about the answer; those about the connection do not. */
const TELLING =
  /^(?:x-total(?:-count|-pages)?|x-count|x-next(?:-page)?|x-page(?:-count)?|x-has-more|link|location|content-location|x-(?:next-)?cursor)$/i;

/** Documented response headers that become fields of the answer, by header. */
function shownHeaders(
  { headers }: ResponseFacts,
  types: TypeDrafter,
  about: string,
): Map<string, { field: string; spec: FieldSpec }> {
  const shown = new Map<string, { field: string; spec: FieldSpec }>();
  for (const { name, description, schema, evidence } of headers) {
    if (!TELLING.test(name)) continue;
    const { shape } = types.shapeOf(schema, { form: "flat", name: "", about });
    if (shape.kind !== "scalar") continue;
    const { enum: _enum, pattern: _pattern, ...rest } = shape;
    const field = `${fieldNameFor(name.replace(/^x-/i, "").toLowerCase())}Header`;
    const text = fieldText(description === undefined ? {} : { description });
    shown.set(name, {
      field,
      spec: {
        ...(text === undefined ? {} : { description: text }),
        wire: false,
        shape: rest,
        optional: true,
        hidden: false,
        evidence: [evidence],
      },
    });
  }
  return shown;
}
