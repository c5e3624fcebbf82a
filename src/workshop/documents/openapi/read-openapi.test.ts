import { describe, expect, test } from "vitest";
import type { ApiFacts, OperationFacts } from "../api-facts.ts";
import { parseDocument } from "../parse-document.ts";
import { readOpenApi } from "./read-openapi.ts";

function read(document: Record<string, unknown>): ApiFacts {
  return readOpenApi(parseDocument(JSON.stringify(document), "doc"));
}

/** The facts of a document with one path. */
function ofPath(item: unknown, more: Record<string, unknown> = {}, path = "/a"): ApiFacts {
  return read({ openapi: "3.0.3", info: { title: "T", version: "1" }, ...more, paths: { [path]: item } });
}

function first({ operations: [operation] }: ApiFacts): OperationFacts {
  if (!operation) throw new Error("there is no operation");
  return operation;
}

function texts({ remarks }: ApiFacts): string[] {
  return remarks.map(({ text }) => text);
}

describe("operations of an OpenAPI description", () => {
  test("an operation has its texts, its evidence and the parameters of its path, which it may replace", () => {
    const facts = ofPath(
      {
        summary: "of the path",
        parameters: [
          { name: "id", in: "path", required: true, schema: { type: "integer" } },
          { name: "x", in: "header", schema: { type: "string" }, description: "of the path" },
        ],
        get: {
          operationId: "getA",
          tags: ["t", "t"],
          deprecated: true,
          parameters: [{ $ref: "#/components/parameters/X" }],
        },
      },
      { components: { parameters: { X: { name: "X", in: "header", required: true, schema: {} } } } },
      "/a/{id}",
    );
    expect(first(facts)).toMatchObject({
      key: "GET /a/{id}",
      id: "getA",
      summary: "of the path",
      tags: ["t"],
      deprecated: true,
      evidence: "doc#/paths/~1a~1{id}/get",
    });
    expect(first(facts).parameters).toMatchObject([
      { name: "id", in: "path", style: "simple", explode: false, evidence: "doc#/paths/~1a~1{id}/parameters/0" },
      { name: "X", required: true, evidence: "doc#/components/parameters/X" },
    ]);
  });

  test("an operation may be a reference; one that leads nowhere is listed with what it names", () => {
    const facts = read({
      openapi: "3.0.3",
      paths: { "/a": { get: { $ref: "#/x-operations/list" }, put: { $ref: "#/x-operations/none" } } },
      "x-operations": { list: { operationId: "list", parameters: [{ name: "q", in: "query", schema: {} }] } },
    });
    expect(facts.operations).toMatchObject([{ key: "GET /a", id: "list", parameters: [{ name: "q" }] }]);
    expect(facts.omitted).toMatchObject([
      {
        key: "PUT /a",
        reason: "unresolved-reference",
        detail: expect.stringContaining("/x-operations/none") as string,
      },
    ]);
  });

  test("a placeholder in the query of a path is a query parameter, wherever it is declared", () => {
    const parameters = [
      { name: "id", in: "path", required: true, schema: { type: "integer" } },
      { name: "kind", in: "query", schema: { enum: ["a"] } },
    ];
    const facts = ofPath({ get: { parameters } }, {}, "/items?item={id}&type={kind}&other={undeclared}&v=2");
    expect(first(facts)).toMatchObject({ path: "/items" });
    expect(first(facts).parameters).toMatchObject([
      { name: "item", in: "query", required: true, schema: { types: ["integer"] } },
      { name: "type", in: "query", required: false, schema: { enum: ["a"] } },
      { name: "other", in: "query", required: true },
      { name: "v", in: "query", constant: "2" },
    ]);
  });

  test("a parameter of the path may be declared with the signs of its template", () => {
    const parameters = [{ name: "path*", in: "path", required: true, schema: { maxLength: 9 } }];
    const facts = ofPath({ get: { parameters } }, {}, "/files/{path*}");
    expect(first(facts)).toMatchObject({
      path: "/files/{path}",
      parameters: [{ name: "path", schema: { maxLength: 9 } }],
    });
    expect(texts(facts)).toEqual([]);
  });

  test("paths and webhooks in well-known extensions are accounted for", () => {
    const facts = read({
      swagger: "2.0",
      paths: {},
      "x-ms-paths": { "/blob?comp=tier": { put: {} }, "/blob?comp=lease": { put: {} } },
      "x-webhooks": { ping: { post: {} } },
    });
    expect(facts.operations.map(({ key, path }) => [key, path])).toEqual([
      ["PUT /blob?comp=tier", "/blob"],
      ["PUT /blob?comp=lease", "/blob"],
    ]);
    expect(facts.omitted).toMatchObject([{ key: "webhook ping POST", reason: "webhook" }]);
  });

  test("style and explode have the defaults of their place", () => {
    const parameters = [
      { name: "q", in: "query", schema: {} },
      { name: "c", in: "cookie", schema: {} },
      { name: "h", in: "header", schema: {} },
      { name: "d", in: "query", style: "deepObject", schema: {} },
      { name: "p", in: "query", style: "pipeDelimited", explode: true, schema: {} },
      { name: "j", in: "query", content: { "application/json": { schema: { type: "object" } } } },
      { name: "o", in: "query", style: "odd", schema: {} },
    ];
    const facts = ofPath({ get: { parameters } });
    expect(first(facts).parameters.map(({ name, style, explode }) => `${name} ${style} ${explode}`)).toEqual([
      "q form true",
      "c form true",
      "h simple false",
      "d deepObject false",
      "p pipeDelimited true",
      "j json false",
      "o form true",
    ]);
    expect(texts(facts)).toEqual([`The style "odd" is not known; form is used`]);
  });

  test("parameters that cannot be sent as they are declared are repaired or ignored, with a remark", () => {
    const parameters = [
      { name: "", in: "header" },
      { name: "Accept", in: "header" },
      { name: "Authorization", in: "header" },
      { name: "q", in: "query" },
      { name: "q", in: "query" },
      { name: "z", in: "path" },
      { name: "w", in: "somewhere" },
      null,
      7,
    ];
    const facts = ofPath({ get: { parameters } }, {}, "/a/{id}");
    expect(first(facts).parameters.map((parameter) => `${parameter.in} ${parameter.name}`)).toEqual([
      "header Authorization",
      "query q",
      "query w",
      "path id",
    ]);
    expect(texts(facts)).toEqual([
      "This header parameter has no name; it is ignored",
      "The header Accept follows from the rest of the description; the parameter is ignored",
      `The query parameter "q" is declared twice; the first one counts`,
      "The path has no {z}; the parameter is ignored",
      `The parameter "w" has no valid place; it is taken as a query parameter`,
      "This parameter is not an object; it is ignored",
      "This parameter is not an object; it is ignored",
      "The parameter {id} of the path is not declared; it is taken as text",
    ]);
  });

  test("every operation that is not read is omitted with a reason", () => {
    const facts = read({
      openapi: "3.1.0",
      paths: {
        "/a": {
          get: null,
          trace: {},
          post: { parameters: [{ $ref: "#/nowhere" }] },
          put: { requestBody: { $ref: "other.yaml#/x" } },
          patch: { responses: { 200: { content: { "text/event-stream": {} } } } },
          delete: { callbacks: { done: { "{$request.body#/url}": { post: {} } } } },
        },
        "/b/{}": { get: {} },
        "/c": { $ref: "#/components/pathItems/None" },
      },
      webhooks: { made: { post: {} } },
    });
    expect(facts.operations.map(({ key }) => key)).toEqual(["DELETE /a"]);
    expect(facts.omitted.map(({ key, reason }) => `${key}: ${reason}`)).toEqual([
      "GET /a: unreadable-operation",
      "TRACE /a: unsupported-method",
      "POST /a: unresolved-reference",
      "PUT /a: unresolved-reference",
      "PATCH /a: stream",
      "callback DELETE /a done {$request.body#/url} POST: webhook",
      "GET /b/{}: missing-path-parameter",
      "ANY /c: unresolved-reference",
      "webhook made POST: webhook",
    ]);
  });

  test("OpenAPI 3.2 has the method QUERY, other methods, and the query string as one parameter", () => {
    const schema = { type: "object", properties: { a: { type: "string" }, b: { type: "integer" } }, required: ["a"] };
    const form = { "application/x-www-form-urlencoded": { schema } };
    const facts = ofPath(
      {
        query: { parameters: [{ name: "all", in: "querystring", required: true, content: form }] },
        additionalOperations: { LINK: {} },
      },
      { openapi: "3.2.0" },
    );
    expect(first(facts).method).toBe("QUERY");
    expect(first(facts).parameters).toMatchObject([
      { name: "a", in: "query", required: true },
      { name: "b", in: "query", required: false },
    ]);
    expect(facts.omitted).toMatchObject([{ key: "LINK /a", reason: "unsupported-method" }]);
  });

  test("queries in a path become constants", () => {
    const facts = ofPath({ get: {} }, {}, "files/{path+}?alt=media");
    expect(first(facts)).toMatchObject({ key: "GET files/{path+}?alt=media", path: "/files/{path}" });
    expect(first(facts).parameters).toMatchObject([{ name: "path" }, { name: "alt", schema: { const: "media" } }]);
  });

  test("a path that is cut at # is no operation, unless a parameter says what follows it", () => {
    for (const path of ["/parcels/#{id}", "/parcels/{a.b#c}", "/parcels#all"]) {
      const { operations, omitted } = ofPath({ delete: {} }, {}, path);
      expect(operations).toEqual([]);
      expect(omitted).toHaveLength(1);
    }
    const action = { name: "Action", in: "query", schema: { type: "string" } };
    const facts = ofPath({ get: { parameters: [action] } }, {}, "/#Action=List");
    expect(first(facts)).toMatchObject({ key: "GET /#Action=List", path: "/" });
  });

  test("paths, bodies, responses, headers and examples may be references, also to references", () => {
    const facts = ofPath(
      { $ref: "#/components/pathItems/A" },
      {
        components: {
          pathItems: {
            A: {
              post: {
                requestBody: { $ref: "#/components/requestBodies/B" },
                responses: { 200: { $ref: "#/components/responses/R" } },
              },
            },
          },
          requestBodies: {
            B: { $ref: "#/components/requestBodies/B2" },
            B2: { required: true, content: { "text/plain": {} } },
          },
          responses: {
            R: {
              headers: { N: { $ref: "#/components/headers/N" } },
              content: { "application/json": { examples: { e: { $ref: "#/components/examples/E" } } } },
            },
          },
          headers: { N: { schema: { type: "integer" } } },
          examples: { E: { value: { a: 1 } } },
        },
      },
    );
    const { body, responses } = first(facts);
    expect(body).toMatchObject({ required: true, evidence: "doc#/components/requestBodies/B2" });
    expect(responses).toMatchObject([
      { status: "200", headers: [{ name: "N" }], contents: [{ examples: [{ a: 1 }] }] },
    ]);
  });

  test("security alternatives are those of the operation, else those of the document", () => {
    const components = {
      securitySchemes: {
        key: { type: "apiKey", in: "cookie", name: "K" },
        http: { type: "http", scheme: "Bearer" },
        digest: { type: "http", scheme: "digest" },
        oauth: {
          type: "oauth2",
          flows: {
            authorizationCode: { authorizationUrl: "https://a.example", tokenUrl: "https://a.example/t", scopes: {} },
            clientCredentials: { tokenUrl: "https://a.example/token", scopes: { read: "", write: "" } },
          },
        },
        broken: 7,
      },
    };
    const security = [{ key: [], http: [] }, { oauth: ["read"] }, {}, { unknown: [] }];
    const facts = ofPath({ get: {}, put: { security: [] } }, { components, security });
    expect(facts.security).toMatchObject({
      key: { kind: "apiKey", in: "cookie", name: "K" },
      http: { kind: "bearer" },
      digest: { kind: "other", type: "http digest" },
      oauth: {
        kind: "oauth2",
        needsPerson: false,
        clientCredentials: { tokenUrl: "https://a.example/token", scopes: ["read", "write"] },
      },
    });
    expect(facts.operations.map((operation) => operation.security)).toEqual([
      [
        [
          { scheme: "key", scopes: [] },
          { scheme: "http", scopes: [] },
        ],
        [{ scheme: "oauth", scopes: ["read"] }],
        [],
      ],
      [],
    ]);
    expect(texts(facts)).toEqual([
      `The security scheme "broken" cannot be read; it is ignored`,
      `The security scheme "unknown" is not declared`,
    ]);
  });

  test("variables of servers are replaced by their defaults, and stay without one", () => {
    const servers = [
      { url: "{scheme}://api.example/{v}", variables: { scheme: { enum: ["https", "http"], default: "https" } } },
      7,
    ];
    const facts = ofPath({ servers: [{ url: "/other" }], get: {} }, { servers });
    expect(facts.servers).toMatchObject([
      {
        url: "https://api.example/{v}",
        variables: [{ name: "scheme", value: "https", choices: ["https", "http"] }],
        open: [{ name: "v", choices: [] }],
      },
    ]);
    expect(first(facts).servers).toMatchObject([{ url: "/other" }]);
    expect(texts(facts)).toEqual(["This server has no address; it is ignored"]);
  });

  test.each([null, 7, "text", [], [1], true])("a document whose parts are %j is read without failing", (odd) => {
    const members = ["info", "servers", "tags", "security", "components", "webhooks", "paths"];
    const broken = Object.fromEntries(members.map((name) => [name, odd]));
    expect(read({ openapi: "3.1.0", ...broken }).operations).toEqual([]);
    const operation = { parameters: odd, requestBody: odd, responses: odd, callbacks: odd, tags: odd, servers: odd };
    expect(ofPath({ get: operation, post: odd, parameters: odd }).operations).toHaveLength(
      typeof odd === "object" && odd && !Array.isArray(odd) ? 2 : 1,
    );
  });
});

describe("operations of a Swagger 2.0 description", () => {
  const swagger = (operation: unknown, more: Record<string, unknown> = {}) =>
    read({ swagger: "2.0", info: { title: "T", version: "1" }, paths: { "/a": { post: operation } }, ...more });

  test("the address is made of schemes, host and base path", () => {
    const facts = swagger({}, { host: "api.example", basePath: "/v1", schemes: ["http", "https", "ws"] });
    expect(facts.servers.map(({ url }) => url)).toEqual(["https://api.example/v1", "http://api.example/v1"]);
    expect(swagger({}, { basePath: "/v1" }).servers.map(({ url }) => url)).toEqual(["/v1"]);
    expect(swagger({}).servers).toEqual([]);
  });

  test("lists are written with commas unless collectionFormat says otherwise", () => {
    const formats = [undefined, "csv", "ssv", "tsv", "pipes", "multi"];
    const parameters = formats.map((collectionFormat, index) => {
      return { name: `p${index}`, in: "query", type: "array", items: { type: "string" }, collectionFormat };
    });
    const { parameters: read } = first(swagger({ parameters }));
    expect(read.map(({ style, explode }) => `${style} ${explode}`)).toEqual([
      "form false",
      "form false",
      "spaceDelimited false",
      "tabs false",
      "pipeDelimited false",
      "form true",
    ]);
    expect(read[0]?.schema).toMatchObject({ types: ["array"], required: new Set() });
  });

  test("form fields become one body for each media type that can carry them", () => {
    const parameters = [
      { name: "a", in: "formData", type: "string", required: true },
      { name: "b", in: "formData", type: "array", items: { type: "string" }, collectionFormat: "multi" },
    ];
    const consumes = ["application/x-www-form-urlencoded", "application/json", "image/png"];
    const { body } = first(swagger({ parameters, consumes }));
    expect(body?.contents.map(({ mediaType }) => mediaType)).toEqual(consumes.slice(0, 2));
    const [content] = body?.contents ?? [];
    expect([...(content?.schema?.properties.keys() ?? [])]).toEqual(["a", "b"]);
    expect(content?.schema?.required).toEqual(new Set(["a"]));
    expect(content?.encoding).toEqual({ b: { style: "form", explode: true } });
    expect(content?.schema?.asJsonSchema()).toEqual({
      type: "object",
      properties: { a: { type: "string" }, b: { type: "array", items: { type: "string" } } },
      required: ["a"],
    });
  });

  test("a file needs a multipart body", () => {
    const { body } = first(swagger({ parameters: [{ name: "f", in: "formData", type: "file" }] }));
    expect(body?.contents[0]?.mediaType).toBe("multipart/form-data");
    expect(body?.contents[0]?.schema?.properties.get("f")?.()).toMatchObject({ types: ["string"], format: "binary" });
  });

  test("body parameters and responses have the media types of consumes and produces", () => {
    const operation = {
      parameters: [{ name: "x", in: "body", required: true, schema: { $ref: "#/definitions/Pet" } }],
      consumes: ["application/xml"],
      responses: { 200: { schema: { type: "array" }, examples: { "application/json": [1] } }, 204: {}, odd: {} },
    };
    const facts = swagger(operation, { produces: ["application/json"], definitions: { Pet: { type: "object" } } });
    const { body, responses } = first(facts);
    expect(body).toMatchObject({
      required: true,
      contents: [{ mediaType: "application/xml", schema: { name: "Pet" } }],
    });
    expect(responses).toMatchObject([
      { status: "200", contents: [{ mediaType: "application/json", examples: [[1]] }] },
      { status: "204", contents: [] },
    ]);
    expect(texts(facts)).toEqual([`"odd" is not a status; the response is ignored`]);
  });

  test("security definitions are understood", () => {
    const securityDefinitions = {
      basic: { type: "basic" },
      app: { type: "oauth2", flow: "application", tokenUrl: "https://a.example/t", scopes: { s: "" } },
      person: { type: "oauth2", flow: "accessCode", tokenUrl: "https://a.example/t" },
    };
    expect(swagger({}, { securityDefinitions }).security).toMatchObject({
      basic: { kind: "basic" },
      app: { kind: "oauth2", needsPerson: false, clientCredentials: { scopes: ["s"] } },
      person: { kind: "oauth2", needsPerson: true },
    });
  });
});
