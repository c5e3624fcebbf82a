import fc from "fast-check";
import { expect, test } from "vitest";
import { isDeeperThan } from "./json-depth.ts";

const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

test("the depth itself is allowed, one more is not", () => {
  expect(isDeeperThan(nested(128), 128)).toBe(false);
  expect(isDeeperThan(nested(129), 128)).toBe(true);
  expect(isDeeperThan(nested(1_000_000), 128)).toBe(true);
});

test("brackets in text, and many side by side, are no depth", () => {
  expect(isDeeperThan(JSON.stringify({ text: `\\"${"[".repeat(500)}` }), 128)).toBe(false);
  expect(isDeeperThan(JSON.stringify(Array.from({ length: 500 }, () => [{}])), 128)).toBe(false);
});

test("it agrees with a walk over the parsed value", () => {
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
