import { expect, test } from "vitest";
import { providerSchema } from "./tool-schema.ts";

test("an object stays as it is", () => {
  const schema = {
    type: "object",
    properties: { a: { anyOf: [{ type: "string" }, { type: "null" }] } },
    required: ["a"],
  };
  expect(providerSchema(schema)).toEqual(schema);
});

test("what is not an object at the top becomes one", () => {
  expect(providerSchema({})).toEqual({ type: "object", properties: {} });
  const a = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const $defs = { B: { type: "object", properties: { b: { type: "number" } } } };
  expect(providerSchema({ oneOf: [a, { $ref: "#/$defs/B" }], $defs })).toEqual({
    type: "object",
    properties: { a: { type: "string" }, b: { type: "number" } },
    $defs,
  });
  expect(providerSchema({ $ref: "#/$defs/B", $defs })).toMatchObject({ type: "object", properties: { b: {} } });
});
