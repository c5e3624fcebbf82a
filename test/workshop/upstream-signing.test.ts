import { describe, expect, test } from "vitest";
import { compileApi } from "../../src/workshop/compile/compile.ts";
import { startFake } from "../../src/workshop/fake/fake.ts";
import { readToolFile } from "../../src/workshop/file/read-tool-file.ts";
import { ApiRunner } from "../../src/workshop/run/api-runner.ts";

function fileWith(secrets: string): string {
  return `
nexus: 1
api: till
title: Till
version: 1.0.0
upstream: { base: "https://till.example/v1/" }
secrets:
  account: { ${secrets} }
settings:
  shop: { example: "7" }
types:
  Sale: { fields: { place: { type: string }, text: { type: string }, amount: { type: number } } }
  Sold: { fields: { id: { type: string } } }
tools:
  sell:
    title: Sell
    description: Records a sale.
    effect: write
    input: Sale
    request: { method: POST, path: "sales/{place}", query: { text: text }, secrets: account, body: json }
    response: { as: json, type: Sold, text: "Sold {id}." }
`;
}

async function call(text: string, change: Record<string, string> = {}) {
  const { file, problems } = readToolFile(text, "till.nexus.yaml");
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  if (!file) throw new Error("no file");
  const { api } = compileApi(file, {});
  await using fake = await startFake(file);
  const known: Record<string, string> = { ...fake.secrets, ...change };
  await using runner = new ApiRunner(api, {
    upstream: fake.url,
    secrets: async (name) => known[name.slice("till.".length)],
    settings: { shop: "7" },
  });
  return await runner.call("sell", { place: "a b", text: "tea & ü+/", amount: 3 });
}

describe.each([
  [
    "AWS",
    "sign: { aws-sigv4: { service: execute-api, region: eu-west-1, accessKey: id, secretKey: key, sessionToken: session } }",
  ],
  ["S3", "sign: { aws-sigv4: { service: s3, region: eu-west-1, accessKey: id, secretKey: key } }"],
  [
    "an HMAC",
    'sign: { hmac: { key: key, id: id, encoding: base64, text: "{method} {path}?{query} {timestamp} {nonce} {bodyHash} {settings.shop}", headers: { Authorization: "Till {id}:{signature}", X-Time: "{timestamp}", X-Nonce: "{nonce}" } } }',
  ],
])("a request with the signature of %s", (_, secrets) => {
  test("is accepted by the fake (X8)", async () => {
    expect(await call(fileWith(secrets))).not.toHaveProperty("isError");
  });

  test("is refused if it was made with another key, which is not shown (X9)", async () => {
    const result = await call(fileWith(secrets), { key: "another-signing-key" });
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result)).toContain("nexus secrets set");
    expect(JSON.stringify(result)).not.toContain("another-signing-key");
  });

  test("is not sent if the key is not set", async () => {
    const result = await call(fileWith(secrets), { key: "" });
    expect(JSON.stringify(result)).toContain("The secret till.key is not set, so nothing was sent");
  });
});

test("cookies of secrets are sent and checked by the fake", async () => {
  const text = fileWith("cookies: { session: cookie, other: second }");
  expect(await call(text)).not.toHaveProperty("isError");
  expect(await call(text, { cookie: "another-cookie" })).toMatchObject({ isError: true });
  const result = await call(text, { cookie: "a; b" });
  expect(JSON.stringify(result)).toContain("The secret till.cookie holds");
});

test.each<[string, string]>([
  ["oauth: { tokenUrl: https://other.example/token, clientId: a, clientSecret: b }", "is not within upstream.allow"],
  ["oauth: { tokenUrl: https://till.example/v1/token, clientId: a }", "clientSecret is missing"],
  ["oauth: { grant: refresh_token, tokenUrl: https://till.example/v1/token, clientId: a }", "refreshToken is missing"],
  ["oauth: { tokenUrl: https://till.example/v1/token, client_id: a }", "Write clientId"],
  ["bearer: x, oauth: { tokenUrl: https://till.example/v1/t, clientId: a, clientSecret: b }", "both set the header"],
  [
    "sign: { aws-sigv4: { service: S3!, region: r, accessKey: a, secretKey: b } }",
    '"S3!" is not the code of a service',
  ],
  ["sign: { aws-sigv4: { service: s3, accessKey: a, secretKey: b } }", "region is missing"],
  ["sign: { rsa: {} }", '"rsa" is not known here'],
  ['sign: { hmac: { key: a, text: "{body}", headers: { X-S: "x" } } }', "none of them has the {signature}"],
  [
    'sign: { hmac: { key: a, text: "{nonce}", headers: { X-S: "{signature}" } } }',
    "signs the nonce, but no header sends it",
  ],
  ['sign: { hmac: { key: a, text: "{boddy}", headers: { X-S: "{signature}" } } }', 'there is no "boddy" here'],
  ['sign: { hmac: { key: a, text: "{id}", headers: { X-S: "{signature}" } } }', 'there is no "id" here'],
  ['cookies: { "a b": x }', '"a b" cannot be the name of a cookie'],
])("secrets with { %s } are refused", (secrets, message) => {
  const { problems } = readToolFile(fileWith(secrets), "till.nexus.yaml");
  const said = problems.map((problem) => `${problem.message} (${problem.hint})`).join("\n");
  expect(said).toContain(message);
});
