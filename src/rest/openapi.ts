import { lazy, type AnyForm } from "../format/form.ts";
import { jsonSchema } from "../format/json-schema.ts";
import { isRecord } from "../json/is-record.ts";
import { VERSION } from "../protocol/version.ts";
import type { RestOperation } from "./rest-operation.ts";
import { REST_OPERATIONS } from "./rest-operations.ts";

type Json = Record<string, unknown>;

/** The path below which all operations are. */
export const API_PATH = "/api/v1";

const COMPONENTS = "#/components/schemas/";

/** The OpenAPI document of the REST API, made of its operations. Objects are in the order of their first use. */
export function openApiDocument(): Json {
  const definitions = new Map<string, Json>();
  const schemaOf = (form: AnyForm) => {
    if (form.traits.name === undefined) throw new TypeError("an operation has a form without a name");
    return jsonSchema(
      lazy(() => form),
      { refs: COMPONENTS, network: true, definitions },
    );
  };
  const paths: Record<string, Json> = {};
  for (const operation of REST_OPERATIONS) {
    const { http } = operation;
    const path = (paths[http.path] ??= {});
    path[http.method.toLowerCase()] = describe(operation, schemaOf);
  }
  const schemas = Object.fromEntries([...definitions].map(([name, schema]) => [name, plain(schema)]));
  return {
    openapi: "3.1.0",
    info: {
      title: "Nexus gateway",
      version: VERSION,
      license: { name: "MIT", identifier: "MIT" },
      description:
        "Operates a Nexus gateway. Callers send an API key, or the cookie of a browser's session with X-CSRF-Token. Failures are problems (RFC 9457). Requests count against the limits of their key and tenant, together with those of MCP. What a caller may not see is answered like something that does not exist.",
    },
    servers: [{ url: API_PATH }],
    security: [{ key: [] }, { session: [] }],
    paths,
    components: {
      securitySchemes: {
        key: { type: "http", scheme: "bearer", bearerFormat: "nxs_…" },
        session: { type: "apiKey", in: "cookie", name: "nexus_session_PORT" },
      },
      schemas: { ...schemas, Problem: PROBLEM },
    },
  };
}

/**
 * As generators of clients take it: one type with null where that is all, types beside lists of texts, and defaults in words,
 * because generators require members that have one.
 */
function plain(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plain);
  if (!isRecord(schema)) return schema;
  const { anyOf, default: usual, ...given } = schema;
  const rest: Json = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, plain(value)]));
  const typed = { ...typeOf(rest), ...rest };
  const alone = Array.isArray(anyOf) && anyOf.length === 2 && isNull(anyOf[1]) ? onlyType(plain(anyOf[0])) : undefined;
  const whole: Json =
    alone === undefined
      ? { ...typed, ...(anyOf === undefined ? {} : { anyOf: plain(anyOf) }) }
      : { type: [alone, "null"], ...typed };
  if (usual === undefined) return whole;
  const text = `Default: \`${JSON.stringify(usual)}\`.`;
  const { description } = whole;
  return { ...whole, description: typeof description === "string" ? `${description} ${text}` : text };
}

/** Of lists of texts, and of constants. */
function typeOf(schema: Json): Json {
  if (Array.isArray(schema["enum"])) return { type: "string" };
  return "const" in schema ? { type: typeof schema["const"] } : {};
}

function isNull(schema: unknown): boolean {
  return isRecord(schema) && schema["type"] === "null";
}

/** The type, where nothing else is said. */
function onlyType(schema: unknown): string | undefined {
  if (!isRecord(schema) || Object.keys(schema).length !== 1) return undefined;
  return typeof schema["type"] === "string" ? schema["type"] : undefined;
}

type SchemaOf = (form: AnyForm) => Json;

function describe(operation: RestOperation, schemaOf: SchemaOf): Json {
  const { id, tag, summary, description, access, input, output, http } = operation;
  const { method, path, status } = http;
  const mediaType = http.mediaType ?? "application/json";
  const body = method === "GET" ? undefined : input;
  // The parameters come first in the order of objects.
  const parameters = [
    ...pathParameters(path),
    ...(method === "GET" ? queryParameters(input) : []),
    ...headerParameters(operation),
  ];
  const requestBody = body && { required: true, content: { "application/json": { schema: schemaOf(body) } } };
  // What has no form is a stream of text.
  const schema = output ? schemaOf(output) : { type: "string" };
  const hasTag = method === "GET" && output !== undefined;
  const content = status === 204 ? {} : { content: { [mediaType]: { schema } } };
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(access === "public" ? { security: [] } : {}),
    "x-nexus-access": access,
    parameters,
    ...(requestBody ? { requestBody } : {}),
    responses: {
      [status]: { description: summary, ...(hasTag ? TAGGED : {}), ...content },
      ...(hasTag ? { 304: { description: "Not modified", ...TAGGED } } : {}),
      ...Object.fromEntries(failuresOf(operation).map((each) => [each, problemResponse(each)])),
    },
  };
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters(input: AnyForm | undefined): Json[] {
  if (!input) return [];
  const { properties, required } = jsonSchema(input, { network: true });
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  return Object.entries(isRecord(properties) ? properties : {}).map(([name, schema]) => {
    const { description, ...rest } = isRecord(schema) ? schema : {};
    return { name, in: "query", required: isRequired(name), description, schema: rest };
  });
}

function headerParameters({ http: { method }, access }: RestOperation): Json[] {
  const header = (name: string, description: string) => ({
    name,
    in: "header",
    description,
    schema: { type: "string" },
  });
  if (access === "public") return [];
  if (method === "GET") return [header("If-None-Match", "Answers 304 if the entity tag is still the same.")];
  if (method === "POST")
    return [header("Idempotency-Key", "A repeated request gets the first answer and has no effect.")];
  return [header("If-Match", "Fails with 412 if the version is another one.")];
}

function failuresOf({ access, input, http }: RestOperation): number[] {
  const { path, method, fails = [] } = http;
  // The gateway itself or its database may fail.
  const found = new Set<number>([...fails, 500, 503]);
  if (access !== "public") found.add(401).add(403).add(429);
  if (path.includes("{")) found.add(404);
  if (input || path.includes("{")) found.add(400);
  if (method !== "GET" && method !== "POST") found.add(412);
  return [...found].toSorted((a, b) => a - b);
}

/** Statuses of failures that are over after a time. */
const TEMPORARY: ReadonlySet<number> = new Set([429, 503]);

function problemResponse(status: number): Json {
  return {
    description: "Problem",
    ...(TEMPORARY.has(status) ? { headers: RETRY_AFTER } : {}),
    content: { "application/problem+json": { schema: { $ref: `${COMPONENTS}Problem` } } },
  };
}

const RETRY_AFTER = { "Retry-After": { description: "Seconds to wait.", schema: { type: "string" } } };

const TAGGED = {
  headers: {
    ETag: {
      description: "For `If-None-Match`, and for `If-Match` where it can be changed.",
      schema: { type: "string" },
    },
  },
};

const PROBLEM = {
  type: "object",
  properties: {
    type: { type: "string" },
    title: { type: "string", description: "The meaning of the status." },
    status: { type: "integer" },
    detail: { type: "string", description: "What happened." },
    code: { type: "string", description: "The kind of failure, for programs." },
    hint: { type: "string", description: "What to do." },
    correlationId: { type: "string", description: "The id of the entry in the gateway's log that has the details." },
    errors: {
      type: "array",
      description: "The members of the request that are not valid.",
      items: {
        type: "object",
        properties: {
          at: { type: "string" },
          message: { type: "string" },
          hint: { type: "string", description: "What to write instead." },
        },
        required: ["at", "message"],
      },
    },
  },
  required: ["type", "title", "status", "detail", "code"],
};
