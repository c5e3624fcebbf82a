import fc from "fast-check";
import { expect, test } from "vitest";
import { filledPlaces } from "./filled-template.ts";
import { examples } from "../../../../test/fixtures/depth.ts";

test.each([
  ["things/{id}", "things/7", ["7"]],
  ["things/{id}", "things/", undefined],
  ["things/{id}/parts/{part}.json", "things/7/parts/a.b.json", ["7", "a.b"]],
  ["{a}-{b}", "x-y-z", ["x-y", "z"]],
  ["{a}{b}", "xyz", ["xy", "z"]],
  ["{a}{b}", "x", undefined],
  ["things", "things", []],
  ["things", "thing", undefined],
  ["a{x}a", "a", undefined],
  ["a{x}a", "aa", undefined],
])("the places of %s in %s", (template, text, values) => {
  expect(filledPlaces(template, text)).toEqual(values);
});

test("places are found as a regular expression finds them", () => {
  const word = fc.array(fc.constantFrom("a", "b", "-"), { maxLength: 8 }).map((letters) => letters.join(""));
  const parts = fc.array(
    fc.array(fc.constantFrom("a", "-"), { maxLength: 2 }).map((letters) => letters.join("")),
    { minLength: 1, maxLength: 4 },
  );
  fc.assert(
    fc.property(parts, word, (texts, given) => {
      const expression = new RegExp(`^${texts.join("(.+)")}$`);
      expect(filledPlaces(texts.join("{x}"), given)).toEqual(expression.exec(given)?.slice(1));
    }),
    { numRuns: examples(2_000) },
  );
});

test("many places in a long text are found quickly", () => {
  expect(filledPlaces(`${"{x}a".repeat(50)}b`, "a".repeat(10_000))).toBeUndefined();
});
