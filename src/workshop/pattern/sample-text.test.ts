import { expect, test } from "vitest";
import { sampleText } from "./sample-text.ts";

test.each([
  ["^[A-Z]{2}$", {}, "AA"],
  ["^T-[0-9]+$", {}, "T-1"],
  ["^[0-9]{12}$", {}, "111111111111"],
  [String.raw`^\+[1-9]\d{1,14}$`, {}, "+11"],
  ["^(?:de|en)(?:-[A-Z]{2})?$", {}, "de"],
  [String.raw`^\S+@\S+\.\S+$`, {}, "A@A.A"],
  ["^[a-z]*$", { minLength: 4 }, "aaaaa"],
  ["^(?!AA)[A-Z]{2}$", {}, undefined],
  ["^x{100000}$", {}, undefined],
  [String.raw`^(a)\1$`, {}, undefined],
  ["(((a{1000}){1000}){1000}){1000}", {}, undefined],
  ["((((){1000}){1000}){1000}){1000}", {}, ""],
])("a text for %s within %j is %s", (pattern, limits, text) => {
  expect(sampleText([], { pattern, ...limits })).toBe(text);
});

test("a usual text is used if it fits, otherwise a generated one of the right length", () => {
  expect(sampleText(["text", "AT"], { pattern: "^[A-Z]{2}$" })).toBe("AT");
  expect(sampleText(["text"], { maxLength: 3 })).toBe("x");
  expect(sampleText(["text"], { minLength: 6 })).toBe("xxxxxx");
});
