import { describe, expect, test } from "vitest";
import { definitionDifferences } from "../../host/definitions/definition-difference.ts";
import { differenceLines } from "./changes.ts";

const PLAIN = { style: (_style: unknown, text: string) => text };

function linesOf(kind: Parameters<typeof definitionDifferences>[0], before: unknown, after: unknown): string[] {
  return definitionDifferences(kind, before, after).flatMap((difference) => differenceLines(difference, PLAIN));
}

describe("differences of definitions", () => {
  test("are told as people read a tool: texts, arguments, annotations, everything else", () => {
    const before = {
      name: "pay",
      description: "Pays",
      inputSchema: { type: "object", properties: { to: { type: "string" }, old: {} }, required: ["to"] },
      annotations: { readOnlyHint: true },
    };
    const after = {
      name: "pay",
      _meta: { "a.b": 1 },
      description: "Pays twice",
      inputSchema: {
        type: "object",
        properties: { to: { type: ["string", "null"] }, amount: { type: "number" } },
        required: ["amount"],
      },
      annotations: { readOnlyHint: false },
    };
    expect(linesOf("tools", before, after)).toEqual([
      "  description",
      "    - Pays",
      "    + Pays twice",
      "  argument to: type",
      "    - string",
      '    + ["string","null"]',
      "  argument old (removed)",
      "    - {}",
      "  argument amount (added)",
      '    + {"type":"number"}',
      "  argument amount: required",
      "    - false",
      "    + true",
      "  argument to: required",
      "    - true",
      "    + false",
      "  annotations.readOnlyHint",
      "    - true",
      "    + false",
      "  _meta (added)",
      '    + {"a.b":1}',
    ]);
  });

  test("of prompts name their arguments, and every difference has a JSON pointer", () => {
    const before = { name: "p", arguments: [{ name: "a" }, { name: "b" }] };
    const after = { name: "p", arguments: [{ name: "b", required: true }], "x/y": { "~": 1 } };
    expect(definitionDifferences("prompts", before, after)).toMatchObject([
      { place: "argument a", what: "removed", pointer: "/arguments/a" },
      { place: "argument b: required", what: "added", after: true },
      { place: '["x/y"]', what: "added", pointer: "/x~1y" },
    ]);
    expect(definitionDifferences("tools", { required: 1 }, { required: 1 })).toEqual([]);
    expect(definitionDifferences("tools", [before], after)).toMatchObject([{ place: "the whole definition" }]);
  });

  test("also show a change of order, which has a hash of its own", () => {
    const schema = (required: string[]) => ({ inputSchema: { required } });
    const found = definitionDifferences("tools", schema(["a", "b"]), schema(["b", "a"]));
    expect(found).toMatchObject([{ place: "inputSchema.required", what: "changed" }]);
    const prompt = (...names: string[]) => ({ arguments: names.map((name) => ({ name })) });
    expect(definitionDifferences("prompts", prompt("a", "b"), prompt("b", "a"))).toMatchObject([
      { place: "arguments", what: "changed", before: [{ name: "a" }, { name: "b" }] },
    ]);
  });

  test("show invisible characters, and do not let a text look like lines of ours", () => {
    const lines = linesOf("tools", { description: "a" }, { description: "a\u202e\u001b[31m\n+ annotations" });
    for (const unseen of ["\u202e", "\u001b"]) expect(lines.join("\n")).not.toContain(unseen);
    expect(lines.every((line) => line.startsWith("  "))).toBe(true);
    expect(lines).toContain("    + + annotations");
  });

  test("of long texts are marked by word, and of long paragraphs by line", () => {
    const long = `${"word ".repeat(40)}end`;
    const [, line = ""] = linesOf("tools", { description: `${long} one` }, { description: `${long} two three` });
    expect(line).toMatch(/ … .*\[-one-\]\{\+two three\+\}$/);
    const many = Array.from({ length: 9 }, (_, index) => `line ${index}`);
    const changed = many.with(4, "other");
    expect(linesOf("tools", { description: many.join("\n") }, { description: changed.join("\n") })).toEqual([
      "  description",
      "      … 2 lines without changes",
      "      line 2",
      "      line 3",
      "    - line 4",
      "    + other",
      "      line 5",
      "      line 6",
      "      … 2 lines without changes",
    ]);
  });
});
