import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FUNCTIONS } from "../expression/functions.ts";
import { readToolFile } from "./read-tool-file.ts";

const REFERENCE = readFileSync("docs/reference/tool-file.md", "utf8");

test("the whole file that the reference shows has no mistakes", () => {
  const [, example = ""] = /```yaml\n([^]*?)```/.exec(REFERENCE) ?? [];
  const { file, problems } = readToolFile(example, "parcels.nexus.yaml");
  expect(problems).toEqual([]);
  expect(Object.keys(file?.tools ?? {})).toEqual(["track_parcel"]);
});

test("the reference names every function of the language", () => {
  const missing = Object.keys(FUNCTIONS).filter((name) => !REFERENCE.includes(`\`${name}(`));
  expect(missing).toEqual([]);
});
