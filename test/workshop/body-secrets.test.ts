import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compileApi } from "../../src/workshop/compile/compile.ts";
import { startFake } from "../../src/workshop/fake/fake.ts";
import { readToolFile } from "../../src/workshop/file/read-tool-file.ts";
import { ApiRunner } from "../../src/workshop/run/api-runner.ts";

const PASSWORD = "a-long-secret-of-27-letters";

const tool = (name: string, body: "json" | "xml") => `
  ${name}:
    title: ${name}
    description: Finds things.
    effect: read
    input: Query
    request: { method: POST, path: ${body}, body: ${body}, secrets: login }
    response: { as: ${body}, type: Answer, text: done }
    checks: []`;

const FILE = `
nexus: 1
api: shop
title: Shop
description: Finds things.
version: 1.0.0
upstream: { base: "https://shop.example/" }
namespaces: { none: "" }
secrets:
  login: { body: { user: user, password: password }, public: [user] }
types:
  Query:
    xml: { element: Query, namespace: "urn:shop" }
    fields:
      text: { type: string }
      user: { type: string, hidden: true }
      password: { type: string, hidden: true }
  Answer:
    xml: { element: Answer, namespace: "urn:shop" }
    fields: { said: { type: string, optional: true } }
tools:${tool("find_json", "json")}${tool("find_xml", "xml")}
`;

const { file, problems } = readToolFile(FILE, "shop.nexus.yaml");
if (!file) throw new Error(JSON.stringify(problems));
const { api } = compileApi(file, {});

/** A service that repeats what it got. */
let sent = "";
const http = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    sent = Buffer.concat(pieces).toString("utf8");
    const isJson = request.url === "/json";
    response
      .writeHead(200, { "content-type": isJson ? "application/json" : "application/xml" })
      .end(isJson ? `{"said":"${PASSWORD}"}` : `<Answer xmlns="urn:shop"><said>${PASSWORD}</said></Answer>`);
  });
});
let upstream = "";
beforeAll(async () => {
  await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
  upstream = `http://127.0.0.1:${(http.address() as AddressInfo).port}/`;
});
afterAll(async () => {
  http.closeAllConnections();
  await new Promise((done) => http.close(done));
});

const secrets = async (name: string) => (name === "shop.password" ? PASSWORD : "partner-7");

test.each([
  ["find_json", `{"text":"tea","user":"partner-7","password":"${PASSWORD}"}`],
  ["find_xml", `<text>tea</text><user>partner-7</user><password>${PASSWORD}</password>`],
])(
  "X9 %s: the secrets of a set are written into the hidden fields of the body, and hidden in results",
  async (name, body) => {
    await using runner = new ApiRunner(api, { upstream, secrets });
    const result = await runner.call(name, { text: "tea" });
    expect(sent).toContain(body);
    expect(JSON.stringify(result)).toContain("•••");
    expect(JSON.stringify(result)).not.toContain(PASSWORD);
  },
);

test("X9: callers neither see nor give the fields of secrets in a body", async () => {
  await using runner = new ApiRunner(api, { upstream, secrets });
  expect(JSON.stringify(api.tools)).not.toContain('"password":');
  sent = "";
  const result = await runner.call("find_json", { text: "tea", password: "mine" });
  expect(result.isError).toBe(true);
  expect(sent).toBe("");
});

test("X9: a secret of a body that is not stored is named, and nothing is sent", async () => {
  await using runner = new ApiRunner(api, {
    upstream,
    secrets: async (name) => (name === "shop.password" ? undefined : "x"),
  });
  sent = "";
  const result = await runner.call("find_xml", { text: "tea" });
  expect(result.isError).toBe(true);
  expect(JSON.stringify(result.content)).toContain("shop.password");
  expect(sent).toBe("");
});

test("X9: the fake accepts its own secrets in a body, and refuses others", async () => {
  await using fake = await startFake(file);
  const own = async (name: string) => fake.secrets[name.replace("shop.", "")];
  await using right = new ApiRunner(api, { upstream: fake.url, secrets: own });
  expect((await right.call("find_json", { text: "tea" })).isError).not.toBe(true);
  await using wrong = new ApiRunner(api, { upstream: fake.url, secrets });
  expect((await wrong.call("find_json", { text: "tea" })).isError).toBe(true);
});
