import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ApiFacts, OperationFacts, SchemaFacts } from "../api-facts.ts";
import { parseDocument } from "../parse-document.ts";
import { readPostman } from "./read-postman.ts";

const SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";

function read(collection: Record<string, unknown>): ApiFacts {
  const whole = { info: { name: "Shop", schema: SCHEMA }, ...collection };
  return readPostman(parseDocument(JSON.stringify(whole), "postman"));
}

function one(request: unknown, more: Record<string, unknown> = {}): OperationFacts {
  const [operation] = read({ item: [{ name: "One", request, ...more }] }).operations;
  if (!operation) throw new Error("no operation");
  return operation;
}

const property = (schema: SchemaFacts | undefined, name: string) => schema?.properties.get(name)?.();
const bodyOf = ({ body }: OperationFacts) => body?.contents[0];

describe("the address of a Postman request", () => {
  test("has its path variables as parameters, with their descriptions", () => {
    const operation = one({
      method: "GET",
      url: {
        raw: "https://api.example/v1/pets/:petId/{{part}}",
        protocol: "https",
        host: ["api", "example"],
        path: ["v1", "pets", ":petId", "{{part}}"],
        variable: [{ key: "petId", value: "<integer>", description: "(Required) The id" }],
      },
    });
    expect(operation.key).toBe("GET /v1/pets/{petId}/{part}");
    expect(operation.parameters).toMatchObject([
      { name: "petId", in: "path", required: true, description: "The id", schema: { types: ["integer"] } },
      { name: "part", in: "path", required: true, schema: { types: ["string"] } },
    ]);
  });

  test("may be one text, also in place of the whole request", () => {
    for (const request of [
      "https://api.example/pets?limit=5",
      { method: "GET", url: "https://api.example/pets?limit=5" },
    ]) {
      const operation = one(request);
      expect(operation).toMatchObject({ method: "GET", path: "/pets" });
      expect(operation.parameters).toMatchObject([{ name: "limit", in: "query", examples: ["5"] }]);
    }
  });

  test("has to be one of HTTP; requests without an address and sockets are listed with the reason", () => {
    const { operations, omitted } = read({
      variable: [{ key: "live", value: "wss://api.example" }],
      item: [
        { name: "nothing", request: { method: "GET" } },
        { name: "socket", request: { method: "GET", url: "{{live}}/events" } },
        { name: "call", request: { method: "POST", url: "grpc://api.example/x" } },
      ],
    });
    expect(operations).toEqual([]);
    expect(omitted.map(({ key, reason, detail }) => [key, reason, detail])).toEqual([
      ["GET nothing", "unreadable-operation", "the request has no address"],
      ["GET socket", "stream", "its address begins with wss://"],
      ["POST call", "unsupported-method", "its address begins with grpc://"],
    ]);
  });

  test("uses the variables of early exports, which have another name", () => {
    const { servers } = read({
      variables: [{ id: "base", value: "https://old.example" }],
      item: [{ name: "a", request: { method: "GET", url: "{{base}}/a" } }],
    });
    expect(servers).toMatchObject([{ url: "https://old.example" }]);
  });

  test("uses the values of variables; without a value it stays in the address", () => {
    const url = { raw: "{{base}}/pets", host: ["{{base}}"], path: ["pets"] };
    const known = read({
      variable: [{ key: "base", value: "https://api.example/v2/" }],
      item: [{ name: "a", request: { method: "GET", url } }],
    });
    expect(known.servers).toMatchObject([{ url: "https://api.example/v2" }]);
    expect(known.operations).toMatchObject([{ path: "/pets" }]);
    const unknown = read({ item: [{ name: "a", request: { method: "GET", url } }] });
    expect(unknown.servers).toMatchObject([{ url: "https://{{base}}" }]);
  });

  test("of the most frequent host is the server; other operations have their own", () => {
    const request = (host: string) => ({ name: host, request: `https://${host}/x` });
    const { servers, operations } = read({ item: [request("a.example"), request("b.example"), request("b.example")] });
    expect(servers).toMatchObject([{ url: "https://b.example" }]);
    expect(operations.map(({ key, servers: own }) => [key, own?.[0]?.url])).toEqual([
      ["GET /x", "https://a.example"],
      ["GET /x (2)", undefined],
      ["GET /x (3)", undefined],
    ]);
  });

  test("has disabled parameters as optional ones, and repeated ones as lists", () => {
    const query = [
      { key: "q", value: "tea" },
      { key: "limit", value: "<integer>", disabled: true },
      { key: "tag", value: "a" },
      { key: "tag", value: "b" },
    ];
    const operation = one({ method: "GET", url: { raw: "https://api.example/", host: ["api", "example"], query } });
    expect(operation.parameters).toMatchObject([
      { name: "q", required: true, examples: ["tea"] },
      { name: "limit", required: false, schema: { types: ["integer"] } },
      { name: "tag", required: true, style: "form", explode: true, schema: { types: ["array"] } },
    ]);
  });
});

describe("the credentials of a Postman request", () => {
  const request = { method: "GET", url: "https://api.example/x" };
  const apikey = {
    type: "apikey",
    apikey: [
      { key: "key", value: "X-Key" },
      { key: "value", value: "s3cret" },
    ],
  };

  test("are inherited from folders and the collection, unless the request says otherwise", () => {
    const { security, operations } = read({
      auth: apikey,
      item: [
        { name: "a", request: { ...request, auth: null } },
        { name: "b", request: { ...request, auth: { type: "noauth" } } },
        { name: "folder", auth: { type: "bearer", bearer: { token: "t0ken" } }, item: [{ name: "c", request }] },
        { name: "d", request: { ...request, auth: { type: "basic", basic: [] } } },
      ],
    });
    expect(operations.map((operation) => operation.security.map((all) => all.map(({ scheme }) => scheme)))).toEqual([
      [["apiKey"]],
      [],
      [["bearer"]],
      [["basic"]],
    ]);
    expect(security).toMatchObject({ apiKey: { kind: "apiKey", in: "header", name: "X-Key" }, bearer: {}, basic: {} });
    expect(JSON.stringify([security, operations])).not.toMatch(/s3cret|t0ken/);
  });

  test("in version 2.0 are objects", () => {
    const { security } = read({
      auth: { type: "apikey", apikey: { key: "k", value: "v", in: "query" } },
      item: [{ name: "a", request }],
    });
    expect(security).toMatchObject({ apiKey: { in: "query", name: "k" } });
  });

  test("of OAuth and AWS are described, and others with the reason why they cannot be sent", () => {
    const oauth = {
      type: "oauth2",
      oauth2: [
        { key: "grant_type", value: "client_credentials" },
        { key: "accessTokenUrl", value: "https://login.example/token" },
        { key: "scope", value: "a b" },
      ],
    };
    const { security, remarks } = read({
      item: [
        { name: "a", request: { ...request, auth: oauth } },
        { name: "b", request: { ...request, auth: { type: "awsv4" } } },
        { name: "c", request: { ...request, auth: { type: "digest" } } },
      ],
    });
    expect(security).toMatchObject({
      oauth2: {
        needsPerson: false,
        clientCredentials: { tokenUrl: "https://login.example/token", scopes: ["a", "b"] },
      },
      aws: { kind: "aws-sigv4", hasSession: false },
      auth: { kind: "other", type: "digest", unsendable: expect.stringContaining("challenge") as string },
    });
    expect(remarks).toEqual([]);
  });

  test("in headers and queries are found, and their values are not read", () => {
    const operation = read({
      item: [
        {
          name: "a",
          request: {
            method: "GET",
            url: "https://api.example/x?api_key=s3cret&page_token=p1",
            header: [
              { key: "Authorization", value: "Bearer s3cret" },
              { key: "X-Auth-Token", value: "s3cret" },
              { key: "Notion-Version", value: "2022-06-28" },
              { key: "X-Tenant", value: "{{tenant}}" },
              { key: "Accept", value: "*/*" },
            ],
          },
        },
      ],
    });
    expect(operation.security).toMatchObject({
      apiKey: { in: "query", name: "api_key" },
      bearer: {},
      apiKey2: { in: "header", name: "X-Auth-Token" },
    });
    const [facts] = operation.operations;
    expect(facts?.security).toHaveLength(1);
    expect(facts?.parameters).toMatchObject([
      { name: "page_token", in: "query" },
      { name: "Notion-Version", required: false, schema: { default: "2022-06-28" } },
      { name: "X-Tenant", required: true },
    ]);
    expect(JSON.stringify(operation)).not.toContain("s3cret");
  });
});

describe("the body of a Postman request", () => {
  const url = "https://api.example/x";
  const post = (body: unknown, header: unknown[] = []) => one({ method: "POST", url, body, header });

  test("that is JSON has a schema of its example, with placeholders and variables", () => {
    const raw = '{"id": "<integer>", "name": "Tea", "price": 2.5, "tags": [{"a": true}, {"b": null}], "by": {{user}}}';
    const content = bodyOf(post({ mode: "raw", raw, options: { raw: { language: "json" } } }));
    expect(content?.mediaType).toBe("application/json");
    expect(property(content?.schema, "id")).toMatchObject({ types: ["integer"] });
    expect(property(content?.schema, "price")).toMatchObject({ types: ["number"] });
    const tag = property(content?.schema, "tags")?.items?.();
    expect(property(tag, "a")).toMatchObject({ types: ["boolean"] });
    expect(property(tag, "b")).toMatchObject({ types: [], nullable: true });
    expect(content?.examples).toEqual([]);
    expect(property(tag, "b")?.evidence).toBe("postman#/item/0/request/body/raw/tags/1/b");
    expect(content?.schema?.asJsonSchema()).toMatchObject({ type: "object", properties: { id: { type: "integer" } } });
  });

  test("that is complete JSON is an example", () => {
    const content = bodyOf(post({ mode: "raw", raw: '{"a": 1}' }));
    expect(content).toMatchObject({ mediaType: "application/json", examples: [{ a: 1 }] });
  });

  test("may be a form with files", () => {
    const formdata = [
      { key: "file", type: "file", src: "/home/me/a.png", contentType: "image/png" },
      { key: "title", value: "A", type: "text", description: { content: "The title" } },
    ];
    const content = bodyOf(post({ mode: "formdata", formdata }));
    expect(content).toMatchObject({
      mediaType: "multipart/form-data",
      encoding: { file: { contentType: "image/png" } },
    });
    expect(property(content?.schema, "file")).toMatchObject({ format: "binary", examples: [] });
    expect(property(content?.schema, "title")).toMatchObject({ description: "The title", examples: ["A"] });
    expect(bodyOf(post({ mode: "urlencoded", urlencoded: [{ key: "a", value: "1" }] }))?.mediaType).toBe(
      "application/x-www-form-urlencoded",
    );
  });

  test("may be a file, text or a GraphQL query", () => {
    expect(bodyOf(post({ mode: "file" }))).toMatchObject({
      mediaType: "application/octet-stream",
      schema: { format: "binary" },
    });
    const xml = post({ mode: "raw", raw: "<a/>" }, [{ key: "Content-Type", value: "application/xml; charset=utf-8" }]);
    expect(bodyOf(xml)?.mediaType).toBe("application/xml");
    const content = bodyOf(
      post({ mode: "graphql", graphql: { query: "query Q($id: ID) { a }", variables: '{"id": "7"}' } }),
    );
    expect(property(content?.schema, "query")).toMatchObject({ const: "query Q($id: ID) { a }" });
    expect(property(property(content?.schema, "variables"), "id")).toMatchObject({ types: ["string"] });
  });

  test("that is disabled or empty is none", () => {
    expect(post({ mode: "raw", raw: "x", disabled: true }).body).toBeUndefined();
    expect(post({ mode: "raw", raw: "" }).body).toBeUndefined();
    expect(post(null).body).toBeUndefined();
  });
});

test("folders are tags, saved responses are by status, and unusable items are listed with a reason", () => {
  const { tags, operations, omitted } = read({
    item: [
      {
        name: "Pets",
        description: "About pets",
        item: [
          {
            name: "List",
            request: { method: "GET", url: "https://api.example/pets" },
            response: [
              {
                code: 200,
                name: "OK",
                body: '[{"id": 1}]',
                header: [{ key: "Content-Type", value: "application/json" }],
              },
              { code: 200, name: "OK", body: '[{"id": "a", "x": 1}]' },
              { code: 404, name: "Gone", body: "no", header: "Content-Type: text/plain" },
            ],
          },
          { name: "Copy", request: { method: "COPY", url: "https://api.example/pets" } },
          { name: "Empty" },
        ],
      },
    ],
  });
  expect(tags).toEqual([{ name: "Pets", description: "About pets" }]);
  expect(omitted).toMatchObject([{ reason: "unsupported-method" }, { reason: "unreadable-operation" }]);
  const [list] = operations;
  expect(list).toMatchObject({ id: "List", tags: ["Pets"], responses: [{ status: "200" }, { status: "404" }] });
  const pet = list?.responses[0]?.contents[0]?.schema?.items?.();
  expect(property(pet, "id")?.types).toEqual(["number", "string"]);
  expect([...(pet?.properties.keys() ?? [])]).toEqual(["id", "x"]);
  expect(list?.responses[1]?.contents[0]?.mediaType).toBe("text/plain");
});

test("whatever a collection has, it is read without failing", () => {
  const value = fc.letrec((tie) => ({
    item: fc.record(
      {
        name: fc.anything(),
        request: fc.oneof(fc.anything(), tie("request")),
        item: fc.option(fc.array(tie("item"), { maxLength: 3 }), { nil: undefined }),
        auth: fc.anything(),
        response: fc.anything(),
      },
      { requiredKeys: [] },
    ),
    request: fc.record(
      {
        method: fc.anything(),
        url: fc.oneof(
          fc.anything(),
          fc.record({
            raw: fc.string(),
            host: fc.anything(),
            path: fc.anything(),
            query: fc.anything(),
            variable: fc.anything(),
          }),
        ),
        header: fc.anything(),
        body: fc.oneof(
          fc.anything(),
          fc.record({
            mode: fc.constantFrom("raw", "formdata", "graphql"),
            raw: fc.string(),
            formdata: fc.anything(),
            graphql: fc.anything(),
          }),
        ),
      },
      { requiredKeys: [] },
    ),
  })).item;
  fc.assert(
    fc.property(fc.array(value, { maxLength: 4 }), (items) => {
      const facts = read({ item: JSON.parse(JSON.stringify(items) ?? "[]") as unknown });
      for (const { parameters, body } of facts.operations) {
        for (const { schema } of parameters) schema.asJsonSchema();
        for (const { schema } of body?.contents ?? []) schema?.asJsonSchema();
      }
    }),
    { numRuns: 300 },
  );
});

const CORPUS = "../shared/corpus/googlemaps-postman21.json";

test("the collection of the corpus: all requests, parameters, hosts and the key of the collection", (context) => {
  if (!existsSync(CORPUS)) return context.skip(`${CORPUS} is not here`);
  const facts = readPostman(parseDocument(readFileSync(CORPUS, "utf8"), "maps"));
  expect(facts.operations).toHaveLength(17);
  expect(facts.omitted).toEqual([]);
  expect(facts.tags).toHaveLength(18);
  expect(facts.operations.flatMap(({ parameters }) => parameters.filter((one_) => one_.in === "query"))).toHaveLength(
    // 118 entries, of which two are one parameter.
    117,
  );
  expect(facts.security).toMatchObject({ apiKey: { kind: "apiKey", in: "query", name: "key" } });
  expect(facts.operations.every(({ security }) => security.length === 1)).toBe(true);
  const hosts = new Set(facts.operations.map(({ servers = facts.servers }) => servers[0]?.url));
  expect(hosts).toEqual(
    new Set(["https://www.googleapis.com", "https://maps.googleapis.com", "https://roads.googleapis.com"]),
  );
  expect(facts.operations.flatMap(({ responses }) => responses)).toHaveLength(20);
});

test("a form that a Postman request has as text gives its members", () => {
  const operation = one({
    method: "POST",
    url: "https://api.example/token",
    header: [{ key: "Content-Type", value: "application/x-www-form-urlencoded" }],
    body: { mode: "raw", raw: "scope=a+b&scope=c&count={{count}}" },
  });
  const content = bodyOf(operation);
  expect(content?.mediaType).toBe("application/x-www-form-urlencoded");
  expect([...(content?.schema?.properties.keys() ?? [])]).toEqual(["scope", "count"]);
  expect(property(content?.schema, "scope")).toMatchObject({ types: ["array"] });
});
