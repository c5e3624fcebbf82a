import fc from "fast-check";
import { expect, test } from "vitest";
import { examples } from "../../test/fixtures/depth.ts";
import { changedRuns, textDifference } from "./text-difference.ts";

test("unchanged and added parts give the new list; unchanged and removed parts give the old one", () => {
  const list = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 });
  fc.assert(
    fc.property(list, list, (before, after) => {
      const made: string[] = [];
      let at = 0;
      for (const run of changedRuns(before, after)) {
        made.push(...before.slice(at, run.before.from), ...after.slice(run.after.from, run.after.to));
        expect(made.length).toBe(run.after.to);
        at = run.before.to;
      }
      expect([...made, ...before.slice(at)]).toEqual(after);
    }),
    { numRuns: examples(2_000) },
  );
});

test("a text of one line is compared by words, and one of several by lines; what moved is shown once", () => {
  expect(textDifference("Finds things.", "Finds all things.")).toEqual([
    { kind: "same", text: "Finds " },
    { kind: "added", text: "all " },
    { kind: "same", text: "things." },
  ]);
  expect(textDifference("a\nb\nc\n", "a\nB\nc\n")).toEqual([
    { kind: "same", text: "a\n" },
    { kind: "removed", text: "b\n" },
    { kind: "added", text: "B\n" },
    { kind: "same", text: "c\n" },
  ]);
  expect(textDifference("same", "same")).toEqual([{ kind: "same", text: "same" }]);
  expect(textDifference("", "")).toEqual([]);
});

test("differences of very long texts are found in time", () => {
  const [before, after] = [0, 1].map((odd) =>
    Array.from({ length: 40_000 }, (_, index) => `w${index * 2 + odd}`).join(" "),
  );
  const pieces = textDifference(before ?? "", after ?? "");
  const side = (not: string) => pieces.flatMap(({ kind, text }) => (kind === not ? [] : [text])).join("");
  expect(side("added")).toBe(before);
  expect(side("removed")).toBe(after);
});
