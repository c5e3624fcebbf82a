import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { linearPattern } from "./linear-pattern.ts";
import { StepBudget, StepsExceeded } from "./step-budget.ts";
import { examples } from "../../../test/fixtures/depth.ts";

const matches = (source: string, text: string) => linearPattern(source).test(text, new StepBudget());

describe("a pattern matches what JavaScript's own engine matches", () => {
  test.each([
    ["", "abc"],
    ["^$", ""],
    ["^[A-Z]{2}$", "AT"],
    ["^[A-Z]{2}$", "AUT"],
    [String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?$`, "2025-12-17T10:00:00.5"],
    [String.raw`\bcat\b`, "a cat!"],
    [String.raw`\bcat\b`, "concat"],
    [String.raw`\Bcat`, "concat"],
    [String.raw`^(?!.*--)[a-z-]+$`, "a-b-c"],
    [String.raw`^(?!.*--)[a-z-]+$`, "a--c"],
    [String.raw`^(?=.*\d)(?=.*[a-z]).{8,}$`, "abcdefg1"],
    [String.raw`^(?=.*\d)(?=.*[a-z]).{8,}$`, "abcdefgh"],
    [String.raw`(?<=\$)\d+(?!\d|\.)`, "costs $15.20"],
    [String.raw`(?<!a(?=b))b$`, "ab"],
    [String.raw`^\p{Lu}\p{L}*$`, "Übergröße"],
    [String.raw`^.$`, "😀"],
    [String.raw`^\u{1f600}$`, "😀"],
    [String.raw`^\ud83d\ude00$`, "😀"],
    [String.raw`^[^\]\\]+$`, "a]"],
    [String.raw`^[\s\S]{0,3}$`, "a\n"],
    [String.raw`^.*$`, "a\nb"],
    [String.raw`^\x41\cJ\0$`, "A\n\0"],
    ["^(?:a?){3}$", "aa"],
    ["^(?<year>[0-9]{4})(?:-|/)x{2,3}?y*?$", "2025/xxxyy"],
    ["a|b|", "c"],
    ["^(a|(b|c)+)*$", "abcabc"],
    ["^(?:){1000000000}$", ""],
  ])("%s in %j", (source, text) => {
    expect(matches(source, text)).toBe(new RegExp(source, "u").test(text));
  });

  /** Small alphabets, so that matches are found by chance. */
  const atom = fc.constantFrom("a", "b", ".", "[ab]", "[^a]", String.raw`\w`, String.raw`\W`, "😀", String.raw`\p{L}`);
  const edge = fc.constantFrom("^", "$", String.raw`\b`, String.raw`\B`);
  const { source } = fc.letrec<{ source: string }>((tie) => ({
    source: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      atom,
      edge,
      fc.array(tie("source"), { maxLength: 3 }).map((parts) => parts.join("")),
      fc.array(tie("source"), { minLength: 2, maxLength: 3 }).map((options) => `(?:${options.join("|")})`),
      fc
        .tuple(tie("source"), fc.constantFrom("*", "+", "?", "{2}", "{1,2}", "{1,}", "*?"))
        .map(([part, sign]) => `(${part})${sign}`),
      fc.tuple(fc.constantFrom("=", "!", "<=", "<!"), tie("source")).map(([sign, part]) => `(?${sign}${part})`),
    ),
  }));
  const text = (...more: string[]) =>
    fc.array(fc.constantFrom("a", "b", "!", "\n", "é", ...more), { maxLength: 7 }).map((parts) => parts.join(""));
  const agrees = (pattern: string, given: string) => matches(pattern, given) === new RegExp(pattern, "u").test(given);

  test("for any pattern and text", () => {
    fc.assert(fc.property(source, text("\ud83d"), agrees), { numRuns: examples(5_000) });
  });

  // Without ^, the engine of Node also looks for a match between the halves of a character, which the language does not.
  test("in texts with surrogate pairs", () => {
    fc.assert(
      fc.property(source, text("😀"), (pattern, given) => agrees(`^(?:${pattern})$`, given)),
      { numRuns: examples(5_000) },
    );
  });
});

test.each([
  [String.raw`^(\w+\s?)*$`, `${"a".repeat(10_000)}!`],
  ["^(a|a)*$", `${"a".repeat(10_000)}!`],
  ["^(a?){50}a{50}$", "a".repeat(49)],
  [String.raw`(?=(a+)+$)(?=(a+)+b)c`, `${"a".repeat(10_000)}!`],
  [String.raw`(?<=(a+)+b)c`, `${"a".repeat(10_000)}!`],
  [String.raw`(\s*\s*\s*\s*)*$x`, " ".repeat(10_000)],
])("X3: %s takes time in proportion to the text, which nearly fits", (source, text) => {
  expect(matches(source, text)).toBe(false);
});

test("a budget limits all tests that share it", () => {
  const pattern = linearPattern("^(a|b)*a(a|b){500}$");
  const budget = new StepBudget();
  const text = "ab".repeat(250);
  expect(() => {
    for (let count = 0; count < 1_000; count++) pattern.test(text, budget);
  }).toThrow(StepsExceeded);
  budget.renew();
  expect(pattern.test("aba", budget)).toBe(false);
});

test.each([
  ["(", "is not a regular expression"],
  ["(?P<x>a)", "is not a regular expression"],
  [String.raw`(a)\1`, String.raw`refers back to a group with \1`],
  [String.raw`(?<x>a)\k<x>`, String.raw`refers back to a group with \k`],
  ["((a{100}){100}){100}", "is too large: written out, its repetitions have more than 10000 steps"],
  ["(?:a{100000}){100000}", "is too large"],
  ["x".repeat(4_001), "is longer than 4000 characters"],
  ["(".repeat(60) + ")".repeat(60), "has groups nested deeper than 50"],
])("%.40s … cannot be used, and the reason is given", (source, reason) => {
  expect(() => linearPattern(source)).toThrow(reason);
});
