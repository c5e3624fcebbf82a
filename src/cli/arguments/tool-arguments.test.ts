import { expect, test } from "vitest";
import { toolArguments } from "./tool-arguments.ts";

const SCHEMA = {
  type: "object",
  properties: {
    limit: { type: "integer" },
    tags: { type: "array", items: { type: "string" } },
    filter: {
      type: "object",
      properties: { open: { type: "boolean" }, range: { type: "object", properties: { from: { type: "integer" } } } },
    },
    "filter.open": { type: "string" },
    labels: { type: "object", additionalProperties: { type: "integer" } },
  },
};

const given = (...arg: string[]) => toolArguments({ arg }, SCHEMA);

test("a dot leads into an object, unless a property has that name", async () => {
  expect(await given("filter.range.from=3")).toEqual({ filter: { range: { from: 3 } } });
  expect(await given("filter.open=true")).toEqual({ "filter.open": "true" });
  expect(await given("labels.a.b=3")).toEqual({ labels: { "a.b": 3 } });
  expect(await given("other.thing=x")).toEqual({ "other.thing": "x" });
});

test("values may contain anything, also =, and may be empty", async () => {
  expect(await given("tags=a=b", "tags=")).toEqual({ tags: ["a=b", ""] });
});

test("single arguments override --args, also inside objects", async () => {
  const args = '{"limit": 1, "filter": {"open": true, "range": {"from": 1, "to": 9}}}';
  expect(await toolArguments({ args, arg: ["limit=2", "filter.range.from=5"] }, SCHEMA)).toEqual({
    limit: 2,
    filter: { open: true, range: { from: 5, to: 9 } },
  });
});

test("a name that every object has is a normal name", async () => {
  const args = await given("__proto__=x", "constructor=y");
  expect(JSON.stringify(args)).toBe('{"__proto__":"x","constructor":"y"}');
});
