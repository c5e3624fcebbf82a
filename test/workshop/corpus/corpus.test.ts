import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isFull } from "../../fixtures/depth.ts";
import { compare } from "./compare.mjs";
import { countOperations, DESCRIPTION } from "./independent-reader.mjs";
import { importOne } from "./import-one.ts";

/** Documents of others, which are not in the repository. */
const FOLDER = join(import.meta.dirname, "../../../../shared/corpus");
const found = existsSync(FOLDER) ? readdirSync(FOLDER).filter((name) => DESCRIPTION.test(name)) : [];
/** Minutes of checking schemas; the others show the same. */
const LARGE = [
  "kubernetes-2026-2.0.json",
  "bitbucket-3.0.yaml",
  "slack-2.0.json",
  "xero-accounting-3.0.yaml",
  "adyen-checkout-3.1.yaml",
];
const tried = found.filter((name) => isFull || !LARGE.includes(name));

describe("real API descriptions", () => {
  test.skipIf(tried.length > 0)("there is not a corpus beside the repository, so nothing is imported", () => {
    expect(found).toEqual([]);
  });

  test.each(tried)("%s becomes tools, and nothing is lost", { timeout: 600_000 }, async (name) => {
    const path = join(FOLDER, name);
    const operations = countOperations(path);
    const made = await importOne(path, { compile: false });
    const { made: tools, lost, unaccounted } = compare(operations, made);
    expect(unaccounted).toEqual([]);
    expect(lost).toEqual([]);
    expect(made.badSchemas).toEqual([]);
    expect(made.errors).toEqual([]);
    expect(tools).toBeGreaterThanOrEqual(operations.size * 0.95);
  });
});
