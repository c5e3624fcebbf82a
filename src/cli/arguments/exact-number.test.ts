import { expect, test } from "vitest";
import { isExact } from "../../json/exact-number.ts";
import { requireExactNumbers } from "./exact-number.ts";

test.each(["0", "-1", "1.5", "9007199254740991", "1e20", "-9007199254740991.0"])("%s is sent as it is", (text) => {
  expect(isExact(text)).toBe(true);
});

test.each(["9007199254740993", "-9007199254740992", "12345678901234567890", "1e400", "9007199254740993.00"])(
  "%s would become another number",
  (text) => {
    expect(isExact(text)).toBe(false);
    expect(() => requireExactNumbers(`{"a": [${text}]}`, "--args")).toThrow(`--args: ${text} cannot be sent exactly`);
  },
);

test("a number that would lose digits before its point is refused, one behind it is rounded", () => {
  const lost = "12345678901234567.89";
  expect(() => requireExactNumbers(`{"a": [${lost}]}`, "--args")).toThrow(`--args: ${lost} cannot be sent exactly`);
  expect(() => requireExactNumbers(`{"a": [0.12345678901234567891]}`, "--args")).not.toThrow();
});

test("digits inside strings are not checked", () => {
  expect(() => requireExactNumbers(String.raw`{"a\"9007199254740993": "1e400"}`, "--args")).not.toThrow();
});
