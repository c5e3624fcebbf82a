import { expect, test } from "vitest";
import { SchemaShape } from "../../schema/shape.ts";
import { typedValues } from "./tool-arguments.ts";

const typed = (schema: unknown, ...texts: string[]) => typedValues(texts, new SchemaShape(schema));

test.each([
  ["a string takes the text as it is", { type: "string" }, "42", "42"],
  ["a string takes JSON as text, too", { type: "string" }, "[1]", "[1]"],
  ["an integer", { type: "integer" }, "-7", -7],
  ["a number", { type: "number" }, "1.5e3", 1500],
  ["a boolean", { type: "boolean" }, "false", false],
  ["null", { type: "null" }, "null", null],
  ["what does not fit stays text, for the check to name", { type: "integer" }, "many", "many"],
  ["one of several values, whatever their type", { enum: ["a", 1, true] }, "1", 1],
  ["a constant", { const: "x" }, "x", "x"],
  ["an object as JSON", { type: "object" }, '{"a":1}', { a: 1 }],
  ["an array as JSON", { type: "array", items: { type: "integer" } }, "[1,2]", [1, 2]],
  ["an array of one", { type: "array", items: { type: "integer" } }, "3", [3]],
  ["an array of one object", { type: "array", items: { type: "object" } }, '{"a":1}', [{ a: 1 }]],
  ["a text that only begins like JSON", { type: "array", items: { type: "string" } }, "[draft] a", ["[draft] a"]],
  ["a union, in order", { type: ["integer", "string"] }, "5", 5],
  ["a union, in the other order", { type: ["string", "integer"] }, "5", "5"],
  ["alternatives, in order", { anyOf: [{ type: "integer" }, { type: "null" }] }, "null", null],
  ["a list or a single one", { anyOf: [{ type: "string" }, { type: "array" }] }, "a", "a"],
  ["anything: what is written as JSON is JSON", {}, "12", 12],
  ["anything: other text is text", {}, "twelve", "twelve"],
])("%s", (_what, schema, text, value) => {
  expect(typed(schema, text)).toEqual(value);
});

test("a repeated key makes an array, with each item converted", () => {
  expect(typed({ type: "array", items: { type: "number" } }, "1", "2.5")).toEqual([1, 2.5]);
  expect(typed({ prefixItems: [{ type: "string" }, { type: "integer" }] }, "1", "2")).toEqual(["1", 2]);
});

test("references and allOf are followed, and circular ones end", () => {
  const root = {
    $defs: { limit: { type: "integer" }, loop: { $ref: "#/$defs/loop" } },
    properties: {
      limit: { $ref: "#/$defs/limit" },
      both: { allOf: [{ $ref: "#/$defs/limit" }, { minimum: 1 }] },
      loop: { $ref: "#/$defs/loop" },
      far: { $ref: "https://example.com/schema.json" },
    },
  };
  const shape = new SchemaShape(root);
  const value = (name: string) => typedValues(["5"], shape.property(name) ?? new SchemaShape({}));
  expect(["limit", "both"].map(value)).toEqual([5, 5]);
  expect(["loop", "far"].map(value)).toEqual([5, 5]);
});

test("all references of an allOf are followed", () => {
  const shape = new SchemaShape({
    $defs: {
      a: { properties: { a: { type: "integer" } }, required: ["a"] },
      b: { properties: { b: { type: "integer" } } },
    },
    allOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/b" }],
  });
  expect(shape.propertyNames).toEqual(["a", "b"]);
  expect(shape.required).toEqual(["a"]);
  expect(typedValues(["5"], shape.property("b") ?? new SchemaShape({}))).toBe(5);
});

test("a schema that refers to itself in many ways is read quickly", () => {
  const alternatives = Array.from({ length: 50 }, () => ({ $ref: "#/$defs/node" }));
  const shape = new SchemaShape({ $defs: { node: { anyOf: alternatives } }, $ref: "#/$defs/node" });
  expect(typedValues(["5"], shape)).toBe(5);
  expect([shape.propertyNames, shape.takesArray, shape.property("x")]).toEqual([[], false, undefined]);
});
