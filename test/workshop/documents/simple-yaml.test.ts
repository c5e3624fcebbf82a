import { stringify } from "yaml";
import { describe, expect, test } from "vitest";
import { readLibraryYaml } from "../../../src/workshop/documents/text/library-yaml.ts";
import { readSimpleYaml } from "../../../src/workshop/documents/text/simple-yaml.ts";
import { isFull } from "../../fixtures/depth.ts";
import { Random } from "./random-documents.ts";

const LIMITS = { values: 10_000, depth: 50 };
const TEXTS = Number(process.env["NEXUS_DOCUMENTS"] ?? (isFull ? 2_000 : 1_000));

const WORDS = [
  "a",
  "b c",
  "",
  " ",
  "x: y",
  "x #y",
  "#z",
  "- d",
  "a\nb",
  "a\n\nb\n",
  "  lead\ntext\n",
  "trail  ",
  "tab\tx",
  "'q'",
  '"d"',
  "null",
  "~",
  "true",
  "No",
  "off",
  "1",
  "-1.5",
  "0x1F",
  "0o17",
  "1e3",
  ".5",
  "+7",
  "012",
  "2020-01-01",
  "9223372036854775807",
  ".inf",
  "[x]",
  "{y}",
  "&a",
  "*a",
  "!t",
  "| p",
  "> q",
  "%",
  "@",
  "`",
  "?",
  "? k",
  ":",
  "-",
  "---",
  "...",
  "<<",
  "é\u00a0ü",
  "\u2028",
  "😀",
  "\\n",
  "a\\",
  "key",
  "long ".repeat(30),
  "l\n m\n\n\n n\n",
  "\n",
  "\n\nx",
  "x\n\n",
  "\ttab",
  "a:b",
  "http://a.example/#x",
  "__proto__",
];
const PIECES = [
  "",
  "\n",
  "\n  ",
  "\n    ",
  " ",
  "  ",
  "- ",
  ": ",
  ":",
  "#",
  " #",
  ",",
  "[",
  "]",
  "{",
  "}",
  "'",
  '"',
  "|\n",
  ">-\n",
  "|+\n",
  "&a ",
  "*a",
  "\\",
  "---\n",
  "\t",
  "x",
  "? ",
];

function tree(random: Random, depth: number): unknown {
  const kind = depth === 0 ? 0 : random.below(5);
  if (kind < 2) return random.of([...WORDS, null, true, 0, 1.5, -3, 1e21]);
  if (kind === 2) return Array.from({ length: random.below(4) }, () => tree(random, depth - 1));
  return Object.fromEntries(Array.from({ length: random.below(5) }, () => [random.of(WORDS), tree(random, depth - 1)]));
}

function written(random: Random): string {
  return stringify(tree(random, 4), {
    lineWidth: random.of([0, 20, 80]),
    indent: random.of([2, 4]),
    indentSeq: random.below(2) === 0,
    collectionStyle: random.of(["any", "any", "block", "flow"] as const),
    defaultStringType: random.of([
      "PLAIN",
      "PLAIN",
      "QUOTE_SINGLE",
      "QUOTE_DOUBLE",
      "BLOCK_LITERAL",
      "BLOCK_FOLDED",
    ] as const),
    simpleKeys: true,
    aliasDuplicateObjects: false,
  });
}

function scrambled(text: string, random: Random): string {
  let result = text;
  for (let changes = 1 + random.below(2); changes > 0; changes--) {
    const at = random.below(result.length + 1);
    result = result.slice(0, at) + random.of(PIECES) + result.slice(at + random.below(3));
  }
  return result;
}

function byLibrary(text: string): unknown {
  try {
    return readLibraryYaml(text, LIMITS).value;
  } catch (error) {
    return error;
  }
}

describe("the reader of simple YAML", () => {
  test("it gives what the library gives, or leaves the text to it", () => {
    let read = 0;
    for (let seed = 1; seed <= TEXTS; seed++) {
      const random = new Random(seed);
      const text = seed % 2 === 0 ? written(random) : scrambled(written(random), random);
      const simple = readSimpleYaml(text, LIMITS);
      if (!simple) continue;
      read++;
      expect(byLibrary(text), `text ${seed}: ${JSON.stringify(text)}`).toEqual(simple.value);
    }
    expect(read).toBeGreaterThan(TEXTS / 4);
  });

  test.each([
    ["# c\n---\na: 1 # x\n\nb:\n- 1\n-\n  - 2\n- - 3\n  - 4\nc:\n", { a: 1, b: [1, [2], [3, 4]], c: null }],
    ["a: &x\n  b: 1\nc: *x\nd: &y [1]\ne: *y\n", { a: { b: 1 }, c: { b: 1 }, d: [1], e: [1] }],
    ["a: one\n  two\n\n  three\nb: 'x\n\n  y'\nc: \"x \\\n  y\"\n", { a: "one two\nthree", b: "x\ny", c: "x y" }],
    ["a: |\n  x\n   y\n\n  z\n\nb: >-\n  x\n  y\n\n  z\nc: |2\n   x\n", { a: "x\n y\n\nz\n", b: "x y\nz", c: " x\n" }],
    ['a: { "b":1, c: [x, "y", {}] , }\n', { a: { b: 1, c: ["x", "y", {}] } }],
  ])("%j is simple", (text, value) => {
    expect(readSimpleYaml(text, LIMITS)?.value).toEqual(value);
    expect(byLibrary(text)).toEqual(value);
  });

  test.each([
    "a: !!str 1\n",
    "a: 1\n---\nb: 2\n",
    "? a\n: b\n",
    "a: *b\n",
    "a: b: c\n",
    "<<: { a: 1 }\n",
    "a:\tb\n",
    "a: [1\n",
  ])("%j is left to the library", (text) => {
    expect(readSimpleYaml(text, LIMITS)).toBeUndefined();
  });

  test("aliases count as what they stand for", () => {
    const lines = Array.from(
      { length: 9 },
      (_, level) => `l${level + 1}: &l${level + 1} [${Array(9).fill(`*l${level}`).join(", ")}]`,
    );
    const text = ["l0: &l0 x", ...lines, ""].join("\n");
    expect(() => readSimpleYaml(text, LIMITS)).toThrow("has more than 10000 values");
    const deep = [
      "l0: &l0 [x]",
      ...Array.from({ length: 60 }, (_, level) => `l${level + 1}: &l${level + 1} [*l${level}]`),
      "",
    ];
    expect(() => readSimpleYaml(deep.join("\n"), LIMITS)).toThrow("is nested deeper than 50 levels");
  });
});
