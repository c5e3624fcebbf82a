import { REQUEST_METHODS } from "../../file/model/tool-file.ts";
import { isRecord } from "../../../json/is-record.ts";
import { present } from "../../../format/part.ts";
import type {
  OmissionReason,
  OmittedOperation,
  OperationFacts,
  ParameterFacts,
  ResponseFacts,
  ServerFacts,
  ContentFacts,
  BodyFacts,
} from "../api-facts.ts";
import { memberOf, membersOf, referenceOf, textOf, type ObjectPart, type DocumentPart } from "./api-document.ts";
import { readPathTemplate, type PathTemplate } from "./path-template.ts";
import { type ReadContext, mediaTypes, readContents, oldStyle } from "./read-contents.ts";
import { readParameters } from "./read-parameters.ts";
import { readSecurity } from "./read-security.ts";
import { readServers } from "./read-servers.ts";

const METHODS = new Set(["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"]);
const SENT: ReadonlySet<string> = new Set(REQUEST_METHODS);
/** Answers that go on until the client leaves. */
const ENDLESS = /^(?:text\/event-stream|multipart\/x-mixed-replace)\b/i;

/** What holds for all operations unless they say otherwise. */
interface OperationDefaults {
  security: OperationFacts["security"];
  schemes: ReadonlySet<string>;
}

interface ReadOperations {
  operations: OperationFacts[];
  omitted: OmittedOperation[];
}

/** All operations of `paths`, `webhooks` and callbacks: read, or omitted with a reason. */
export function readOperations(context: ReadContext, defaults: OperationDefaults): ReadOperations {
  const { document } = context;
  const root = { value: document.root, pointer: "" };
  const reader = new OperationReader(context, defaults);
  const paths = memberOf(root, "paths");
  if (paths && !isRecord(paths.value)) document.remark(paths.pointer, "The paths are not an object; they are ignored");
  for (const [path, part] of membersOf(paths)) reader.readPath(path, part);
  // Azure puts paths that differ only in their query there.
  for (const [path, part] of membersOf(memberOf(root, "x-ms-paths"))) reader.readPath(path, part);
  for (const member of ["webhooks", "x-webhooks"]) {
    for (const [name, part] of membersOf(memberOf(root, member))) reader.omitAll(`webhook ${name}`, part);
  }
  return reader;
}

interface FoundOperation {
  method: string;
  part: DocumentPart;
}

class OperationReader implements ReadOperations {
  readonly operations: OperationFacts[] = [];
  readonly omitted: OmittedOperation[] = [];
  readonly #context: ReadContext;
  readonly #defaults: OperationDefaults;
  readonly #ids = new Set<string>();
  readonly #keys = new Set<string>();

  constructor(context: ReadContext, defaults: OperationDefaults) {
    this.#context = context;
    this.#defaults = defaults;
  }

  readPath(path: string, part: DocumentPart): void {
    const { document } = this.#context;
    const item = document.followObject(part);
    if (!item) {
      const ref = referenceOf(part.value);
      if (ref !== undefined) this.#omit(`ANY ${path}`, "unresolved-reference", part, ref);
      else document.remark(part.pointer, `The path "${path}" is not an object; it is ignored`);
      return;
    }
    const template = readPathTemplate(path);
    for (const remark of template?.remarks ?? []) document.remark(part.pointer, remark);
    for (const operation of this.#operationsOf(item)) this.#read(path, template, { item, ...operation });
    // What stands beside the reference of a path adds to it.
    if (item.pointer === part.pointer || !isRecord(part.value)) return;
    const beside = { value: part.value, pointer: part.pointer };
    for (const operation of this.#operationsOf(beside)) this.#read(path, template, { item: beside, ...operation });
  }

  /** Operations that the API calls, not its clients. */
  omitAll(name: string, part: DocumentPart): void {
    const item = this.#context.document.followObject(part);
    if (!item) return;
    for (const { method, part: operation } of this.#operationsOf(item)) {
      this.#omit(`${name} ${method}`, "webhook", operation);
    }
  }

  #operationsOf(item: ObjectPart): FoundOperation[] {
    const { document } = this.#context;
    const usual = membersOf(item).flatMap(([name, part]) => {
      const method = name.toLowerCase();
      if (!METHODS.has(method) || (method === "query" && document.format !== "openapi-3.2")) return [];
      return [{ method: method.toUpperCase(), part }];
    });
    const others = membersOf(memberOf(item, "additionalOperations"));
    return [...usual, ...others.map(([method, part]) => ({ method: method.toUpperCase(), part }))];
  }

  #read(path: string, template: PathTemplate | undefined, found: FoundOperation & { item: ObjectPart }): void {
    const { method, part, item } = found;
    const key = `${method} ${path}`;
    if (this.#keys.has(key)) return;
    this.#keys.add(key);
    if (!isRecord(part.value)) return this.#omit(key, "unreadable-operation", part, "it is not an object");
    // OpenAPI allows references in other places only, but well-known descriptions have one file for each operation.
    const operation = this.#context.document.followObject(part);
    if (!operation) {
      const detail = `${referenceOf(part.value) ?? "its reference"} is not found, or not an operation`;
      return this.#omit(key, "unresolved-reference", part, detail.slice(0, 200));
    }
    for (const [name, callback] of membersOf(memberOf(operation, "callbacks"))) {
      const target = this.#context.document.followObject(callback);
      for (const [address, inner] of membersOf(target)) this.omitAll(`callback ${key} ${name} ${address}`, inner);
    }
    if (!SENT.has(method)) return this.#omit(key, "unsupported-method", part, method.slice(0, 40));
    if (!template) return this.#omit(key, "missing-path-parameter", part, path.slice(0, 200));
    const read = this.#facts({ key, method, template, item, operation });
    if ("reason" in read) this.#omit(key, read.reason, part, read.detail);
    else this.operations.push(read);
  }

  #facts({
    key,
    method,
    template,
    item,
    operation,
  }: Parts): OperationFacts | { reason: OmissionReason; detail: string } {
    const { document } = this.#context;
    const security = readSecurity(document, operation, this.#defaults.schemes) ?? this.#defaults.security;
    const { parameters, body, unresolved } = readParameters(this.#context, {
      owners: [item, operation],
      template,
      isSecured: security.some((alternative) => alternative.length > 0),
    });
    const named = new Set(parameters.map(({ name }) => name.toLowerCase()));
    if (template.fragment?.some((name) => !named.has(name.toLowerCase())) === true) {
      return { reason: "uncertain-path", detail: "# and what follows it is never sent" };
    }
    const [lost] = unresolved;
    if (lost !== undefined) return { reason: "unresolved-reference", detail: lost.slice(0, 200) };
    const found = readBody(this.#context, operation, body);
    if ("unresolved" in found) return { reason: "unresolved-reference", detail: found.unresolved.slice(0, 200) };
    const responses = readResponses(this.#context, operation);
    const stream = endlessType(responses);
    if (stream !== undefined) return { reason: "stream", detail: stream };
    const { summary, description, operationId, tags, deprecated } = operation.value;
    const servers = this.#servers(operation, item);
    return {
      key,
      ...present({ id: this.#id(operationId, operation) }),
      method,
      path: template.path,
      ...present({ servers }),
      ...present({
        summary: textOf(summary) ?? textOf(item.value["summary"]),
        description: textOf(description) ?? textOf(item.value["description"]),
      }),
      tags: Array.isArray(tags) ? [...new Set(tags.flatMap((tag) => textOf(tag) ?? []))] : [],
      deprecated: deprecated === true,
      parameters: [...parameters, ...this.#constants(template, parameters, item.pointer)],
      ...present({ body: found.body }),
      responses,
      security,
      evidence: document.evidence(operation.pointer),
    };
  }

  #servers(operation: ObjectPart, item: ObjectPart): ServerFacts[] | undefined {
    const { document } = this.#context;
    const servers = readServers(document, operation) ?? readServers(document, item);
    return servers?.length ? servers : undefined;
  }

  #id(written: unknown, { pointer }: ObjectPart): string | undefined {
    const id = textOf(written)?.trim();
    if (id === undefined || id === "") return undefined;
    if (this.#ids.has(id)) this.#context.document.remark(pointer, `The operationId "${id}" is used more than once`);
    this.#ids.add(id);
    return id;
  }

  #constants({ query }: PathTemplate, declared: readonly ParameterFacts[], pointer: string): ParameterFacts[] {
    const { document, schemas } = this.#context;
    const isDeclared = (name: string) => declared.some((other) => other.in === "query" && other.name === name);
    const own = query.filter(([name]) => name !== "" && !isDeclared(name));
    return own.map(([name, value]) => ({
      name,
      in: "query",
      required: true,
      deprecated: false,
      schema: {
        ...schemas.schema({ value: { type: "string", const: value }, pointer: `${pointer}?${name}` }),
        evidence: document.evidence(pointer),
      },
      style: "form",
      explode: true,
      constant: value,
      examples: [],
      evidence: document.evidence(pointer),
    }));
  }

  #omit(key: string, reason: OmissionReason, { pointer }: DocumentPart, detail?: string): void {
    this.omitted.push({ key, reason, ...present({ detail }), evidence: this.#context.document.evidence(pointer) });
  }
}

interface Parts {
  key: string;
  method: string;
  template: PathTemplate;
  item: ObjectPart;
  operation: ObjectPart;
}

/** The media type of an operation whose successful answers are all endless. */
function endlessType(responses: readonly ResponseFacts[]): string | undefined {
  const types = responses
    .filter(({ status }) => status.startsWith("2"))
    .flatMap(({ contents }) => contents.map(({ mediaType }) => mediaType));
  return types.every((type) => ENDLESS.test(type)) ? types[0] : undefined;
}

/** The responses of an operation in the order of the document. */
function readResponses(context: ReadContext, operation: ObjectPart): ResponseFacts[] {
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

const FORM = "application/x-www-form-urlencoded";
const MULTIPART = "multipart/form-data";

/** The body of an operation, or the reference that leads nowhere. */
type ReadBody = { body?: BodyFacts } | { unresolved: string };

/** `parameters`: those that are a body, in 2.0. */
function readBody(context: ReadContext, operation: ObjectPart, parameters: readonly ObjectPart[]): ReadBody {
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
