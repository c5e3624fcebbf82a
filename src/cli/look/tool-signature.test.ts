import { expect, test } from "vitest";
import { toolDetails } from "./tool-details.ts";
import { promptSignature, signatureLines, toolSignature } from "./tool-signature.ts";

const signature = (inputSchema: Record<string, unknown>) =>
  signatureLines(toolSignature({ name: "t", inputSchema }))[0];
const typeOf = (schema: unknown, more: object = {}) => {
  return signature({ type: "object", properties: { a: schema }, required: ["a"], ...more })?.slice("t(a: ".length, -1);
};

test("a signature has required parameters first, then optional ones with their defaults", () => {
  const properties = { limit: { type: "integer", default: 10 }, query: { type: "string" }, all: { type: "boolean" } };
  expect(signature({ type: "object", properties, required: ["query"] })).toBe(
    "t(query: string, limit?: integer = 10, all?: boolean)",
  );
  expect(signature({ type: "object" })).toBe("t()");
});

test.each([
  [{ enum: ["a", "b", 3] }, '"a" | "b" | 3'],
  [{ const: "only" }, '"only"'],
  [{ type: "array", items: { type: "string" } }, "string[]"],
  [{ type: "array", items: { enum: ["a | b", "c"] } }, '("a | b" | "c")[]'],
  [{ type: "array", items: { enum: ["a | b"] } }, '"a | b"[]'],
  [{ type: "array", items: { type: "object", properties: { x: { enum: [1, 2] } } } }, "{ x?: 1 | 2 }[]"],
  [{ type: "array", prefixItems: [{ type: "string" }, { type: "number" }] }, "[string, number]"],
  [{ type: "array" }, "any[]"],
  [{ type: ["string", "null"] }, "string | null"],
  [{ type: "string", nullable: true }, "string | null"],
  [{ anyOf: [{ type: "string" }, { type: "integer" }, { type: "null" }] }, "string | integer | null"],
  [{ oneOf: [{ type: "string" }, { type: "string", format: "date" }] }, "string"],
  [{ allOf: [{ type: "object", properties: { x: { type: "string" } } }, { required: ["x"] }] }, "{ x: string }"],
  [{ type: "object", properties: { "a b": {}, c: true }, required: ["c"] }, '{ c: any, "a b"?: any }'],
  [{ type: "object", additionalProperties: { type: "number" } }, "{ [key]: number }"],
  [{ type: "object", properties: { x: { type: "string" } }, anyOf: [{ required: ["x"] }, {}] }, "{ x?: string }"],
  [{ enum: ["1", "2", "3", "4", "5", "6", "7", "8", "9"] }, '"1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | …'],
  [false, "never"],
  ["nonsense", "any"],
])("%j reads as %s", (schema, text) => {
  expect(typeOf(schema)).toBe(text);
});

test("references are followed, and a reference to itself ends", () => {
  const $defs = {
    node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } },
    "odd/name": { type: "integer" },
  };
  expect(typeOf({ $ref: "#/$defs/node" }, { $defs })).toBe("{ next?: node }");
  expect(typeOf({ $ref: "#/$defs/odd~1name" }, { $defs })).toBe("integer");
  expect(typeOf({ $ref: "https://example.com/else" })).toBe("else");
});

test("a schema that contains itself in many ways is read to an end", () => {
  const names = Array.from({ length: 40 }, (_, index) => `d${index}`);
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }]));
  const $defs = Object.fromEntries(names.map((name) => [name, { type: "object", properties, required: names }]));
  const tool = { name: "t", inputSchema: { type: "object", properties, required: names, $defs } };
  const inFull = toolDetails(tool, { title: "t", call: "call" }, { columns: undefined, style: (_style, text) => text });

  expect(toolSignature(tool).parameters).toHaveLength(40);
  expect(inFull.length).toBeLessThan(1_000);
});

test("control characters of a server do not reach the terminal", () => {
  const { name, parameters } = toolSignature({
    name: "a\u001b[2J",
    inputSchema: { type: "object", properties: { "b\u202e": { enum: ["\u009b"] } } },
  });
  expect([name, ...parameters]).toEqual(["a\\x1b[2J", '"b\\u202e"?: "\\x9b"']);
});

test("a signature that is too wide has its parameters on lines of their own, and none is lost", () => {
  const parameters = ["first: string", "second?: integer", "third?: boolean"];
  expect(signatureLines({ name: "tool", parameters }, 40)).toEqual([
    "tool(",
    "  first: string, second?: integer,",
    "  third?: boolean",
    ")",
  ]);
});

test("a prompt shows which arguments it needs", () => {
  const taken = [{ name: "place", required: true }, { name: "tone" }];
  expect(signatureLines(promptSignature({ name: "postcard", arguments: taken }))).toEqual(["postcard(place, tone?)"]);
});
