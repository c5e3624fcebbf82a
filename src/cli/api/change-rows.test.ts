import fc from "fast-check";
import { expect, test } from "vitest";
import { MANUAL, smallFile } from "../../../test/fixtures/workshop/small-file.ts";
import { compileApi, type CompiledApi } from "../../workshop/compile/compile.ts";
import type { ToolFile } from "../../workshop/file/model/tool-file.ts";
import { differences } from "../../workshop/review/differences.ts";
import { showChanges } from "./change-rows.ts";
import { examples } from "../../../test/fixtures/depth.ts";

function compiled(file: ToolFile): CompiledApi | undefined {
  try {
    return compileApi(file, { manual: MANUAL }).api;
  } catch {
    // Names of types lead nowhere when they are changed; such a file is never compiled.
    return undefined;
  }
}

function shown(before: CompiledApi | undefined, after: CompiledApi): string {
  const lines: string[] = [];
  const out = { line: (text = "") => void lines.push(text), style: (_: string, text: string) => text };
  showChanges(out, differences(before, after, { manual: MANUAL }));
  return lines.join("\n");
}

/** A file with long texts and lists in it. */
function longFile(): ToolFile {
  const file = smallFile();
  const find = file.tools["find"] ?? expect.fail();
  find.description = "Finds things by a word, in all shops of the town. ".repeat(4);
  find.errors = [401, 404, 409].map((status) => ({ status: [status], say: `It failed with ${status}.` }));
  find.examples = [{ title: "Tea", arguments: { q: "tea", day: "2026-01-01" } }];
  return file;
}

/** One edit of a tree, somewhere: of a text, a number, a flag, a list or an object. */
const edit = fc.record({
  at: fc.nat(),
  where: fc.nat(),
  what: fc.constantFrom("x", " ", "  ", "\n", "\u200b", "→", '"', "a b", "\\u200b"),
});
interface Edit {
  at: number;
  where: number;
  what: string;
}

function edited(file: ToolFile, edits: readonly Edit[]): ToolFile {
  const copy = structuredClone(file);
  for (const { at, where, what } of edits) {
    const places = placesIn({
      title: copy.title,
      upstream: copy.upstream,
      secrets: copy.secrets,
      types: copy.types,
      tools: copy.tools,
    });
    const { holder, key } = places[at % places.length] ?? expect.fail();
    const value = (holder as Record<string, unknown>)[key];
    const change = (next: unknown) => ((holder as Record<string, unknown>)[key] = next);
    if (typeof value === "string") {
      const middle = where % (value.length + 1);
      change(value.slice(0, middle) + what + value.slice(middle));
    } else if (typeof value === "number") change(value + 1 + (where % 3));
    else if (typeof value === "boolean") change(!value);
    else if (Array.isArray(value) && where % 2 === 0)
      value.splice(where % (value.length + 1), 0, structuredClone(value[0] ?? what));
    else if (Array.isArray(value)) value.splice(where % (value.length + 1), 1);
    // A field, which a file can do without.
    else if (typeof value === "object" && value !== null && "shape" in value)
      delete (holder as Record<string, unknown>)[key];
  }
  return copy;
}

function placesIn(tree: unknown): { holder: object; key: string }[] {
  if (typeof tree !== "object" || tree === null) return [];
  return Object.entries(tree).flatMap(([key, value]) => [{ holder: tree, key }, ...placesIn(value)]);
}

test("two different files never look the same to the reviewer", () => {
  const before = compiled(longFile());
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 4 }), fc.array(edit, { minLength: 1, maxLength: 4 }), (some, more) => {
      const [one, other] = [compiled(edited(longFile(), some)), compiled(edited(longFile(), more))];
      fc.pre(one !== undefined && other !== undefined && one.hash !== other.hash);
      expect(shown(before, one)).not.toBe(shown(before, other));
      expect(shown(undefined, one)).not.toBe(shown(undefined, other));
    }),
    { numRuns: examples(500) },
  );
});

test("equal changes at two places of a repetitive text look different", () => {
  const inserted = (at: number) => {
    const file = longFile();
    const find = file.tools["find"] ?? expect.fail();
    find.description = `${find.description.slice(0, at)}x${find.description.slice(at)}`;
    return shown(compiled(longFile()), compiled(file) ?? expect.fail());
  };
  expect(inserted(60)).not.toBe(inserted(110));
});

test("every change of a text is shown, in a text of any length and with any other changes", () => {
  const before = compiled(longFile());
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 4 }), fc.nat(), (edits, at) => {
      const after = compiled(edited(edited(longFile(), edits), [{ at, where: at, what: "MARKED WORDS" }]));
      fc.pre(after !== undefined && JSON.stringify(after).includes("MARKED WORDS"));
      expect(shown(before, after)).toContain("MARKED WORDS");
      expect(shown(undefined, after)).toContain("MARKED WORDS");
    }),
    { numRuns: examples(500) },
  );
});

test("nothing that is shown controls the terminal or is invisible", () => {
  const file = longFile();
  const find = file.tools["find"] ?? expect.fail();
  find.description += "\u001b[2J\u202e\u{e0041}\r\n  effect lowered  tools.find: harmless";
  find.title = "Find\u200b\nthings";
  const [before, after] = [compiled(longFile()), compiled(file)];
  for (const text of [shown(before, after ?? expect.fail()), shown(undefined, after ?? expect.fail())]) {
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u200b\u202e\u{e0041}]/u);
    expect(text).not.toMatch(/^\s*effect lowered/m);
    expect(text).toContain(String.raw`\u202e`);
  }
});
