import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";

const RULES = new URL("../../../shared/design/security.md", import.meta.url);
const isThere = existsSync(RULES);

test.skipIf(!isThere)(
  `each line of the security rules has a test of its name${isThere ? "" : " (the rules are not here: not tried)"}`,
  async () => {
    const rows = (await readFile(RULES, "utf8")).split("\n").filter((line) => line.startsWith("| "));
    const lines = rows.slice(1).map((row) => plain(row.split(" | ")[0]?.slice(2) ?? ""));
    expect(lines.length).toBeGreaterThan(15);
    const files = (await readdir(import.meta.dirname)).filter((name) => name.endsWith(".test.ts"));
    const texts = await Promise.all(files.map((name) => readFile(new URL(name, import.meta.url), "utf8")));
    const titles = texts.map(plain).join("\n");
    const missing = lines.filter((line) => !titles.includes(`test("${line}: `));
    expect(missing).toEqual([]);
  },
);

function plain(text: string): string {
  return text.replaceAll("`", "");
}
