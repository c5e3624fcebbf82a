import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readToolFile } from "./read-tool-file.ts";

describe("the examples of the package", () => {
  const examples = readdirSync("api").map((api) => `api/${api}/${api}.nexus.yaml`);

  test.each(examples)("%s has no mistakes", (path) => {
    const { file, problems } = readToolFile(readFileSync(path, "utf8"), path);
    expect(problems).toEqual([]);
    expect(file?.nexus).toBe(1);
  });
});
