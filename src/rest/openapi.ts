import * as z from "zod";
import { VERSION } from "../protocol/version.ts";
import type { ApiOperation } from "./resources/api-context.ts";
import { OPERATIONS, SCHEMAS } from "./resources/operations.ts";

type Json = Record<string, unknown>;

/** The path below which all operations are. */
export const API_PATH = "/api/v1";

/** The OpenAPI document of the REST API, made of its operations. */
export function openApiDocument(): Json {
  const components = componentsOf(SCHEMAS);
  const names = new Map<z.ZodType, string>(Object.entries(SCHEMAS).map(([name, schema]) => [schema, name]));
  const paths: Record<string, Json> = {};
  for (const operation of OPERATIONS) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = describe(operation, (schema) => {
      const name = names.get(schema);
      if (name === undefined) throw new TypeError(`the operation ${operation.id} has a schema without a name`);
      return { $ref: reference(name) };
    });
  }
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
      schemas: { ...components, Problem: PROBLEM },
    },
  };
}

function reference(name: string): string {
  return `#/components/schemas/${name}`;
}

function componentsOf(schemas: Readonly<Record<string, z.ZodType>>): Json {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const { schemas: written } = z.toJSONSchema(registry, { uri: reference, io: "input", unrepresentable: "any" });
  return Object.fromEntries(
    Object.entries(written).map(([name, schema]) => [name, withoutDefaults(withoutIds(schema))]),
  );
}

/** What OpenAPI says elsewhere. */
function withoutIds({ $schema: _schema, $id: _id, ...schema }: Json): Json {
  return schema;
}

/**
 * Generators of clients require members that have a `default`: in an answer they are always there. Here only bodies have
 * such members, which may be missing, so the description has the default.
 */
function withoutDefaults({ default: value, ...schema }: Json): Json {
  const { description, properties } = schema;
  if (value !== undefined) {
    const text = `Default: \`${JSON.stringify(value)}\`.`;
    schema["description"] = typeof description === "string" ? `${description} ${text}` : text;
  }
  if (properties !== undefined) {
    const members = Object.entries(properties as Record<string, Json>);
    schema["properties"] = Object.fromEntries(members.map(([name, member]) => [name, withoutDefaults(member)]));
  }
  return schema;
}

type ReferTo = (schema: z.ZodType) => Json;

function describe(operation: ApiOperation, referTo: ReferTo): Json {
  const { id, tag, summary, description, access, body, answer, method } = operation;
  const mediaType = answer.mediaType ?? "application/json";
  // What has no schema is a stream of text.
  const schema = answer.schema ? referTo(answer.schema) : { type: "string" };
  const hasTag = method === "GET" && answer.schema !== undefined;
  const content = answer.status === 204 ? {} : { content: { [mediaType]: { schema } } };
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(access === "public" ? { security: [] } : {}),
    "x-nexus-access": access,
    parameters: [
      ...pathParameters(operation.path),
      ...queryParameters(operation.query),
      ...headerParameters(operation),
    ],
    ...(body ? { requestBody: { required: true, content: { "application/json": { schema: referTo(body) } } } } : {}),
    responses: {
      [answer.status]: { description: summary, ...(hasTag ? TAGGED : {}), ...content },
      ...(hasTag ? { 304: { description: "Not modified", ...TAGGED } } : {}),
      ...Object.fromEntries(failuresOf(operation).map((status) => [status, problemResponse(status)])),
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

function queryParameters(query: z.ZodType | undefined): Json[] {
  if (!query) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(query, { io: "input", unrepresentable: "any" });
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = schema as Json;
    return { name, in: "query", required: required.includes(name), description, schema: rest };
  });
}

function headerParameters({ method, access }: ApiOperation): Json[] {
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

function failuresOf({ access, path, body, query, method, fails = [] }: ApiOperation): number[] {
  // The gateway itself or its database may fail.
  const found = new Set<number>([...fails, 500, 503]);
  if (access !== "public") found.add(401).add(403).add(429);
  if (path.includes("{")) found.add(404);
  if (body || query || path.includes("{")) found.add(400);
  if (method !== "GET" && method !== "POST") found.add(412);
  return [...found].toSorted((a, b) => a - b);
}

/** Statuses of failures that are over after a time. */
const TEMPORARY: ReadonlySet<number> = new Set([429, 503]);

function problemResponse(status: number): Json {
  return {
    description: "Problem",
    ...(TEMPORARY.has(status) ? { headers: RETRY_AFTER } : {}),
    content: { "application/problem+json": { schema: { $ref: reference("Problem") } } },
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
        properties: { at: { type: "string" }, message: { type: "string" } },
        required: ["at", "message"],
      },
    },
  },
  required: ["type", "title", "status", "detail", "code"],
};
