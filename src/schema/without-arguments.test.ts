import fc from "fast-check";
import { expect, test } from "vitest";
import { examples } from "../../test/fixtures/depth.ts";
import { withoutArguments } from "./without-arguments.ts";

const text = { type: "string" };

function narrowed(schema: object, ...names: string[]): unknown {
  const result = withoutArguments(schema, names);
  return result.kind === "schema" ? result.schema : result.reason;
}

test("an argument is taken out of properties, required and what belongs to its name at the top level", () => {
  const schema = {
    type: "object",
    properties: { repo: { ...text, "x-mcp-header": "Repo" }, title: text },
    required: ["repo", "title"],
    dependentRequired: { repo: ["body"], body: ["repo", "title"] },
    examples: [{ repo: "a", title: "b" }],
    default: { repo: "a" },
    minProperties: 2,
    additionalProperties: false,
  };
  expect(narrowed(schema, "repo")).toEqual({
    type: "object",
    properties: { title: text },
    // An argument that is always there requires the body always.
    required: ["title", "body"],
    dependentRequired: { body: ["title"] },
    examples: [{ title: "b" }],
    default: {},
    minProperties: 1,
    additionalProperties: false,
  });
  expect(narrowed({ type: "object", properties: { repo: text }, required: ["repo"] }, "repo")).toEqual({
    type: "object",
    properties: {},
  });
});

test("an argument of a nested object has nothing to do with one of the same name, nor have words of the schema", () => {
  const schema = {
    type: "object",
    description: "type",
    properties: { type: text, place: { type: "object", properties: { type: text }, required: ["type"] } },
    additionalProperties: { type: "string" },
  };
  expect(narrowed(schema, "type")).toEqual({
    type: "object",
    description: "type",
    properties: { place: { type: "object", properties: { type: text }, required: ["type"] } },
    additionalProperties: { type: "string" },
  });
});

test("definitions that only a taken argument used are gone with it", () => {
  const schema = {
    properties: { repo: { $ref: "#/$defs/Repo" }, fork: { $ref: "#/$defs/Fork" } },
    $defs: { Repo: { $ref: "#/$defs/Owner" }, Owner: text, Fork: { items: { $ref: "#/$defs/Name" } }, Name: text },
  };
  expect(narrowed(schema, "repo")).toEqual({
    properties: { fork: { $ref: "#/$defs/Fork" } },
    $defs: { Fork: { items: { $ref: "#/$defs/Name" } }, Name: text },
  });
});

test.each([
  [{ oneOf: [{ properties: { repo: text } }, {}] }, `it is also named under "oneOf"`],
  [{ anyOf: [{ required: ["title"] }, { required: ["repo"] }] }, `it is also named under "anyOf"`],
  [{ allOf: [{ not: { required: ["repo"] } }] }, `it is also named under "allOf"`],
  [{ if: { properties: { repo: { const: "a" } } } }, `it is also named under "if"`],
  [{ dependentSchemas: { repo: {} } }, `it is also named under "dependentSchemas"`],
  [{ dependencies: { title: ["repo"] } }, `it is also named under "dependencies"`],
  [{ propertyNames: { enum: ["title", "repo"] } }, `it is also named under "propertyNames"`],
  [{ "x-order": ["repo"] }, `it is also named under "x-order"`],
  [{ $ref: "#/$defs/Input", $defs: { Input: { properties: { repo: text } } } }, `$ref "#/$defs/Input" leads to it`],
  [{ $ref: "https://example.com/input.json" }, `$ref "https://example.com/input.json" cannot be followed`],
  [{ properties: { fork: { $ref: "#/properties/repo" } } }, `$ref "#/properties/repo" leads to it`],
  [{ properties: { fork: { $ref: "#" } } }, `$ref "#" leads to it`],
  [{ properties: { fork: { $dynamicRef: "#node" } } }, "it has a $dynamicRef"],
])("a schema that names the argument elsewhere cannot be shown without it (%#)", (schema, reason) => {
  expect(narrowed({ type: "object", ...schema }, "repo")).toBe(reason);
});

test("whatever the schema, no name of a fixed argument remains in it", () => {
  const names = ["hidden-a", "hidden-b"];
  const open = fc.constantFrom("open-a", "open-b");
  const any = fc.constantFrom(...names, "open-a", "open-b");
  /** Below the top level few schemas name them, so that many can be narrowed. */
  const rare = fc.oneof({ weight: 30, arbitrary: open }, { weight: 1, arbitrary: any });
  const property = fc.constantFrom(text, { type: "object", properties: { open: text } }, { $ref: "#/$defs/D" });
  const lists = (name: fc.Arbitrary<string>) => fc.uniqueArray(name, { maxLength: 4 });
  const values = (name: fc.Arbitrary<string>) => fc.dictionary(name, fc.constant(1), { maxKeys: 2 });
  const members = (name: fc.Arbitrary<string>, inner: fc.Arbitrary<object>) =>
    fc.record(
      {
        properties: fc.dictionary(name, property, { maxKeys: 4 }),
        required: lists(name),
        dependentRequired: fc.dictionary(name, lists(name), { maxKeys: 3 }),
        examples: fc.array(values(name), { maxLength: 2 }),
        enum: fc.array(values(name), { maxLength: 2 }),
        default: values(name),
        dependentSchemas: fc.dictionary(rare, inner, { maxKeys: 1 }),
        anyOf: fc.array(inner, { maxLength: 2 }),
        not: inner,
        propertyNames: fc.record({ enum: lists(rare) }),
        $defs: fc.record({ D: fc.constant(text) }),
        $ref: fc.oneof(
          { weight: 9, arbitrary: fc.constant("#/$defs/D") },
          { weight: 1, arbitrary: fc.constant("#/properties/hidden-a") },
        ),
      },
      { requiredKeys: ["properties", "$defs"] },
    );
  const schema = members(any, members(rare, fc.record({ required: lists(rare) })));
  let shown = 0;
  fc.assert(
    fc.property(schema, (generated) => {
      const before = JSON.stringify(generated);
      const result = withoutArguments(generated, names);
      expect(JSON.stringify(generated)).toBe(before);
      if (result.kind === "problem") return;
      shown++;
      expect(JSON.stringify(result.schema)).not.toContain("hidden");
    }),
    { numRuns: examples(2000) },
  );
  expect(shown).toBeGreaterThan(examples(2000) / 20);
});
