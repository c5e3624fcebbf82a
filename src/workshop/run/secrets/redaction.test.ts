import fc from "fast-check";
import { expect, test } from "vitest";
import { examples } from "../../../../test/fixtures/depth.ts";
import { Redaction } from "./redaction.ts";

function hiding(...values: string[]): Redaction {
  const redaction = new Redaction();
  for (const value of values) redaction.hide(value);
  return redaction;
}

test("a secret is masked in plain text, addresses, forms, JSON, markup and Base64 (X9)", () => {
  const value = `p&ss "w+rd" <ö>`;
  const forms = [
    value,
    encodeURIComponent(value),
    encodeURIComponent(value).toLowerCase(),
    new URLSearchParams({ a: value }).toString(),
    JSON.stringify(value),
    `<a>p&amp;ss &quot;w+rd&quot; &lt;ö&gt;</a>`,
    Buffer.from(value).toString("base64"),
    Buffer.from(value).toString("base64url"),
  ];
  for (const form of forms) {
    const shown = hiding(value).in(`before ${form} after`);
    expect(shown).toMatch(/^before .*•••.* after$/);
    expect(shown).not.toContain("rd");
  }
});

test.each([
  ["markup that escapes no quotes", `p"w&amp;d'&lt;ö>/1`],
  ["markup with numbers", `p&#34;w&#38;d&#39;&#60;&#246;&#62;/1`],
  ["markup with hexadecimal numbers", `p&#x22;w&#x26;d&#x27;&#x3C;&#xF6;&#x3e;/1`],
  ["markup inside of markup", `p&amp;quot;w&amp;amp;d&amp;#39;&amp;lt;ö&amp;gt;/1`],
  ["JSON in ASCII, with slashes escaped", String.raw`p\"w&d'<\u00f6>\/1`],
  ["JSON made safe for pages", String.raw`p\u0022w\u0026d\u0027\u003C\u00F6\u003E/1`],
  ["JSON inside of JSON", JSON.stringify(JSON.stringify(`p"w&d'<ö>/1`)).slice(3, -3)],
  ["an address inside of an address", encodeURIComponent(encodeURIComponent(`p"w&d'<ö>/1`))],
  ["an address of an older server", "p%22w%26d%27%3C%F6%3E%2F1"],
  ["an address in which little is encoded", `p%22w%26d'%3C%C3%B6%3E/1`],
])("a secret is hidden in %s", (_, form) => {
  expect(hiding(`p"w&d'<ö>/1`).in(`before ${form} after`)).toBe("before ••• after");
});

test("a secret is masked without the blanks around it, and with its blanks collapsed", () => {
  expect(hiding("hunter22\n").in("password hunter22 is wrong")).toBe("password ••• is wrong");
  expect(hiding("two  words").in("two words, two+words, two%20%20words")).toBe("•••, •••, •••");
  expect(hiding("      ").in("all there is to see")).toBe("all there is to see");
});

test("a short secret is masked only as a whole word", () => {
  expect(hiding("0000").in("pin=0000&hotel=90000, 10000 and 0000")).toBe("pin=•••&hotel=90000, 10000 and •••");
});

test("if one secret is inside another, both are masked completely", () => {
  expect(hiding("secret", "secret-long").in("a secret-long and a secret")).toBe("a ••• and a •••");
});

test("texts at any depth are masked, including names; numbers stay", () => {
  expect(hiding("hunter22").inAll({ a: ["x hunter22", 5], hunter22: null })).toEqual({ a: ["x •••", 5], "•••": null });
});

test("masked text never contains the secret, and text without it is unchanged", () => {
  const secret = fc
    .string({ minLength: 6, maxLength: 30, unit: "binary" })
    .filter((text) => !text.includes("•") && text.trim() !== "");
  fc.assert(
    fc.property(secret, fc.string(), fc.string(), (value, before, after) => {
      const redaction = hiding(value);
      expect(redaction.in(`${before} ${value} ${after}`)).not.toContain(value);
      expect(redaction.in("nothing to see")).toBe("nothing to see");
    }),
  );
});

test("a value is not searched text by text only if its JSON holds no secret in any form", () => {
  const part = fc.constantFrom("a", "B7", '"', "\\", "/", "\n", "\t", " ", "\u0001", "ö", "😀", "&", "<", "%", "'");
  const secret = fc.array(part, { minLength: 8, maxLength: 12 }).map((parts) => `k${parts.join("")}k`);
  const way = fc.constantFrom<(text: string) => string>(
    (text) => text,
    encodeURIComponent,
    (text) => JSON.stringify(text).slice(1, -1),
    (text) => Buffer.from(text).toString("base64"),
  );
  fc.assert(
    fc.property(secret, way, part, (value, written, around) => {
      const redaction = hiding(value);
      const answer = { list: [{ name: `${around}${written(value)}${around}` }] };
      expect(redaction.isAbsentFrom(JSON.stringify(answer))).toBe(false);
      expect(redaction.isAbsentFrom(JSON.stringify({ [written(value)]: 1 }))).toBe(false);
      expect(redaction.isAbsentFrom(JSON.stringify({ list: [value.slice(0, 5)] }))).toBe(true);
    }),
    { numRuns: examples(500) },
  );
  expect(hiding("675").isAbsentFrom(`{"a":1}`)).toBe(false);
  expect(hiding().isAbsentFrom("{}")).toBe(true);
});

test("of tokens that are replaced often, the ones in use are masked, and no more are searched for with time", () => {
  const redaction = hiding("a-lasting-secret");
  const token = (index: number) => `token-${index}-${"x".repeat(400)}`;
  for (let index = 0; index < 2_000; index++) {
    redaction.hideToken("used-by-every-call");
    redaction.hideToken(token(index));
  }
  expect(redaction.in(`a-lasting-secret used-by-every-call ${token(1_999)} ${token(1_990)}`)).not.toMatch(
    /lasting|used|token/,
  );
  expect(redaction.in(token(0))).toBe(token(0));
  expect(redaction.isAbsentFrom(JSON.stringify({ id: token(1_999) }))).toBe(false);
});

const KEY = "Tk-5f0c/2b7e+91d34";
const INSIDE = [0, 1, 2, 3, 4].map((before) => Buffer.from(`${"user:".slice(0, before)}${KEY}, and more`));

test.each<[way: string, form: string]>([
  ["large letters", KEY.toUpperCase()],
  ["small letters", KEY.toLowerCase()],
  ["hexadecimal digits", Buffer.from(KEY).toString("hex")],
  ["large hexadecimal digits", Buffer.from(KEY).toString("hex").toUpperCase()],
  ["a longer text in hexadecimal digits", Buffer.from(`user:${KEY}!`).toString("hex")],
  ["letters with joiners of no width", Array.from(KEY).join("\u200b")],
  ["letters with one soft hyphen", `${KEY.slice(0, 4)}\u00ad${KEY.slice(4)}`],
  ["letters with tags and marks", `${KEY.slice(0, 4)}\u{e0041}\u2060\ufeff${KEY.slice(4)}`],
  ["an address with joiners", Array.from(encodeURIComponent(KEY)).join("\u200d")],
  ...INSIDE.map((text) => ["a longer text in Base64", text.toString("base64")] as [string, string]),
  ...INSIDE.map((text) => ["a longer text in Base64 of addresses", text.toString("base64url")] as [string, string]),
])("a secret that upstream repeats in %s is masked (X9)", (_, form) => {
  const redaction = hiding(KEY);
  const shown = redaction.in(`before ${form} after`);
  expect(shown).toMatch(/^before .*•••.* after$/u);
  expect(shown.length).toBeLessThan(`before ${form} after`.length - KEY.length / 2);
  expect(redaction.inAll({ a: [form] })).not.toEqual({ a: [form] });
  expect(redaction.isAbsentFrom(JSON.stringify({ a: [form] }))).toBe(false);
});

test("ordinary texts stay as they are beside secrets in other forms", () => {
  const redaction = hiding(KEY, "0000", "pin42", "partner");
  const text = "30303030 pins, a Partn er, 70696e3432, \u200bsoft\u00adly, 👩‍👩‍👧 and naïve";
  expect(redaction.in(text)).toBe(text);
  expect(hiding(KEY).isAbsentFrom(JSON.stringify({ text }))).toBe(true);
});

test("a text with characters that cannot be seen keeps them around what is masked", () => {
  const form = Array.from(KEY).join("\u200b");
  expect(hiding(KEY).in(`a\u200bb ${form} c\u200bd ${KEY} e\u200b`)).toBe("a\u200bb ••• c\u200bd ••• e\u200b");
});

test("the time to mask a text is linear in its length", () => {
  const redaction = hiding(KEY, "partner-name", "0000");
  const units = [
    "5f0c",
    "\u200b",
    "T\u200b",
    "a".repeat(50),
    "%5",
    "\\u005",
    Buffer.from(KEY).toString("base64").slice(0, 12),
  ];
  for (const unit of units) {
    const text = unit.repeat(Math.ceil(2_000_000 / unit.length));
    const start = performance.now();
    redaction.in(text);
    expect(performance.now() - start).toBeLessThan(5_000);
  }
});
