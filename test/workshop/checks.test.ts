import { describe, expect, test } from "vitest";
import { compileApi } from "../../src/workshop/compile/compile.ts";
import { runChecks } from "../../src/workshop/run-checks.ts";
import { exampleFile, manualOf } from "../fixtures/workshop/example.ts";

describe.each(["capcorn", "museum"])("X15: the checks of %s", (name) => {
  test("pass against its fake", async () => {
    const file = await exampleFile(name);
    const { api } = compileApi(file, { manual: await manualOf(name) });
    const outcomes = [];
    for await (const outcome of runChecks({ api, file })) outcomes.push(outcome);
    expect(outcomes.filter(({ problems }) => problems.length > 0)).toEqual([]);
    expect(outcomes.length).toBe(Object.values(file.tools).reduce((sum, { checks }) => sum + checks.length, 0));
  });
});
