import fc from "fast-check";
import { expect, test } from "vitest";
import { NexusError } from "../../errors/nexus-error.ts";
import { fillTemplate } from "./fill.ts";
import { renderTemplate } from "./template.ts";
import { examples } from "../../../test/fixtures/depth.ts";

const SCOPE = {
  count: 4,
  input: { arrival: "2025-12-17", ages: [3, 9], guest: { name: "Groß" } },
  stock: [
    { hotel: 9100, code: "DZ", price: 544 },
    { hotel: 9100, code: "DZK", price: 484, notes: ["quiet", "south"] },
    { hotel: 9200, code: "APP", price: 510 },
  ],
};

test("a template uses the values of its scope; null is written as nothing", () => {
  expect(renderTemplate("Found {count} options from {input.arrival}.", SCOPE)).toBe("Found 4 options from 2025-12-17.");
  expect(renderTemplate("{input.ages}|{missing}|{input.guest}|{count > 3}", SCOPE)).toBe('3, 9||{"name":"Groß"}|true');
});

test("braces are written twice, and may be in strings of expressions", () => {
  expect(renderTemplate("{{count}} is {count} {'}'}", SCOPE)).toBe("{count} is 4 }");
});

test("an unclosed brace, and a mistake inside, are CONFIG_INVALID", () => {
  expect(() => renderTemplate("Found {count", SCOPE)).toThrow("The { at column 7 is not closed");
  expect(() => renderTemplate("Found {count +}", SCOPE)).toThrow("a value is missing");
});

test("values that begin with = are computed, and each makes lists", () => {
  const filled = fillTemplate(
    {
      hotel: "= 9000 + 100",
      literal: "DZ",
      escaped: "= '=x'",
      absent: "= missing",
      options: {
        each: "stock",
        as: "row",
        when: "row.hotel == 9100",
        give: { code: "= row.code", total: "= row.price * 2", notes: { each: "row.notes", as: "n", give: "= n" } },
      },
      mixed: ["first", { each: "stock", as: "row", give: "= row.code" }, "= count"],
      often: { each: "stock", as: "row", times: "count(row.notes)", give: "= row.code" },
    },
    SCOPE,
  );
  expect(filled).toEqual({
    hotel: 9100,
    literal: "DZ",
    escaped: "=x",
    options: [
      { code: "DZ", total: 1088, notes: [] },
      { code: "DZK", total: 968, notes: ["quiet", "south"] },
    ],
    mixed: ["first", "DZ", "DZK", "APP", 4],
    often: ["DZK", "DZK"],
  });
});

test("a member named __proto__ stays a member", () => {
  const filled = fillTemplate(JSON.parse('{"__proto__": {"a": "= 1"}}'), {}) as object;
  expect(Object.getPrototypeOf(filled)).toBe(Object.prototype);
  expect(JSON.stringify(filled)).toBe('{"__proto__":{"a":1}}');
});

const SIGN = fc.constantFrom("{", "}", "{{", "'", '"', "\\", "a", ".", "[]", "(", ")", "+", "count", " ");

test("random templates are rendered or refused", () => {
  fc.assert(
    fc.property(fc.string({ unit: SIGN, maxLength: 30 }), (text) => {
      try {
        expect(typeof renderTemplate(text, SCOPE)).toBe("string");
      } catch (error) {
        expect(error).toBeInstanceOf(NexusError);
      }
    }),
    { numRuns: examples(2_000) },
  );
});
