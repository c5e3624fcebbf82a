import fc from "fast-check";
import { expect, test } from "vitest";
import { excerptOf } from "./excerpt.ts";

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

test("a value that fits is complete", () => {
  const value = { count: 1, list: [1, 2, 3] };
  expect(excerptOf(value, 100)).toEqual({ value, omitted: [] });
});

test("the longest lists are shortened, and the omission is reported", () => {
  const options = Array.from({ length: 500 }, (_, index) => ({ code: `R${index}`, price: index }));
  const value = { count: 500, hotels: [{ id: 1, rooms: [{ options }, { options: options.slice(0, 3) }] }] };
  const excerpt = excerptOf(value, 1_000);
  expect(bytes(excerpt.value)).toBeLessThanOrEqual(1_000);
  expect(excerpt.value).toMatchObject({
    count: 500,
    hotels: [{ id: 1, rooms: [{}, { options: options.slice(0, 3) }] }],
  });
  const [omission] = excerpt.omitted;
  expect(omission).toMatchObject({ path: "hotels[0].rooms[0].options", of: 500 });
  expect(omission?.shown).toBeGreaterThan(20);
});

test("texts are shortened only when no list is left, and never in the middle of a character", () => {
  const excerpt = excerptOf({ text: "😀".repeat(1_000), date: "2025-12-17" }, 500);
  expect(excerpt.value["date"]).toBe("2025-12-17");
  expect(excerpt.value["text"]).toMatch(/^(?:😀)+…$/u);
  expect(excerpt.omitted).toMatchObject([{ path: "text", of: 2_000 }]);
});

test("objects with very many members keep the first of them when nothing else is left to shorten", () => {
  const map = Object.fromEntries(Array.from({ length: 300 }, (_, index) => ["n".repeat(500) + index, index]));
  const excerpt = excerptOf({ count: 300, map }, 10_000);
  expect(bytes(excerpt.value)).toBeLessThanOrEqual(10_000);
  expect(excerpt.value).toMatchObject({ count: 300, map: { [`${"n".repeat(500)}0`]: 0 } });
  expect(excerpt.omitted).toMatchObject([{ path: "map", of: 300 }]);
  expect(excerpt.omitted[0]?.shown).toBeGreaterThan(10);
});

test("an excerpt has the requested size if lists make the value large, and the same shape", () => {
  const item = fc.record({ name: fc.string({ maxLength: 5 }), tags: fc.array(fc.integer()) });
  fc.assert(
    fc.property(fc.array(item), fc.array(fc.array(item)), fc.integer({ min: 200, max: 2_000 }), (a, b, limit) => {
      const { value } = excerptOf({ a, b, fixed: true }, limit);
      expect(bytes(value)).toBeLessThanOrEqual(limit);
      expect(value).toMatchObject({ fixed: true, a: a.slice(0, 0).concat(value["a"] as typeof a) });
      expect(Array.isArray(value["b"])).toBe(true);
    }),
  );
});
