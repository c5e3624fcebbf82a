import { readdirSync, readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { readToolFile } from "./read-tool-file.ts";
import { examples } from "../../../test/fixtures/depth.ts";

type Path = (string | number)[];

const schema = JSON.parse(readFileSync("schemas/tool-file.schema.json", "utf8")) as object;
const ajv = new Ajv2020({
  allErrors: false,
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
  formats: { regex: true },
});
const isValid = ajv.compile(schema);

const SMALL = readFileSync("test/fixtures/tool-files/small.nexus.yaml", "utf8");
const EXAMPLES = readdirSync("api").map((api) => readFileSync(`api/${api}/${api}.nexus.yaml`, "utf8"));

function errorsOf(value: unknown): string[] {
  const { problems } = readToolFile(stringify(value), "x.nexus.yaml");
  return problems.filter(({ severity }) => severity === "error").map(({ path, message }) => `${path}: ${message}`);
}

describe("the published JSON Schema and the reader agree", () => {
  test("on the examples", () => {
    for (const text of [SMALL, ...EXAMPLES]) {
      expect(isValid(parse(text)), JSON.stringify(isValid.errors)).toBe(true);
    }
  });

  test.each<[string, Path, unknown]>([
    ["a version of the grammar that nobody knows", ["nexus"], 2],
    ["an id that is none", ["api"], "Small API"],
    ["a version that is a number", ["version"], 1],
    ["an empty title", ["title"], " "],
    ["an unknown member", ["tilte"], "x"],
    ["a document elsewhere", ["documents", "manual", "file"], "../manual.md"],
    ["a hash that is none", ["documents", "manual", "sha256"], "abc"],
    ["an address of another kind", ["upstream", "base"], "ftp://x/"],
    ["a time that is none", ["upstream", "timeout"], "soon"],
    ["secrets that go nowhere", ["secrets", "account"], { public: [] }],
    ["two kinds of authorization", ["secrets", "account"], { bearer: "a", basic: { user: "a", password: "b" } }],
    ["a secret that is a value", ["secrets", "account", "bearer"], "s3cret value"],
    ["a prefix of XML itself", ["namespaces"], { xmlns: "urn:x" }],
    ["a type named like a type of values", ["types", "date"], { fields: {} }],
    ["a type without fields", ["types", "Note"], {}],
    ["a field named like a word of the language", ["types", "Query", "fields", "and"], { type: "date" }],
    ["a field that is nothing", ["types", "Query", "fields", "from"], { wire: "x" }],
    ["a wire that is true", ["types", "Query", "fields", "from", "wire"], true],
    ["a limit of another type", ["types", "Query", "fields", "from", "maxLength"], 3],
    ["a limit that is negative", ["types", "Query", "fields", "shop", "maxLength"], -1],
    ["limits of items at the list", ["types", "Query", "fields", "tags", "maxLength"], 3],
    ["type and list", ["types", "Query", "fields", "tags", "type"], "string"],
    ["limits of lists at a single value", ["types", "Query", "fields", "from", "maxItems"], 3],
    ["const and value", ["types", "Query", "fields", "mode", "value"], "now()"],
    ["a default for a constant", ["types", "Query", "fields", "mode", "default"], "x"],
    ["codes without names", ["types", "Query", "fields", "size", "codes"], {}],
    ["codes that are numbers", ["types", "Query", "fields", "size", "codes"], { 1: 1 }],
    ["evidence without lines", ["types", "Query", "fields", "from", "evidence"], "manual"],
    ["a rule that says nothing", ["types", "Query", "rules", 0], { that: "true" }],
    ["a tool with capitals", ["tools", "Find"], parse(SMALL).tools.find],
    ["an effect that is none", ["tools", "find", "effect"], "delete"],
    ["a body of HEAD", ["tools", "find", "request", "method"], "HEAD"],
    ["a path from the root", ["tools", "find", "request", "path"], "/things"],
    ["a path with a query", ["tools", "find", "request", "path"], "things?a=1"],
    ["a header of our own", ["tools", "find", "request", "headers"], { Host: "shop" }],
    ["a style that is none", ["tools", "find", "request", "query", "shop"], { field: "shop", style: "pipes" }],
    ["an answer without type", ["tools", "find", "response"], { as: "xml", text: "x" }],
    [
      "unknown members of XML",
      ["tools", "find", "response"],
      { as: "xml", type: "Answer", text: "x", unknown: "keep" },
    ],
    ["a type of nothing", ["tools", "find", "response"], { as: "none", type: "Answer", text: "x" }],
    ["an error at any time", ["tools", "find", "errors", 0], { say: "x" }],
    ["a status that is none", ["tools", "find", "errors", 0, "status"], [404, 4040]],
    ["too many retries", ["tools", "find", "limits", "retries"], 6],
    ["a size that is none", ["tools", "find", "limits", "result"], "large"],
    ["half a confirmation", ["tools", "find", "confirm"], { field: "shop" }],
    ["an example without arguments", ["tools", "find", "examples", 0], { title: "x" }],
    ["a check that expects nothing", ["tools", "find", "checks", 0, "expect"], {}],
    ["two failures at once", ["tools", "find", "checks", 0, "fake"], { cut: true, broken: true }],
    ["a failure that is false", ["tools", "find", "checks", 0, "fake"], { cut: false }],
    ["a placeholder that is a number", ["fake", "secrets", "key-a"], 12],
    ["a table of texts", ["fake", "tables", "things"], ["a"]],
    ["a table named like something else", ["fake", "tables", "input"], []],
    ["an answer with a member of an error", ["fake", "tools", "find", "answers", 0, "say"], "x"],
  ])("on %s", (_, path, value) => {
    const changed = withValue(parse(SMALL), path, value);
    expect(isValid(changed)).toBe(false);
    expect(errorsOf(changed)).not.toEqual([]);
  });

  test("on random changes: what the schema refuses, the reader refuses, and types and names the other way round", () => {
    const base: unknown = parse(SMALL);
    const paths = pathsIn(base);
    const values = fc.constantFrom<unknown>(
      null,
      true,
      0,
      -1,
      1.5,
      "",
      "x",
      "string",
      [],
      ["x"],
      {},
      { x: 1 },
      { type: "string" },
    );
    const change = fc.record({
      path: fc.constantFrom(...paths),
      kind: fc.constantFrom("set", "remove", "add"),
      value: values,
    });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 2 }), (changes) => {
        let value = base;
        for (const { path, kind, value: given } of changes) {
          value = withValue(value, kind === "add" ? [...path, "extra"] : path, kind === "remove" ? undefined : given);
        }
        const errors = errorsOf(value);
        const schemaAgrees = isValid(value);
        if (!schemaAgrees) expect(errors, JSON.stringify(isValid.errors)).not.toEqual([]);
        const structural = errors.filter((error) =>
          /is not known here|^\S+: must be (text|a map|a list|a number|true or false), not|(?<!xml\.element) is missing$/.test(
            error,
          ),
        );
        if (structural.length > 0) expect(schemaAgrees, structural.join()).toBe(false);
      }),
      { numRuns: examples(300) },
    );
  });
});

/** A copy with something else at a path; a path that leads nowhere changes nothing. */
function withValue(value: unknown, [key, ...rest]: Path, given: unknown): unknown {
  if (key === undefined) return given;
  if (typeof value !== "object" || value === null || (rest.length > 0 && !(key in value))) return value;
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string | number, unknown>;
  if (rest.length > 0) copy[key] = withValue(copy[key], rest, given);
  else if (given === undefined && !Array.isArray(copy)) delete copy[key];
  else if (!Array.isArray(copy) || typeof key === "number") copy[key] = given ?? null;
  return copy;
}

/** Of everything but data of the author's own. */
function pathsIn(value: unknown, path: Path = []): Path[] {
  const isData = ["arguments", "call", "structuredContent", "give", "tables", "default", "each", "extra"].includes(
    String(path.at(-1)),
  );
  if (isData || typeof value !== "object" || value === null) return path.length === 0 ? [] : [path];
  const members = Array.isArray(value) ? value.map((item, index) => [index, item] as const) : Object.entries(value);
  return [...(path.length === 0 ? [] : [path]), ...members.flatMap(([key, member]) => pathsIn(member, [...path, key]))];
}
