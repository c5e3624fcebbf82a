import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { compileApi } from "../../compile/compile.ts";
import { nodeOf, plainValue } from "../../../source/source-node.ts";
import { readToolFile } from "../read-tool-file.ts";
import { writtenOut } from "./short-forms.ts";

const SMALL = readFileSync("test/fixtures/tool-files/small.nexus.yaml", "utf8");
const MANUAL = Array.from({ length: 20 }, (_, line) => `line ${line}`).join("\n");

function hashOf(text: string): string {
  const { file, problems } = readToolFile(text, "small.nexus.yaml");
  if (!file) throw new Error(JSON.stringify(problems));
  return compileApi(file, { manual: MANUAL }).api.hash;
}

function edited(...changes: readonly (readonly [from: string, to: string])[]): string {
  return changes.reduce((text, [from, to]) => {
    expect(text, "the fixture has it").toContain(from);
    return text.replace(from, () => to);
  }, SMALL);
}

function problemsOf(text: string): string[] {
  return readToolFile(text, "small.nexus.yaml").problems.map(
    ({ line, path, message, hint }) => `${line} ${path}: ${message} (${hint ?? ""})`,
  );
}

describe("a short form means the same as the long one", () => {
  test.each<[string, string, string]>([
    ["a type and lines", "{ type: string, evidence: manual#L1 }", "string [L1]"],
    [
      "a list",
      `{ wire: "tags/tag[]", list: string, maxItems: 3, optional: true, evidence: manual#L3 }`,
      "list of string ..3 optional at tags/tag[] [L3]",
    ],
    [
      "a wire path",
      `{ wire: "@until", type: date, optional: true, evidence: manual#L4-L5 }`,
      "date optional at @until [manual#L4-L5]",
    ],
    ["words", `{ wire: ".", type: string, whitespace: collapse, evidence: manual#L9 }`, "string collapse at . [L9]"],
    [
      "more beside it",
      "{ value: count(notes), type: integer, evidence: manual#L7 }",
      `{ is: "integer [L7]", value: count(notes) }`,
    ],
    ["several lines", "[manual#L6, manual#L8-L9]", `"L6, L8-L9"`],
  ])("for %s", (_, long, short) => {
    expect(hashOf(edited([long, short]))).toBe(hashOf(SMALL));
  });

  test("for a description, a default and limits", () => {
    const long = `{ type: integer, minimum: 1, maximum: 9, default: 2, description: "How many - or fewer.", evidence: manual#L4 }`;
    const short = "integer 1..9 = 2 [L4] - How many - or fewer.";
    const from = "{ type: date, evidence: manual#L4 }";
    const rule = [
      "      - { that: until > from, say: until must be after from, evidence: manual#L5 }",
      "      []",
    ] as const;
    expect(hashOf(edited([from, short], rule))).toBe(hashOf(edited([from, long], rule)));
  });

  test("for wire paths that begin alike", () => {
    const paths = [`"tags/tag[]"`, `"data/tags/tag[]"`] as const;
    const long = edited(paths);
    const short = edited(
      [`"@size"`, "/@size"],
      [`wire: "@until"`, `wire: "/@until"`],
      ["    xml: { element: query }", "    xml: { element: query }\n    wire: data/"],
    );
    expect(hashOf(short)).toBe(hashOf(long));
  });
});

test("a check like another one takes over its arguments, and null removes a member", () => {
  const more = `      - name: another shop
        like: a shop with things
        call: { shop: b, size: null }
        expect: { text: Found }
    evidence: manual#L1`;
  const { file } = readToolFile(edited(["    evidence: manual#L1\n\nfake", `${more}\n\nfake`]), "small.nexus.yaml");
  expect(file?.tools["find"]?.checks[1]).toMatchObject({
    name: "another shop",
    call: { shop: "b", from: "2025-12-17" },
  });
  expect(file?.tools["find"]?.checks[1]?.call).not.toHaveProperty("size");
});

test("a check may be like an example, and maps in it are merged", () => {
  const tool = {
    examples: [{ title: "usual", arguments: { shop: "a", deep: { a: 1, b: 2 } } }],
    checks: [{ name: "other", like: "usual", call: { deep: { a: null, c: 3 }, list: [null] } }],
  };
  const { tree, misuses } = writtenOut(nodeOf({ tools: { find: tool } }));
  expect(misuses).toEqual([]);
  expect(plainValue(tree)).toEqual({
    tools: { find: { ...tool, checks: [{ name: "other", call: { shop: "a", deep: { b: 2, c: 3 }, list: [null] } }] } },
  });
});

describe("a mistake in a short form is reported at its line", () => {
  test.each<[string, string, string]>([
    [
      "{ type: string, evidence: manual#L1 }",
      "strin [L1]",
      `15 types.Query.fields.shop.type: there is no type "strin" (Did you mean "string"?)`,
    ],
    [
      "{ type: string, evidence: manual#L1 }",
      "string maybe [L1]",
      `15 types.Query.fields.shop: does not know the word "maybe"`,
    ],
    [
      "{ type: string, evidence: manual#L1 }",
      "string [L99999999]",
      `15 types.Query.fields.shop.evidence: "L99999999" names no part`,
    ],
    ["{ type: date, evidence: manual#L4 }", "date 1..3 [L4]", "has the range 1..3, which is for string"],
    ["{ type: date, evidence: manual#L4 }", "date optional optional [L4]", "says optional twice"],
    [
      "{ type: date, evidence: manual#L4 }",
      `{ is: "date [L4]", type: date }`,
      `types.Query.fields.from.type: "is" already says it`,
    ],
    [
      `call: { shop: a, size: on, from: "2025-12-17" }`,
      "like: a shop with thing",
      `no example or check before it is called "a shop with thing"`,
    ],
  ])("%s → %s", (from, to, expected) => {
    expect(problemsOf(edited([from, to])).join("\n")).toContain(expected);
  });

  test("lines without a document are refused if there are two documents", () => {
    const second = `  other: { file: other.md, sha256: "0000000000000000000000000000000000000000000000000000000000000000" }\nupstream:`;
    const problems = problemsOf(edited(["upstream:", second], ["{ type: date, evidence: manual#L4 }", "date [L4]"]));
    expect(problems.join("\n")).toContain(`"L4" does not name one of 2 documents`);
  });
});
