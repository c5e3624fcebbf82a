import fc from "fast-check";
import { expect, test } from "vitest";
import { examples } from "../../../test/fixtures/depth.ts";
import { ArgumentPatterns } from "./checker.ts";
import { ArgumentValidator } from "./checker.ts";

const MOST = 50;

function validatorOf(schema: Record<string, unknown>): ArgumentValidator {
  return new ArgumentValidator(schema, "t", new ArgumentPatterns());
}

/** An array that counts how many of its items are read. */
function countedItems(length: number, item: unknown): { items: unknown[]; count: () => number } {
  let read = 0;
  const items = new Proxy(
    Array.from({ length }, () => item),
    {
      get: (target, name, receiver: unknown) => {
        if (typeof name === "string" && /^\d+$/.test(name)) read++;
        return Reflect.get(target, name, receiver) as unknown;
      },
    },
  );
  return { items, count: () => read };
}

test.each<[string, Record<string, unknown>, unknown]>([
  ["of a type", { type: "integer" }, "x"],
  ["of a pattern", { type: "string", pattern: "^a$" }, "b"],
  ["with members", { type: "object", properties: { a: { type: "integer" } }, required: ["b"] }, { a: "x" }],
  ["with alternatives", { variants: [{ type: "integer" }, { type: "boolean" }] }, "x"],
  ["of a referenced type", { $ref: "nexus:input#/$defs/T" }, "x"],
])("of 100,000 wrong items %s no more are checked than are reported", (_kind, of, wrong) => {
  const $defs = { T: { type: "integer" } };
  const validator = validatorOf({ $id: "nexus:input", $defs, properties: { list: { type: "array", items: of } } });
  const { items, count } = countedItems(100_000, wrong);
  expect(validator.errorsOf({ list: items }, MOST)).toHaveLength(MOST);
  // All are looked at once, for names that are too long to be repeated.
  expect(count() - 100_000).toBeLessThan(6 * MOST);
});

test("of 100,000 unknown members as many are reported as are asked for", () => {
  const members = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`m${index}`, index]));
  const closed = validatorOf({ type: "object", properties: {}, additionalProperties: false });
  expect(closed.errorsOf(members, MOST)).toHaveLength(MOST);
  const map = validatorOf({ type: "object", additionalProperties: { type: "string" } });
  expect(map.errorsOf(members, MOST)).toHaveLength(MOST);
});

test("lists inside of lists have together no more errors than are asked for", () => {
  const integers = { type: "array", items: { type: "integer" } };
  const validator = validatorOf({ type: "array", items: integers });
  const lists = Array.from({ length: 1_000 }, () => Array.from({ length: 30 }, () => "x"));
  expect(validator.errorsOf(lists, MOST)).toHaveLength(MOST);
});

test("a value is wrong although the errors end before the place where it is", () => {
  const wrongThere = { items: { type: "integer" } };
  const alternatives = { anyOf: [wrongThere, { items: { type: "boolean" } }] };
  const validator = validatorOf({ type: "array", ...alternatives });
  const mixed = [...Array.from({ length: 100 }, () => "x"), true];
  expect(validator.errorsOf(mixed, MOST).length).toBeGreaterThan(0);
  expect(validator.errorsOf([true, 1], MOST).length).toBeGreaterThan(0);
  expect(validator.errorsOf([1, 2], MOST)).toEqual([]);
});

test("names that are very long are not repeated in the paths of errors", () => {
  const validator = validatorOf({
    type: "object",
    additionalProperties: { type: "array", items: { type: "integer" } },
  });
  const [error, ...more] = validator.errorsOf({ ["n".repeat(100_000)]: ["x", "x", "x"] }, MOST);
  expect([error?.message, more]).toEqual([
    "the arguments are not valid: a name in them is longer than 1000 characters",
    [],
  ]);
});

test("a value has errors if and only if all errors together say so", () => {
  const item = {
    variants: [
      { type: "integer", minimum: 0 },
      { type: "object", properties: { a: { type: "boolean" } }, required: ["a"] },
    ],
  };
  const validator = validatorOf({ type: "object", additionalProperties: { type: "array", items: item } });
  const value = fc.dictionary(
    fc.string(),
    fc.array(fc.oneof(fc.integer({ min: -2 }), fc.record({ a: fc.jsonValue() }), fc.string())),
  );
  const isRight = (each: unknown) =>
    typeof each === "number" ? each >= 0 : typeof each === "object" && typeof (each as { a: unknown }).a === "boolean";
  fc.assert(
    fc.property(value, (given) => {
      const isValid = Object.values(given).every((items) => items.every(isRight));
      expect(validator.errorsOf(given, 3).length === 0).toBe(isValid);
    }),
    { numRuns: examples(200) },
  );
});
