import { expect, test } from "vitest";
import { agoText, durationText } from "../../text/duration.ts";
import { pluralize } from "./amounts.ts";
import { tableLines } from "./table.ts";
import { broken, cellsOf, cut, fitted, hanging, wrapped } from "./text-width.ts";

test("a text is as wide as the cells it takes", () => {
  expect(["abc", "日本", "e\u0301", "📦x", "🇫🇷", "\u26a0", "\u26a0\ufe0f"].map(cellsOf)).toEqual([3, 4, 1, 3, 2, 1, 2]);
});

test.each([
  0x231a, 0x23e9, 0x25fd, 0x2614, 0x26a1, 0x2705, 0x274c, 0x27bf, 0x2b50, 0xa960, 0xfe10, 0x16fe0, 0x17000, 0x18800,
  0x1aff0, 0x1b000, 0x1d300, 0x1f004, 0x1f0cf, 0x1f18e, 0x1f191, 0x1f200, 0x1f6d5, 0x1f7e0, 0x1fa70, 0x20000,
])("the wide character with the code %i takes two cells", (code) => {
  const rows = broken(String.fromCodePoint(code).repeat(35), 40);
  expect(rows.map(cellsOf)).toEqual([40, 30]);
});

test("text that does not fit is cut with a mark", () => {
  expect(cut("abcdef", 4)).toBe("abc…");
  expect(cut("日本語", 4)).toBe("日…");
  expect(cut("abcdef", undefined)).toBe("abcdef");
  expect(cut("abc", 3)).toBe("abc");
});

test("lines are broken between words, and long words stay whole", () => {
  expect(wrapped("one two three\nfour", 8)).toEqual(["one two", "three", "four"]);
  expect(wrapped("https://example.com/a/b", 8)).toEqual(["https://example.com/a/b"]);
});

test("rows that must fit are broken inside of words that are wider", () => {
  expect(fitted("one two three", 8)).toEqual(["one two", "three"]);
  expect(fitted("see https://example.com/a/b", 8)).toEqual(["see http", "s://exam", "ple.com/", "a/b"]);
  expect(fitted("one\u00a0two\u3000three", 8)).toEqual(["one\u00a0two", "\u3000three"]);
  expect(fitted(`  ${"x".repeat(8)} y\n\n z `, 8)).toEqual(["  xxxxxx", "xx y", "", " z "]);
  expect(fitted("https://example.com/a/b", undefined)).toEqual(["https://example.com/a/b"]);
});

test("a table is cut to the terminal at its widest columns, and never in a file", () => {
  const rows = [["id", "a".repeat(40), "b".repeat(20)].map((text) => ({ text }))];
  const style = (_style: string, text: string) => text;
  const [narrow = ""] = tableLines({ columns: 40, style }, rows);

  expect(cellsOf(narrow)).toBeLessThanOrEqual(40);
  expect(narrow).toMatch(/^id {2}a+… {2}b+…?$/);
  expect(tableLines({ columns: undefined, style }, rows)).toEqual([`id  ${"a".repeat(40)}  ${"b".repeat(20)}`]);
});

test("amounts are short and readable", () => {
  expect([pluralize(1, "tool"), pluralize(2, "tool")]).toEqual(["1 tool", "2 tools"]);
  expect([durationText(85.4), durationText(2_400)]).toEqual(["85 ms", "2.4 s"]);
  const ago = (ms: number) => agoText(0, ms);
  expect([ago(5), ago(300_000), ago(7_200_000), ago(259_200_000)]).toEqual([
    "just now",
    "5 min ago",
    "2 h ago",
    "3 days ago",
  ]);
});

test("lines that continue another one begin below its text, or below its name if that is wide", () => {
  expect(hanging("fix: ", "one two three", 13)).toEqual(["fix: one two", "     three"]);
  expect(hanging("  --a-long-option  ", "one two three", 25)).toEqual(["  --a-long-option", "          one two three"]);
  expect(hanging("fix: ", "one two three", undefined)).toEqual(["fix: one two three"]);
});
