import { expect, test } from "vitest";
import { weightOf } from "./weight.ts";

test("a value weighs what its texts do, and a little more, however deep they are", () => {
  const text = "x".repeat(10_000);
  const flat = weightOf({ content: [{ type: "text", text }, 7, null, true] });
  expect(flat).toBeGreaterThan(10_000);
  expect(flat).toBeLessThan(10_500);
  let deep: unknown = text;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  expect(weightOf(deep)).toBeGreaterThan(10_000);
});
