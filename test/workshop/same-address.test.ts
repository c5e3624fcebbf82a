import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startFake, type Fake } from "../../src/workshop/fake/fake.ts";
import { readToolFile } from "../../src/workshop/file/read-tool-file.ts";

const FILE = `nexus: 1
api: same
title: Same address
version: "1"
upstream: { base: https://api.example/v1/ }
types:
  Empty: { fields: { q: { type: string, optional: true } } }
  List: { fields: { page: { type: integer } } }
  Named: { fields: { name: { type: string } } }
  Cat: { fields: { kind: { const: cat }, lives: { type: integer } } }
  Dog: { fields: { kind: { const: dog }, tricks: { list: string } } }
  Sum: { fields: { a: { type: integer }, b: { type: integer } } }
  Text: { fields: { bytes: { wire: ".", type: binary } } }
tools:
  export_all:
    title: Export
    description: Exports all.
    effect: read
    input: Empty
    request: { method: GET, path: things, query: { action: { const: export }, q: q } }
    response: { as: text, text: Done. }
  list:
    title: List
    description: Lists a page.
    effect: read
    input: List
    request: { method: GET, path: things, query: { action: { const: list }, page: page } }
    response: { as: text, text: Done. }
  by_name:
    title: By name
    description: Finds by name.
    effect: read
    input: Named
    request: { method: GET, path: things, headers: { X-Name: name } }
    response: { as: text, text: Done. }
  add_cat:
    title: Cat
    description: Adds a cat.
    effect: write
    input: Cat
    request: { method: POST, path: animals, body: json }
    response: { as: text, text: Done. }
  add_dog:
    title: Dog
    description: Adds a dog.
    effect: write
    input: Dog
    request: { method: POST, path: animals, body: json }
    response: { as: text, text: Done. }
  sum:
    title: Sum
    description: Adds numbers.
    effect: read
    input: Sum
    request: { method: GET, path: sum, query: { a: a, b: b, total: { value: input.a + input.b }, at: { value: now() } } }
    response: { as: text, text: Done. }
  put:
    title: Put
    description: Puts bytes.
    effect: write
    input: Text
    request: { method: PUT, path: bytes, body: binary }
    response: { as: text, text: Done. }
`;

let fake: Fake;

beforeAll(async () => {
  const { file, problems } = readToolFile(FILE, "same.nexus.yaml");
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  fake = await startFake(file ?? expect.fail("no file"));
});

afterAll(() => fake.close());

async function seen(path: string, init: RequestInit = {}) {
  await (await fetch(new URL(path, fake.url), init)).arrayBuffer();
  return fake.requests.at(-1) ?? expect.fail("no request");
}

function json(value: unknown): RequestInit {
  return { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}

describe("X6: the fake tells tools with the same method and path apart", () => {
  test.each<[string, string, string, RequestInit]>([
    ["a constant", "list", "things?action=list&page=1", {}],
    ["a constant, although the rest is wrong", "list", "things?action=list&page=x&q=1&r=2", {}],
    ["a constant without further parameters", "export_all", "things?action=export", {}],
    ["a required header", "by_name", "things", { headers: { "X-Name": "a" } }],
    ["a member of the body", "add_dog", "animals", json({ kind: "dog", tricks: [] })],
    ["the body that fits best", "add_cat", "animals", json({ kind: "cat", lives: "many" })],
  ])("by %s", async (_, tool, path, init) => {
    expect((await seen(path, init)).tool).toBe(tool);
  });
});

test("X6: the fake accepts a computed parameter only with the computed value, where it can know it", async () => {
  expect((await seen("sum?a=1&b=2&total=3&at=2026-01-01")).status).toBe(200);
  expect((await seen("sum?a=1&b=2&total=4&at=2026-01-01")).status).toBe(400);
  expect((await seen("sum?a=1&b=2&at=2026-01-01")).status).toBe(400);
});

test("X6: the fake shows bytes that are not text without loss", async () => {
  const bytes = Buffer.from([0, 255, 128, 65]);
  const sent = await seen("bytes", { method: "PUT", headers: { "content-type": "image/png" }, body: bytes });
  expect(sent).toMatchObject({ tool: "put", body: bytes.toString("base64"), encoding: "base64" });
});

test("X6: tools whose requests cannot be told apart are reported", () => {
  const twice = FILE.replace("action: { const: export }, q: q", "q: q")
    .replace("{ action: { const: list }, page: page }", "{ q: { field: page } }")
    .replace(
      "List: { fields: { page: { type: integer } } }",
      "List: { fields: { page: { type: integer, optional: true } } }",
    );
  const { problems } = readToolFile(twice, "same.nexus.yaml");
  expect(problems.filter(({ message }) => message.includes("told from"))).toMatchObject([
    { severity: "warning", message: expect.stringContaining("those of export_all") },
  ]);
  expect(readToolFile(FILE, "same.nexus.yaml").problems.filter(({ message }) => message.includes("told from"))).toEqual(
    [],
  );
});
