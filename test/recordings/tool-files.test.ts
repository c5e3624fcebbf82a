import { existsSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { compileApi, isApproved, loadApi, type LoadedApi } from "../../src/workshop/index.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const FOLDERS = ["api", "bench", "docs", "examples", "test"];
/** Tool files of others, which are not in the repository. */
const BESIDE = join(ROOT, "../shared/examples/capcorn");

function toolFilesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== "node_modules")
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return toolFilesIn(path);
      return entry.name.endsWith(".nexus.yaml") ? [path] : [];
    })
    .toSorted();
}

/** One block of lines: what the file compiles to in each format, and what its lock approves. */
async function recorded(path: string): Promise<string> {
  const loaded = await loadApi(path);
  return [relative(ROOT, path).replaceAll("\\", "/"), ...hashes(loaded), ...approval(loaded)].join("\n  ");
}

function hashes({ file, documents, lock }: LoadedApi): string[] {
  if (!file) return ["it cannot be read"];
  const known = lock?.compiled;
  const formats = [1, 2] as const;
  return formats.map((format) => `format ${format}: ${compileApi(file, documents, { known, format }).api.hash}`);
}

function approval({ api, lock, problems }: LoadedApi): string[] {
  const found = `${problems.filter(({ severity }) => severity === "error").length} errors, ${problems.length} problems`;
  if (!lock) return ["no lock", found];
  const words = api && isApproved(lock, api) ? "approves it" : "approves something else";
  return [`lock of format ${lock.compiled.format}: ${lock.approvals.at(-1)?.hash}, which ${words}`, found];
}

async function recordedAll(files: readonly string[]): Promise<string> {
  const blocks: string[] = [];
  for (const path of files) blocks.push(await recorded(path));
  return `${blocks.join("\n")}\n`;
}

test("X12: every tool file of the repository compiles to the recorded hashes, and its lock approves what it approved", async () => {
  const files = FOLDERS.flatMap((name) => toolFilesIn(join(ROOT, name)));
  await expect(await recordedAll(files)).toMatchFileSnapshot("../golden/tool-files.txt");
});

const beside = existsSync(BESIDE) ? toolFilesIn(BESIDE) : [];
const title = beside.length === 0 ? "there are none beside the repository: not tried" : `${beside.length} of them`;
test(`tool files beside the repository compile to the recorded hashes (${title})`, async () => {
  if (beside.length > 0) await expect(await recordedAll(beside)).toMatchFileSnapshot("../golden/tool-files-beside.txt");
});
