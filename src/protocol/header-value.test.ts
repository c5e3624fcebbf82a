import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeHeaderValue, encodeHeaderValue } from "./header-value.ts";

test.each([
  ["us-west1", "us-west1"],
  ["two words", "two words"],
  [" padded ", "=?base64?IHBhZGRlZCA=?="],
  ["grüß", "=?base64?Z3LDvMOf?="],
  ["line\nbreak", "=?base64?bGluZQpicmVhaw==?="],
  ["=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="],
])("%j travels as %s", (value, header) => {
  expect(encodeHeaderValue(value)).toBe(header);
});

test("every value can be sent in a header and read back (P1.7)", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (value) => {
      const header = encodeHeaderValue(value);
      expect(header).toMatch(/^[\x21-\x7e]?[\x20-\x7e]*$/);
      expect(decodeHeaderValue(header)).toBe(value);
    }),
  );
});

test("an invalid sentinel is not a value", () => {
  expect(decodeHeaderValue("=?base64?***?=")).toBeUndefined();
  expect(decodeHeaderValue("=?base64?abc?=")).toBeUndefined();
});
