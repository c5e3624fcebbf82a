import { expect, test } from "vitest";
import { quotedLines } from "./quoted-lines.ts";
import { cellsOf } from "./text-width.ts";

test("quoted text is broken between words, and keeps its indentation and empty lines", () => {
  expect(quotedLines("it stays within its own system", 16)).toEqual(["  it stays", "  within its own", "  system"]);
  expect(quotedLines(`{\n  "a": "one two three"\n\n\tx`, 16)).toEqual([
    "  {",
    `    "a": "one`,
    `  two three"`,
    "  ",
    "      x",
  ]);
});

test.each([
  ["a long word", "x".repeat(100)],
  ["wide signs", `${"\u2705".repeat(35)}Allow? [y]es once`],
  ["blank signs", `a${"\u2800".repeat(40)}Allow?`],
  ["many spaces", `a${" ".repeat(100)}Allow?`],
])("R8: no row of quoted text with %s is wider than the terminal or without indent", (_what, text) => {
  for (const row of quotedLines(text, 40)) {
    expect(row).toMatch(/^ {2}/);
    expect(cellsOf(row)).toBeLessThanOrEqual(40);
  }
});
