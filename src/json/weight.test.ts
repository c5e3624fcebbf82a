import { expect, test } from "vitest";
import { weightOf } from "./weight.ts";

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
