import { expect, test } from "vitest";
import { visible, visibleLines } from "./visible.ts";

test("what has no width, steers the terminal or turns the text is written out (R8)", () => {
  expect(visible("a\u200bb\u200cc\u200dd\ufeffe\u202ef\u001b[2J")).toBe(
    String.raw`a\u200bb\u200cc\u200dd\ufeffe\u202ef\x1b[2J`,
  );
});

test("the joiner within an emoji is part of it", () => {
  const emoji = "\u{1F469}\u{1F3FD}\u200d\u{1F680} \u{1F3F3}\ufe0f\u200d\u{1F308}";
  expect(visible(emoji)).toBe(emoji);
});

test("what was made visible stays as it is", () => {
  const once = visible("a\u0000\nb\u200b");
  expect(visible(once)).toBe(once);
  expect(visibleLines("a\u0007\nb")).toBe("a\\x07\nb");
});
