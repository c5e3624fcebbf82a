import { describe, expect, test } from "vitest";
import { parseDocument } from "../documents/parse-document.ts";
import { draftToolFile, type Draft } from "./draft-tool-file.ts";
import { factsOf } from "./read-document.ts";

const TEXT = { type: "string" };

async function draftOf(parts: object): Promise<Draft> {
  const whole = {
    openapi: "3.0.3",
    info: { title: "Shop", version: "1" },
    servers: [{ url: "https://api.example" }],
    ...parts,
  };
  const document = parseDocument(JSON.stringify(whole), "openapi", "openapi.json");
  const facts = await factsOf(document);
  return draftToolFile(facts, {
    api: "shop",
    documents: { openapi: { file: "openapi.json", sha256: document.sha256 } },
  });
}

describe("a parameter that is also a security scheme", () => {
  const components = {
    securitySchemes: {
      key: { type: "apiKey", in: "query", name: "key" },
      token: { type: "apiKey", in: "query", name: "token" },
      header: { type: "apiKey", in: "header", name: "X-Api-Key" },
      session: { type: "apiKey", in: "cookie", name: "sid" },
      login: { type: "http", scheme: "bearer" },
    },
  };
  const parameter = (name: string, place: string, required = true) => ({ name, in: place, required, schema: TEXT });
  const secretsOf = ({ file }: Draft, tool: string) => file?.secrets[file.tools[tool]?.request?.secrets ?? ""];

  test("becomes the secret, and its operation a tool (X5)", async () => {
    const draft = await draftOf({
      components,
      security: [{ key: [], token: [] }],
      paths: {
        "/boards/{id}": {
          get: {
            operationId: "getBoard",
            parameters: [parameter("id", "path"), parameter("key", "query"), parameter("token", "query")],
          },
        },
        "/items": {
          get: { operationId: "getItems", security: [{ header: [] }], parameters: [parameter("x-api-key", "header")] },
        },
        "/me": {
          get: { operationId: "getMe", security: [{ session: [] }], parameters: [parameter("sid", "cookie", false)] },
        },
      },
    });
    expect(draft.omitted).toEqual([]);
    expect(secretsOf(draft, "get_board")?.query).toEqual({ key: "key", token: "token" });
    expect(draft.file?.tools["get_board"]?.request?.query).toEqual({});
    expect(secretsOf(draft, "get_items")?.headers).toEqual({ "X-Api-Key": "header" });
    expect(secretsOf(draft, "get_me")?.cookies).toEqual({ sid: "session" });
    const arguments_ = Object.values(draft.file?.types ?? {}).flatMap((type) =>
      Object.keys("fields" in type ? type.fields : {}),
    );
    expect(arguments_).toEqual(["id"]);
  });

  test("is sent if it is required, whatever the operation says about its security", async () => {
    const draft = await draftOf({
      components,
      paths: {
        "/a": { get: { operationId: "getA", security: [], parameters: [parameter("key", "query")] } },
        "/b": { get: { operationId: "getB", security: [{ login: [] }], parameters: [parameter("key", "query")] } },
        "/c": {
          get: { operationId: "getC", security: [{ login: [] }], parameters: [parameter("key", "query", false)] },
        },
      },
    });
    expect(secretsOf(draft, "get_a")).toMatchObject({ query: { key: "key" } });
    expect(secretsOf(draft, "get_b")).toMatchObject({ query: { key: "key" }, bearer: "login" });
    expect(secretsOf(draft, "get_c")).toMatchObject({ query: {}, bearer: "login" });
    expect(draft.questions.some(({ ask }) => ask.includes(`"key" is the credential "key"`))).toBe(true);
  });
});

const NAMES = [
  "$ref",
  "a.b",
  "filter[name]",
  "mdfilters",
  "constructor",
  "__proto__",
  "type",
  "",
  " ",
  "a b",
  "1st",
  "{x}",
  "#x",
  "日本",
  "'",
  "toString",
];
const EXAMPLES = [null, 0, "", "x", [], {}, { $ref: "#/components/examples/none" }, [null], { value: 1 }, true];
const SCHEMAS = [
  TEXT,
  { type: "integer" },
  { type: "array", items: { type: "object", properties: { a: TEXT } } },
  { type: "object", properties: { a: TEXT, b: { type: "integer" } }, required: ["a"] },
  { type: "string", format: "date-time" },
  { oneOf: [TEXT, { type: "integer" }] },
];

/** Without the special meaning of `__proto__` in a literal. */
const member = (name: string, value: unknown) =>
  JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`) as object;
const body = (type: string, schema: object, more: object = {}) => ({
  requestBody: { content: { [type]: { schema, ...more } } },
});
const object = (name: string) => ({ type: "object", properties: { ...member(name, TEXT), other: TEXT } });

describe("an odd part of a description costs no operation", () => {
  test.each(NAMES)("if a member or parameter is called %j (X5)", async (name) => {
    const properties = Object.assign(Object.create(null) as object, { other: TEXT });
    Object.defineProperty(properties, name, { value: TEXT, enumerable: true });
    const schema = { type: "object", properties };
    const operations: object[] = [
      ...["query", "header", "cookie"].map((place) => ({
        parameters: [
          { name, in: place, schema: TEXT },
          { name: "other", in: "query", schema: TEXT },
        ],
      })),
      { parameters: [{ name: "f", in: "query", style: "deepObject", explode: true, schema }] },
      ...["application/json", "application/x-www-form-urlencoded", "multipart/form-data", "application/xml"].map(
        (type) => body(type, schema, { example: member(name, "v") }),
      ),
    ];
    const paths = Object.fromEntries(operations.map((operation, index) => [`/p${index}`, { post: operation }]));
    const draft = await draftOf({ paths });
    expect(draft.omitted).toEqual([]);
    expect(draft.tools).toHaveLength(operations.length);
  });

  test.each(EXAMPLES)("if an example or a default is %j (X5)", async (example) => {
    const operations: object[] = SCHEMAS.flatMap((schema) => [
      { parameters: [{ name: "f", in: "query", example, schema: { ...schema, default: example } }] },
      { parameters: [{ name: "f", in: "query", style: "deepObject", explode: true, example, schema }] },
      { parameters: [{ name: "f", in: "query", schema, examples: { one: { value: example }, two: example } }] },
      body(
        "application/json",
        { type: "object", properties: { f: { ...schema, example, default: example } } },
        { example: { f: example } },
      ),
      body("application/json", schema, { example, examples: example }),
      { responses: { 200: { description: "ok", content: { "application/json": { schema, example } } } } },
    ]);
    const paths = Object.fromEntries([
      ...operations.map((operation, index) => [`/p${index}`, { post: operation }] as const),
      ...SCHEMAS.map((schema, index) => {
        const parameters = [{ name: "f", in: "path", required: true, example, schema }];
        return [`/path${index}/{f}`, { get: { parameters } }] as const;
      }),
    ]);
    const draft = await draftOf({ paths });
    expect(draft.omitted).toEqual([]);
    expect(draft.tools).toHaveLength(operations.length + SCHEMAS.length);
  });

  test("and what cannot be used is left out with its place", async () => {
    const parameters = [{ name: "a b", in: "cookie", schema: TEXT }];
    const draft = await draftOf({
      paths: {
        "/x": { get: { parameters } },
        "/y": { post: body("application/xml", { ...object("1st"), xml: { name: "r" } }) },
      },
    });
    const asked = draft.questions.filter(({ ask }) => ask.includes("was left out"));
    expect(asked.map(({ ask }) => ask).join("\n")).toMatch(/"1st"[^]*"a b"/);
    expect(asked.flatMap(({ evidence }) => evidence).length).toBeGreaterThan(0);
  });

  test("nor do names that are the same as identifiers", async () => {
    const query = ["a.b", "a-b", "a_b", "aB", "a b"].map((name) => ({ name, in: "query", schema: TEXT }));
    const schema = { type: "object", properties: { "a.b": TEXT, "a-b": TEXT, a_b: TEXT, aB: TEXT } };
    const draft = await draftOf({
      paths: { "/x": { post: { parameters: query, ...body("application/json", schema) } } },
    });
    expect(draft.omitted).toEqual([]);
    expect(Object.keys(draft.file?.tools["post_x"]?.request?.query ?? {})).toEqual(query.map(({ name }) => name));
  });
});
