import { describe, expect, test } from "vitest";
import { compileApi } from "../../compile/compile.ts";
import { parseDocument } from "../../documents/parse-document.ts";
import { runChecks } from "../../run-checks.ts";
import { draftToolFile, type Draft } from "../draft-tool-file.ts";
import { factsOf } from "../read-document.ts";

async function draftOf(text: string): Promise<Draft> {
  const document = parseDocument(text, "doc");
  const documents = { doc: { file: "doc.json", sha256: document.sha256 } };
  return draftToolFile(await factsOf(document), { api: "shop", documents });
}

function collection(auth: object, url = "https://api.example/items"): string {
  const info = { name: "Shop", schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json" };
  const variable = [{ key: "area", value: "eu-west-1" }];
  return JSON.stringify({ info, variable, auth, item: [{ name: "List items", request: { method: "GET", url } }] });
}

function openApi(scheme: object): string {
  return JSON.stringify({
    openapi: "3.0.3",
    info: { title: "Shop", version: "1" },
    servers: [{ url: "https://abc.execute-api.eu-central-1.amazonaws.com/prod" }],
    security: [{ login: [] }],
    paths: { "/items": { get: { operationId: "listItems", responses: { 200: { description: "ok" } } } } },
    components: { securitySchemes: { login: scheme } },
  });
}

const questionsOf = ({ questions }: Draft) => questions.map(({ ask }) => ask).join("\n");

/** The result of the only tool, called against the fake of its file. */
async function problemsOf({ file }: Draft): Promise<string[]> {
  if (!file) throw new Error("the draft cannot be read");
  const outcomes = [];
  for await (const outcome of runChecks({ api: compileApi(file, {}).api, file })) outcomes.push(outcome);
  expect(outcomes).toHaveLength(1);
  return outcomes.flatMap(({ problems }) => problems);
}

describe("X5: requests to AWS are signed by the built-in signer", () => {
  const key = [
    { key: "accessKey", value: "AKIDEXAMPLE" },
    { key: "secretKey", value: "a-secret" },
  ];

  test("of a Postman collection, with its service and region, and never with its keys", async () => {
    const region = { key: "region", value: "{{area}}" };
    const more = [{ key: "service", value: "es" }, region, { key: "sessionToken", value: "{{token}}" }];
    const draft = await draftOf(collection({ type: "awsv4", awsv4: [...key, ...more] }));
    expect(draft.file?.secrets["aws"]?.sign).toEqual({
      kind: "aws-sigv4",
      service: "es",
      region: "eu-west-1",
      accessKey: "aws-access-key",
      secretKey: "aws-secret-key",
      sessionToken: "aws-session-token",
    });
    expect(draft.text).not.toMatch(/AKIDEXAMPLE|a-secret/);
    expect(questionsOf(draft)).not.toContain("signed");
    expect(await problemsOf(draft)).toEqual([]);
  });

  test("of a collection that does not say the service, by the address or with a question", async () => {
    const known = await draftOf(collection({ type: "awsv4", awsv4: key }, "https://es.eu-west-2.amazonaws.com/a"));
    expect(known.file?.secrets["aws"]?.sign).toMatchObject({ service: "es", region: "eu-west-2" });
    const unknown = await draftOf(collection({ type: "awsv4", awsv4: key }));
    expect(questionsOf(unknown)).toContain("Requests are signed for the service execute-api in us-east-1");
  });

  test("of a description that Amazon API Gateway exports, and of a curl command", async () => {
    const scheme = { type: "apiKey", name: "Authorization", in: "header", "x-amazon-apigateway-authtype": "awsSigv4" };
    const draft = await draftOf(openApi(scheme));
    expect(draft.file?.secrets["login"]?.sign).toMatchObject({ service: "execute-api", region: "eu-central-1" });
    expect(await problemsOf(draft)).toEqual([]);
    const curl = await draftOf(`curl --aws-sigv4 "aws:amz:eu-west-3:s3" --user "a:b" https://files.example/list`);
    expect(curl.file?.secrets["aws"]?.sign).toMatchObject({ service: "s3", region: "eu-west-3" });
  });
});

test.each([
  ["digest", "each request has to answer a challenge of the server"],
  ["hawk", "each request has to be signed with Hawk"],
  ["ntlm", "it logs in a connection with three requests"],
  ["oauth1", "each request has to be signed with OAuth 1.0"],
  ["edgegrid", "each request has to be signed with EdgeGrid"],
])("X5: the authorization %s of Postman is a question with its reason, and no token", async (type, reason) => {
  const draft = await draftOf(collection({ type, [type]: [{ key: "username", value: "u" }] }));
  expect(draft.file?.secrets).toEqual({});
  expect(questionsOf(draft)).toContain(`auth (${type}) is not sent, because ${reason}`);
  expect(await problemsOf(draft)).toEqual([]);
});

test.each([
  [{ type: "http", scheme: "Digest" }, "login (http Digest) is not sent"],
  [{ type: "http", scheme: "negotiate" }, "login (http negotiate) is not sent"],
  [{ type: "mutualTLS" }, "login (mutualTLS) is not sent, because it needs a certificate of the client"],
])("X5: the security scheme %j of OpenAPI is a question with its reason, and no token", async (scheme, question) => {
  const draft = await draftOf(openApi(scheme));
  expect(draft.file?.secrets).toEqual({});
  expect(questionsOf(draft)).toContain(question);
});

test("X5: an unknown kind of authorization may be a token, and is asked about", async () => {
  const draft = await draftOf(openApi({ type: "http", scheme: "custom" }));
  expect(draft.file?.secrets["login"]).toMatchObject({ bearer: "login" });
  expect(questionsOf(draft)).toContain("login (http custom) is sent as a bearer token");
});
