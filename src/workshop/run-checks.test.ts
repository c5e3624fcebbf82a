import { expect, test } from "vitest";
import { exampleFile } from "../../test/fixtures/workshop/example.ts";
import { compileApi } from "./compile/compile.ts";
import type { CheckSpec } from "./file/model/tool-file.ts";
import { differences, runChecks, type CheckOutcome } from "./run-checks.ts";

/** How checks of a museum's opening hours go. */
async function outcomesOf(checks: CheckSpec[]): Promise<CheckOutcome[]> {
  const file = await exampleFile("museum");
  for (const [name, tool] of Object.entries(file.tools)) tool.checks = name === "opening_hours" ? checks : [];
  const outcomes = [];
  for await (const outcome of runChecks({ api: compileApi(file, {}).api, file })) outcomes.push(outcome);
  return outcomes;
}

test("a check reports differences from its expected result", async () => {
  const call = { museumId: 7, date: "2026-05-02" };
  const outcomes = await outcomesOf([
    { name: "right", call, expect: { text: "10:00 to 18:00", structuredContent: { isOpen: true } } },
    { name: "another value", call, expect: { structuredContent: { open: "09:00", close: "18:00" } } },
    { name: "another text", call, expect: { text: "always" } },
    { name: "should fail", call, expect: { error: "closed" } },
    { name: "should not fail", call, fake: { status: 500 }, expect: { structuredContent: {} } },
    { name: "fails otherwise", call: {}, expect: { error: "closed" } },
    { name: "fails as expected", call: {}, expect: { error: "museumId" } },
  ]);
  expect(Object.fromEntries(outcomes.map(({ name, problems }) => [name, problems]))).toEqual({
    right: [],
    "another value": [`open: expected "09:00", not "10:00"`],
    "another text": [expect.stringMatching(/^expected the text "always", not "Museum 7 on/)],
    "should fail": [expect.stringMatching(/^expected it to fail with "closed", but it gave "Museum 7 on/)],
    "should not fail": [expect.stringMatching(/^failed: .*500/)],
    "fails otherwise": [expect.stringMatching(/^expected the failure to say "closed", not ".*museumId/)],
    "fails as expected": [],
  });
});

test.each([
  [{ a: 1 }, { a: 1, b: 2 }, []],
  [{ a: 1 }, {}, ["a: expected 1, not nothing"]],
  [{ a: [1] }, { a: [1, 2] }, ["a: expected 1 items, not 2"]],
  [{ a: [{ b: "x" }] }, { a: [{ b: "y" }] }, [`a[0].b: expected "x", not "y"`]],
  [{ a: [] }, { a: {} }, ["a: expected a list, not {}"]],
  [{ a: {} }, { a: [] }, ["a: expected an object, not []"]],
  [{ a: null }, { a: null }, []],
  [{ toString: 1 }, {}, ["toString: expected 1, not nothing"]],
])("%j of %j differs in %j", (expected, actual, problems) => {
  expect(differences(expected, actual, "")).toEqual(problems);
});
