import { expect, test } from "vitest";
import { compileApi } from "../../compile/compile.ts";
import { readOpenApi } from "../../documents/openapi/read-openapi.ts";
import { parseDocument } from "../../documents/parse-document.ts";
import { readPostman } from "../../documents/postman/read-postman.ts";
import { runChecks } from "../../run-checks.ts";
import { draftToolFile, type Draft } from "../draft-tool-file.ts";

/** Long and random, as credentials are. */
const RANDOM = "a1B2".repeat(10);

function draftOf(document: object): Draft {
  const loaded = parseDocument(JSON.stringify(document), "document");
  const facts = "openapi" in document ? readOpenApi(loaded) : readPostman(loaded);
  const documents = { document: { file: "document.json", sha256: loaded.sha256 } };
  const draft = draftToolFile(facts, { api: "shop", documents });
  expect(draft.problems.filter(({ severity }) => severity === "error")).toEqual([]);
  return draft;
}

function openApi(operation: object, schemas: object = {}): object {
  return {
    openapi: "3.1.0",
    info: { title: "Shop", version: "1" },
    servers: [{ url: "https://api.example/" }],
    paths: { "/orders": { post: { operationId: "order", ...operation } } },
    components: { schemas },
  };
}

async function failedChecks({ file }: Draft): Promise<string[]> {
  const failed: string[] = [];
  if (!file) return ["no file"];
  for await (const { problems } of runChecks({ api: compileApi(file, {}).api, file })) failed.push(...problems);
  return failed;
}

const json = (schema: object, more: object = {}) => ({ content: { "application/json": { schema, ...more } } });
const answer = (schema: object, more: object = {}) => ({ 200: { description: "ok", ...json(schema, more) } });
const text = { type: "string" };

test("X8: credentials in examples of an OpenAPI document are not copied into the tool file", async () => {
  const inner = { type: "object", properties: { access_token: text, tokenType: text, note: text } };
  const body = { type: "object", required: ["password", "key"], properties: { password: text, key: text, free: {} } };
  const draft = draftOf(
    openApi({
      parameters: [
        { name: "trace", in: "query", schema: { ...text, default: RANDOM }, example: RANDOM },
        { name: "api_token_of_partner", in: "query", schema: text, example: "partner-word" },
      ],
      requestBody: {
        required: true,
        ...json(body, { example: { password: "hunter", key: RANDOM, free: { secret: "swordfish", list: [RANDOM] } } }),
      },
      responses: answer(inner, { example: { access_token: "opensesame", tokenType: "bearer", note: `x ${RANDOM}` } }),
    }),
  );
  for (const secret of [RANDOM, "hunter", "swordfish", "opensesame", "partner-word"]) {
    expect(draft.text).not.toContain(secret);
  }
  const spec = draft.file?.tools["order"];
  expect(spec?.checks[0]?.call).toMatchObject({ password: "example", key: "example", free: { secret: "<string>" } });
  expect(spec?.checks[0]?.expect).toMatchObject({ structuredContent: { tokenType: "bearer" } });
  expect(await failedChecks(draft)).toEqual([]);
});

test("X8: credentials in the bodies and headers of a Postman collection are not copied into the tool file", () => {
  const schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
  const url = "https://api.example/login";
  const raw = JSON.stringify({ user: "anna", password: "hunter", nested: { refreshToken: "opensesame", id: RANDOM } });
  const urlencoded = [
    { key: "client_secret", value: "swordfish" },
    { key: "grant", value: "code" },
  ];
  const header = [{ key: "X-Trace", value: RANDOM }];
  const draft = draftOf({
    info: { name: "Shop", schema },
    item: [
      { name: "Login", request: { method: "POST", url, header, body: { mode: "raw", raw } } },
      { name: "Form", request: { method: "POST", url: `${url}/form`, body: { mode: "urlencoded", urlencoded } } },
    ],
  });
  for (const secret of [RANDOM, "hunter", "swordfish", "opensesame"]) expect(draft.text).not.toContain(secret);
  expect(draft.file?.tools["login"]?.checks[0]?.call).toMatchObject({ user: "anna", password: "example" });
});

test("X5: examples and defaults of members at any depth become the check and the answer of the fake", async () => {
  const Address = {
    type: "object",
    required: ["city"],
    properties: { city: { ...text, examples: ["Graz"] }, zip: { type: "integer", example: "8010", default: 8010 } },
  };
  const address = { allOf: [{ $ref: "#/components/schemas/Address" }] };
  const order = {
    type: "object",
    required: ["to", "items", "speed"],
    properties: {
      id: { type: "integer", readOnly: true, example: 7 },
      to: address,
      items: { type: "array", items: { type: "object", properties: { sku: { ...text, example: "A-1" } } } },
      speed: { ...text, default: "slow" },
      note: text,
    },
  };
  const done = {
    type: "object",
    required: ["id", "state"],
    properties: { id: { type: "integer", example: 7 }, state: { ...text, minLength: 3 }, to: address, note: text },
  };
  const draft = draftOf(openApi({ requestBody: json(order), responses: answer(done) }, { Address }));
  expect(draft.file?.tools["order"]?.checks[0]).toMatchObject({
    call: { to: { city: "Graz", zip: 8010 }, items: [{ sku: "A-1" }], speed: "slow" },
    expect: { structuredContent: { id: 7 } },
  });
  expect(draft.file?.fake.tools["order"]?.answers[0]?.give).toEqual({
    id: 7,
    state: "example",
    to: { city: "Graz", zip: 8010 },
  });
  expect(await failedChecks(draft)).toEqual([]);
});

test("answers without examples are made up when they are asked for", () => {
  const kind = { type: "object", properties: { kind: { ...text, enum: ["a", "b"] }, name: text } };
  const draft = draftOf(openApi({ responses: answer(kind) }));
  expect(draft.file?.fake.tools).toEqual({});
});

test("an example of a type that refers to itself ends", () => {
  const Node = {
    type: "object",
    properties: { name: { ...text, example: "root" }, next: { $ref: "#/components/schemas/Node" } },
  };
  const draft = draftOf(openApi({ responses: answer({ $ref: "#/components/schemas/Node" }) }, { Node }));
  expect(draft.file?.fake.tools["order"]?.answers[0]?.give).toEqual({ name: "root" });
});
