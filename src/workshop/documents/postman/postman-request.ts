import type {
  OmittedOperation,
  OperationFacts,
  ParameterFacts,
  SchemaFacts,
  SecuritySchemeFacts,
  ServerFacts,
  ContentFacts,
  ResponseFacts,
  BodyFacts,
  Evidence,
} from "../api-facts.ts";
import {
  isPlaceholder,
  placeholderSchema,
  plainSchema,
  inferSchema,
  hasPlaceholder,
  objectSchema,
  type Sample,
} from "../inferred-schema.ts";
import type { PostmanAuth } from "./postman-auth.ts";
import { PostmanPart } from "./postman-part.ts";
import { readUrl, type PostmanUrl, type PostmanEntry } from "./postman-url.ts";
import { variablesIn, onlyVariable, type PostmanVariables } from "./postman-variables.ts";
import { jsonSample } from "../text/json-sample.ts";
import { LEFT_OUT } from "../../../masking/clean-prose.ts";
import { isCredentialName } from "../../../masking/secret-names.ts";

interface RequestContext {
  method: string;
  variables: PostmanVariables;
  /** That of the request, or of what is around it. */
  auth: PostmanPart;
  known: PostmanAuth;
  marksRequired: boolean;
}

interface ReadRequest {
  /** Without the key and the tags, which the collection decides. */
  facts: Omit<OperationFacts, "key" | "tags"> & { tags: string[] };
  server: ServerFacts | undefined;
  /** Why it cannot be sent as a request of HTTP. */
  unsent: Pick<OmittedOperation, "reason" | "detail"> | undefined;
}

/** Set by the sender of the request, or in other parts of an operation. */
const OWN_HEADERS = new Set([
  "accept",
  "accept-encoding",
  "cache-control",
  "connection",
  "content-length",
  "content-type",
  "cookie",
  "host",
  "postman-token",
  "te",
  "transfer-encoding",
  "user-agent",
]);

/** One request of a collection as an operation. */
export function readRequest(item: PostmanPart, context: RequestContext): ReadRequest {
  const { variables, method, known, auth } = context;
  const request = item.part("request");
  const isText = request.text() !== undefined;
  const urlPart = isText ? request : request.part("url");
  const url = readUrl(urlPart, variables);
  const headers = isText ? [] : headersOf(request.part("header"));
  const found: SecuritySchemeFacts[] = [];
  const parameters = [
    ...pathParameters(url, variables),
    ...queryParameters(url.query, context, found),
    ...headerParameters(headers, context, found),
  ];
  const contentType = headers.find(({ name, isOff }) => !isOff && name.toLowerCase() === "content-type")?.value;
  const type = contentType === undefined || variablesIn(contentType).length > 0 ? undefined : contentType;
  const body = readBody(request.part("body"), type?.split(";", 1)[0]?.trim(), variables);
  const description = request.description() ?? item.description();
  return {
    facts: {
      method,
      path: url.path,
      ...(description !== undefined && { description }),
      tags: [],
      deprecated: false,
      parameters,
      ...(body && { body }),
      responses: readResponses(item.part("response")),
      security: known.of(auth, found, variables),
      evidence: item.evidence,
    },
    server: url.server,
    unsent: whyUnsent(urlPart, url.protocol),
  };
}

function whyUnsent(url: PostmanPart, protocol: string | undefined): ReadRequest["unsent"] {
  const isEmpty = (url.text() ?? url.part("raw").text() ?? "") === "" && !url.part("host").isThere;
  if (isEmpty && !url.part("path").isThere) {
    return { reason: "unreadable-operation", detail: "the request has no address" };
  }
  if (protocol === undefined || protocol === "http" || protocol === "https") return undefined;
  const detail = `its address begins with ${protocol.slice(0, 20)}://`;
  return { reason: protocol === "ws" || protocol === "wss" ? "stream" : "unsupported-method", detail };
}

function pathParameters({ pathParameters: found }: PostmanUrl, variables: PostmanVariables): ParameterFacts[] {
  return found.map(({ name, value, description, evidence }) => ({
    ...parameter(name, "path", variables.resolve(value), { description, evidence }),
    required: true,
    style: "simple",
    explode: false,
  }));
}

function queryParameters(
  entries: readonly PostmanEntry[],
  { variables, marksRequired }: RequestContext,
  found: SecuritySchemeFacts[],
): ParameterFacts[] {
  const byName = new Map<string, ParameterFacts>();
  for (const entry of entries) {
    const { name, value, evidence } = entry;
    const credential = credentialInQuery(name, value, evidence);
    if (credential) {
      if (!entry.isOff) found.push(credential);
      continue;
    }
    const own = parameter(name, "query", variables.resolve(value), entry);
    const before = byName.get(name);
    const isRequired = isMarked(entry.description) || (!marksRequired && !entry.isOff);
    const schema = before ? listOf(own.schema) : own.schema;
    byName.set(name, {
      ...own,
      schema,
      required: isRequired,
      style: "form",
      explode: true,
      examples: before ? [] : own.examples,
    });
  }
  return [...byName.values()];
}

function headerParameters(
  headers: readonly PostmanEntry[],
  { variables, marksRequired }: RequestContext,
  found: SecuritySchemeFacts[],
): ParameterFacts[] {
  const byName = new Map<string, ParameterFacts>();
  for (const entry of headers) {
    const lower = entry.name.toLowerCase();
    if (lower === "cookie" && !entry.isOff) found.push(...cookiesIn(entry));
    if (OWN_HEADERS.has(lower) || byName.has(lower)) continue;
    const credential = credentialInHeader(entry.name, entry.value, entry.evidence);
    if (credential) {
      if (!entry.isOff) found.push(credential);
      continue;
    }
    const value = variables.resolve(entry.value);
    const own = parameter(entry.name, "header", value, entry);
    // A fixed header, such as the version of an API, is sent with this value unless the caller gives another.
    const isFixed = !entry.isOff && value !== "" && !isPlaceholder(value) && variablesIn(value).length === 0;
    const schema = isFixed ? { ...own.schema, default: value } : own.schema;
    const isRequired = !isFixed && (isMarked(entry.description) || (!marksRequired && !entry.isOff));
    byName.set(lower, { ...own, schema, required: isRequired, style: "simple", explode: false });
  }
  return [...byName.values()];
}

/** Cookies are the credentials of a session. */
function cookiesIn({ value, evidence }: PostmanEntry): SecuritySchemeFacts[] {
  return value.split(/;\s*/).flatMap((pair) => {
    const [name = ""] = pair.split("=", 1);
    return /^[\w!#$%&'*+.^`|~-]+$/.test(name) ? [{ kind: "apiKey", in: "cookie", name, evidence }] : [];
  });
}

function parameter(
  name: string,
  place: ParameterFacts["in"],
  value: string,
  { description, evidence }: { description: string | undefined; evidence: string },
): Omit<ParameterFacts, "required" | "style" | "explode"> {
  const text = description?.replace(/^\(Required\)\s*/i, "");
  const isExample = value !== "" && !isPlaceholder(value) && variablesIn(value).length === 0;
  return {
    name,
    in: place,
    ...(text !== undefined && text !== "" && { description: text }),
    deprecated: false,
    schema: placeholderSchema(value, evidence) ?? plainSchema(evidence),
    examples: isExample ? [value] : [],
    evidence,
  };
}

/** A parameter that is there several times. */
function listOf(schema: SchemaFacts): SchemaFacts {
  return { ...plainSchema(`${schema.evidence}/value`, ["array"]), items: () => schema };
}

/** As converters of OpenAPI descriptions write it. */
function isMarked(description: string | undefined): boolean {
  return /^\(Required\)/i.test(description ?? "");
}

/** Of one request. Further ones rarely show another member. */
const MOST_RESPONSES = 200;

/** The saved responses of a request, by status. Their bodies are examples, of which the schema is inferred. */
function readResponses(list: PostmanPart): ResponseFacts[] {
  const byStatus = new Map<string, PostmanPart[]>();
  for (const response of list.items().slice(0, MOST_RESPONSES)) {
    const code = Number(response.part("code").text());
    if (!Number.isInteger(code) || code < 100 || code > 599) continue;
    byStatus.set(String(code), [...(byStatus.get(String(code)) ?? []), response]);
  }
  return [...byStatus].map(([status, responses]) => {
    const [first] = responses;
    const name = first?.part("name").text();
    return {
      status,
      ...(name !== undefined && name !== "" && { description: name }),
      contents: contentsOf(responses),
      headers: [],
      evidence: first?.evidence ?? list.evidence,
    };
  });
}

function contentsOf(responses: readonly PostmanPart[]): ContentFacts[] {
  const byType = new Map<string, { samples: Sample[]; evidence: string }>();
  for (const response of responses) {
    const body = response.part("body");
    const text = body.text() ?? "";
    if (text.trim() === "") continue;
    const header = headersOf(response.part("header")).find(({ name }) => name.toLowerCase() === "content-type");
    const sample = jsonSample(text);
    const named = header?.value.split(";", 1)[0]?.trim().toLowerCase();
    const type = named !== undefined && named !== "" ? named : sample ? "application/json" : "text/plain";
    const isJson = sample !== undefined && /json/.test(type);
    const known = byType.get(type) ?? { samples: [], evidence: body.evidence };
    if (isJson) known.samples.push({ value: sample.value, evidence: body.evidence });
    byType.set(type, known);
  }
  return [...byType].map(
    ([
      mediaType,
      {
        samples: [first, ...others],
        evidence,
      },
    ]) => ({
      mediaType,
      schema: first ? inferSchema([first, ...others]) : plainSchema(evidence),
      examples: [],
      encoding: {},
      evidence,
    }),
  );
}

const LANGUAGES: Readonly<Record<string, string>> = {
  json: "application/json",
  xml: "application/xml",
  html: "text/html",
  javascript: "application/javascript",
  text: "text/plain",
};

const FORM = "application/x-www-form-urlencoded";

/** The body of a request; undefined if it has none. `contentType`: of its header. */
function readBody(
  body: PostmanPart,
  contentType: string | undefined,
  variables: PostmanVariables,
): BodyFacts | undefined {
  if (!body.isThere || body.isOff) return undefined;
  const mode = body.part("mode").text() ?? "";
  const content = contentOf(body, mode, contentType, variables);
  return content && { required: true, contents: [content], evidence: body.evidence };
}

function contentOf(
  body: PostmanPart,
  mode: string,
  contentType: string | undefined,
  variables: PostmanVariables,
): ContentFacts | undefined {
  switch (mode) {
    case "raw":
      return rawContent(body, contentType, variables);
    case "urlencoded":
      return formContent(body.part(mode), FORM, variables);
    case "formdata":
      return formContent(body.part(mode), "multipart/form-data", variables);
    case "file": {
      const { evidence } = body.part(mode);
      const schema = { ...plainSchema(evidence), format: "binary" };
      return content(contentType ?? "application/octet-stream", schema, evidence);
    }
    case "graphql":
      return graphqlContent(body.part(mode), variables);
    default:
      return undefined;
  }
}

function rawContent(
  body: PostmanPart,
  contentType: string | undefined,
  variables: PostmanVariables,
): ContentFacts | undefined {
  const raw = body.part("raw");
  const text = variables.resolve(raw.text() ?? "");
  if (text.trim() === "") return undefined;
  const language = body.part("options").part("raw").part("language").text() ?? "";
  const named = contentType ?? LANGUAGES[language];
  if (named !== undefined && /^application\/x-www-form-urlencoded$/i.test(named) && isForm(text)) {
    return formContent(formEntries(text, raw.evidence), FORM, variables);
  }
  const sample = named === undefined || /json/i.test(named) ? jsonSample(text) : undefined;
  const mediaType = named ?? (sample ? "application/json" : "text/plain");
  if (!sample) return content(mediaType, plainSchema(raw.evidence), raw.evidence);
  const { value } = sample;
  return {
    ...content(mediaType, inferSchema([{ value, evidence: raw.evidence }]), raw.evidence),
    examples: hasPlaceholder(value) || isBig(text) ? [] : [value],
  };
}

function isForm(text: string): boolean {
  return /^[^=&\s{}"]+=[^\n]*$/.test(text.trim());
}

/** The members of a form that was written as text, as those that were written one by one. */
function formEntries(text: string, evidence: Evidence): PostmanPart {
  const entries = [...new URLSearchParams(text.trim())].map(([key, value]) => ({ key, value }));
  return new PostmanPart(entries, evidence);
}

/** A long number is read as a bigint, which an example in JSON cannot have. */
function isBig(text: string): boolean {
  return /\d{16}/.test(text);
}

function formContent(list: PostmanPart, mediaType: string, variables: PostmanVariables): ContentFacts {
  const encoding: ContentFacts["encoding"] = {};
  const members = new Map<string, SchemaFacts>();
  for (const entry of list.items()) {
    const name = entry.part("key").text();
    if (name === undefined || name === "") continue;
    const type = entry.part("contentType").text();
    if (type !== undefined && type !== "") encoding[name] = { contentType: type };
    const schema = fieldSchema(entry, variables);
    const before = members.get(name);
    members.set(name, before ? listOf(schema) : schema);
  }
  return { ...content(mediaType, objectSchema(list.evidence, members), list.evidence), encoding };
}

function fieldSchema(entry: PostmanPart, variables: PostmanVariables): SchemaFacts {
  const description = entry.description();
  const isFile = entry.part("type").text() === "file";
  const value = variables.resolve(entry.part("value").text() ?? "");
  const typed = isFile ? undefined : placeholderSchema(value, entry.evidence);
  return {
    ...(typed ?? plainSchema(entry.evidence)),
    ...(isFile && { format: "binary" }),
    ...(description !== undefined && { description }),
    examples: isFile || value === "" || isPlaceholder(value) || value.includes("{{") ? [] : [value],
  };
}

/** The query is a part of the request, like its path; only the variables differ between calls. */
function graphqlContent(graphql: PostmanPart, variables: PostmanVariables): ContentFacts {
  const { evidence } = graphql;
  const query = graphql.part("query");
  const given = graphql.part("variables");
  const text = given.text();
  const sample = text === undefined ? { value: given.value } : jsonSample(variables.resolve(text));
  const members: [string, SchemaFacts][] = [
    ["query", { ...plainSchema(query.evidence), const: variables.resolve(query.text() ?? "") }],
  ];
  const hasVariables = sample && typeof sample.value === "object" && sample.value !== null;
  if (hasVariables && Object.keys(sample.value as object).length > 0) {
    members.push(["variables", inferSchema([{ value: sample.value, evidence: given.evidence }])]);
  }
  return content("application/json", objectSchema(evidence, members, ["query"]), evidence);
}

function content(mediaType: string, schema: SchemaFacts, evidence: Evidence): ContentFacts {
  return { mediaType, schema, examples: [], encoding: {}, evidence };
}

/** The headers of a request or response: a list, or lines of text. */
function headersOf(part: PostmanPart): PostmanEntry[] {
  const text = part.text();
  if (text !== undefined) {
    return text.split(/\r?\n/).flatMap((line) => {
      const [, name, value = ""] = /^\s*([^:\s]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
      return name === undefined ? [] : [{ name, value, isOff: false, description: undefined, evidence: part.evidence }];
    });
  }
  return part.items().flatMap((entry) => {
    const name = entry.part("key").text()?.trim();
    if (name === undefined || name === "") return [];
    const value = entry.part("value").text() ?? "";
    return [{ name, value, isOff: entry.isOff, description: entry.description(), evidence: entry.evidence }];
  });
}

/** The credential that a header has; undefined if it has none. */
function credentialInHeader(name: string, value: string, evidence: Evidence): SecuritySchemeFacts | undefined {
  const lower = name.toLowerCase();
  if (lower === "authorization" || lower === "proxy-authorization") {
    if (/^bearer\b/i.test(value.trim())) return { kind: "bearer", evidence };
    if (/^basic\b/i.test(value.trim())) return { kind: "basic", evidence };
    return { kind: "apiKey", in: "header", name, evidence };
  }
  return isSecret(name, value) ? { kind: "apiKey", in: "header", name, evidence } : undefined;
}

/** The credential that a query parameter has; undefined if it has none. */
function credentialInQuery(name: string, value: string, evidence: Evidence): SecuritySchemeFacts | undefined {
  return isSecret(name, value) ? { kind: "apiKey", in: "query", name, evidence } : undefined;
}

/** By its name, or by that of the variable that is its value. */
function isSecret(name: string, value: string): boolean {
  return value === LEFT_OUT || isCredentialName(name) || isCredentialName(onlyVariable(value) ?? "");
}
