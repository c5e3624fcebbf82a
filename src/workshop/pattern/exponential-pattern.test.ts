import { expect, test } from "vitest";
import { isExponential } from "./exponential-pattern.ts";
import { parsePattern } from "./parse-pattern.ts";

test.each([
  "^(a+)+$",
  "(a*)*b",
  "^(a|a)*$",
  "^(a|aa)+$",
  String.raw`^(\w+\s?)*$`,
  String.raw`^(?:\d+,?)+$`,
  String.raw`^(?=(\w+\s?)*$)`,
  String.raw`^([a-z]{1,20})*$`,
  String.raw`^(.*a)*$`,
  String.raw`^(é|[^x])*$`,
])("%s can take exponential time in an engine that tries one way after the other", (source) => {
  expect(isExponential(parsePattern(source))).toBe(true);
});

test.each([
  "^[A-Z]{2}$",
  String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?$`,
  "^[a-z]+(?:-[a-z]+)*$",
  String.raw`^[^@\s]+@[^@\s]+\.[^@\s]+$`,
  "^(?:[a-z0-9]{1,63}[.])*$",
  String.raw`^(?:\d{1,3}\.){3}\d{1,3}$`,
  "^(?:a?b?c?d?e?f?g?h?i?j?k?l?m?n?o?p?q?r?s?t?)*$",
  String.raw`^(?!.*--)[a-z-]+$`,
  "^(ab|ac)*$",
  "^(?:){5}$",
])("%s does not", (source) => {
  expect(isExponential(parsePattern(source))).toBe(false);
});
