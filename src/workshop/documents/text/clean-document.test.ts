import { describe, expect, test } from "vitest";
import { CitedDocument } from "../../compile/cited-document.ts";
import { draftToolFile } from "../../draft/draft-tool-file.ts";
import { factsOf } from "../../draft/read-document.ts";
import { parseDocument } from "../parse-document.ts";
import { cleanCollection } from "./clean-collection.ts";
import { cleanProse } from "../../../masking/clean-prose.ts";

/** Too short to be recognised by its looks: only where it is tells that it is one. */
const SECRET = "hunter2x";
const TOKEN = "sk_placeholder_hunter2x9";
const SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
const URL_TEXT = "https://api.shop.example/orders";

const auth = (type: string, entries: Record<string, string>) => ({
  type,
  [type]: Object.entries(entries).map(([key, value]) => ({ key, value, type: "string" })),
});

/** Kinds of `auth`, with the members that are credentials. */
const AUTHS: Record<string, object> = {
  apikey: auth("apikey", { key: "X-Key", value: SECRET, in: "header" }),
  bearer: auth("bearer", { token: SECRET }),
  basic: auth("basic", { username: SECRET, password: SECRET }),
  digest: auth("digest", { username: SECRET, password: SECRET, nonce: SECRET, algorithm: "MD5" }),
  oauth1: auth("oauth1", { consumerKey: SECRET, consumerSecret: SECRET, token: SECRET, tokenSecret: SECRET }),
  oauth2: auth("oauth2", {
    accessToken: SECRET,
    clientId: SECRET,
    clientSecret: SECRET,
    password: SECRET,
    grant_type: "client_credentials",
    accessTokenUrl: "https://login.example/token",
  }),
  hawk: auth("hawk", { authId: SECRET, authKey: SECRET }),
  awsv4: auth("awsv4", {
    accessKey: SECRET,
    secretKey: SECRET,
    sessionToken: SECRET,
    region: "eu-west-1",
    service: "s3",
  }),
  ntlm: auth("ntlm", { username: SECRET, password: SECRET }),
  jwt: auth("jwt", { secret: SECRET, payload: `{"user":"${SECRET}"}`, algorithm: "HS256" }),
  edgegrid: auth("edgegrid", { accessToken: SECRET, clientToken: SECRET, clientSecret: SECRET }),
  "of version 2.0": { type: "basic", basic: { username: SECRET, password: SECRET } },
};

const item = (request: object, more: object = {}) => ({
  name: "One",
  request: { method: "POST", url: URL_TEXT, ...request },
  ...more,
});
const collection = (parts: object) => ({ info: { name: "Shop", schema: SCHEMA }, item: [item({})], ...parts });
const script = (lines: string[]) => [{ listen: "prerequest", script: { type: "text/javascript", exec: lines } }];
const raw = (text: string, language = "json") => ({ body: { mode: "raw", raw: text, options: { raw: { language } } } });
const answer = (parts: object) => ({ response: [{ name: "OK", code: 200, ...parts }] });

const COLLECTIONS: Record<string, object> = {
  ...Object.fromEntries(
    Object.entries(AUTHS).map(([name, own]) => [`${name} of the collection`, collection({ auth: own })]),
  ),
  ...Object.fromEntries(
    Object.entries(AUTHS).map(([name, own]) => [
      `${name} of a folder`,
      collection({ item: [{ name: "F", auth: own, item: [item({})] }] }),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(AUTHS).map(([name, own]) => [`${name} of a request`, collection({ item: [item({ auth: own })] })]),
  ),
  "a variable with the name of a secret": collection({
    variable: [
      { key: "api_key", value: SECRET },
      { key: "pwd", value: SECRET },
    ],
  }),
  "a variable of the type secret": collection({ variable: [{ key: "x", value: SECRET, type: "secret" }] }),
  "a variable of a folder": collection({
    item: [{ name: "F", variable: [{ id: "token", value: SECRET }], item: [item({})] }],
  }),
  "a variable with a token": collection({ variable: [{ key: "x", value: TOKEN }] }),
  headers: collection({
    item: [
      item({
        header: [
          { key: "X-Api-Key", value: SECRET },
          { key: "Authorization", value: `Custom ${SECRET}` },
          { key: "Cookie", value: `sid=${SECRET}; b=${SECRET}` },
          { key: "X-Any", value: TOKEN },
          { key: "X-Session", value: SECRET, disabled: true },
        ],
      }),
    ],
  }),
  "headers as a text": collection({
    item: [item({ header: `Accept: */*\nAuthorization: Bearer ${SECRET}\nX-Auth-Token: ${SECRET}` })],
  }),
  "the query": collection({
    item: [
      item({
        url: {
          raw: `${URL_TEXT}?api_key=${SECRET}&page=1`,
          protocol: "https",
          host: ["api", "shop", "example"],
          path: ["orders"],
          query: [
            { key: "api_key", value: SECRET },
            { key: "page", value: "1" },
          ],
        },
      }),
    ],
  }),
  "an address as a text": collection({
    item: [{ name: "One", request: `https://me:${SECRET}@api.shop.example/orders?token=${SECRET}` }],
  }),
  "a step of a path": collection({
    item: [
      item({
        url: {
          raw: `https://api.shop.example/bot123456789:${TOKEN}/send`,
          protocol: "https",
          host: ["api", "shop", "example"],
          path: [`bot123456789:${TOKEN}`, "send"],
        },
      }),
    ],
  }),
  "a form": collection({
    item: [
      item({
        body: {
          mode: "urlencoded",
          urlencoded: [
            { key: "password", value: SECRET },
            { key: "pin", value: SECRET },
          ],
        },
      }),
    ],
  }),
  "parts of a form": collection({
    item: [item({ body: { mode: "formdata", formdata: [{ key: "passphrase", value: SECRET, type: "text" }] } })],
  }),
  "a form as a text": collection({
    item: [
      item({
        header: [{ key: "Content-Type", value: "application/x-www-form-urlencoded" }],
        ...raw(`user=me&password=${SECRET}`, "text"),
      }),
    ],
  }),
  JSON: collection({
    item: [item(raw(`{"user":"me","password":"${SECRET}","credentials":{"a":["${SECRET}"]},"otp":77001177}`))],
  }),
  "JSON with variables": collection({ item: [item(raw(`{"id": {{id}}, "password": "${SECRET}"}`))] }),
  "pairs of name and value in JSON": collection({
    item: [item(raw(`{"settings":[{"name":"password","value":"${SECRET}"}]}`))],
  }),
  XML: collection({ item: [item(raw(`<login><Password>${SECRET}</Password><a apiKey="${SECRET}"/></login>`, "xml"))] }),
  "variables of GraphQL": collection({
    item: [
      item({
        body: {
          mode: "graphql",
          graphql: { query: "mutation($p: String) { login(p: $p) }", variables: `{"password":"${SECRET}"}` },
        },
      }),
    ],
  }),
  "a script": collection({
    event: script([
      `pm.environment.set("token", "${SECRET}");`,
      `const password = '${SECRET}';`,
      `const h = btoa("me:${SECRET}");`,
      `pm.request.headers.add({key: "Authorization", value: "Bearer ${SECRET}"});`,
      `const other = "${TOKEN}";`,
    ]),
  }),
  "a script of a request": collection({
    item: [item({}, { event: script([`var sig = CryptoJS.HmacSHA256(body, "${SECRET}");`]) })],
  }),
  "an example of an answer": collection({
    item: [
      item(
        {},
        answer({
          header: [{ key: "Set-Cookie", value: `sid=${SECRET}; Path=/` }],
          cookie: [{ name: "sid", value: TOKEN }],
          body: `{"access_token":"${SECRET}","user":{"refreshToken":"${SECRET}"}}`,
        }),
      ),
    ],
  }),
  "the request of an example": collection({
    item: [
      item(
        {},
        answer({
          originalRequest: {
            method: "GET",
            url: `${URL_TEXT}?key=${SECRET}`,
            header: [{ key: "X-Api-Key", value: SECRET }],
          },
        }),
      ),
    ],
  }),
  "a description": collection({
    info: {
      name: "Shop",
      schema: SCHEMA,
      description: `Use \`Authorization: Bearer ${TOKEN}\` or curl -u me:${TOKEN} https://api.shop.example`,
    },
  }),
  "a certificate": collection({
    item: [item({ certificate: { name: "c", key: { src: "a.pem" }, passphrase: SECRET } })],
  }),
};

describe("the kept copy of a Postman collection", () => {
  test.each(Object.entries(COLLECTIONS))("has no credential of %s (X9)", async (_, value) => {
    const document = parseDocument(JSON.stringify(value, undefined, "\t"), "postman", "a.json");
    const facts = await factsOf(document);
    const draft = draftToolFile(facts, {
      api: "shop",
      documents: { postman: { file: "a.json", sha256: document.sha256 } },
    });
    for (const written of [document.text, JSON.stringify(document.value), draft.text, document.remarks.join("\n")]) {
      for (const secret of [SECRET, TOKEN, "77001177"]) expect(written).not.toContain(secret);
    }
    expect(draft.tools).toHaveLength(1);
    expect(document.remarks.join("\n")).toContain("Credentials were left out of the copy");
    expect(document.remarks.join("\n")).toMatch(/\/(?:item|auth|variable|event|info)/);
    // The copy is read again: it is the same document.
    const again = parseDocument(document.text, "postman", "a.json");
    expect(again.text).toBe(document.text);
    expect(await factsOf({ ...again, remarks: [] })).toEqual({
      ...facts,
      remarks: facts.remarks.slice(document.remarks.length),
      operations: expect.anything() as unknown,
    });
    const cited = new CitedDocument(document.text, "postman");
    for (const { evidence } of facts.operations) expect(cited.findPart(evidence.replace(/^.*?#/, ""))).toBeDefined();
  });

  test("is the collection itself if it has none", () => {
    const text = `${JSON.stringify(
      collection({
        auth: auth("bearer", { token: "{{token}}" }),
        variable: [
          { key: "token", value: "" },
          { key: "base", value: URL_TEXT },
        ],
        item: [
          item(
            {
              header: [
                { key: "X-Api-Key", value: "{{apiKey}}" },
                { key: "Accept", value: "*/*" },
              ],
              ...raw('{"password": "<string>", "a": 1}'),
            },
            answer({ body: '{"token_type":"bearer","id":7}' }),
          ),
        ],
      }),
      undefined,
      "\t",
    )}\n`;
    const document = parseDocument(text, "postman", "a.json");
    expect(document.text).toBe(text);
    expect(document.remarks).toEqual([]);
  });
});

interface Parts {
  query?: string;
  member?: string;
  user?: string;
  text?: string;
  sample?: string;
  extension?: string;
}

const OPENAPI = (parts: Parts) => `openapi: 3.0.3
info:
  title: Shop # the title
  version: "1"
  description: ${parts.text ?? "A shop."}
servers:
  - url: https://${parts.user ?? ""}api.shop.example
components:
  securitySchemes:
    key: { type: apiKey, in: query, name: api_key }
paths:
  /orders:
    post:
      x-codeSamples: [{ lang: curl, source: ${JSON.stringify(parts.sample ?? "curl https://api.shop.example")} }]
      x-console: { user: me, password: ${parts.extension ?? "string"} }
      parameters:
        - name: api_key
          in: query
          example: ${parts.query ?? '"{{key}}"'}
          schema: { type: string }
      requestBody:
        content:
          application/json:
            schema:
              type: object
              properties:
                password: { type: string, example: ${parts.member ?? "string"} }
                note: { type: string, example: hello }
            example: { "password": "${parts.member ?? "string"}", note: hello }
      responses:
        "200": { description: ok }
`;

describe("the kept copy of another description", () => {
  test.each([
    ["the example of a security parameter", { query: SECRET }],
    ["the example of a member", { member: SECRET }],
    ["the user of an address", { user: `me:${SECRET}@` }],
    ["a description", { text: `Send Authorization Bearer ${TOKEN}` }],
    ["a sample of code", { sample: `curl -u me:${SECRET} https://api.shop.example/login` }],
    ["a member of an extension", { extension: SECRET }],
  ])("has no credential of %s, and its comments and lines stay: OpenAPI (X9)", (_, parts) => {
    const text = OPENAPI(parts);
    const document = parseDocument(text, "openapi", "a.yaml");
    expect(document.text).not.toContain(SECRET);
    expect(document.text).not.toContain(TOKEN);
    expect(document.text.split("\n")).toHaveLength(text.split("\n").length);
    expect(document.text).toContain("# the title");
    expect(document.remarks.join("\n")).toContain("Credentials were left out of the copy");
    expect(parseDocument(document.text, "openapi", "a.yaml").text).toBe(document.text);
  });

  test("is the description itself if it has none", () => {
    const text = OPENAPI({});
    expect(parseDocument(text, "openapi", "a.yaml")).toMatchObject({ text, remarks: [] });
  });

  const PROSE = (own: string) =>
    `# Shop\n\nGET https://api.shop.example/orders\n\nSend it like this:\n\n\`\`\`\n${own}\n\`\`\`\n\nThe password is a string.\n`;
  test.each([
    ["a header", `Authorization: Bearer ${TOKEN}`],
    ["a header that is not a token by its looks", `Authorization: Basic aHVudGVyMng6aHVudGVyMng=`],
    ["a key", "X-Api-Key: hunter2x-12345"],
    ["a user of curl", "curl -u me:hunter2x-12345 https://api.shop.example/orders"],
    ["an address", "curl https://me:hunter2x-12345@api.shop.example/orders"],
    ["a query", "curl 'https://api.shop.example/orders?api_key=hunter2x-12345'"],
    ["a member", '{ "password": "hunter2x-12345" }'],
    ["an element", "<Password>hunter2x-12345</Password>"],
    ["a variable", `const password = "hunter2x-12345";`],
    ["a variable with a type", `fun login(clientSecret: String = "hunter2x-12345")`],
    ["a member without quotes", `login({ user: "me", password: 'hunter2x-12345' })`],
    ["a field of a page", `<input type="text" name="password" value="hunter2x-12345">`],
    ["a cookie", "Cookie: sid=hunter2x-12345; theme=hunter2x-12345"],
    ["a token by its looks", `token ${TOKEN}`],
  ])("has no credential of %s, and its lines stay: Markdown, HTML, text (X9)", (_, own) => {
    const html = (text: string) =>
      `<html><body><pre>${text.replaceAll("<", "&lt;").replaceAll(">", "&gt;")}</pre></body></html>`;
    for (const [file, text] of [
      ["a.md", PROSE(own)],
      ["a.txt", PROSE(own)],
      ["a.html", html(PROSE(own))],
    ] as const) {
      const document = parseDocument(text, "manual", file);
      expect(document.text, file).not.toMatch(/hunter2x|aHVudGVy/);
      expect(document.text.split("\n"), file).toHaveLength(text.split("\n").length);
      expect(document.remarks.join("\n"), file).toMatch(/Credentials were left out of the copy .* L\d+/);
      expect(document.text, file).toContain("The password is a string.");
      expect(parseDocument(document.text, "manual", file).text, file).toBe(document.text);
    }
  });

  test.each([
    "Authorization: Bearer <token>",
    "Authorization: Bearer YOUR_API_KEY",
    "Authorization: Basic {credentials}",
    "X-Api-Key: <your key>",
    "curl -u user:password https://api.shop.example/orders",
    '{ "password": "string", "token_type": "bearer" }',
    'const token = "YOUR_TOKEN"; const password: string = "<password>"; let tokenType = "bearer";',
    `<input type="password" name="password" value="">`,
    "?api_key=YOUR_KEY&page_token=abc",
    "password | string | required, at least 8 characters",
    "GET /orders/5f0c7f1e-0f3b-4c55-8d0a-6a0c2f4b1a11",
    "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  ])("keeps what is not a credential: %s", (own) => {
    const text = PROSE(own);
    expect(parseDocument(text, "manual", "a.md")).toMatchObject({ text, remarks: [] });
  });

  test("has no credential of a WSDL or a GraphQL schema (X9)", () => {
    const wsdl = `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/">\n<documentation>Authorization: Bearer ${TOKEN}\n&lt;Password&gt;hunter2x-1&lt;/Password&gt;</documentation>\n<element name="Password" default="hunter2x-2"/>\n</definitions>`;
    const graphql = `"""Send X-Api-Key: hunter2x-12345"""\ntype Query {\n  orders(apiKey: String = "hunter2x-3", page: String = "last"): String\n}\n`;
    for (const [file, text] of [
      ["a.wsdl", wsdl],
      ["a.graphql", graphql],
    ] as const) {
      const document = parseDocument(text, "source", file);
      expect(document.text).not.toMatch(/hunter2x/);
      expect(document.text.split("\n")).toHaveLength(text.split("\n").length);
    }
  });
});

test("hostile texts of 400 kB are cleaned in linear time", () => {
  const many = (text: string) => text.repeat(400_000 / text.length);
  const script = ['"', "'", "`"].map((quote) => quote + many(`\\${quote}`));
  const hostile = {
    info: { name: "Shop", schema: SCHEMA, description: many(`http://${":".repeat(600)} `) },
    event: [{ listen: "test", script: { exec: script } }],
    item: [
      { name: "variables", request: { method: "GET", url: URL_TEXT, description: many("a: b:") + many('a = "') } },
      { name: "tags", request: { method: "GET", url: URL_TEXT, description: many("<a name=") + many(' value="') } },
      { name: "query", request: { method: "GET", url: `${URL_TEXT}${many("?a")}` } },
      { name: "header", request: { method: "GET", url: URL_TEXT, header: `X-Key: a${many(" ")}b` } },
    ],
  };
  expect(cleanCollection(hostile, [])).toMatchObject({ info: { name: "Shop" } });
});

test("a credential in a script, an address or a header is found beside signs that mean nothing", () => {
  const places: string[] = [];
  const clean = cleanCollection(
    {
      event: [{ script: { exec: [String.raw`// "\\"; pm.environment.set("token", "${SECRET}")`] } }],
      item: [
        { request: { method: "GET", url: `${URL_TEXT}?a?api_key=${SECRET}`, header: `X-Api-Key: ${SECRET}  ` } },
        { request: { method: "GET", url: URL_TEXT, description: `See https://:${SECRET}@shop.example` } },
      ],
    },
    places,
  );
  expect(JSON.stringify(clean)).not.toContain(SECRET);
  expect(places).toHaveLength(4);
});

test("what only looks like a credential stays: a picture, and the key of an annotation", () => {
  const picture = `data:image/svg+xml;base64,${Buffer.from(`<svg viewBox="0 0 197.64 186.81"/>`.repeat(9)).toString("base64")}`;
  const text = `![icon](${picture}) The context: "csi.storage.k8s.io/serviceAccount.tokens": { "token": <token> }`;
  expect(cleanProse(text)).toBe(text);
});
