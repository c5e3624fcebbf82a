import { createServer, type RequestListener } from "node:http";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { sha256 } from "../../../text/digest.ts";
import { loadDocument } from "./load-document.ts";
import { readOpenApi } from "../openapi/read-openapi.ts";
import { parseDocument } from "../parse-document.ts";

const MINIMAL = `openapi: 3.1.0\ninfo: { title: Shop, version: "1" }\npaths: {}\n`;

async function listening(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

function read(text: string): unknown {
  return parseDocument(text, "doc").value;
}

function refusal(text: string): { message: string; hint?: string } {
  try {
    parseDocument(text, "doc");
  } catch (error) {
    return error as { message: string; hint?: string };
  }
  throw new Error("it was not refused");
}

describe("the text of an API description", () => {
  test.each([
    ['{"swagger":"2.0","paths":{}}', "openapi-2.0"],
    ["openapi: 3.0.3\npaths: {}", "openapi-3.0"],
    ["openapi: 3.1\npaths: {}", "openapi-3.1"],
    ["openapi: '3.2.0'", "openapi-3.2"],
    [
      '{"info":{"schema":"https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},"item":[]}',
      "postman-2",
    ],
    ['<?xml version="1.0"?>\n<wsdl:definitions xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/">', "wsdl-1.1"],
    ['<!-- by hand --><definitions name="a"\n  xmlns="http://schemas.xmlsoap.org/wsdl/">', "wsdl-1.1"],
    ["type Query {\n  a: Int\n}", "graphql"],
    ['"""\nAll of it\n"""\nschema { query: Q }', "graphql"],
    ["# a comment\nenum Size { S M }", "graphql"],
    ['"""\nThe "main" things, with \\""" in it\n"""\ntype Query { a: Int }', "graphql"],
    ['"A \\"word\\""\ntype Query { a: Int }', "graphql"],
    [`${"# a licence\n".repeat(500)}extend schema @link(url: "https://specs.example/v2.0")`, "graphql"],
    ['schema\n  @link(url: "https://specs.example/v1.0")\n{\n  query: Q\n}', "graphql"],
    ['<definitions name = "a" xmlns = "http://schemas.xmlsoap.org/wsdl/"/>', "wsdl-1.1"],
    [
      `<!-- ${"a licence ".repeat(500)}--><my-wsdl:definitions xmlns:my-wsdl="http://schemas.xmlsoap.org/wsdl/"/>`,
      "wsdl-1.1",
    ],
    ['{"data":{"__schema":{}}}', "graphql-introspection"],
    ["curl https://api.example/", "postman-2"],
    ["# list all\ncurl https://api.example/", "postman-2"],
    ["<!DOCTYPE html><html></html>", "html"],
    ["# Shop API\n\nText: with a colon: twice\n", "markdown"],
    ["# Shop API\n\n| Field | Type |\n|---|---|\n| `a` | int |\n", "markdown"],
    ["just words", "text"],
    ["Shop API\n========\n\nPrices: GET https://a.example/prices: all of them are listed here.\n", "text"],
    ["page one\fpage two", "pdf"],
  ])("%s has the format %s", (text, format) => {
    expect(parseDocument(text, "doc").format).toBe(format);
  });

  test("YAML is read as version 1.2: times, dates and words such as off stay text", () => {
    const text =
      "openapi: 3.1.0\na: [off, no, y, 2020-01-01, 18:00, 012, 0x1F, 1e3, null, ~, true]\n200: ok\n'<<': text\n";
    const expected = ["off", "no", "y", "2020-01-01", "18:00", 12, 31, 1000, null, null, true];
    expect(read(text)).toEqual({ openapi: "3.1.0", a: expected, 200: "ok", "<<": "text" });
  });

  test("whole numbers that a double cannot hold keep their digits as text", () => {
    const expected = { openapi: "3.0.0", a: "9223372036854775807", b: 9007199254740991, c: 1.5 };
    expect(read("openapi: 3.0.0\na: 9223372036854775807\nb: 9007199254740991\nc: 1.5")).toEqual(expected);
    expect(read('{"openapi":"3.0.0","a":9223372036854775807,"b":9007199254740991,"c":1.5}')).toEqual(expected);
  });

  test("a byte order mark, CRLF, comments and JSON with YAML's freedoms are accepted", () => {
    const text = "\ufeff# a comment\r\nopenapi: 3.0.0 # more\r\ntext: |\r\n  one\r\n  two\r\n";
    expect(read(text)).toEqual({ openapi: "3.0.0", text: "one\ntwo\n" });
    expect(read('{ "openapi": "3.0.0", # comment\n a: 1, }')).toEqual({ openapi: "3.0.0", a: 1 });
  });

  test("X5: comments and trailing commas in JSON are reported and ignored; texts keep what looks like one", () => {
    const text = `// a head\n/* { "openapi": 1 } */ {\n  // it's a "quote\n  "openapi": "3.0.0",\n  "a": ["b // c", "/* d */",],\n}`;
    expect(parseDocument(text, "doc")).toMatchObject({
      value: { openapi: "3.0.0", a: ["b // c", "/* d */"] },
      remarks: [expect.stringContaining("the first in line 1, column 1")],
    });
    expect(parseDocument('{"openapi":"3.0.0",\n"a":[1,],}', "doc").remarks).toEqual([
      expect.stringContaining("the first in line 2, column 7"),
    ]);
    expect(read("{ openapi: 3.0.0, a: http://b.example/c }")).toEqual({ openapi: "3.0.0", a: "http://b.example/c" });
  });

  test.each([
    ['{\n  // why\n  "openapi": "3.0.0"\n  "a": 1\n}', "line 4, column 3: a comma is missing before this"],
    ['{ "openapi": "3.0.0", "a": 1 /* open', "line 1"],
    ['{"openapi": "3.0.0",\n "a": [1, 2', "line 2, column 12"],
    [`{"openapi\n${"[".repeat(100_000)}`, "line 1, column 2"],
  ])("X5: mistakes in JSON are refused with their place (%#)", (text, place) => {
    expect(refusal(text).message).toContain(`not valid JSON in ${place}`);
  });

  test("merged maps and aliases are followed", () => {
    const text = "openapi: 3.0.0\nx: &x { a: 1, b: 2 }\ny: { <<: *x, b: 3 }\nz: *x\n";
    expect(read(text)).toMatchObject({ y: { a: 1, b: 3 }, z: { a: 1, b: 2 } });
  });

  test("repeated keys are reported with their line", () => {
    const remark = `The key "a" is twice in one object (line 3); the last one counts`;
    expect(parseDocument("openapi: 3.0.0\na: 1\na: 2\n", "doc")).toMatchObject({ value: { a: 2 }, remarks: [remark] });
    const json = parseDocument('{"openapi":"3.0.0",\n"a":1,"b":[{"a":1},{"a":1}],\n"a":{"b":2}}', "doc");
    expect(json).toMatchObject({ value: { a: { b: 2 } }, remarks: [remark] });
  });

  test("a key named __proto__ is an ordinary member", () => {
    for (const text of [
      "openapi: 3.0.0\n__proto__: { polluted: 1 }",
      '{"openapi":"3.0.0","__proto__":{"polluted":1}}',
    ]) {
      const value = read(text);
      expect(Object.keys(value as object)).toEqual(["openapi", "__proto__"]);
      expect((value as { polluted?: number }).polluted).toBeUndefined();
    }
  });

  test.each([
    ["<a/>", "XML"],
    ["%PDF-1.7", "the text of a PDF file"],
    ['<description xmlns="http://www.w3.org/ns/wsdl">', "WSDL 2.0"],
    ["nexus: 1\napi: shop", "a tool file of Nexus"],
    ['{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}', "a JSON Schema"],
    ['{"type":"object","properties":{}}', "a JSON Schema"],
    ["asyncapi: 3.0.0", "an AsyncAPI description"],
    ["openapi: 4.0.0", "OpenAPI 4.0.0, a version that is not supported"],
    ['{"swaggerVersion":"1.2"}', "Swagger 1.x"],
    ["paths: {}", "an OpenAPI description without its version"],
    ["[1]", "a list"],
    ["{}", "an object without members"],
  ])("%s is recognised as %s", (text, like) => {
    const { message, hint } = refusal(text);
    expect(message).toContain(`not an API description: it looks like ${like}`);
    expect(hint).toMatch(/\w/);
  });

  test.each([
    ["", "is empty"],
    ["openapi: 3.0.0\n  a: [", "not valid YAML"],
    ["openapi: 3.0.0\na: { name: b[c] }", "not valid YAML in line 2, column 13"],
    ['{"openapi":', "not valid JSON"],
    ["openapi: 3.0.0\na: &a [*a]", "inside its own anchor"],
    ["openapi: 3.0.0\na: *b", "not valid YAML"],
    ["openapi: 3.0.0\n? [a]\n: 1", "not a word or a number"],
    ["openapi: 3.0.0\n---\nopenapi: 3.0.0", "one document only"],
  ])("%s is refused because it %s", (text, problem) => {
    expect(refusal(text).message).toContain(problem);
  });
});

describe("loading a description", () => {
  test("a file is read, and its name becomes the name of the document", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "nexus-document-")), "Shop API.v1.yaml");
    writeFileSync(path, MINIMAL);
    expect(await loadDocument(path)).toMatchObject({ name: "shop-api-v1", format: "openapi-3.1", source: path });
    await expect(loadDocument(`${path}.none`)).rejects.toThrow("does not exist");
    await expect(loadDocument(tmpdir())).rejects.toThrow("is a folder");
  });

  test("files beside the document that it refers to become a part of it; others stay unresolved", async () => {
    const folder = mkdtempSync(join(tmpdir(), "nexus-document-"));
    const outside = `${folder}-outside.yaml`;
    writeFileSync(outside, "type: boolean");
    mkdirSync(join(folder, "schemas"));
    symlinkSync(outside, join(folder, "schemas", "link.yaml"));
    writeFileSync(
      join(folder, "schemas", "pet.yaml"),
      "Pet:\n  properties:\n    next: { $ref: '#/Pet' }\n    tag: { $ref: '../tag.json' }\n",
    );
    writeFileSync(join(folder, "tag.json"), '{"type":"string"}');
    writeFileSync(
      join(folder, "api.yaml"),
      `openapi: 3.0.0
paths:
  /a:
    get:
      parameters:
        - { name: p, in: query, schema: { $ref: 'schemas/pet.yaml#/Pet' } }
        - { name: o, in: query, schema: { $ref: '../${basename(outside)}' } }
        - { name: l, in: query, schema: { $ref: 'schemas/link.yaml' } }
`,
    );
    const document = await loadDocument(join(folder, "api.yaml"));
    const facts = readOpenApi(document);
    const [pet, other, link] = facts.operations[0]?.parameters.map(({ schema }) => schema) ?? [];
    expect(pet).toMatchObject({ name: "Pet", evidence: "api#/x-nexus-files/schemas~1pet.yaml/Pet" });
    expect(pet?.properties.get("next")?.()).toBe(pet);
    expect(pet?.properties.get("tag")?.()).toMatchObject({ name: "tag", types: ["string"] });
    expect([other?.types, link?.types]).toEqual([[], []]);
    expect(facts.remarks.map(({ text }) => text)).toEqual([
      `The file ../${basename(outside)} was not read: it is not in the folder of the description. Name a folder that has both with --root`,
      expect.stringMatching(/^The file schemas\/link.yaml was not read: it is not in the folder/),
      expect.stringContaining("does not exist or is not loaded"),
      expect.stringContaining("does not exist or is not loaded"),
    ]);
    expect(document.sha256).toBe(sha256(document.text));
  });

  test("files in other folders are read if a folder around both is named, also those that they refer to", async () => {
    const root = mkdtempSync(join(tmpdir(), "nexus-document-"));
    for (const folder of ["main", "common"]) mkdirSync(join(root, folder));
    writeFileSync(join(root, "common", "types.yaml"), "Id: { $ref: 'id.yaml' }\n");
    writeFileSync(join(root, "common", "id.yaml"), "type: integer\n");
    const path = join(root, "main", "api.yaml");
    const parameter = "{ name: id, in: query, schema: { $ref: '../common/types.yaml#/Id' } }";
    writeFileSync(path, `openapi: 3.0.0\npaths: { /a: { get: { parameters: [${parameter}] } } }\n`);
    const facts = readOpenApi(await loadDocument(path, { root }));
    expect(facts.remarks).toEqual([]);
    expect(facts.operations[0]?.parameters[0]?.schema).toMatchObject({
      types: ["integer"],
      evidence: "api#/x-nexus-files/..~1common~1id.yaml",
    });
  });

  test("files that a description at an address refers to are read at its own host", async () => {
    await using other = await listening((_request, response) => response.end("type: boolean"));
    const asked: (string | undefined)[] = [];
    await using site = await listening((request, response) => {
      asked.push(request.url);
      if (request.url === "/v1/api.yaml?key=1") {
        const refs = ["pets/list.yaml", "gone.yaml", `${other.url}/x.yaml`];
        const operations = refs.map((ref, at) => `/a${at}: { get: { $ref: '${ref}' } }`);
        return response.end(`openapi: 3.0.0\npaths: { ${operations.join(", ")} }\n`);
      }
      if (request.url === "/v1/pets/list.yaml") return response.end("operationId: pets\nresponses: {}\n");
      return response.writeHead(404).end();
    });
    const document = await loadDocument(`${site.url}/v1/api.yaml?key=1`, { allow: ["127.0.0.1"] });
    const { operations, omitted, remarks } = readOpenApi(document);
    expect(operations).toMatchObject([{ key: "GET /a0", id: "pets" }]);
    expect(omitted.map(({ key, reason }) => [key, reason])).toEqual([
      ["GET /a1", "unresolved-reference"],
      ["GET /a2", "unresolved-reference"],
    ]);
    expect(remarks).toMatchObject([{ text: expect.stringMatching(/gone\.yaml was not read: .*404/) as string }]);
    expect(asked).toHaveLength(3);
  });

  test("an address is read only if its host is public or allowed", async () => {
    await using site = await listening((_request, response) => response.end(MINIMAL));
    const url = `${site.url}/v1/openapi.yaml?key=secret`;
    await expect(loadDocument(url)).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
    const loaded = await loadDocument(url, { allow: ["127.0.0.1"] });
    expect(loaded).toMatchObject({ name: "openapi", source: `${site.url}/v1/openapi.yaml`, text: MINIMAL });
  });

  test("redirects and failures are reported, and not followed", async () => {
    await using site = await listening((request, response) => {
      if (request.url === "/a") response.writeHead(302, { location: "https://other.example/spec" });
      else response.writeHead(404);
      response.end();
    });
    const allow = ["127.0.0.1"];
    await expect(loadDocument(`${site.url}/a`, { allow })).rejects.toThrow("redirects to https://other.example");
    await expect(loadDocument(`${site.url}/b`, { allow })).rejects.toMatchObject({
      code: "HTTP_STATUS",
      details: { status: 404 },
    });
  });
});
