import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import type { SourceNode } from "../../../source/source-node.ts";
import { readYaml } from "../../file/model/read-yaml.ts";
import { writeYaml } from "./write-yaml.ts";
import { treeOf } from "./yaml-tree.ts";

function withoutPlaces(tree: SourceNode | undefined): unknown {
  return JSON.parse(JSON.stringify(tree, (key, member: unknown) => (key === "place" ? undefined : member)));
}

const NASTY = [
  "no",
  "on",
  "1:30",
  "0x1f",
  "2024-01-01",
  "1e3",
  "~",
  "",
  " a",
  "a ",
  "a: b",
  "a #b",
  "- a",
  "? a",
  "* x",
];
const words = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.string({ unit: "grapheme", maxLength: 200 }),
  fc.constantFrom(
    ...NASTY,
    "a\nb\n\n c",
    "x\u2028y",
    "\ufeffbom",
    "tab\there",
    "a\r\nb",
    "{a}",
    "[b]",
    "a, b",
    "'q'",
    '"q"',
    "\\d+",
  ),
  fc.lorem({ maxCount: 40 }),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    words,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    tie("list"),
    tie("map"),
  ),
  list: fc.array(tie("value"), { maxLength: 5 }),
  map: fc.dictionary(words, tie("value"), { maxKeys: 5, noNullPrototype: true }),
}));

test("whatever is written is read back the same, by readers of YAML 1.1 and 1.2", () => {
  fc.assert(
    fc.property(value, fc.nat(3), fc.boolean(), (data, levels, apart) => {
      const text = writeYaml([{ key: "data", value: data, levels, apart, comment: "a\nb" }]);
      const wanted = JSON.parse(JSON.stringify({ data })) as unknown;
      expect(parse(text, { maxAliasCount: 0 })).toEqual(wanted);
      expect(parse(text, { version: "1.1" })).toEqual(wanted);
      // Without reading: the same values and sources.
      expect(withoutPlaces(treeOf([{ key: "data", value: data }]))).toEqual(withoutPlaces(readYaml(text).tree));
    }),
    { numRuns: 300 },
  );
});

test("a small map is one line, a long one a block, and long text is folded", () => {
  const long = "many words ".repeat(20).trim();
  const text = writeYaml([
    {
      key: "types",
      value: { Pet: { fields: { id: { type: "string" }, note: { description: long, type: "string" } } } },
      levels: 3,
    },
  ]);
  expect(text).toContain("      id: { type: string }\n");
  expect(text).toContain("      note:\n        description: >-\n          many words");
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(120);
});
