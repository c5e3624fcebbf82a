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
} from "../api-facts.ts";
import { memberOf, membersOf, referenceOf, textOf, type ObjectPart, type DocumentPart } from "./api-document.ts";
import { readPathTemplate, type PathTemplate } from "./path-template.ts";
import { readBody } from "./read-bodies.ts";
import type { ReadContext } from "./read-contents.ts";
import { readParameters } from "./read-parameters.ts";
import { readResponses } from "./read-responses.ts";
import { readSecurity } from "./read-security.ts";
import { readServers } from "./read-servers.ts";

const METHODS = new Set(["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"]);
const SENT: ReadonlySet<string> = new Set(REQUEST_METHODS);
/** Answers that go on until the client leaves. */
const ENDLESS = /^(?:text\/event-stream|multipart\/x-mixed-replace)\b/i;

/** What holds for all operations unless they say otherwise. */
export interface OperationDefaults {
  security: OperationFacts["security"];
  schemes: ReadonlySet<string>;
}

export interface ReadOperations {
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
