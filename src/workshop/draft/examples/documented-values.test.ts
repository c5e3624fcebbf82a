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
