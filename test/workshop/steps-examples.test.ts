import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { compileApi } from "../../src/workshop/compile/compile.ts";
import { readToolFile } from "../../src/workshop/file/read-tool-file.ts";
import { runChecks } from "../../src/workshop/run-checks.ts";

test.each(["steps", "paging"])("the checks of examples/workshop/%s.nexus.yaml pass against its fake", async (name) => {
  const text = await readFile(new URL(`../../examples/workshop/${name}.nexus.yaml`, import.meta.url), "utf8");
  const { file, problems } = readToolFile(text, name);
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  if (!file) expect.fail();
  const outcomes = [];
  for await (const outcome of runChecks({ api: compileApi(file, {}).api, file })) outcomes.push(outcome);
  expect(outcomes.filter(({ problems: wrong }) => wrong.length > 0)).toEqual([]);
  expect(outcomes.length).toBeGreaterThan(3);
});
