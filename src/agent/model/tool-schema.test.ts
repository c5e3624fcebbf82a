import { expect, test } from "vitest";
import { SafeNames } from "./provider-names.ts";
import { providerSchema } from "./refused-tools.ts";

const PROPERTY = /^[A-Za-z0-9_.-]{1,64}$/;

function sent(schema: Record<string, unknown>, names = new SafeNames(PROPERTY)) {
  return providerSchema(schema, names);
}

test("an object stays as it is", () => {
  const schema = {
    type: "object",
    properties: { a: { anyOf: [{ type: "string" }, { type: "null" }] } },
    required: ["a"],
  };
  expect(sent(schema)).toEqual(schema);
});

test("what is not an object at the top becomes one", () => {
  expect(sent({})).toEqual({ type: "object", properties: {} });
  const a = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const $defs = { B: { type: "object", properties: { b: { type: "number" } } } };
  expect(sent({ oneOf: [a, { $ref: "#/$defs/B" }], $defs })).toEqual({
    type: "object",
    properties: { a: { type: "string" }, b: { type: "number" } },
    $defs,
  });
  expect(sent({ $ref: "#/$defs/B", $defs })).toMatchObject({ type: "object", properties: { b: {} } });
});

test("names of properties are made safe at every level, and arguments get their own names again", () => {
  const names = new SafeNames(PROPERTY);
  const schema = {
    type: "object",
    properties: {
      $filter: { type: "string", description: "OData" },
      range: { type: "object", properties: { "@from": { $ref: "#/properties/$filter" } }, required: ["@from"] },
      ["x".repeat(65)]: { type: "boolean" },
    },
    required: ["$filter", "$filter"],
    dependentRequired: { $filter: ["range"] },
  };
  const made = sent(schema, names);
  const keys = JSON.stringify(made).match(/"[^"]*":/g) ?? [];
  expect(keys.map((key) => key.slice(1, -2)).filter((key) => key !== "$ref" && !PROPERTY.test(key))).toEqual([]);
  const filter = names.toSafe("$filter");
  expect(made).toMatchObject({
    properties: {
      [filter]: { description: `Called "$filter". OData` },
      range: { properties: { [names.toSafe("@from")]: { $ref: `#/properties/${filter}` } } },
    },
    required: [filter],
    dependentRequired: { [filter]: ["range"] },
  });
  const args = { $filter: "a", range: { "@from": [{ free: 1 }] } };
  expect(names.keysToOwn(names.keysToSafe(args))).toEqual(args);
  expect(names.keysToSafe(args)).toHaveProperty(filter, "a");
});

test("lists of items become those of the newest dialect, and arrays say what is in them", () => {
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: {
      pair: { type: "array", items: [{ type: "string" }, { type: "number" }], additionalItems: false },
      tags: { type: ["array", "null"] },
    },
  };
  expect(sent(schema)).toEqual({
    type: "object",
    properties: {
      pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false },
      tags: { type: ["array", "null"], items: {} },
    },
  });
});

test.each([
  { type: "object", properties: { a: { type: "any" } } },
  { type: "object", properties: { a: { type: "number", minimum: 0, exclusiveMinimum: true } } },
  { type: "object", properties: { a: { type: "string", required: true } } },
  { type: "object", properties: { a: { $ref: "https://schemas.example/a.json" } } },
  { type: "object", properties: { a: { $ref: "#/anyOf/0" } }, anyOf: [{ required: ["a"] }] },
])("a schema that is not valid is not sent: %j", (schema) => {
  expect(sent(schema)).toBeUndefined();
});
