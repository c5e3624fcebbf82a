import type {
  OmittedOperation,
  OperationFacts,
  ParameterFacts,
  SchemaFacts,
  SecuritySchemeFacts,
  ServerFacts,
} from "../api-facts.ts";
import { isPlaceholder, placeholderSchema, plainSchema } from "../inferred-schema.ts";
import { credentialInHeader, credentialInQuery, type PostmanAuth } from "./postman-auth.ts";
import { readBody } from "./postman-body.ts";
import { headersOf, type HeaderEntry } from "./postman-headers.ts";
import type { PostmanPart } from "./postman-part.ts";
import { readResponses } from "./postman-responses.ts";
import { readUrl, type PostmanUrl, type QueryEntry } from "./postman-url.ts";
import { variablesIn, type PostmanVariables } from "./postman-variables.ts";

export interface RequestContext {
  method: string;
  variables: PostmanVariables;
  /** That of the request, or of what is around it. */
  auth: PostmanPart;
  known: PostmanAuth;
  marksRequired: boolean;
}

export interface ReadRequest {
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
  entries: readonly QueryEntry[],
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
  headers: readonly HeaderEntry[],
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
function cookiesIn({ value, evidence }: HeaderEntry): SecuritySchemeFacts[] {
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
