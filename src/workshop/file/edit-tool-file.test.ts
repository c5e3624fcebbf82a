import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { editToolFile } from "./edit-tool-file.ts";

const FILE = `# What this is.
nexus: 1
api: small # the id
documents:
  # Keep it beside this file.
  manual: { file: manual.md, sha256: "000" } # read on Monday

types:
  Query:
    fields:
      size: { wire: "@size", codes: { 0: no, 1: on }, # in litres
              default: no }
      # Anything.
      text:
        description: >-
          Two
          lines.
        type: string # as it is
      tags: [
        one, # first
        two # last
      ]
`;

test("one value changes and nothing else, in any surroundings", () => {
  expect(editToolFile(FILE, [{ path: ["documents", "manual", "sha256"], value: "fff" }])).toBe(
    FILE.replace('"000"', '"fff"'),
  );
  expect(editToolFile(FILE, [{ path: ["api"], value: "other" }])).toBe(FILE.replace("api: small", "api: other"));
  expect(editToolFile(FILE, [{ path: ["types", "Query", "fields", "size", "codes", 1], value: "a, b" }])).toBe(
    FILE.replace("1: on", '1: "a, b"'),
  );
  expect(editToolFile(FILE, [{ path: ["types", "Query", "fields", "text", "type"], value: "1" }])).toBe(
    FILE.replace("type: string", 'type: "1"'),
  );
  expect(editToolFile(FILE, [{ path: ["types", "Query", "fields", "tags", 1], value: { a: 1 } }])).toBe(
    FILE.replace("two #", "{ a: 1 } #"),
  );
});

test("members are added and removed inside brackets, on one line or several", () => {
  expect(editToolFile(FILE, [{ path: ["documents", "manual", "title"], value: "Guide" }])).toBe(
    FILE.replace('"000" }', '"000", title: Guide }'),
  );
  expect(editToolFile(FILE, [{ path: ["documents", "manual", "sha256"], remove: true }])).toBe(
    FILE.replace(', sha256: "000" }', " }"),
  );
  expect(editToolFile(FILE, [{ path: ["documents", "manual", "file"], remove: true }])).toBe(
    FILE.replace("file: manual.md, ", ""),
  );
  expect(editToolFile(FILE, [{ path: ["types", "Query", "fields", "size", "default"], remove: true }])).toContain(
    "# in litres",
  );
  expect(editToolFile(FILE, [{ path: ["types", "Query", "fields", "tags", 2], value: "three" }])).toBe(
    FILE.replace("two # last", "two, # last\n        three"),
  );
  expect(editToolFile(FILE, [{ path: ["types", "Query", "fields", "tags", 0], remove: true }])).toBe(
    FILE.replace("        one, # first\n", ""),
  );
});

test("members are added and removed in blocks, with their comments", () => {
  const added = editToolFile(FILE, [{ path: ["types", "Query", "fields", "more"], value: { type: "date" } }]);
  expect(added.startsWith(FILE)).toBe(true);
  expect(added).toContain("      more:\n        type: date\n");
  const removed = editToolFile(FILE, [{ path: ["types", "Query", "fields", "text"], remove: true }]);
  expect(removed).not.toContain("Anything.");
  expect(removed).toContain("# in litres");
  expect(editToolFile(FILE, [{ path: ["title"], value: "New" }])).toBe(`${FILE}title: New\n`);
});

test("missing parents are created; a change that is not possible in place formats the file again, with its comments", () => {
  const deep = editToolFile(FILE, [{ path: ["tools", "find", "limits", "retries"], value: 2 }]);
  expect(parse(deep)).toMatchObject({ tools: { find: { limits: { retries: 2 } } } });
  const block = editToolFile(FILE, [{ path: ["types", "Query", "fields", "text"], value: "x" }]);
  expect(parse(block)).toMatchObject({ types: { Query: { fields: { text: "x" } } } });
  for (const comment of ["# What this is.", "# the id", "# read on Monday", "# first", "# last"]) {
    expect(block).toContain(comment);
  }
});

test("several changes one after the other, and line ends of Windows", () => {
  const windows = FILE.replaceAll("\n", "\r\n");
  const edited = editToolFile(windows, [
    { path: ["api"], value: "other" },
    { path: ["documents", "manual", "title"], value: "Guide" },
    { path: ["version"], value: "2.0" },
  ]);
  expect(edited.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
  expect(parse(edited)).toMatchObject({ api: "other", version: "2.0", documents: { manual: { title: "Guide" } } });
});

test("any change of the examples keeps the rest and every comment", () => {
  const text = readFileSync("api/capcorn/capcorn.nexus.yaml", "utf8");
  const paths = pathsIn(parse(text));
  const comments = (given: string) => (given.match(/(?<=^|\s)#[^\n]*/gm) ?? []).length;
  fc.assert(
    fc.property(
      fc.constantFrom(...paths),
      fc.constantFrom<unknown>("word", "a: b, [c]", 7, true, ["x"]),
      (path, value) => {
        const edited = editToolFile(text, [{ path, value }]);
        const expected = structuredClone(parse(text)) as Record<string, unknown>;
        const parent = path.slice(0, -1).reduce<Record<string, unknown>>((node, key) => node[key] as never, expected);
        parent[path.at(-1) ?? ""] = value;
        expect(parse(edited)).toEqual(expected);
        expect(comments(edited)).toBe(comments(text));
      },
    ),
    { numRuns: 12 },
  );
});

/** Of all single values. */
function pathsIn(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (Array.isArray(value)) return value.flatMap((item, index) => pathsIn(item, [...path, index]));
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([key, member]) => pathsIn(member, [...path, key]));
}
