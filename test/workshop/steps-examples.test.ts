import { readFile } from "node:fs/promises";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { compileApi } from "../../src/workshop/compile/compile.ts";
import { readToolFile } from "../../src/workshop/file/read-tool-file.ts";
import { runChecks } from "../../src/workshop/run-checks.ts";

const NAMES = ["steps", "paging", "files"];
const textOf = (name: string) =>
  readFile(new URL(`../../examples/workshop/${name}.nexus.yaml`, import.meta.url), "utf8");

test.each(NAMES)("examples/workshop/%s.nexus.yaml matches the published schema", async (name) => {
  const schema: unknown = JSON.parse(await readFile("schemas/tool-file.schema.json", "utf8"));
  const isValid = new Ajv2020({ strict: false, formats: { regex: true } }).compile(schema as object);
  expect(isValid(parse(await textOf(name))), JSON.stringify(isValid.errors)).toBe(true);
});

test.each(NAMES)("the checks of examples/workshop/%s.nexus.yaml pass against its fake", async (name) => {
  const { file, problems } = readToolFile(await textOf(name), name);
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  if (!file) expect.fail();
  const outcomes = [];
  for await (const outcome of runChecks({ api: compileApi(file, {}).api, file })) outcomes.push(outcome);
  expect(outcomes.filter(({ problems: wrong }) => wrong.length > 0)).toEqual([]);
  expect(outcomes.length).toBeGreaterThan(3);
});
