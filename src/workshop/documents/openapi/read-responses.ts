import { isRecord } from "../../../json/is-record.ts";
import { present } from "../../../format/part.ts";
import type { ContentFacts, ResponseFacts } from "../api-facts.ts";
import { memberOf, membersOf, textOf, type ObjectPart } from "./api-document.ts";
import { mediaTypes, readContents, type ReadContext } from "./read-contents.ts";

/** The responses of an operation in the order of the document. */
export function readResponses(context: ReadContext, operation: ObjectPart): ResponseFacts[] {
  const { document } = context;
  const list = memberOf(operation, "responses");
  if (list && !isRecord(list.value)) document.remark(list.pointer, "The responses are not an object; they are ignored");
  return membersOf(list).flatMap(([key, part]) => {
    const status = statusOf(key);
    if (status === undefined) {
      document.remark(part.pointer, `"${key}" is not a status; the response is ignored`);
      return [];
    }
    const response = document.followObject(part);
    if (response) return [readResponse(context, operation, { status, response })];
    document.remark(part.pointer, `The response ${status} cannot be read; nothing is known about it`);
    return [{ status, contents: [], headers: [], evidence: document.evidence(part.pointer) }];
  });
}

function statusOf(key: string): string | undefined {
  if (key.toLowerCase() === "default") return "default";
  return /^[1-5](?:\d\d|xx)$/i.test(key) ? key.toUpperCase() : undefined;
}

interface FoundResponse {
  status: string;
  response: ObjectPart;
}

function readResponse(context: ReadContext, operation: ObjectPart, { status, response }: FoundResponse): ResponseFacts {
  const { document } = context;
  const isOld = memberOf(response, "content") === undefined;
  return {
    status,
    ...present({ description: textOf(response.value["description"]) }),
    contents: isOld ? oldContents(context, operation, response) : readContents(context, response),
    headers: readHeaders(context, response),
    evidence: document.evidence(response.pointer),
  };
}

/** Swagger 2.0: a schema for all media types, and examples by media type. */
function oldContents(context: ReadContext, operation: ObjectPart, response: ObjectPart): ContentFacts[] {
  const { document, schemas } = context;
  const schema = memberOf(response, "schema");
  const examples = memberOf(response, "examples");
  if ((!schema || schema.value === null) && !examples) return [];
  const given = new Map(membersOf(examples).map(([type, { value }]) => [type, value]));
  const declared = mediaTypes(document, operation, "produces");
  const types =
    declared.length > 0 ? declared : given.size > 0 ? [...given.keys()].filter((type) => type.includes("/")) : [];
  return (types.length > 0 ? types : ["application/json"]).map((mediaType) => ({
    mediaType,
    ...(schema && schema.value !== null ? { schema: schemas.schema(schema) } : {}),
    examples: given.has(mediaType) ? [given.get(mediaType)] : [],
    encoding: {},
    evidence: document.evidence((schema ?? response).pointer),
  }));
}

function readHeaders({ document, schemas }: ReadContext, response: ObjectPart): ResponseFacts["headers"] {
  return membersOf(memberOf(response, "headers")).flatMap(([name, part]) => {
    const header = document.followObject(part);
    if (!header) {
      document.remark(part.pointer, `The header "${name}" cannot be read; it is ignored`);
      return [];
    }
    // The content type is described by the contents.
    if (name.trim() === "" || name.toLowerCase() === "content-type") return [];
    const [content] = membersOf(memberOf(header, "content"));
    const { required: _required, ...value } = header.value;
    const schema = memberOf(header, "schema") ??
      (content && memberOf(content[1], "schema")) ?? { value, pointer: header.pointer };
    return [
      {
        name,
        ...present({ description: textOf(header.value["description"]) }),
        schema: schemas.schema(schema),
        evidence: document.evidence(header.pointer),
      },
    ];
  });
}
