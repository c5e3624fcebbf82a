import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Inside the checkout, where the names of all packages are known. */
const folder = join(root, "build/documents");
const read = (guide: string) => readFile(join(root, `docs/guide/${guide}.md`), "utf8");

/** What the pieces for one side print: in the order of the guide, they are one program. */
async function printed(guide: string, side: "sdk" | "nexus"): Promise<string> {
  const blocks = (await read(guide)).matchAll(new RegExp(`^\`\`\`js ${side}\\n([\\s\\S]*?)^\`\`\``, "gm"));
  const pieces = [...blocks].map(([, code]) => code);
  expect(pieces.length).toBeGreaterThan(3);
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${guide}-${side}.mjs`);
  await writeFile(file, pieces.join("\n"));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], { cwd: root, timeout: 100_000 });
  expect(stderr).toBe("");
  return stdout;
}

test("N14: the pieces for the official SDK and those for Nexus in the guide are two programs that print the same", async () => {
  const guide = "from-official-sdk";
  const [sdk, nexus] = await Promise.all([printed(guide, "sdk"), printed(guide, "nexus")]);
  expect(nexus.split("\n").length).toBeGreaterThan(15);
  expect(nexus).toBe(sdk);
}, 110_000);

test("N14: the pieces for Nexus in the guide for FastMCP are one program, which prints what the guide shows", async () => {
  const shown = /^It prints:\n\n```text\n([\s\S]*?)^```/m.exec(await read("from-fastmcp"))?.[1];
  expect(await printed("from-fastmcp", "nexus")).toBe(shown);
}, 110_000);
