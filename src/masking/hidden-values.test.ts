import { inspect } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { HiddenValues } from "./hidden-values.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { cpuClock } from "../../test/fixtures/cpu-time.ts";
import { examples } from "../../test/fixtures/depth.ts";

test("P1.9: values are masked in plain text, line by line, and in JSON and URLs", () => {
  const hidden = new HiddenValues(["s3cret/+token", "first line\nsecond line", "short", 'quo"ted!', "ü-s3cret"]);
  expect(hidden.in("a s3cret/+token b s3cret%2F%2Btoken")).toBe("a ••• b •••");
  expect(hidden.in("> second line <")).toBe("> ••• <");
  expect(hidden.in(JSON.stringify({ a: 'quo"ted!' }))).toBe(`{"a":"•••"}`);
  expect(hidden.in("a%20s3cret%252F%252Btoken, s3cret%2f+token")).toBe("a%20•••, •••");
  expect(hidden.in(JSON.stringify(JSON.stringify(["first line\nsecond line"])))).toBe(String.raw`"[\"•••\"]"`);
  expect(hidden.in(String.raw`%C3%BC-s3cret \u00fc-s3cret`)).toBe("••• •••");
  expect(hidden.in("first%20line first+line first\tline")).toBe("••• ••• •••");
  expect(hidden.in("nothing + here\\, 100%")).toBe("nothing + here\\, 100%");
});

test("P1.9: a value is masked inside Base64 at any position, and across line breaks", () => {
  const hidden = new HiddenValues(["s3cret/+token?>"]);
  for (const before of ["", "u", "us", "use", "user:"]) {
    for (const encoding of ["base64", "base64url"] as const) {
      const shown = hidden.in(`Basic ${Buffer.from(`${before}s3cret/+token?>`).toString(encoding)}!`);
      expect(shown).toMatch(/^Basic [\w+/-]{0,7}•••[\w+/=-]{0,4}!$/);
    }
  }
  expect(hidden.in("a s3cret/\n+tok\r\n  en?> b")).toBe("a ••• b");
});

test("P1.9: a short value is masked only as a whole word", () => {
  const hidden = new HiddenValues(["short", "1", "ab"]);
  expect(hidden.in("short, but shorter: 1 ab")).toBe("•••, but shorter: 1 ab");
});

test("P1.9: very many and very long values take little time, hostile text too", () => {
  const values = Array.from({ length: 200 }, (_, index) => `${index}${'/"ü'.repeat(100)}`);
  const spent = cpuClock();
  const hidden = new HiddenValues(["a".repeat(400_000), ...values]);
  const pieces = hidden.pieces();
  for (const text of [" ".repeat(500_000), "\\".repeat(500_000), "%25".repeat(200_000), "+\n".repeat(200_000)]) {
    expect(hidden.in(text)).toBe(text);
    pieces.next(text);
  }
  expect(hidden.in(`${values[7]} `.repeat(5_000))).toBe("••• ".repeat(5_000));
  expect(spent()).toBeLessThan(20_000);
});

test("P1.9: a value that arrives in two pieces is masked, and nothing else is lost or delayed", () => {
  const pieces = new HiddenValues(["s3cret-token"]).pieces();
  expect([pieces.next("a s3cr"), pieces.next("et-token b\n"), pieces.next("is s3"), pieces.rest()]).toEqual([
    "a ",
    "••• b\n",
    "is ",
    "s3",
  ]);
  const more = new HiddenValues(["s3cret/token"]).pieces();
  expect([more.next("x=s3cret%2"), more.next("Ftoken\nas"), more.next("\ns3cret/\n"), more.next("token\n")]).toEqual([
    "x=",
    "•••\na",
    "s\n",
    "•••\n",
  ]);
});

test("P1.9: the values are masked in all parts of an error, and cannot be read back", () => {
  const hidden = new HiddenValues(["s3cret-token"]);
  const error = new NexusError("SERVER_EXITED", "It said: s3cret-token", {
    stderr: ["bad s3cret-token"],
    rpc: { code: 1, message: "m", data: { token: "s3cret-token" } },
    cause: Object.assign(new Error("s3cret-token"), { code: "EX" }),
    server: "s3cret-token",
    hint: "h",
  });
  const shown = hidden.inError(error);
  expect(shown).toMatchObject({ code: "SERVER_EXITED", message: "It said: •••", hint: "h", cause: { code: "EX" } });
  // A server's name is in every error about it, and no secret.
  const { server: _server, ...details } = shown.details;
  expect(
    inspect([shown.message, shown.stack, shown.cause, details, hidden], { depth: 9, showHidden: true }),
  ).not.toContain("s3cret-token");
  expect(JSON.stringify({ hidden })).toBe("{}");
});

const KEY = "Tk-5f0c/2b7e+91d34";

test.each([
  ["large letters", KEY.toUpperCase()],
  ["hexadecimal digits", Buffer.from(KEY).toString("hex").toUpperCase()],
  ["letters with joiners of no width", Array.from(KEY).join("\u200b")],
  ["a longer text in Base64", Buffer.from(`u:${KEY}, more`).toString("base64")],
])("a value that is repeated in %s is masked, also in pieces (X9)", (_, form) => {
  const hidden = new HiddenValues([KEY]);
  expect(hidden.in(`before ${form} after`)).toMatch(/^before \S*•••\S* after$/u);
  const pieces = hidden.pieces();
  const shown = Array.from(`before ${form} after`, (letter) => pieces.next(letter)).join("") + pieces.rest();
  expect(shown).toMatch(/^before \S*•••\S* after$/u);
});

function hiding(...values: string[]): HiddenValues {
  const hidden = new HiddenValues();
  for (const value of values) hidden.hide(value);
  return hidden;
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
      const hidden = hiding(value);
      expect(hidden.in(`${before} ${value} ${after}`)).not.toContain(value);
      expect(hidden.in("nothing to see")).toBe("nothing to see");
    }),
  );
});

test("a value is not searched text by text only if its JSON holds no secret in any form", () => {
  const part = fc.constantFrom("a", "B7", '"', "\\", "/", "\n", "\t", " ", "\u0001", "ö", "😀", "&", "<", "%", "'");
  const secret = fc
    .array(part, { minLength: 8, maxLength: 12 })
    .map((parts) => `k${parts.join("")}k`)
    // Without what is not read, it may be too short to be searched everywhere.
    .filter((text) => !hiding(text).hasShort);
  const way = fc.constantFrom<(text: string) => string>(
    (text) => text,
    encodeURIComponent,
    (text) => JSON.stringify(text).slice(1, -1),
    (text) => Buffer.from(text).toString("base64"),
  );
  fc.assert(
    fc.property(secret, way, part, (value, written, around) => {
      const hidden = hiding(value);
      const answer = { list: [{ name: `${around}${written(value)}${around}` }] };
      expect(hidden.isAbsentFrom(JSON.stringify(answer))).toBe(false);
      expect(hidden.isAbsentFrom(JSON.stringify({ [written(value)]: 1 }))).toBe(false);
      expect(hidden.isAbsentFrom(JSON.stringify({ list: [value.slice(0, 5)] }))).toBe(true);
    }),
    { numRuns: examples(500) },
  );
  expect(hiding("675").isAbsentFrom(`{"a":1}`)).toBe(false);
  expect(hiding().isAbsentFrom("{}")).toBe(true);
});

test("of tokens that are replaced often, the ones in use are masked, and no more are searched for with time", () => {
  const hidden = hiding("a-lasting-secret");
  const token = (index: number) => `token-${index}-${"x".repeat(400)}`;
  for (let index = 0; index < 2_000; index++) {
    hidden.add(["used-by-every-call"]);
    hidden.add([token(index)]);
  }
  expect(hidden.in(`a-lasting-secret used-by-every-call ${token(1_999)} ${token(1_990)}`)).not.toMatch(
    /lasting|used|token/,
  );
  expect(hidden.in(token(0))).toBe(token(0));
  expect(hidden.isAbsentFrom(JSON.stringify({ id: token(1_999) }))).toBe(false);
});

const INSIDE = [0, 1, 2, 3, 4].map((before) => Buffer.from(`${"user:".slice(0, before)}${KEY}, and more`));

function hex(letter: string): string {
  return Buffer.from(letter).toString("hex");
}

test.each<[way: string, form: string]>([
  ["large letters", KEY.toUpperCase()],
  ["small letters", KEY.toLowerCase()],
  ["hexadecimal digits", Buffer.from(KEY).toString("hex")],
  ["large hexadecimal digits", Buffer.from(KEY).toString("hex").toUpperCase()],
  ["a longer text in hexadecimal digits", Buffer.from(`user:${KEY}!`).toString("hex")],
  ["letters with joiners of no width", Array.from(KEY).join("\u200b")],
  ["letters with one soft hyphen", `${KEY.slice(0, 4)}\u00ad${KEY.slice(4)}`],
  ["letters with tags and marks", `${KEY.slice(0, 4)}\u{e0041}\u2060\ufeff${KEY.slice(4)}`],
  ["percent signs for ordinary letters", Array.from(KEY, (letter) => `%${hex(letter)}`).join("")],
  ["one percent sign for an ordinary letter, encoded twice", KEY.replace("5", "%2535")],
  ["escapes of ordinary letters", Array.from(KEY, (letter) => `\\u00${hex(letter)}`).join("")],
  ["numbers of markup for ordinary letters", Array.from(KEY, (letter) => `&#x${hex(letter)};`).join("")],
  ["Base64 of Base64", Buffer.from(INSIDE[0]?.toString("base64") ?? "").toString("base64")],
  ["Base64 of other Base64", Buffer.from(`u=${INSIDE[2]?.toString("base64url")}`).toString("base64url")],
  ["an address with joiners", Array.from(encodeURIComponent(KEY)).join("\u200d")],
  ...INSIDE.map((text) => ["a longer text in Base64", text.toString("base64")] as [string, string]),
  ...INSIDE.map((text) => ["a longer text in Base64 of addresses", text.toString("base64url")] as [string, string]),
])("a secret that upstream repeats in %s is masked (X9)", (_, form) => {
  const hidden = hiding(KEY);
  const shown = hidden.in(`before ${form} after`);
  expect(shown).toMatch(/^before .*•••.* after$/u);
  expect(shown.length).toBeLessThan(`before ${form} after`.length - KEY.length / 2);
  expect(hidden.inAll({ a: [form] })).not.toEqual({ a: [form] });
  expect(hidden.isAbsentFrom(JSON.stringify({ a: [form] }))).toBe(false);
});

test.each([
  ["tk-secret/value", String.raw`DOMAIN\tk-secret/value`, String.raw`DOMAIN\•••`],
  ["deadbeef-value", "100%deadbeef-value", "100%•••"],
  ["0000", "line\n0000\nline", "line\n•••\nline"],
  ["4711", "47\n11", "47\n11"],
])("the value %s is told from what stands before it in %j", (value, text, shown) => {
  expect(hiding(value).in(text)).toBe(shown);
});

test("ordinary texts stay as they are beside secrets in other forms", () => {
  const hidden = hiding(KEY, "0000", "pin42", "partner");
  const text = "30303030 pins, a Partn er, 70696e3432, \u200bsoft\u00adly, 👩‍👩‍👧 and naïve";
  expect(hidden.in(text)).toBe(text);
  expect(hiding(KEY).isAbsentFrom(JSON.stringify({ text }))).toBe(true);
});

test("a text with characters that cannot be seen keeps them around what is masked", () => {
  const form = Array.from(KEY).join("\u200b");
  expect(hiding(KEY).in(`a\u200bb ${form} c\u200bd ${KEY} e\u200b`)).toBe("a\u200bb ••• c\u200bd ••• e\u200b");
});

test("the time to mask a text is linear in its length", () => {
  const hidden = hiding(KEY, "partner-name", "0000");
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
    hidden.in(text);
    expect(performance.now() - start).toBeLessThan(5_000);
  }
});
