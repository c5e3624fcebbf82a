import { expect, test } from "vitest";
import { assert, array, constantFrom, integer, property } from "fast-check";
import type { Style } from "../../output/output.ts";
import { cellsOf } from "../../output/text-width.ts";
import { MarkdownStream } from "./markdown-stream.ts";

interface Shown {
  columns?: number | undefined;
  styled?: boolean;
  /** Characters of each piece. */
  piece?: number;
}

function show(markdown: string, { columns = 40, styled = false, piece = 3, ...rest }: Shown = {}): string {
  let shown = "";
  const stream = new MarkdownStream({
    write: (text) => void (shown += text),
    style: (style: Style, text) => (styled ? `<${style}>${text}</${style}>` : text),
    columns: "columns" in rest ? undefined : columns,
  });
  for (let at = 0; at < markdown.length; at += piece) stream.write(markdown.slice(at, at + piece));
  stream.end();
  return shown;
}

function piped(markdown: string): string {
  let shown = "";
  const stream = new MarkdownStream({
    write: (text) => void (shown += text),
    style: (_style, text) => text,
    columns: undefined,
  });
  stream.write(markdown);
  stream.end();
  return shown;
}

test("a terminal shows bold text, italics and code with styles and without their marks", () => {
  expect(show("a **bold** *word* and `co*de*`\n", { styled: true })).toBe(
    "a <bold>bold</bold> <italic>word</italic> and <cyan>co*de*</cyan>\n",
  );
});

test("without styles the marks of Markdown stay, and headings keep their number signs", () => {
  expect(show("# Title\n\na **bold** `word`\n")).toBe("# Title\n\na **bold** `word`\n");
});

test("a heading is bold", () => {
  expect(show("## A *title* ##\ntext", { styled: true })).toBe("<bold>A</bold> <bold>title</bold>\ntext\n");
});

test("characters that only look like marks stay as they are", () => {
  for (const text of [
    "2 * 3 * 4",
    "all *.ts files",
    "snake_case_name and __init",
    "a ~ b",
    "[x] done",
    "1 < 2",
    "a\\b",
  ])
    expect(show(`${text}\n`, { styled: true })).toBe(`${text}\n`);
});

test("a link is shown as its text and its address", () => {
  expect(show("see [the guide](https://example.test/a_b_c) and <https://example.test>\n", { columns: 100 })).toBe(
    "see the guide (https://example.test/a_b_c) and https://example.test\n",
  );
  expect(show("![a cat](cat.png)\n")).toBe("a cat (cat.png)\n");
});

test("lines are broken between words, and items of lists hang", () => {
  expect(show("- one two three four five six seven eight nine\n  - ten\n10. eleven\n", { columns: 24 })).toBe(
    "- one two three four\n  five six seven eight\n  nine\n  - ten\n10. eleven\n",
  );
  expect(show("> a quote that is longer than the line is\n", { columns: 24 })).toBe(
    "| a quote that is\n| longer than the line\n| is\n",
  );
});

test("wide characters are counted with two cells, and text of them is broken anywhere", () => {
  const lines = show("日本語の文章は空白がないので、どこでも改行できます。\n", { columns: 20 }).trimEnd().split("\n");
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines) expect(cellsOf(line)).toBeLessThan(20);
});

test("code in a fence is neither broken nor read as Markdown", () => {
  const code =
    "```ts\nconst a = 1; // **not bold** and longer than the forty columns of the line\n\n| no | table |\n```\n";
  expect(show(code)).toBe(code);
  expect(show("~~~\n```\n~~~\nafter\n")).toBe("~~~\n```\n~~~\nafter\n");
});

test("a table is aligned, and its cells are broken where it is too wide", () => {
  expect(show("| a | long name |\n|---|:---:|\n| **1** | x |\n| 2 | `y\\|z` |\n\nend\n")).toBe(
    "a  long name\n-  ---------\n1  x\n2  y|z\n\nend\n",
  );
  const wide = show("| name | what it does |\n|--|--|\n| alpha | one two three four five six seven |\n", {
    columns: 24,
  });
  for (const line of wide.split("\n")) expect(line.length).toBeLessThan(24);
  expect(wide).toContain("four");
});

test("a column that Markdown aligns to the right is aligned to the right", () => {
  expect(show("| a | count |\n|---|---:|\n| b | 7 |\n| c | 1234 |\n")).toBe("a  count\n-  -----\nb      7\nc   1234\n");
});

test.each(["👨‍👩‍👧", "🏳️‍🌈", "👩🏽‍💻", "❤️", "🇦🇹"])("an emoji of several characters is shown as it is: %s", (emoji) => {
  const markdown = `a ${emoji} b **${emoji}** x${emoji}${emoji}\n\n| a |\n|---|\n| ${emoji} |\n`;
  const whole = show(markdown, { piece: 1_000 });
  expect(whole.split(emoji)).toHaveLength(6);
  expect(whole).not.toContain("\\u");
  for (const piece of [1, 2, 3, 5]) expect(show(markdown, { piece })).toBe(whole);
});

test("a joiner that joins no emoji stays visible", () => {
  expect(show("pay\u200dpal 👩\u200dx\n")).toBe("pay\\u200dpal 👩\\u200dx\n");
});

test("a line of stars and spaces is a rule, however it comes", () => {
  for (const piece of [1, 2, 3, 9]) expect(show("* **\n", { piece })).toBe(`${"-".repeat(39)}\n`);
});

test("words are shown as soon as they are complete", () => {
  let shown = "";
  const stream = new MarkdownStream({ write: (text) => void (shown += text), style: (_s, text) => text, columns: 40 });
  stream.write("Hello wor");
  expect(shown).toBe("Hello");
  stream.write("ld, and");
  expect(shown).toBe("Hello world,");
  stream.end();
  expect(shown).toBe("Hello world, and\n");
});

test("in a pipe Markdown is written as it is, with control characters escaped", () => {
  const markdown = "# T\n\n| a |\n|---|\n**b** [c](d) and a long line that is longer than forty columns\n";
  expect(piped(markdown)).toBe(markdown);
  expect(piped("a\u001b[31mred")).toBe("a\\x1b[31mred\n");
});

test("no escape sequence of a model passes, however it is cut into pieces", () => {
  const hostile =
    "\u001b]0;title\u0007 **\u001b[2J** `\u001b[1m` [\u001b[8m](\u009b31m)\r\n| \u001bc |\n|---|\n| \u202e |\n# \u001b[A\n```\n\u001b[B\n```\n";
  for (const piece of [1, 2, 5, 1000])
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    expect(show(hostile, { piece, styled: true })).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
});

test("the pieces in which a text comes do not change what is shown, and no word is lost", () => {
  const word = constantFrom(
    "a",
    "**b**",
    "*c*",
    "`d`",
    "[e](f)",
    "_g",
    "**",
    "*",
    "|",
    "#",
    "- ",
    "> ",
    "\n",
    "\n\n",
    "```\n",
    "~~x~~",
    "1. ",
  );
  assert(
    property(array(word, { maxLength: 30 }), integer({ min: 1, max: 9 }), (words, piece) => {
      const markdown = `${words.join(" ")}\n`;
      const whole = show(markdown, { piece: 10_000, styled: true });
      expect(show(markdown, { piece, styled: true })).toBe(whole);
      const letters = (text: string) => text.replaceAll(/<\/?[a-z]+>/g, "").replaceAll(/[^a-gx]/g, "");
      expect(letters(whole)).toBe(letters(markdown));
    }),
  );
});

test.each([
  ["brackets", `[${"[aaaaaaaaaa".repeat(30)}]]]]x`],
  ["stars", "*a ".repeat(10_000)],
  ["underscores", "_a ".repeat(10_000)],
  ["a heading", `# ${"*a ".repeat(10_000)}`],
  ["a row", `| ${"*a ".repeat(10_000)} |`],
  ["code", `\`\`\`\n${"a".repeat(1_000_000)}`],
])("an answer of %s without an end is shown soon, in one piece and in many", (_name, markdown) => {
  const words = (text: string) => text.replaceAll(/\s/g, "").length;
  for (const piece of [markdown.length, 100]) {
    expect(words(show(markdown, { piece }))).toBeGreaterThanOrEqual(words(markdown) / 2);
  }
});
