import { expect, test } from "vitest";
import { paramHeadersOf, paramHeaderValues } from "./param-headers.ts";

const region = { type: "string", "x-mcp-header": "Region" };

test("annotated properties become headers, nested ones too, and null sends none (P1.7)", () => {
  const found = paramHeadersOf({
    type: "object",
    properties: {
      region,
      options: { type: "object", properties: { limit: { type: "integer", "x-mcp-header": "Limit" } } },
      dry: { type: "boolean", "x-mcp-header": "Dry" },
    },
  });
  if (!found.ok) throw new Error(found.reason);
  const values = (args: unknown) => paramHeaderValues(found.headers, args);
  expect(values({ region: "ä", options: { limit: 5 }, dry: false })).toEqual({
    "Mcp-Param-Region": "=?base64?w6Q=?=",
    "Mcp-Param-Limit": "5",
    "Mcp-Param-Dry": "false",
  });
  expect(values({ region: null })).toEqual({});
  expect(values(undefined)).toEqual({});
});

test.each([
  ["a number", { properties: { a: { type: "number", "x-mcp-header": "A" } } }, "type other than"],
  ["an object", { properties: { a: { type: "object", "x-mcp-header": "A" } } }, "type other than"],
  ["a name with a space", { properties: { a: { type: "string", "x-mcp-header": "A B" } } }, "not a header name"],
  ["an empty name", { properties: { a: { type: "string", "x-mcp-header": "" } } }, "not a header name"],
  ["names equal but for case", { properties: { a: region, b: { ...region, "x-mcp-header": "REGION" } } }, "used twice"],
  ["an item of an array", { properties: { a: { type: "array", items: region } } }, "only properties"],
  ["a branch of anyOf", { properties: { a: { anyOf: [region] } } }, "only properties"],
  ["its whole input", { type: "string", "x-mcp-header": "A" }, "whole input"],
])("a tool that annotates %s is refused with the reason", (_case, schema, reason) => {
  expect(paramHeadersOf(schema)).toEqual({ ok: false, reason: expect.stringContaining(reason) as string });
});

test("the annotation's name as plain data has no effect", () => {
  const data = { properties: { a: { type: "object", default: { "x-mcp-header": "A" } } } };
  const property = { properties: { a: { items: { properties: { "x-mcp-header": { type: "string" } } } } } };
  for (const schema of [data, property]) expect(paramHeadersOf(schema)).toEqual({ ok: true, headers: [] });
});
