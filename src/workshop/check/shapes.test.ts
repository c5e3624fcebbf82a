import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { fullInputSchema } from "../compile/json-schema.ts";
import { fittedDefinition } from "../compile/tool-definition.ts";
import { readToolFile } from "../file/read-tool-file.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import { CompletedValues } from "../run/completed-values.ts";
import { checkerFor } from "./checker.ts";

function read(types: unknown) {
  const request = { method: "POST", path: "x", body: "json" };
  const response = { as: "json", type: "Root", text: "Done." };
  const tool = { title: "T", description: "T.", effect: "read", input: "Root", request, response };
  const upstream = { base: "https://api.example/" };
  return readToolFile(
    stringify({ nexus: 1, api: "x", title: "X", version: "1", upstream, types, tools: { t: tool } }),
    "x.nexus.yaml",
  );
}

function fileOf(types: unknown): ToolFile {
  const { file, problems } = read(types);
  return file ?? expect.fail(JSON.stringify(problems));
}

const PETS = {
  Root: {
    fields: {
      pet: { oneOf: ["Cat", "Dog"], discriminator: { member: "kind", values: { cat: "Cat", dog: "Dog" } } },
      labels: { map: { type: "integer", minimum: 0 }, optional: true },
      matrix: { list: { list: "number" }, optional: true },
      id: { type: "integer", exact: true, optional: true },
      note: { type: "string", nullable: true, optional: true },
      created: { type: "datetime", readOnly: true },
      extra: { type: "any", optional: true },
    },
  },
  Animal: { fields: { name: { type: "string" } } },
  Cat: { include: ["Animal"], fields: { kind: { const: "cat" }, lives: { type: "integer", default: 9 } } },
  Dog: { include: ["Animal"], fields: { kind: { type: "string" }, tricks: { list: "string", uniqueItems: true } } },
};

describe("arguments of all shapes (X3)", () => {
  const check = checkerFor(fileOf(PETS), "t");
  const cat = { kind: "cat", name: "Tom" };
  const problems = (more: object) => check({ pet: cat, ...more }).problems;

  test("get the defaults of the alternative that they are", () => {
    const { value, problems: none } = check({ pet: cat, labels: { a: 1 }, matrix: [[1], []], note: null });
    expect(none).toEqual([]);
    expect(value["pet"]).toEqual({ kind: "cat", name: "Tom", lives: 9 });
  });

  test.each<[object, string]>([
    [{ pet: { kind: "cow", name: "B" } }, 'pet.kind: expected "cat" or "dog", got "cow"'],
    [{ pet: { kind: "dog", name: "B" } }, "missing property pet.tricks"],
    [{ pet: { kind: "dog", name: "B", tricks: ["sit", "sit"] } }, "pet.tricks: expected unique items"],
    [{ labels: { a: -1 } }, "labels.a: expected at least 0, got -1"],
    [{ matrix: [[1], ["2"]] }, 'matrix[1][0]: expected number, got string "2"'],
    [{ created: "2026-01-01T00:00:00Z" }, "unknown property created"],
    [{ id: 2 ** 60 }, "id: too large to be exact; write it as text, in quotes"],
  ])("%j is refused", (more, expected) => {
    expect(problems(more).join("\n")).toContain(expected);
  });

  test("may be exact numbers as text", () => {
    expect(problems({ id: "12345678901234567890" })).toEqual([]);
  });
});

test("the member of a discriminator may have dots in its name", () => {
  const union = { oneOf: ["Tree", "Bush"], discriminator: { member: "@odata.type", values: { t: "Tree", b: "Bush" } } };
  const file = fileOf({
    Root: { fields: { plant: union } },
    Tree: { fields: { type: { wire: String.raw`@odata\.type`, type: "string" }, height: { type: "number" } } },
    Bush: { fields: { height: { type: "number" } } },
  });
  expect(Object.keys(file.types["Tree"]?.fields ?? {})).toEqual(["type", "height"]);
  expect(file.types["Bush"]?.fields["odata_type"]?.wire).toBe(String.raw`@odata\.type`);
  const check = checkerFor(file, "t");
  expect(check({ plant: { odata_type: "b", height: 1 } }).problems).toEqual([]);
  expect(check({ plant: { type: "b", height: 1 } }).problems).not.toEqual([]);
});

test("X2: a definition that is too large is cut where it fits, and arguments are checked in full", () => {
  const fields = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [
      `f${at}`,
      { type: "integer", optional: true, description: "x".repeat(200) },
    ]),
  );
  const file = fileOf({ Root: { fields: { inner: { type: "Inner", optional: true } } }, Inner: { fields } });
  const { tool, cut } = fittedDefinition(file, "t", file.tools["t"] ?? expect.fail("no tool"));
  expect(cut).toEqual({ input: ["inner"], output: [""] });
  expect(tool.inputSchema["properties"]).toEqual({ inner: { type: "object", description: "(more: describe)" } });
  expect(JSON.stringify(fullInputSchema(file, file.tools["t"] ?? expect.fail("no tool")))).toContain("f59");
  expect(checkerFor(file, "t")({ inner: { f0: "x" } }).problems).toEqual([
    'inner.f0: expected integer, got string "x"',
  ]);
});

test("constants are added to the alternative that an argument is, by the fields that arguments have", () => {
  const file = fileOf({
    Root: { fields: { login: { oneOf: ["Password", "Code"] } } },
    Password: {
      fields: { way: { const: "p" }, name: { type: "string" }, password: { type: "string", writeOnly: true } },
    },
    Code: { fields: { way: { const: "c" }, name: { type: "string" } } },
  });
  const login = { name: "Ada", password: "x" };
  const sent = new CompletedValues(file, "input").complete("Root", { login }, {});
  expect(sent["login"]).toEqual({ way: "p", ...login });
});

test("secrets are masked in any values, maps, alternatives and the names of free members", () => {
  const values = new CompletedValues(fileOf(PETS), "output");
  const text = (given: string) => given.replaceAll("s3cret", "***");
  const value = {
    pet: { kind: "cat", name: "s3cret" },
    labels: { s3cret: 1 },
    extra: [{ s3cret: "s3cret" }],
  };
  expect(values.shown("Root", value, { text })).toEqual({
    pet: { kind: "cat", name: "***" },
    labels: { "***": 1 },
    extra: [{ "***": "***" }],
  });
});

test.each<[object, string]>([
  [{ a: { map: "string", minItems: 1 } }, "minItems says something about lists only"],
  [{ a: { oneOf: ["string"], type: "date" } }, "type belongs to one of the alternatives"],
  [{ a: { type: "any", schema: { $ref: "#/x" } } }, "$ref cannot be used here"],
  [{ a: { type: "any", schema: { type: "nothing" } } }, "is not a JSON Schema (2020-12)"],
  [{ a: { oneOf: ["Other"], discriminator: { member: "k", values: { x: "Othr" } } } }, 'Did you mean "Other"?'],
  [{ a: { type: "string", exact: true } }, "exact says nothing about a string"],
  [{ a: { type: "Root" } }, "without end"],
])("%j is reported", (fields, expected) => {
  const { problems } = read({ Root: { fields }, Other: { fields: {} } });
  expect(problems.map(({ message, hint }) => `${message} ${hint ?? ""}`).join("\n")).toContain(expected);
});
