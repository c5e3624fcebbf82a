import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import claimed from "../requirements.json" with { type: "json" };

/** The list that requirements are taken from; a clone alone does not have it. */
const SOURCE = new URL("../../../shared/design/requirements.md", import.meta.url);

/** Words by id. A row for several, `P1.1–1.6`, has their words in order. */
function requirementsIn(text: string): Map<string, string> {
  const rows = text.matchAll(/^\| ([A-Z]\d+(?:\.\d+)?)(?:–\d+\.(\d+))? \| (.*?) \|$/gm);
  const found = new Map<string, string>();
  for (const [, id = "", last, words = ""] of rows) {
    const [base, first] = id.split(".");
    if (last === undefined) found.set(id, words);
    else for (const [index, part] of words.split("; ").entries()) found.set(`${base}.${Number(first) + index}`, part);
  }
  return found;
}

test.runIf(existsSync(SOURCE))("N14: requirements are claimed in the words that they were written in", async () => {
  const source = requirementsIn(await readFile(SOURCE, "utf8"));
  const written = Object.keys(claimed).map((id) => [id, source.get(id)]);
  expect(claimed).toEqual(Object.fromEntries(written));
});
