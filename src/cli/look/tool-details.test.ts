import { expect, test } from "vitest";
import { exampleArguments } from "./example-call.ts";
import { constraintsOf } from "./tool-details.ts";
import { toolDetails } from "./tool-details.ts";

const PLAIN = { columns: undefined, style: (_style: string, text: string) => text };

test.each([
  [{ minimum: 1, maximum: 50, default: 10 }, ["1 to 50", "default 10"]],
  [{ exclusiveMinimum: 0, multipleOf: 5 }, ["more than 0", "a multiple of 5"]],
  [{ minLength: 1, pattern: "^a" }, ["at least 1 character", "matches /^a/"]],
  [{ maxItems: 3, uniqueItems: true }, ["at most 3 items", "all different"]],
  [{ format: "date", examples: ["2026-01-31"] }, ["date", 'for example "2026-01-31"']],
  ["nonsense", []],
])("%j demands %j", (schema, words) => {
  expect(constraintsOf(schema)).toEqual(words);
});

test("the call to copy has a value of the right type for each required argument, quoted for the shell", () => {
  const inputSchema = {
    type: "object",
    properties: {
      query: { type: "string" },
      count: { type: "integer", minimum: 3 },
      kind: { enum: ["open", "closed"] },
      tags: { type: "array", items: { type: "string" } },
      place: { type: "object", properties: { city: { type: "string" }, zip: {} }, required: ["city"] },
      on: { type: ["null", "boolean"] },
      when: { anyOf: [{ type: "null" }, { type: "string", format: "date" }] },
      left: { type: "string" },
    },
    required: ["query", "count", "kind", "tags", "place", "on", "when"],
  };
  expect(exampleArguments({ inputSchema }, "linux")).toEqual([
    "--arg query=text",
    "--arg count=3",
    "--arg kind=open",
    "--arg tags=text",
    `--arg 'place={"city":"text"}'`,
    "--arg on=true",
    "--arg when=2026-01-31",
  ]);
});

test("an example call matches patterns, lengths and counts, and its dates are in order", () => {
  const inputSchema = {
    type: "object",
    properties: {
      country: { type: "string", pattern: "^[A-Z]{2}$" },
      code: { type: "string", maxLength: 3 },
      name: { type: "string", minLength: 6 },
      arrival: { type: "string", format: "date" },
      departure: { type: "string", format: "date" },
      ids: { type: "array", items: { type: "integer", minimum: 1 }, minItems: 2 },
    },
    required: ["country", "code", "name", "arrival", "departure", "ids"],
  };
  expect(exampleArguments({ inputSchema }, "linux")).toEqual([
    "--arg country=AA",
    "--arg code=x",
    "--arg name=xxxxxx",
    "--arg arrival=2026-01-31",
    "--arg departure=2026-02-01",
    "--arg 'ids=[1,1]'",
  ]);
});

test("an example of a call is the server's own, where its schema has one", () => {
  const inputSchema = { type: "object", properties: {}, examples: [{ text: "tea", ids: [7], at: { x: 1 } }] };
  expect(exampleArguments({ inputSchema }, "linux")).toEqual(["--arg text=tea", "--arg ids=7", `--arg 'at={"x":1}'`]);
});

test("a tool in full has rows for members of members, and wraps its description", () => {
  const tool = {
    name: "send",
    title: "Send a letter",
    description: "Sends a letter to somebody.\nIt cannot be called back.",
    inputSchema: {
      type: "object",
      properties: {
        to: {
          type: "object",
          description: "Who gets it",
          properties: { name: { type: "string", minLength: 1 } },
          required: ["name"],
        },
        pages: { type: "array", items: { type: "object", properties: { text: { type: "string" } } } },
      },
      required: ["to"],
    },
    annotations: { readOnlyHint: false, destructiveHint: true },
  };
  const lines = toolDetails(tool, { title: "post.send", call: "nexus mcp call post.send" }, { ...PLAIN, columns: 40 });
  const text = lines.join("\n");

  expect(lines[0]).toBe("post.send  Send a letter");
  expect(text).toContain("\n  Sends a letter to somebody.\n  It cannot be called back.\n");
  expect(text).toContain(
    "\n  to            object    required\n      Who gets it\n  to.name       string    required, at least 1",
  );
  expect(text).toContain("\n  pages[].text  string\n");
  expect(text).toContain("destructive");
  expect(text).toMatch(/about \d+ tokens/);
  expect(lines.at(-1)).toContain(`nexus mcp call post.send --arg`);
});
