import fc from "fast-check";
import { expect, test } from "vitest";
import { withoutNestedItems } from "../protocol/nested-items.ts";
import { exceededLimit, isDeeperThan, isNestedDeeper, MAX_NESTING } from "./nesting.ts";

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { value };
  return value;
}

test("the depth of a value counts its nested objects and arrays", () => {
  expect(isNestedDeeper(nested(MAX_NESTING))).toBe(false);
  expect(isNestedDeeper(nested(MAX_NESTING + 1))).toBe(true);
  expect(isNestedDeeper(nested(1_000_000))).toBe(true);
  for (const plain of [undefined, null, 1, "text", [], {}]) expect(isNestedDeeper(plain)).toBe(false);
});

test("list items that are nested too deeply are left out and named; the rest is unchanged", () => {
  const result = { tools: [{ name: "fine" }, { name: "deep", x: nested(1_000) }, nested(1_000)], nextCursor: "2" };
  expect(withoutNestedItems("tools/list", result)).toEqual({
    result: { tools: [{ name: "fine" }], nextCursor: "2" },
    leftOut: ["deep", "?"],
  });
});

test("an answer that is not a list, or is nested too deeply outside its items, is not repaired", () => {
  expect(withoutNestedItems("tools/call", { content: nested(1_000) })).toBeUndefined();
  expect(withoutNestedItems("constructor", { content: nested(1_000) })).toBeUndefined();
  expect(withoutNestedItems("tools/list", { tools: [], _meta: { x: nested(1_000) } })).toBeUndefined();
});

const nestedJson = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

test("JSON may be as deep as the limit, but not deeper", () => {
  expect(isDeeperThan(nestedJson(128), 128)).toBe(false);
  expect(isDeeperThan(nestedJson(129), 128)).toBe(true);
  expect(isDeeperThan(nestedJson(1_000_000), 128)).toBe(true);
});

test("brackets in text, and many side by side, do not count as depth of JSON", () => {
  expect(isDeeperThan(JSON.stringify({ text: `\\"${"[".repeat(500)}` }), 128)).toBe(false);
  expect(isDeeperThan(JSON.stringify(Array.from({ length: 500 }, () => [{}])), 128)).toBe(false);
});

test("the depth of JSON text agrees with that of the parsed value", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), fc.integer({ min: 0, max: 8 }), (value, limit) => {
      expect(isDeeperThan(JSON.stringify(value), limit)).toBe(depthOf(value) > limit);
    }),
  );
});

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test("the number of values in JSON text agrees with that of the parsed value", () => {
  const written = fc.tuple(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, "\t"));
  fc.assert(
    fc.property(written, fc.integer({ min: 1, max: 20 }), ([value, blanks], limit) => {
      const json = JSON.stringify(value, undefined, blanks);
      const exceeded = exceededLimit(json, { depth: 100, values: limit, members: Infinity });
      expect(exceeded).toBe(valuesIn(value) > limit ? "values" : undefined);
    }),
  );
});

test("commas, quotes and brackets in texts are not values", () => {
  const json = JSON.stringify({ text: String.raw`a,b\",[{,"`, more: ["\\", '"', ","] });
  expect(exceededLimit(json, { depth: 100, values: 6, members: Infinity })).toBeUndefined();
  expect(exceededLimit(json, { depth: 100, values: 5, members: Infinity })).toBe("values");
});

test("the number of members of one object in JSON text agrees with that of the parsed value", () => {
  const written = fc.tuple(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, "\t"));
  fc.assert(
    fc.property(written, fc.integer({ min: 1, max: 5 }), ([value, blanks], limit) => {
      const json = JSON.stringify(value, undefined, blanks);
      const exceeded = exceededLimit(json, { depth: 100, values: Infinity, members: limit });
      expect(exceeded).toBe(mostMembersIn(value) > limit ? "members" : undefined);
    }),
  );
});

function mostMembersIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Math.max(own, ...Object.values(value).map(mostMembersIn));
}

function valuesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce((sum: number, each) => sum + valuesIn(each), 1);
}
