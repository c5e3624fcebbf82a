import { expect, test } from "vitest";
import type { Tool } from "../../protocol/mcp.ts";
import { providerFinding, schemaProblems, tokensOf } from "./provider-check.ts";

function tool(name: string, more: Partial<Tool> = {}): Tool {
  return { name, description: `Does ${name}`, inputSchema: { type: "object" }, ...more };
}

test("a plain schema has no problem", () => {
  const properties = { query: { type: "string" }, limit: { type: ["integer", "null"] }, "a.b-c_d": {} };
  expect(schemaProblems({ type: "object", properties, required: ["query"] })).toEqual([]);
});

test.each([
  [{}, `"type" of the top level is not "object"`],
  [{ type: "array" }, `"type" of the top level is not "object"`],
  [{ type: "object", anyOf: [{ required: ["a"] }] }, `"anyOf" at the top level`],
  [{ type: "object", properties: { "two words": {} } }, `the argument name "two words"`],
  [{ type: "object", properties: { ["x".repeat(65)]: {} } }, `the argument name "${"x".repeat(65)}"`],
  [{ type: "object", properties: { a: { items: { type: "int" } } } }, `the type "int", which is not in JSON Schema`],
  [nested(12), "nested deeper than 10 levels"],
  [[], "the schema is not an object"],
])("%j is refused by some provider", (schema, problem) => {
  expect(schemaProblems(schema)).toContain(problem);
});

function nested(levels: number): Record<string, unknown> {
  return { type: "object", ...(levels === 0 ? {} : { properties: { a: nested(levels - 1) } }) };
}

test("tools with the same problem are listed together, and large ones are named", () => {
  const heavy = tool("heavy", { description: "x".repeat(8_000) });
  const { verdict, evidence } = providerFinding("s", [
    tool("a", { inputSchema: {} }),
    tool("b", { inputSchema: {} }),
    heavy,
  ]);
  expect(verdict).toBe("warning");
  expect(evidence[1]).toBe(`largest (tokens): heavy ${tokensOf(heavy)}`);
  expect(evidence[2]).toBe(`"type" of the top level is not "object": a, b`);
});

test("a name that has to be changed for models, and a missing description, are notes", () => {
  const { verdict, evidence } = providerFinding("s", [tool("odd name", { description: " " })]);
  expect(verdict).toBe("note");
  expect(evidence[1]).toMatch(/odd name → mcp__s__odd_name_[0-9a-f]{8}$/);
  expect(evidence[2]).toBe("without a description: odd name");
});

test("many tokens in all are a warning with a way to have fewer", () => {
  const tools = Array.from({ length: 30 }, (_, index) => tool(`t${index}`, { description: "x".repeat(3_000) }));
  expect(providerFinding("s", tools)).toMatchObject({ verdict: "warning", advice: [expect.stringContaining("allow")] });
});
