import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Inside the checkout, where the names of both packages are known. */
const folder = join(root, "build/documents");
const guide = await readFile(join(root, "docs/guide/from-official-sdk.md"), "utf8");

/** The pieces of one side, in the order of the guide, are one program. */
async function printed(side: "sdk" | "nexus"): Promise<string> {
  const pieces = [...guide.matchAll(new RegExp(`^\`\`\`js ${side}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    ([, code]) => code,
  );
  expect(pieces.length).toBeGreaterThan(10);
  await mkdir(folder, { recursive: true });
  const file = join(folder, `from-official-sdk-${side}.mjs`);
  await writeFile(file, pieces.join("\n"));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], { cwd: root, timeout: 100_000 });
  expect(stderr).toBe("");
  return stdout;
}

test("N14: the pieces for the official SDK and those for Nexus in the guide are two programs that print the same", async () => {
  const [sdk, nexus] = await Promise.all([printed("sdk"), printed("nexus")]);
  expect(nexus.split("\n").length).toBeGreaterThan(15);
  expect(nexus).toBe(sdk);
}, 110_000);
