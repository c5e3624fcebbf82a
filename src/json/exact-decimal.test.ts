import fc from "fast-check";
import { expect, test } from "vitest";
import { isDoubleText, jsonNumber, keepsDigits } from "./exact-decimal.ts";

test("every double keeps the digits that it is written with", () => {
  const double = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(fc.property(double, (value) => keepsDigits(String(value))));
  fc.assert(fc.property(double, fc.integer({ min: 17, max: 60 }), (value, n) => isDoubleText(value.toPrecision(n))));
});

test.each([
  "0.1",
  "-1.50",
  "0.30000000000000004",
  "1e21",
  "1E+2",
  "100000000000000000000.0",
  "0.000000000000000000000",
])("a double keeps the digits of %s", (text) => expect(keepsDigits(text)).toBe(true));

test.each(["12345678901234567.89", "1e400", "1e-400", "-1e-400"])("a plain number cannot stand for %s", (text) => {
  expect(keepsDigits(text)).toBe(false);
  expect(isDoubleText(text)).toBe(false);
});

test.each(["0.12345678901234567891", "3.3333333333333333", "1234567890123456.7"])(
  "a plain number rounds %s behind the point, an exact one does not",
  (text) => {
    expect(keepsDigits(text)).toBe(false);
    expect(isDoubleText(text)).toBe(true);
  },
);

test.each([
  [".5", "0.5"],
  ["-007.", "-7"],
  ["+1.50E+3", "1.50e+3"],
  ["0", "0"],
])("%s is written as %s in JSON", (text, json) => {
  expect(jsonNumber(text)).toBe(json);
  expect(JSON.parse(json)).toBe(Number(text));
});
