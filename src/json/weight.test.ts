import { expect, test } from "vitest";
import { hasMoreValues, weightOf } from "./weight.ts";

test("the weight of a value is the size of its texts plus a small overhead", () => {
  const text = "x".repeat(10_000);
  const weight = weightOf({ content: [{ type: "text", text }, 7, null, true] });
  expect(weight).toBeGreaterThan(10_000);
  expect(weight).toBeLessThan(10_500);
});

test("a value that is nested very deeply weighs more than any limit", () => {
  let deep: unknown = "text";
  for (let level = 0; level < 100_000; level++) deep = [deep];
  expect(weightOf(deep)).toBe(Infinity);
});

test("values are counted up to a number, however they are nested", () => {
  const value = { list: [1, [2, 3]], text: "abc" };
  expect(hasMoreValues(value, 6)).toBe(true);
  expect(hasMoreValues(value, 7)).toBe(false);
  expect(hasMoreValues(null, 0)).toBe(true);
  expect(hasMoreValues(Array.from({ length: 1e6 }), 10)).toBe(true);
});
