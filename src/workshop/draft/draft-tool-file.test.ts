import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readOpenApi } from "../documents/openapi/read-openapi.ts";
import { parseDocument } from "../documents/parse-document.ts";
import { withAnswer } from "../file/answer-question.ts";
import { readToolFile } from "../file/read-tool-file.ts";
import { draftToolFile, type Draft, type DraftOptions } from "./draft-tool-file.ts";
import { EFFECT_RULES } from "./tool/effect-of.ts";

function draftOf(document: object, options: Partial<DraftOptions> = {}): Draft {
  const loaded = parseDocument(JSON.stringify(document), "openapi");
  const documents = { openapi: { file: "openapi.json", sha256: loaded.sha256 } };
  return draftToolFile(readOpenApi(loaded), { api: "shop", documents, ...options });
}

function errorsOf({ problems }: Draft): string[] {
  return problems.filter(({ severity }) => severity === "error").map(({ path, message }) => `${path}: ${message}`);
}

const answer = {
  200: { description: "ok", content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" } } } },
};
const Thing = {
  type: "object",
  required: ["id", "kind"],
  properties: {
    id: { type: "integer", format: "int64", readOnly: true },
    kind: { type: "string", enum: ["", "no", "on"] },
    "@odata.type": { type: "string" },
    parent: { $ref: "#/components/schemas/Thing" },
    tags: { type: "object", additionalProperties: { type: "string" } },
    code: { type: "string", pattern: String.raw`^(a)\1$` },
  },
};

function documentWith(paths: object, more: object = {}): object {
  const servers = [{ url: "http://old.example/" }, { url: "https://api.example/v1" }];
  return {
    openapi: "3.0.3",
    info: { title: "Shop", version: "1" },
    servers,
    paths,
    components: { schemas: { Thing }, ...more },
  };
}

const thingBody = {
  required: true,
  content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" } } },
};

test("a parameter and a member of the body with one name are both there, each in its place", () => {
  const parameters = [
    { name: "id", in: "path", required: true, schema: { type: "string" } },
    { name: "id", in: "query", schema: { type: "string" } },
    { name: "kind", in: "header", schema: { type: "string" } },
  ];
  const draft = draftOf(
    documentWith({
      "/things({id})": { put: { operationId: "Put thing", parameters, requestBody: thingBody, responses: answer } },
    }),
  );
  expect(errorsOf(draft)).toEqual([]);
  expect(Object.keys(draft.file?.types["PutThingInput"]?.fields ?? {})).toEqual(
    expect.arrayContaining(["id", "idInQuery", "kind", "bodyKind", "odataType", "parent", "tags", "code"]),
  );
  expect(draft.file?.tools["put_thing"]?.request).toMatchObject({
    path: "things({id})",
    query: { id: { field: "idInQuery" } },
    headers: { kind: "kind" },
    body: "json",
  });
  expect(draft.file?.upstream.base).toBe("https://api.example/v1/");
});

test("a pattern that cannot be checked is left out and asked about, once for all places", () => {
  const paths = { "/a": { get: { responses: answer } }, "/b": { get: { responses: answer } } };
  const draft = draftOf(documentWith(paths));
  expect(errorsOf(draft)).toEqual([]);
  expect(draft.questions.filter(({ ask }) => ask.includes("linear time"))).toHaveLength(1);
  expect(draft.file?.types["Thing"]?.fields["parent"]?.shape).toEqual({ kind: "object", type: "Thing" });
});

test("a header with credentials is a secret, and the simplest scheme is chosen", () => {
  const security = [{ oauth: [] }, { key: [] }];
  const securitySchemes = {
    oauth: {
      type: "oauth2",
      flows: {
        authorizationCode: { authorizationUrl: "https://a.example", tokenUrl: "https://a.example/t", scopes: {} },
      },
    },
    key: { type: "apiKey", in: "header", name: "X-Key" },
  };
  const parameters = [{ name: "X-Auth-Token", in: "header", schema: { type: "string" } }];
  const draft = draftOf(
    documentWith({ "/a": { get: { security, parameters, responses: answer } } }, { securitySchemes }),
  );
  expect(errorsOf(draft)).toEqual([]);
  expect(draft.file?.secrets["key"]?.headers).toEqual({ "X-Key": "key", "X-Auth-Token": "x-auth-token" });
  expect(draft.questions.map(({ ask }) => ask).join()).toContain("the document also allows oauth");
});

test("of many tools at most 40 are listed, the others are searched, and what is not selected is named", () => {
  const many = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [
      `/group${index % 6}/item${index}`,
      { get: { tags: [`g${index % 6}`], responses: answer } },
    ]),
  );
  const draft = draftOf(documentWith(many));
  expect(errorsOf(draft)).toEqual([]);
  expect(draft.tools.filter(({ offer }) => offer === "list").length).toBeLessThanOrEqual(40);
  expect(draft.tools).toHaveLength(60);
  const some = draftOf(documentWith(many), { select: ["tag:g1", "-path:/group1/item7"] });
  expect(some.tools).toHaveLength(9);
  expect(some.omitted).toHaveLength(51);
  expect(some.omitted[0]).toMatchObject({ reason: "not-selected" });
});

test("effects follow from methods and names", () => {
  const paths = {
    "/a": { get: { operationId: "getA", responses: answer }, delete: { operationId: "dropA", responses: answer } },
    "/a/search": { post: { operationId: "searchA", responses: answer } },
    "/a/cancel": { post: { operationId: "stopA", responses: answer } },
    "/b": { post: { operationId: "createSearch", responses: answer } },
  };
  const { tools } = draftOf(documentWith(paths));
  expect(Object.fromEntries(tools.map(({ name, effect }) => [name, effect]))).toEqual({
    get_a: "read",
    drop_a: "destructive",
    search_a: "read",
    stop_a: "destructive",
    create_search: "write",
  });
});

test("examples of the document become checks and answers of the fake", () => {
  const content = {
    "application/json": {
      schema: { $ref: "#/components/schemas/Thing" },
      example: { id: 7, kind: "on", "@odata.type": "x" },
    },
  };
  const parameters = [{ name: "q", in: "query", required: true, schema: { type: "string" }, example: "abc" }];
  const draft = draftOf(
    documentWith({
      "/a": { get: { operationId: "a", parameters, responses: { 200: { description: "ok", content } } } },
    }),
  );
  expect(errorsOf(draft)).toEqual([]);
  expect(draft.file?.tools["a"]?.checks[0]).toMatchObject({
    call: { q: "abc" },
    expect: { structuredContent: { id: 7, kind: "on" } },
  });
});

test("the reference lists the rules for effects as they are applied", () => {
  const page = readFileSync(new URL("../../../docs/reference/import.md", import.meta.url), "utf8");
  const rows = EFFECT_RULES.map(({ effect, when }) => `| ${when} | ${effect} |`);
  expect(page).toContain(rows.join("\n"));
});

test("parts that a definition does not show are questions", () => {
  const long = "A long text about this member that explains it in many words. ".repeat(4);
  const wide = (depth: number): object => ({
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: 8 }, (_, at) => [
        `m${at}`,
        depth === 0 ? { type: "string", description: long } : { ...wide(depth - 1), description: `${depth}.${at}` },
      ]),
    ),
  });
  const body = { required: true, content: { "application/json": { schema: wide(2) } } };
  const { questions, problems } = draftOf(
    documentWith({ "/wide": { post: { operationId: "wide", requestBody: body, responses: answer } } }),
  );
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(questions).toContainEqual(
    expect.objectContaining({
      about: "tools.wide.input",
      ask: expect.stringMatching(/^Too large for the list: m0\S*, .* shown as any object there/) as string,
    }),
  );
});

test("a list in pages is asked about with the line that would gather them", () => {
  const list = { type: "array", items: { $ref: "#/components/schemas/Thing" } };
  const page = { type: "object", properties: { data: list, next_cursor: { type: "string" } } };
  const responses = (schema: object) => ({ 200: { description: "ok", content: { "application/json": { schema } } } });
  const query = (...names: string[]) => names.map((name) => ({ name, in: "query", schema: { type: "integer" } }));
  const { text, questions } = draftOf(
    documentWith({
      "/things": { get: { parameters: query("cursor", "limit"), responses: responses(page) } },
      "/others": { get: { parameters: query("page", "per_page"), responses: responses(list) } },
    }),
  );
  expect(questions.map(({ ask }) => ask.replace(/^.*Then add to it: /, ""))).toEqual(
    expect.arrayContaining([
      "paging: { items: data, cursor: { from: next_cursor, to: cursor } }",
      "paging: { items: items, page: { to: page, size: per_page } }",
    ]),
  );
  expect(text).toContain("Found {count(data)} items.");
});

test("a yes to gathering pages makes a sound file, and what it would need before is said instead of a choice", () => {
  const list = { type: "array", items: { $ref: "#/components/schemas/Thing" } };
  const page = { type: "object", properties: { data: list, next_page: { type: "string" } } };
  const pages = (schema: object, parameters: Record<string, object>) => ({
    parameters: Object.entries(parameters).map(([name, more]) => ({ name, in: "query", ...more })),
    responses: { 200: { description: "ok", content: { "application/json": { schema } } } },
  });
  const number = { schema: { type: "integer" } };
  const text = { schema: { type: "string" } };
  const open = { type: "object", properties: { data: list, more: { type: "boolean" } } };
  const draft = draftOf(
    documentWith({
      "/named": { get: pages(page, { page: text, limit: number }) },
      "/numbered": { get: pages(page, { page: number, limit: text }) },
      "/worded": { get: pages(list, { page: text, limit: number }) },
      "/required": { get: pages(list, { offset: { ...number, required: true } }) },
      "/stays": { get: pages(open, { page: number }) },
      "/made": { post: pages(page, { page: number }) },
    }),
  );
  const asked = draft.questions.flatMap((question, index) =>
    question.ask.includes("come in pages") ? [{ index, question, said: question.ask.replace(/^.*\? /, "") }] : [],
  );
  expect(asked.map(({ said, question }) => `${question.choices?.length ?? 0} ${said}`)).toEqual([
    "2 Then add to it: paging: { items: data, cursor: { from: next_page, to: page } }",
    "2 Then add to it: paging: { items: data, page: { to: page } }",
    "0 Then make page an integer, add to it: paging: { items: items, page: { to: page, size: limit } }",
    "0 Then make offset optional, add to it: paging: { items: items, offset: { to: offset } }",
  ]);
  for (const { index, question } of asked.filter((each) => each.question.choices)) {
    const { file, problems } = readToolFile(withAnswer(draft.text, index, { question, answer: "yes" }), "answered");
    expect(file?.tools[question.about.replace("tools.", "")], JSON.stringify(problems)).toHaveProperty("paging");
  }
});

test("a selection of nothing is refused, with the tags of the document", () => {
  const document = documentWith({ "/things": { get: { tags: ["Things"], responses: answer } } });
  expect(() => draftOf(document, { select: ["tag:Thingz"] })).toThrow(
    expect.objectContaining({
      message: 'None of 1 operations is selected by --select "tag:Thingz"',
      hint: expect.stringContaining("the tags Things.") as string,
    }),
  );
});

test("addresses outside of the base are asked about, and no path of a document leaves the base", () => {
  const oauth = { type: "oauth2", flows: { clientCredentials: { tokenUrl: "https://login.other/token", scopes: {} } } };
  const responses = { 204: { description: "ok" } };
  const paths = {
    "/a": { get: { operationId: "a", servers: [{ url: "https://elsewhere.example/v1" }], responses } },
    "/b": { get: { operationId: "b", security: [{ oauth: [] }], responses } },
    "/x/%2e%2E/%2e%2e/y": { get: { operationId: "dots", responses } },
  };
  const draft = draftOf(documentWith(paths, { securitySchemes: { oauth } }));
  expect(errorsOf(draft)).toEqual([]);
  for (const origin of ["https://elsewhere.example", "https://login.other"]) {
    expect(draft.questions).toContainEqual(
      expect.objectContaining({ about: "upstream.allow", ask: expect.stringContaining(`to ${origin}.`) }),
    );
  }
  expect(draft.file?.tools["dots"]?.request?.path).toBe("x/y");
});

test("characters that reviewers cannot see are left out of texts, and escaped elsewhere", () => {
  const hidden = "\u202e\u2066\u200b\u{e0041}\u3164\uffa0\ufe01\u034f";
  const summary = `Lists${hidden} things`;
  const parameters = [{ name: "kind", in: "query", schema: { type: "string", enum: [`a${hidden}`, "b"] } }];
  const draft = draftOf(
    documentWith({
      "/a": { get: { operationId: "a", summary, description: summary, parameters, responses: answer } },
    }),
  );
  expect(errorsOf(draft)).toEqual([]);
  expect(draft.text).not.toMatch(/\p{Default_Ignorable_Code_Point}/u);
  expect(draft.file?.tools["a"]).toMatchObject({ title: "Lists things", description: "Lists things" });
  expect(JSON.stringify(draft.file?.types)).toContain(`a${hidden}`);
});

test("X6 the base is the server of most operations if the document itself names none", () => {
  const at = (url: string) => ({ servers: [{ url }], get: { responses: answer } });
  const paths = { "/a": at("https://one.example"), "/b": at("https://two.example"), "/c": at("https://two.example") };
  const draft = draftOf({ ...documentWith(paths), servers: undefined });
  expect(draft.file?.upstream.base).toBe("https://two.example/");
  expect(draft.file?.upstream.allow).toEqual(["https://two.example/", "https://one.example/"]);
  expect(draft.questions.map(({ about }) => about)).not.toContain("upstream.base");
});

test("X5 a list in a header that is not separated by commas stays an argument, as text", () => {
  const parameters = [
    { name: "X-Ids", in: "header", type: "array", items: { type: "string" }, collectionFormat: "ssv" },
  ];
  const document = { swagger: "2.0", info: {}, host: "a.example", paths: { "/a": { get: { parameters } } } };
  const draft = draftOf(document);
  expect(errorsOf(draft)).toEqual([]);
  expect(draft.file?.tools["get_a"]?.request?.headers).toEqual({ "X-Ids": "xIds" });
  expect(draft.questions.map(({ about }) => about)).toContain("types.GetAInput.fields.xIds");
});

test("X5 a constant in the query of a path is sent without an argument", () => {
  const draft = draftOf(documentWith({ "/files?alt=media": { get: { responses: answer } } }));
  expect(draft.file?.tools["get_files"]).toMatchObject({
    input: "NoArguments",
    request: { query: { alt: { const: "media" } } },
  });
});

describe("X5: an optional body that carries nothing is not an argument", () => {
  const none = { type: "object", properties: {}, additionalProperties: false };
  const operation = (schema: unknown, media: string, more: object = {}) =>
    documentWith({
      "/things": {
        get: { operationId: "list", requestBody: { content: { [media]: { schema, ...more } } }, responses: {} },
      },
    });
  const form = "application/x-www-form-urlencoded";

  test.each([
    [none, form],
    [none, "application/json"],
    [none, "multipart/form-data"],
    [{ type: "object", properties: {} }, form],
    [{}, form],
  ])("of the schema %j as %s", (schema, media) => {
    const { file, questions } = draftOf(operation(schema, media));
    expect(file?.tools["list"]?.request).not.toHaveProperty("body");
    expect(file?.types["NoArguments"]?.fields).toEqual({});
    const isAsked = questions.some(({ ask }) => ask.includes("a form without members"));
    expect(isAsked).toBe(schema !== none);
  });

  test.each([
    [{ type: "object" }, "application/json"],
    [{}, "application/json"],
    [{ type: "object", additionalProperties: true }, form],
    [{ type: "object", additionalProperties: { type: "string" } }, form],
    [{ type: "object", patternProperties: { "^x-": {} }, additionalProperties: false }, "application/json"],
    [{ type: "string" }, form],
  ])("but one of the schema %j as %s is, because it can carry something", (schema, media) => {
    expect(draftOf(operation(schema, media)).file?.tools["list"]?.request).toHaveProperty("body");
  });

  test("a required one is still sent, and one with another media type that carries something is sent as that", () => {
    const required = documentWith({
      "/things": {
        post: { operationId: "add", requestBody: { required: true, content: { [form]: { schema: none } } } },
      },
    });
    expect(draftOf(required).file?.tools["add"]?.request).toHaveProperty("body");
    const content = {
      "application/json": { schema: none },
      [form]: { schema: { properties: { a: { type: "string" } } } },
    };
    const both = documentWith({ "/things": { post: { operationId: "add", requestBody: { content } } } });
    expect(draftOf(both).file?.tools["add"]?.request).toMatchObject({ body: "form" });
  });
});
