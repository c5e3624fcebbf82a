import { describe, expect, test } from "vitest";
import { smallFile } from "../../../test/fixtures/workshop/small-file.ts";
import { sha256 } from "../../text/digest.ts";
import { citationsOf } from "./citations.ts";
import { CitedDocument } from "./cited-document.ts";
import { compileApi } from "./compile.ts";

const API = {
  openapi: "3.1.0",
  paths: { "/pets/{id}": { get: { summary: "One pet", parameters: [{ name: "id", in: "path" }] } } },
  components: { schemas: { "a~b": { type: "string" }, nothing: null } },
};
const JSON_TEXT = JSON.stringify(API);
const YAML_TEXT = `# The same in YAML, with the members in another order.
components: { schemas: { a~b: { type: string }, nothing: null } }
openapi: 3.1.0
paths:
  /pets/{id}:
    get:
      parameters: [{ in: path, name: id }]
      summary: One pet
`;

/** The small file, whose tool cites a description instead of the manual. */
function citing(...evidence: string[]) {
  const file = smallFile();
  Object.assign(file.tools["find"] ?? {}, { evidence });
  Object.assign(file.documents, { openapi: { file: "openapi.json", sha256: sha256(JSON_TEXT) } });
  return file;
}

function citationsIn(text: string, ...evidence: string[]) {
  const { citations, outside } = citationsOf(citing(...evidence), { openapi: text });
  return { citations, outside: outside.map(({ evidence: each, problem }) => `${each}: ${problem}`) };
}

const GET = "openapi#/paths/~1pets~1{id}/get";

describe("evidence that is a JSON pointer", () => {
  test("cites a part of a JSON or YAML document, whatever its layout and order", () => {
    const { citations, outside } = citationsIn(
      JSON_TEXT,
      GET,
      `${GET}/parameters/0`,
      "openapi#/components/schemas/a~0b",
      "openapi#",
    );
    expect(outside).toEqual([]);
    expect(Object.keys(citations)).toEqual([
      "openapi#",
      "openapi#/components/schemas/a~0b",
      GET,
      `${GET}/parameters/0`,
    ]);
    expect(
      citationsIn(YAML_TEXT, GET, `${GET}/parameters/0`, "openapi#/components/schemas/a~0b", "openapi#").citations,
    ).toEqual(citations);
  });

  test("has another hash if a value in the part changes, and only then", () => {
    const before = citationsIn(JSON_TEXT, GET, "openapi#/components").citations;
    const after = citationsIn(JSON_TEXT.replace("One pet", "A pet"), GET, "openapi#/components").citations;
    expect(after[GET]?.sha256).not.toBe(before[GET]?.sha256);
    expect(after["openapi#/components"]).toEqual(before["openapi#/components"]);
  });

  test("may cite null, but nothing that does not exist", () => {
    const { outside } = citationsIn(
      JSON_TEXT,
      "openapi#/components/schemas/nothing",
      "openapi#/components/schemas/other",
      "openapi#/paths/~1pets~1{id}/get/parameters/1",
      "openapi#/paths/__proto__",
    );
    expect(outside).toEqual([
      "openapi#/components/schemas/other: there is no /components/schemas/other in it",
      "openapi#/paths/~1pets~1{id}/get/parameters/1: there is no /paths/~1pets~1{id}/get/parameters/1 in it",
      "openapi#/paths/__proto__: there is no /paths/__proto__ in it",
    ]);
  });

  test("is an error of the file if the document is not JSON or YAML", () => {
    const { problems } = compileApi(citing("openapi#/paths"), { openapi: "{ broken" });
    expect(problems.map(({ path, message }) => `${path} ${message}`)).toContainEqual(
      expect.stringMatching(
        /^tools\.find\.evidence the evidence openapi#\/paths is not in its document: .*not valid JSON/,
      ),
    );
  });

  test("is not looked up again in a document that has not changed since it was compiled", () => {
    const file = citing(GET);
    const { citations } = citationsOf(file, { openapi: JSON_TEXT });
    const known = { file, citations: { [GET]: { document: "openapi", sha256: "as it was" } } };
    expect(citationsOf(file, { openapi: JSON_TEXT }, known).citations).toEqual(known.citations);
    expect(citationsOf(file, { openapi: ` ${JSON_TEXT}` }, known).citations).toEqual(citations);
  });
});

// A cost that grows with the square of the citations would exceed the time limit of a test.
test("20,000 citations of a document of 4 MB are made", () => {
  const schemas = Object.fromEntries(
    Array.from({ length: 4_000 }, (_, index) => {
      const member = (name: string) => [name, { type: "string", description: "x".repeat(210) }];
      return [`S${index}`, { type: "object", properties: Object.fromEntries(["a", "b", "c", "d"].map(member)) }];
    }),
  );
  const text = JSON.stringify({ openapi: "3.1.0", components: { schemas } });
  expect(text.length).toBeGreaterThan(4_000_000);
  const pointers = Object.keys(schemas).flatMap((name) => [
    `openapi#/components/schemas/${name}`,
    ...["a", "b", "c", "d"].map((member) => `openapi#/components/schemas/${name}/properties/${member}`),
  ]);
  const file = citing("openapi#", ...pointers);
  const { citations, outside } = citationsOf(file, { openapi: text });
  expect(outside).toEqual([]);
  expect(Object.keys(citations)).toHaveLength(20_001);
});

test("20,000 citations of lines are made", () => {
  const text = Array.from({ length: 20_000 }, (_, line) => (line % 100 === 0 ? `## Chapter ${line}` : "text")).join(
    "\n",
  );
  const file = citing(...Array.from({ length: 20_000 }, (_, line) => `openapi#L${line + 1}`));
  const { citations } = citationsOf(file, { openapi: text });
  expect(citations["openapi#L250"]).toMatchObject({ heading: "Chapter 200" });
});

test("a document counts its lines from 1", () => {
  expect(new CitedDocument("a\nb\r\nc", "x").quote({ from: 2, to: 3 })).toBe("b\nc");
});

test("a part of a text that is JSON itself can be cited, such as a member of a saved body", () => {
  const raw = '{"tags": [{"a": {{value}}}]}';
  const document = new CitedDocument(JSON.stringify({ item: [{ body: { raw } }] }), "postman");
  expect(document.findPart("/item/0/body/raw/tags/0")).toEqual({ value: { a: null } });
  expect(document.findPart("/item/0/body/raw")).toEqual({ value: raw });
  expect(document.findPart("/item/0/body/raw/other")).toBeUndefined();
  expect(new CitedDocument('{"a": "text"}', "postman").findPart("/a/b")).toBeUndefined();
});
