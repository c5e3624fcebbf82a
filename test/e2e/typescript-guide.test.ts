import { execFile } from "node:child_process";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
/** A project as its reader has one: the package and the types of Node are installed, nothing else. */
const project = join(root, "build/documents/typescript");
const guide = await readFile(join(root, "docs/guide/typescript.md"), "utf8");
const programs = blocks("ts").map((text, index) => ({ name: `program-${index}`, text }));

function blocks(language: string): string[] {
  return [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(([, text = ""]) => text);
}

beforeAll(async () => {
  await rm(project, { recursive: true, force: true, maxRetries: 5 });
  await mkdir(join(project, "node_modules/@types"), { recursive: true });
  await symlink(root, join(project, "node_modules/nexus-mcp"), "junction");
  await symlink(join(root, "node_modules/@types/node"), join(project, "node_modules/@types/node"), "junction");
  await writeFile(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await writeFile(join(project, "tsconfig.json"), blocks("json")[0] ?? "");
  for (const { name, text } of programs) await writeFile(join(project, `${name}.ts`), text);
  await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc")], { cwd: project }).catch(
    ({ stdout }: { stdout: string }) => {
      throw new Error(stdout);
    },
  );
}, 120_000);

const names = programs.map(({ name }) => name);

test.concurrent.each(names)("N14: %s of the guide for TypeScript compiles and runs", async (name) => {
  const { stdout, stderr } = await run(process.execPath, [join(project, "build", `${name}.js`)], { cwd: project });
  expect(stdout).not.toBe("");
  expect(stderr).toBe("");
});
