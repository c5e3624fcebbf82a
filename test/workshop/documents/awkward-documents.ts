/** Small invented descriptions, each with something that real ones have and importers get wrong. */
const ok = (schema: unknown = { type: "object" }) => ({
  200: { description: "ok", content: { "application/json": { schema } } },
});

function v3(paths: object, more: object = {}): object {
  return {
    openapi: "3.0.3",
    info: { title: "Awkward", version: "1" },
    servers: [{ url: "https://api.example/v1" }],
    paths,
    ...more,
  };
}

const v31 = (paths: object, more: object = {}) => ({ ...v3(paths, more), openapi: "3.1.0" });

function v2(paths: object, more: object = {}): object {
  const info = { title: "Awkward", version: "1" };
  return { swagger: "2.0", info, host: "api.example", basePath: "/v2", schemes: ["https"], paths, ...more };
}

const query = (name: string, schema: object = { type: "string" }, more: object = {}) => ({
  name,
  in: "query",
  schema,
  ...more,
});
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: unknown, required = true) => ({ required, content: { "application/json": { schema } } });
const get = (parameters: object[], schema?: unknown) => ({ get: { parameters, responses: ok(schema) } });
const post = (schema: unknown, answer?: unknown) => ({ post: { requestBody: json(schema), responses: ok(answer) } });

function chain(length: number): Record<string, object> {
  const links = Array.from({ length }, (_, at) => [
    `Link${at}`,
    {
      allOf: [
        ...(at === 0 ? [] : [ref(`Link${at - 1}`)]),
        { type: "object", required: [`m${at}`], properties: { [`m${at}`]: { type: "integer" } } },
      ],
    },
  ]);
  return Object.fromEntries(links) as Record<string, object>;
}

const pet = {
  type: "object",
  required: ["name"],
  properties: {
    id: { type: "integer", format: "int64" },
    name: { type: "string", xml: { attribute: true } },
    photoUrls: { type: "array", xml: { wrapped: true }, items: { type: "string", xml: { name: "photoUrl" } } },
    status: { type: "string", enum: ["available", "sold"] },
  },
  xml: { name: "pet" },
};

export const AWKWARD: Record<string, object> = {
  "form bodies with nested objects, lists and expand": v3({
    "/charges": {
      post: {
        requestBody: {
          content: {
            "application/x-www-form-urlencoded": {
              encoding: {
                expand: { style: "deepObject", explode: true },
                card: { style: "deepObject", explode: true },
              },
              schema: {
                type: "object",
                required: ["amount"],
                properties: {
                  amount: { type: "integer" },
                  expand: { type: "array", items: { type: "string" } },
                  metadata: { type: "object", additionalProperties: { type: "string" } },
                  card: {
                    type: "object",
                    properties: {
                      number: { type: "string" },
                      address: { type: "object", properties: { city: { type: "string" } } },
                      tags: { type: "array", items: { type: "string" } },
                    },
                  },
                  items: { type: "array", items: { type: "object", properties: { price: { type: "string" } } } },
                  source: { anyOf: [{ type: "string" }, { type: "object", properties: { id: { type: "string" } } }] },
                },
              },
            },
          },
        },
        responses: ok(),
      },
      ...get([
        query("expand", { type: "array", items: { type: "string" } }, { style: "deepObject", explode: true }),
        query(
          "created",
          { anyOf: [{ type: "object", properties: { gt: { type: "integer" } } }, { type: "integer" }] },
          { style: "deepObject", explode: true },
        ),
      ]),
    },
  }),
  "unions and link headers": v3(
    {
      "/issues": {
        get: {
          responses: {
            200: {
              description: "ok",
              headers: { Link: { schema: { type: "string" } } },
              content: { "application/json": { schema: { type: "array", items: ref("Issue") } } },
            },
          },
        },
        ...post({
          type: "object",
          required: ["title"],
          properties: {
            title: { oneOf: [{ type: "string" }, { type: "integer" }] },
            labels: {
              type: "array",
              items: { oneOf: [{ type: "string" }, { type: "object", properties: { name: { type: "string" } } }] },
            },
          },
        }),
      },
      "/labels": post({
        oneOf: [
          { type: "array", items: { type: "string" } },
          { type: "object", properties: { labels: { type: "array", items: { type: "string" } } } },
        ],
      }),
    },
    {
      components: {
        schemas: {
          Issue: { anyOf: [ref("Simple"), ref("Full")] },
          Simple: { type: "object", required: ["id"], properties: { id: { type: "integer" } } },
          Full: {
            type: "object",
            required: ["id", "user"],
            properties: { id: { type: "integer" }, user: { type: "string", nullable: true } },
          },
        },
      },
    },
  ),
  "a pet shop 3.0 with XML and JSON bodies": v3(
    {
      "/pet": {
        post: {
          operationId: "addPet",
          requestBody: {
            required: true,
            content: { "application/xml": { schema: ref("Pet") }, "application/json": { schema: ref("Pet") } },
          },
          responses: {
            200: {
              description: "ok",
              content: { "application/xml": { schema: ref("Pet") }, "application/json": { schema: ref("Pet") } },
            },
          },
        },
      },
      "/pet/{petId}": {
        post: {
          operationId: "updatePetWithForm",
          parameters: [
            { name: "petId", in: "path", required: true, schema: { type: "integer", format: "int64" } },
            query("name"),
            query("status"),
          ],
          responses: { 405: { description: "Invalid input" } },
        },
      },
    },
    { components: { schemas: { Pet: pet } } },
  ),
  "a pet shop 2.0 with form data and a file": v2(
    {
      "/pet/{petId}/uploadImage": {
        post: {
          consumes: ["multipart/form-data"],
          parameters: [
            { name: "petId", in: "path", required: true, type: "integer", format: "int64" },
            { name: "additionalMetadata", in: "formData", type: "string" },
            { name: "file", in: "formData", type: "file" },
          ],
          responses: { 200: { description: "ok", schema: { type: "object" } } },
        },
      },
      "/pet": {
        post: {
          consumes: ["application/json", "application/xml"],
          produces: ["application/xml", "application/json"],
          parameters: [{ in: "body", name: "body", required: true, schema: { $ref: "#/definitions/Pet" } }],
          responses: { 405: { description: "Invalid input" } },
        },
      },
      "/pet/findByStatus": {
        get: {
          parameters: [
            {
              name: "status",
              in: "query",
              required: true,
              type: "array",
              collectionFormat: "multi",
              items: { type: "string", enum: ["available", "sold"], default: "available" },
            },
          ],
          responses: { 200: { description: "ok", schema: { type: "array", items: { $ref: "#/definitions/Pet" } } } },
        },
      },
    },
    { definitions: { Pet: pet } },
  ),
  "2.0 that only speaks XML": v2(
    {
      "/pets": {
        get: {
          produces: ["application/xml"],
          responses: { 200: { description: "ok", schema: { $ref: "#/definitions/Pet" } } },
        },
        post: {
          consumes: ["application/xml"],
          produces: ["application/xml"],
          parameters: [{ in: "body", name: "pet", required: true, schema: { $ref: "#/definitions/Pet" } }],
          responses: { 200: { description: "ok", schema: { $ref: "#/definitions/Pet" } } },
        },
      },
    },
    { definitions: { Pet: pet } },
  ),
  "filters named with dots and signs": v3({
    "/2010-04-01/Accounts/{AccountSid}/Calls.json": get([
      { name: "AccountSid", in: "path", required: true, schema: { type: "string", pattern: "^AC[0-9a-f]{32}$" } },
      query("StartTime", { type: "string", format: "date-time" }),
      query("StartTime<", { type: "string", format: "date-time" }),
      query("StartTime>", { type: "string", format: "date-time" }),
      query("Page.Size", { type: "integer" }),
    ]),
  }),
  "OData paths and system query options": v3({
    "/People('{UserName}')/Friends({id})/$ref": get([
      { name: "UserName", in: "path", required: true, schema: { type: "string" } },
      { name: "id", in: "path", required: true, schema: { type: "integer" } },
      query("$filter"),
      query("$top", { type: "integer", minimum: 0 }),
      query(
        "$select",
        { type: "array", uniqueItems: true, items: { type: "string", enum: ["UserName", "@odata.id"] } },
        { style: "form", explode: false },
      ),
    ]),
    "/Functions.Near(lat={lat},lon={lon})": get([
      { name: "lat", in: "path", required: true, schema: { type: "number" } },
      { name: "lon", in: "path", required: true, schema: { type: "number" } },
    ]),
  }),
  "names in other scripts": v3({
    "/订单/{编号}": {
      post: {
        operationId: "创建订单",
        tags: ["заказы"],
        summary: "注文を作成する",
        parameters: [
          { name: "编号", in: "path", required: true, schema: { type: "string" } },
          query("größe", { type: "integer" }),
        ],
        requestBody: json({
          type: "object",
          required: ["имя"],
          properties: { имя: { type: "string" }, 住所: { type: "string" }, شارع: { type: "string" } },
        }),
        responses: ok({ type: "object", properties: { 状态: { type: "string" } } }),
      },
    },
  }),
  "operation ids of spaces, symbols and duplicates": v3({
    "/a": {
      get: { operationId: "Get  all the things!", responses: ok() },
      post: { operationId: "***", responses: ok() },
    },
    "/b": { get: { operationId: "same", responses: ok() }, post: { operationId: "same", responses: ok() } },
    "/c": { get: { operationId: "", responses: ok() }, put: { operationId: "9lives", responses: ok() } },
    "/": { get: { responses: ok() } },
  }),
  "500 query parameters": v3({
    "/many": get(
      Array.from({ length: 500 }, (_, at) =>
        query(`filter_${at}`, at % 3 === 0 ? { type: "integer" } : { type: "string" }),
      ),
    ),
  }),
  "a chain of ten allOf": v3({ "/chain": post(ref("Link9"), ref("Link9")) }, { components: { schemas: chain(10) } }),
  "additionalProperties everywhere": v3({
    "/maps": post(
      {
        type: "object",
        properties: {
          a: {
            type: "object",
            additionalProperties: {
              type: "object",
              additionalProperties: { type: "array", items: { type: "object", additionalProperties: true } },
            },
          },
        },
        additionalProperties: { type: "integer" },
      },
      { type: "object", additionalProperties: { type: "object", additionalProperties: false } },
    ),
    "/map": post({ type: "object", additionalProperties: { type: "string" } }),
  }),
  "an enum of 2,000 values": v3({
    "/codes": get([query("code", { type: "string", enum: Array.from({ length: 2_000 }, (_, at) => `code-${at}`) })]),
  }),
  "defaults and examples that break their schemas": v3({
    "/wrong": {
      ...get([
        query("size", { type: "integer", minimum: 1, default: "ten", example: -4 }),
        query("kind", { type: "string", enum: ["a", "b"], default: "c" }),
      ]),
      post: {
        requestBody: {
          content: {
            "application/json": {
              schema: {
                type: "object",
                required: ["n"],
                properties: {
                  n: { type: "integer", default: null },
                  when: { type: "string", format: "date", default: "yesterday" },
                },
              },
              example: { n: "many", other: true },
            },
          },
        },
        responses: {
          200: {
            description: "ok",
            content: {
              "application/json": {
                schema: { type: "object", properties: { id: { type: "integer" } } },
                example: { id: "x" },
              },
            },
          },
        },
      },
    },
  }),
  "recursive unions": v3(
    { "/filters": post(ref("Filter"), ref("Filter")) },
    {
      components: {
        schemas: {
          Filter: { oneOf: [ref("And"), ref("Or"), ref("Is")] },
          And: { type: "object", required: ["and"], properties: { and: { type: "array", items: ref("Filter") } } },
          Or: { type: "object", required: ["or"], properties: { or: { type: "array", items: ref("Filter") } } },
          Is: { type: "object", required: ["is"], properties: { is: { type: "string" }, not: ref("Filter") } },
        },
      },
    },
  ),
  "parameters with content, cookies and credentials in headers": v3({
    "/where": get([
      {
        name: "filter",
        in: "query",
        content: {
          "application/json": { schema: { type: "object", required: ["a"], properties: { a: { type: "integer" } } } },
        },
      },
      { name: "session", in: "cookie", schema: { type: "string" } },
      { name: "flags", in: "cookie", schema: { type: "array", items: { type: "string" } } },
      { name: "X-Api-Key", in: "header", required: true, schema: { type: "string" } },
      { name: "Authorization", in: "header", schema: { type: "string" } },
      { name: "X-Request-Token", in: "header", schema: { type: "string" } },
      { name: "Accept", in: "header", schema: { type: "string" } },
      { name: "X-Ids", in: "header", schema: { type: "array", items: { type: "integer" } } },
    ]),
  }),
  "bodies on GET and DELETE, and answers without a status": v3({
    "/things": {
      get: {
        requestBody: json({ type: "object", required: ["q"], properties: { q: { type: "string" } } }),
        responses: {
          default: {
            description: "any",
            content: { "application/json": { schema: { type: "object", properties: { n: { type: "integer" } } } } },
          },
        },
      },
      delete: {
        requestBody: json({ type: "array", items: { type: "integer" } }),
        responses: { default: { description: "any" } },
      },
      patch: { requestBody: json({ type: "object" }, false), responses: {} },
    },
  }),
  "servers with paths and variables": {
    ...v3({
      "/here": get([]),
      "/there": {
        servers: [
          {
            url: "https://{region}.files.example/{version}/x",
            variables: { region: { default: "eu", enum: ["eu", "us"] }, version: { default: "v3" } },
          },
        ],
        ...get([query("q")]),
      },
    }),
    servers: [
      {
        url: "https://{tenant}.api.example:{port}/{base}",
        variables: { tenant: { default: "demo" }, port: { default: "8443" }, base: { default: "v2" } },
      },
    ],
  },
  "3.1 with $defs, boolean schemas and lists of types": v31(
    {
      "/new": post(
        {
          $defs: { Size: { type: ["integer", "null"], exclusiveMinimum: 0 } },
          type: ["object", "null"],
          required: ["name"],
          properties: {
            name: { type: ["string", "null"], examples: ["x"] },
            size: { $ref: "#/components/schemas/Size" },
            anything: true,
            nothing: false,
            kind: { const: "k" },
            pair: { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], items: false },
            either: { type: ["string", "integer", "null"] },
            when: { anyOf: [{ type: "string", format: "date" }, { type: "null" }] },
          },
          unevaluatedProperties: false,
        },
        {
          type: ["array", "null"],
          items: { type: ["object", "null"], properties: { id: { type: ["string", "null"] } } },
        },
      ),
      "/maybe": get(
        [
          query("q", { type: ["string", "null"] }),
          query("n", { type: ["array", "null"], items: { type: ["integer", "null"] } }),
        ],
        true,
      ),
    },
    { components: { schemas: { Size: { type: ["integer", "null"], exclusiveMinimum: 0 } } } },
  ),
};
