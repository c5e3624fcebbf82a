import { expect, test } from "vitest";
import { visible, visibleJson, visibleLines } from "./visible.ts";
import { cpuMsOf } from "../../test/fixtures/cpu-time.ts";

test("R8: invisible characters, and those that control the terminal or the direction of the text, are escaped", () => {
  expect(visible("a\u200bb\u200cc\u200dd\ufeffe\u202ef\u001b[2J")).toBe(
    String.raw`a\u200bb\u200cc\u200dd\ufeffe\u202ef\x1b[2J`,
  );
});

test.each([
  ["C0 and C1 controls", "\u0000\u0007\u001b\u007f\u0085\u009b", String.raw`\x00\x07\x1b\x7f\x85\x9b`],
  ["line and paragraph separators", "\u2028\u2029", String.raw`\u2028\u2029`],
  [
    "bidi controls",
    "\u061c\u200e\u200f\u202a\u202e\u2066\u2069",
    String.raw`\u061c\u200e\u200f\u202a\u202e\u2066\u2069`,
  ],
  ["Unicode tags", "\u{e0001}\u{e0041}\u{e007f}", String.raw`\u{e0001}\u{e0041}\u{e007f}`],
  ["word joiner and invisible operators", "\u2060\u2061\u2062\u2063\u2064", String.raw`\u2060\u2061\u2062\u2063\u2064`],
  ["soft hyphen and grapheme joiner", "\u00ad\u034f\u180e", String.raw`\xad\u034f\u180e`],
  ["annotation marks", "\ufff9\ufffa\ufffb", String.raw`\ufff9\ufffa\ufffb`],
  ["Hangul fillers", "\u115f\u1160\u3164\uffa0", String.raw`\u115f\u1160\u3164\uffa0`],
  ["variation selectors", "a\ufe00a\ufe0f1\ufe0f\u{e0100}", String.raw`a\ufe00a\ufe0f1\ufe0f\u{e0100}`],
  ["unassigned invisible ones", "\u2065\ufff0\u{e0fff}", String.raw`\u2065\ufff0\u{e0fff}`],
  ["half characters", "a\ud83db\ude00", String.raw`a\ud83db\ude00`],
  ["no characters at all", "\ufffe\u{1ffff}\ufdd0", String.raw`\ufffe\u{1ffff}\ufdd0`],
])("R8: %s are written out", (_kind, text, shown) => {
  expect(visible(text)).toBe(shown);
});

test.each([
  ["emoji of several", "\u{1F469}\u{1F3FD}\u200d\u{1F680} \u{1F3F3}\ufe0f\u200d\u{1F308}"],
  ["emoji and signs with a style", "\u2764\ufe0f \u263a\ufe0e \u26a0\ufe0f"],
  ["keycaps", "1\ufe0f\u20e3 #\ufe0f\u20e3"],
  ["flags of England, Scotland and Wales", ["gbeng", "gbsct", "gbwls"].map(flag).join(" ")],
  ["Persian words", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"],
  ["Hindi conjuncts", "\u0915\u094d\u200d\u0937 \u0915\u094d\u200c\u0937"],
  ["a Malayalam letter at the end of a word", "\u0d05\u0d35\u0d28\u0d4d\u200d"],
  ["a Bengali letter with a joiner before its sign", "\u09b0\u200d\u09cd\u09af"],
  ["Arabic signs that are seen", "\u0600\u06dd\u070f"],
  ["spaces, letters with marks, tabs", "a\tb\u00a0c\u3000e\u0301"],
])("%s stay as they are", (_kind, text) => {
  expect(visible(text)).toBe(text);
});

test.each([
  ["a selector after a selector", "\u2764\ufe0f\ufe0f", "\u2764\ufe0f\\ufe0f"],
  ["bytes behind an emoji", "\u{1F600}\u{e0130}\u{e0131}", "\u{1F600}\\u{e0130}\\u{e0131}"],
  ["a byte behind an ideograph", "\u845b\u{e0130}", "\u845b\\u{e0130}"],
  ["a message behind a flag", flag("gbengx"), `\u{1F3F4}${hidden("gbengx")}\\u{e007f}`],
  ["a flag without its end", flag("gbeng").slice(0, -2), `\u{1F3F4}${hidden("gbeng")}`],
  ["two joiners in one place", "\u06cc\u200c\u200c\u062e", "\u06cc\\u200c\\u200c\u062e"],
  ["a joiner at the end of a word", "\u06cc\u200c x", "\u06cc\\u200c x"],
  ["a joiner between Latin letters", "pay\u200cpal", "pay\\u200cpal"],
  ["a joiner at the end of an emoji", "\u{1F600}\u200d", "\u{1F600}\\u200d"],
])("R8: %s is no part of the text, and is written out", (_kind, text, shown) => {
  expect(visible(text)).toBe(shown);
});

test("escaped text is not escaped again", () => {
  const once = visible("a\u0000\nb\u200b\u{e0041}");
  expect(visible(once)).toBe(once);
  expect(visibleLines("a\u0007\nb")).toBe("a\\x07\nb");
});

test("R8: escaped JSON has the same value", () => {
  const value = {
    "na\u202eme":
      '\u0000\u0007\u001b[2J\u007f\u009b2J\u061c\u2028\u{e0041}\u{e0100}\u3164\ud800\ufffe "\\\n\t\u2764\ufe0f',
  };
  const text = visibleJson(JSON.stringify(value));
  expect(text).toBe(
    String.raw`{"na\u202eme":"\u0000\u0007\u001b[2J\u007f\u009b2J\u061c\u2028\udb40\udc41\udb40\udd00\u3164\ud800\ufffe \"\\\n\t❤️"}`,
  );
  expect(JSON.parse(text)).toEqual(value);
});

test.each([
  "\u{1F600}\u200d\u200c\u06cc\u0915\u094d\ufe0f\u{1F3F4}\u{e0067}",
  "\u{e0061}",
  "\u{1f3f4}\u{e0067}\u{e0062}",
])("R8: long and hostile text is written out in linear time: %j", async (piece) => {
  const text = piece.repeat(1_000_000 / piece.length);
  expect(await cpuMsOf(() => visible(text))).toBeLessThan(10_000);
});

function flag(region: string): string {
  return `\u{1F3F4}${tags(region)}\u{e007f}`;
}

function tags(text: string): string {
  return Array.from(text, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
}

function hidden(text: string): string {
  return Array.from(tags(text), (tag) => `\\u{${tag.codePointAt(0)?.toString(16)}}`).join("");
}
