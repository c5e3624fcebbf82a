import { isRecord } from "../../../json/is-record.ts";
import { present } from "../../../format/part.ts";
import type { BodyFacts, ContentFacts } from "../api-facts.ts";
import { memberOf, referenceOf, textOf, type ObjectPart, type DocumentPart } from "./api-document.ts";
import { mediaTypes, oldStyle, readContents, type ReadContext } from "./read-contents.ts";

const FORM = "application/x-www-form-urlencoded";
const MULTIPART = "multipart/form-data";

/** The body of an operation, or the reference that leads nowhere. */
export type ReadBody = { body?: BodyFacts } | { unresolved: string };

/** `parameters`: those that are a body, in 2.0. */
export function readBody(context: ReadContext, operation: ObjectPart, parameters: readonly ObjectPart[]): ReadBody {
  const { document } = context;
  const part = memberOf(operation, "requestBody");
  if (!part || part.value === null) return oldBody(context, operation, parameters);
  const found = document.followObject(part);
  const ref = referenceOf(part.value);
  if (!found && ref !== undefined) return { unresolved: ref };
  if (!found) {
    document.remark(part.pointer, "The body is not an object; it is ignored");
    return {};
  }
  const contents = readContents(context, found);
  if (contents.length === 0) {
    document.remark(found.pointer, "The body has no media type; it is ignored");
    return {};
  }
  return {
    body: {
      required: found.value["required"] === true,
      ...present({ description: textOf(found.value["description"]) }),
      contents,
      evidence: document.evidence(found.pointer),
    },
  };
}

function oldBody(context: ReadContext, operation: ObjectPart, parameters: readonly ObjectPart[]): ReadBody {
  const { document } = context;
  const whole = parameters.filter(({ value }) => value["in"] === "body");
  const fields = parameters.filter(({ value }) => value["in"] === "formData");
  const [body, ...more] = whole;
  for (const other of more) document.remark(other.pointer, "There is more than one body; only the first one counts");
  if (!body) return fields.length === 0 ? {} : { body: formBody(context, operation, fields) };
  for (const field of fields) document.remark(field.pointer, "A body has no form fields; the field is ignored");
  const schema = memberOf(body, "schema");
  const types = mediaTypes(document, operation, "consumes");
  return {
    body: {
      required: body.value["required"] === true,
      ...present({ description: textOf(body.value["description"]) }),
      contents: (types.length > 0 ? types : ["application/json"]).map((mediaType) => ({
        mediaType,
        ...(schema ? { schema: context.schemas.schema(schema) } : {}),
        examples: oldExamples(body, mediaType),
        encoding: {},
        evidence: document.evidence(body.pointer),
      })),
      evidence: document.evidence(body.pointer),
    },
  };
}

/** Not in the standard, but common. */
function oldExamples(body: ObjectPart, mediaType: string): unknown[] {
  const examples = body.value["x-examples"] ?? body.value["examples"];
  const value = isRecord(examples) && Object.hasOwn(examples, mediaType) ? examples[mediaType] : undefined;
  return value === undefined ? [] : [value];
}

function formBody({ document, schemas }: ReadContext, operation: ObjectPart, fields: readonly ObjectPart[]): BodyFacts {
  const hasFile = fields.some(({ value }) => value["type"] === "file");
  const parts = new Map<string, DocumentPart>();
  const required = new Set<string>();
  const encoding: ContentFacts["encoding"] = {};
  for (const field of fields) {
    const name = textOf(field.value["name"])?.trim() ?? "";
    const { required: isRequired, ...value } = field.value;
    // Some documents write a schema here, as 3.0 does.
    parts.set(name, memberOf(field, "schema") ?? { value, pointer: field.pointer });
    if (isRequired === true) required.add(name);
    if (value["type"] === "array") encoding[name] = oldStyle(value["collectionFormat"], "formData");
  }
  // A list that both the path and the operation have parts of is found by its first field.
  const own = memberOf(operation, "parameters");
  const pointer = own?.pointer ?? fields[0]?.pointer ?? operation.pointer;
  const schema = schemas.object(pointer, parts, required);
  const evidence = document.evidence(pointer);
  const content = (mediaType: string): ContentFacts => ({ mediaType, schema, examples: [], encoding, evidence });
  return {
    required: required.size > 0,
    contents: formTypes(mediaTypes(document, operation, "consumes"), hasFile).map(content),
    evidence,
  };
}

/** Forms and JSON can carry fields; a file needs a multipart body. */
function formTypes(consumes: readonly string[], hasFile: boolean): string[] {
  if (hasFile) return [consumes.find((type) => /^multipart\//i.test(type)) ?? MULTIPART];
  const usable = consumes.filter((type) => /^multipart\/|urlencoded|json/i.test(type));
  return usable.some((type) => !/json/i.test(type)) ? usable : [FORM, ...usable];
}
