import { expect, test } from "vitest";
import { MeaningText } from "./stale.ts";

test("hostile markup of 400 kB is read in linear time", () => {
  for (const [text, format] of [
    ["<!--".repeat(100_000), "markdown"],
    ["<!--".repeat(100_000), "wsdl-1.1"],
    [`<${"a".repeat(400_000)}>`, "wsdl-1.1"],
  ] as const) {
    expect(new MeaningText(text, format).between(1, 1)).not.toEqual([]);
  }
});

test("comments and the order of attributes say nothing, and a beginning without an end is text", () => {
  const tag = (text: string) => new MeaningText(text, "wsdl-1.1").between(1, 9);
  expect(tag(`<a c='1' b = "2"/><!-- x --><!-- y -->\n<!-- z -->`)).toEqual(tag(`<a b="2" c="1"></a>`));
  const words = (text: string) => new MeaningText(text, "markdown").between(1, 9);
  expect(words("one <!-- a -->\n<!-- b --> two <!-- three")).toEqual(["one", "two", "<!--", "three"]);
});
