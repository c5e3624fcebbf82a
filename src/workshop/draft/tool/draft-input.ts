import type { BodyFacts, OperationFacts, SchemaFacts, ContentFacts } from "../../documents/api-facts.ts";
import type { FieldSpec, RequestSpec, Shape } from "../../file/model/tool-file.ts";
import { fieldNames } from "../names/field-names.ts";
import { pascalCase, shortHash } from "../names/words.ts";
import type { BodySecret } from "../secrets/draft-secrets.ts";
import { allFields, ANY_SHAPE, TEXT_SHAPE, type DraftType } from "../types/draft-type.ts";
import type { YamlMap } from "../yaml/write-yaml.ts";
import { draftParameters, type DraftedParameters, type ToolPlace } from "./draft-parameters.ts";
import { chooseMedia, type BodyKind, type MediaChoice, kindOfMedia } from "./media-type.ts";
import { isWritable, parameterStyle } from "./parameter-style.ts";
import type { QuestionList } from "../questions.ts";

/** The input of a tool: parameters and the members of the body in one type. */
export interface DraftedInput {
  type: DraftType;
  parameters: DraftedParameters;
  /** What the request says about the body. */
  request: YamlMap;
  /** The content that the body is made of, and its fields by the names upstream; `.`: one field is the whole body. */
  body?: { choice: MediaChoice; fields: ReadonlyMap<string, FieldSpec> };
  /** Fields of the body that carry credentials. */
  secrets?: ReadonlyMap<string, BodySecret>;
}

interface DraftedBody {
  kind: BodyKind;
  contentType?: string | undefined;
  /** A type whose fields are those of the body. */
  type?: DraftType;
  fields: Map<string, FieldSpec>;
  parts: NonNullable<RequestSpec["parts"]>;
  additional?: Shape;
}

export function draftInput(operation: OperationFacts, place: ToolPlace): DraftedInput {
  const { tool, types, questions } = place;
  const name = `${pascalCase(tool.split("_"))}Input`;
  const parameters = draftParameters(operation, place);
  const contents = operation.body ? usedContents(operation.body, tool, questions) : [];
  const choice = chooseMedia(contents);
  if (choice && choice.others.length > 0) {
    const ask = `The body is sent as ${choice.content.mediaType}; the document also allows ${choice.others.join(", ")}. Is it the right one?`;
    questions.add(ask, `tools.${tool}.request.body`, choice.content.evidence);
  }
  const body = operation.body && choice ? draftBody(operation.body, choice, place) : undefined;
  if (!body || !choice || !operation.body) {
    const { fields } = parameters;
    if (fields.size === 0) {
      return {
        type: types.add("NoArguments", "no arguments", { evidence: [], xml: {}, include: [], fields }),
        parameters,
        request: {},
      };
    }
    const type = types.add(name, operation.evidence, { evidence: [operation.evidence], xml: {}, include: [], fields });
    return { type, parameters, request: {} };
  }
  const isWhole = body.type !== undefined && body.kind === "json" && parameters.fields.size === 0;
  const fields = new Map(parameters.fields);
  const renamed = new Map<string, FieldSpec>();
  const canInclude = body.type && ![...body.fields.keys()].some((field) => fields.has(field)) && body.kind !== "xml";
  for (const [field, spec] of body.fields) {
    const free = fields.has(field) ? freeName(field, fields) : field;
    renamed.set(free, spec);
    if (!canInclude || !body.type) fields.set(free, spec);
  }
  const include = canInclude && body.type ? [body.type] : [];
  const type =
    isWhole && body.type
      ? body.type
      : types.add(name, operation.evidence, {
          evidence: [operation.evidence],
          xml: body.kind === "xml" ? (body.type?.xml ?? {}) : {},
          include,
          fields,
          ...rulesOf(body.type, renamed, include),
          ...(body.additional === undefined || include.length > 0 ? {} : { additional: body.additional }),
        });
  // The type of the body is not in the file if its fields are those of the input.
  if (body.type && include.length === 0 && type !== body.type)
    questions.move(`types.${body.type.name}`, `types.${type.name}`);
  return {
    type,
    parameters,
    request: bodyYaml(body, operation.body, renamed, place),
    body: { choice, fields: renamed },
    secrets: bodySecrets(body, choice, renamed, place),
  };
}

/** The credentials among the members of a body, by their fields. */
function bodySecrets(
  { type }: DraftedBody,
  { content }: MediaChoice,
  fields: ReadonlyMap<string, FieldSpec>,
  { tool, questions }: ToolPlace,
): Map<string, BodySecret> {
  const found = new Map<string, BodySecret>();
  const members = content.schema?.properties ?? new Map<string, () => SchemaFacts>();
  const names = type ? fieldNames(members.keys()) : new Map<string, string>();
  const asked: { member: string; evidence: string }[] = [];
  for (const [member, read] of members) {
    const { secret, evidence } = read();
    const spec = secret && type?.fields.get(names.get(member) ?? "");
    const [field] = [...fields].find(([, each]) => each === spec) ?? [];
    if (!secret || !spec || field === undefined) continue;
    found.set(field, secret);
    asked.push({ member, evidence });
  }
  const all = asked.map(({ member }) => `"${member}"`).join(", ");
  const ask = `${all} in the body: secrets of the server, which callers do not give. Is that right?`;
  for (const { evidence } of asked) questions.add(ask, `tools.${tool}.request.secrets`, evidence);
  return found;
}

/** The rules of the body, if its fields have kept their names. */
function rulesOf(
  type: DraftType | undefined,
  fields: ReadonlyMap<string, FieldSpec>,
  include: readonly DraftType[],
): Pick<DraftType, "rules"> {
  if (!type?.rules || include.length > 0) return {};
  return [...type.fields.keys()].every((name) => fields.has(name)) ? { rules: type.rules } : {};
}

function bodyYaml(
  body: DraftedBody,
  { required, evidence }: BodyFacts,
  fields: ReadonlyMap<string, FieldSpec>,
  { tool, questions }: ToolPlace,
): YamlMap {
  const isOptional =
    !required &&
    [...fields.values()].every((field) => field.optional || field.default !== undefined || field.side === "output");
  if (!required && !isOptional) {
    const ask =
      "The document does not require the body, but members of it: the tool requires them. Can it be left out?";
    questions.add(ask, `tools.${tool}.request.body`, evidence);
  }
  return {
    body: body.kind,
    contentType: body.contentType,
    ...(isOptional ? { bodyOptional: true } : {}),
    ...(Object.keys(body.parts).length === 0 ? {} : { parts: body.parts }),
  };
}

function draftBody(body: BodyFacts, choice: MediaChoice, place: ToolPlace): DraftedBody {
  const { tool, types, questions } = place;
  const { kind, contentType, content } = choice;
  const { schema } = content;
  const name = pascalCase(tool.split("_"));
  const about = `tools.${tool}.request.body`;
  if (schema && (kind === "json" || kind === "form" || kind === "multipart" || kind === "xml")) {
    const form = kind === "json" ? "json" : kind === "xml" ? "xml" : "flat";
    const { shape } = types.shapeOf(schema, { form, name: `${name}Body`, about });
    const type = shape.kind === "object" ? types.types.get(shape.type) : undefined;
    if (type && !type.union && allFields(type).size > 0) {
      const parts = kind === "form" || kind === "multipart" ? partsOf(type, choice, place) : {};
      return {
        kind,
        contentType,
        type,
        fields: allFields(type),
        parts,
        ...(type.additional ? { additional: type.additional } : {}),
      };
    }
    if (kind === "json") return wholeBody(body, { kind, contentType, shape }, place);
  }
  if (kind === "json") return wholeBody(body, { kind, contentType, shape: ANY_SHAPE }, place);
  if (kind === "binary") {
    return wholeBody(body, { kind, contentType, shape: { kind: "scalar", type: "binary", whitespace: "keep" } }, place);
  }
  if (kind !== "text") {
    questions.add(
      `The document does not describe the members of the body (${content.mediaType}): callers write it as text.`,
      about,
      content.evidence,
    );
  }
  const { mediaType } = content;
  return wholeBody(
    body,
    { kind: "text", contentType: kind === "text" ? contentType : mediaType, shape: TEXT_SHAPE },
    place,
  );
}

function wholeBody(
  { required, description, evidence }: BodyFacts,
  { kind, contentType, shape }: { kind: BodyKind; contentType: string | undefined; shape: Shape },
  _place: ToolPlace,
): DraftedBody {
  const field: FieldSpec = {
    description:
      description === undefined || description.length > 200
        ? "The body of the request."
        : description.trim() || "The body of the request.",
    wire: ".",
    shape,
    optional: !required,
    hidden: false,
    evidence: [evidence],
  };
  return { kind, contentType, fields: new Map([["body", field]]), parts: {} };
}

/** How the fields of a form are written that are not single values. Changes fields that can only be sent as JSON. */
function partsOf(
  type: DraftType,
  { content, kind }: MediaChoice,
  { types, tool, questions }: ToolPlace,
): DraftedBody["parts"] {
  const parts: DraftedBody["parts"] = {};
  for (const [name, field] of allFields(type)) {
    const wire = field.wire === false ? name : field.wire;
    const encoding = Object.hasOwn(content.encoding, wire) ? content.encoding[wire] : undefined;
    const { contentType } = encoding ?? {};
    const isJson = contentType !== undefined && /json/i.test(contentType);
    // OpenAPI 3.0.4, Encoding Object: an object is sent as JSON unless a style is given.
    const isStyled = kind === "form" && (encoding?.style ?? encoding?.explode) !== undefined;
    const usual = field.shape.kind === "list" || isStyled ? "form" : "json";
    const written = {
      style: isJson ? ("json" as const) : (encoding?.style ?? usual),
      explode: encoding?.explode ?? true,
    };
    let style = parameterStyle(field.shape, written);
    if (field.shape.kind === "scalar" && style === "json") style = undefined;
    const isGuessed = kind === "form" && style === "json" && !isJson;
    if (isGuessed || !isWritable(field.shape, style, types.types)) {
      questions.add(
        "The document does not say how this nested value is written in a form; it is sent as JSON.",
        `types.${type.name}.fields.${name}`,
        content.evidence,
      );
      style = "json";
    }
    const isNested = field.shape.kind !== "scalar" && style === "json";
    const schema = isNested ? content.schema?.properties.get(wire)?.() : undefined;
    if (schema) {
      const about = `types.${type.name}.fields.${name}`;
      field.shape = types.shapeOf(schema, { form: "json", name: pascalCase([tool, name]), about }).shape;
    }
    const media =
      kind === "multipart" && contentType !== undefined && /^[\w.+-]+\/[\w.+*-]+$/.test(contentType)
        ? contentType
        : undefined;
    if (style !== undefined || media !== undefined) {
      parts[name] = {
        ...(style === undefined ? {} : { style }),
        ...(media === undefined || isJson ? {} : { contentType: media }),
      };
    }
  }
  return parts;
}

function freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  const placed = name === "body" ? "bodyContent" : `body${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return taken.has(placed) ? `${placed}_${shortHash(name, 4)}` : placed;
}

/**
 * The contents of a body that can carry something. Some generators write an empty form for each request that has no body:
 * an argument for it would mean nothing to callers. A body that is required is sent, even if it is empty.
 */
function usedContents(body: BodyFacts, tool: string, questions: QuestionList): readonly ContentFacts[] {
  const { contents, required } = body;
  if (required) return contents;
  const used = contents.filter((content) => emptiness(content) === undefined);
  const doubtful = contents.find((content) => emptiness(content) === "undeclared");
  if (used.length === 0 && doubtful) {
    const ask = "The document describes a form without members: no body is sent. Does it have any?";
    questions.add(ask, `tools.${tool}.request`, doubtful.evidence);
  }
  return used;
}

/**
 * Whether only an empty object is valid: `closed` if the document says so, `undeclared` for a form that has no members in
 * it. Undefined if something can be sent.
 */
function emptiness(content: ContentFacts): "closed" | "undeclared" | undefined {
  if (!content.schema || content.examples.length > 0) return undefined;
  const facts = content.schema;
  const parts = facts.allOf.length + facts.oneOf.length + facts.anyOf.length;
  const isOpen =
    facts.types.some((type) => type !== "object") ||
    facts.properties.size + parts + facts.others.length + facts.examples.length > 0 ||
    facts.enum !== undefined ||
    facts.const !== undefined ||
    (facts.minProperties ?? 0) > 0;
  if (isOpen) return undefined;
  if (facts.additional === "none") return facts.types.length > 0 ? "closed" : undefined;
  const kind = kindOfMedia(content);
  return facts.additional === "undeclared" && (kind === "form" || kind === "multipart") ? "undeclared" : undefined;
}
