import fc from "fast-check";
import { expect, test } from "vitest";
import { isDate, isDateTime } from "../workshop/expression/calendar.ts";
import { decimalText } from "./decimal-text.ts";

test.each([
  [1.005, 2, "1.01"],
  [-1.005, 2, "-1.01"],
  [675, 2, "675.00"],
  [0.1 + 0.2, 2, "0.30"],
  [-0.001, 2, "0.00"],
  [9.999, 2, "10.00"],
  [2.5, 0, "3"],
  [1e21, undefined, "1000000000000000000000"],
  [1e21, 1, "1000000000000000000000.0"],
  [1.5e-7, undefined, "0.00000015"],
  [-0, undefined, "0"],
])("%s with %s decimals is written %s", (value, decimals, text) => {
  expect(decimalText(value, decimals)).toBe(text);
});

test("a number written in digits is the same number when it is read", () => {
  const number = fc.double({ noNaN: true, noDefaultInfinity: true });
  const check = (value: number) => {
    expect(decimalText(value)).toMatch(/^-?\d+(\.\d+)?$/);
    expect(Number(decimalText(value))).toBe(value + 0);
  };
  fc.assert(fc.property(number, check));
});

test.each([
  ["2024-02-29", true],
  ["2025-02-29", false],
  ["1900-02-29", false],
  ["2000-02-29", true],
  ["2025-04-31", false],
  ["2025-13-01", false],
  ["2025-1-1", false],
  ["2025-12-17 ", false],
])("%s is a day: %s", (text, expected) => {
  expect(isDate(text)).toBe(expected);
  expect(isDateTime(`${text}T10:00:00`)).toBe(expected);
});

test.each([
  ["2025-11-03T16:20:05.4", true],
  ["2025-11-03T16:20", true],
  ["2025-11-03T16:20:05Z", true],
  ["2025-11-03T16:20:05+02:00", true],
  ["2025-11-03T24:00:00", false],
  ["2025-11-03T16:60:00", false],
  ["2025-11-03 16:20:05", false],
  ["2025-11-03", false],
])("%s is a moment: %s", (text, expected) => {
  expect(isDateTime(text)).toBe(expected);
});
