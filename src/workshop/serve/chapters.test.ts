import { expect, test } from "vitest";
import { chaptersOf } from "./api-server.ts";

test("chapters are the parts under the highest headings of which there are several", () => {
  const text = "# Guide\n\nAbout it.\n\n## One\n\nText\n\n### Detail\n\nMore\n\n\n## Two\nEnd\n";
  expect(chaptersOf(text)).toEqual([
    { heading: "One", from: 5, to: 11 },
    { heading: "Two", from: 14, to: 15 },
  ]);
});

test("lines of code are not headings, and a text without headings has no chapters", () => {
  const text = "# One\n```sh\n# not this\n~~~\n# nor this\n```\n# Two\n";
  expect(chaptersOf(text).map(({ heading, from }) => [heading, from])).toEqual([
    ["One", 1],
    ["Two", 7],
  ]);
  expect(chaptersOf("plain\ntext\n")).toEqual([]);
  expect(chaptersOf("# Alone\ntext\n")).toEqual([]);
});

test("a document with very many headings has as many chapters", () => {
  expect(chaptersOf("# A\n## B\n".repeat(100_000))).toHaveLength(100_000);
});
