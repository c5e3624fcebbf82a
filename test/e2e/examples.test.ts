import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const stories = readdirSync(join(root, "examples"), { withFileTypes: true }).filter((entry) => entry.isDirectory());

/** Documents that show what an example prints. */
const SHOWN_IN: Readonly<Record<string, string>> = { "official-sdk": "docs/guide/from-official-sdk.md" };

test.each(stories.map(({ name }) => name))("the example %s runs, and what it asserts is true", async (name) => {
  const { stdout, stderr } = await run(process.execPath, [join("examples", name, "main.mjs")], {
    cwd: root,
    timeout: 110_000,
  });
  expect(stdout).not.toBe("");
  expect(stderr).toBe("");
  const document = SHOWN_IN[name];
  if (document !== undefined) expect(await readFile(join(root, document), "utf8")).toContain(stdout);
});
