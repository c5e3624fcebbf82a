import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What the build writes to stdout in a folder of its own, so that the build of this project stays as it is. */
async function built(args: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "nexus-build-"));
  try {
    await mkdir(join(folder, "src"));
    await writeFile(join(folder, "src", "main.js"), "console.log(1);\n");
    const config = { input: { "cli/main": "src/main.js" }, output: { dir: "dist", entryFileNames: "[name].js" } };
    await writeFile(join(folder, "rolldown.config.ts"), `export default [${JSON.stringify(config)}];\n`);
    return await new Promise((resolve, reject) => {
      const script = [join(ROOT, "scripts", "build.mjs"), ...args];
      execFile(process.execPath, script, { cwd: folder }, (error, stdout) => (error ? reject(error) : resolve(stdout)));
    });
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

test("npm start says that it builds and how long that took, before the gateway speaks; a build alone says nothing (R8)", async () => {
  const { scripts } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { scripts: { start: string } };
  const [build = "", serve] = scripts.start.split(" && ");
  expect(serve).toBe("node dist/cli/main.js serve --demo");
  const [program, script, ...args] = build.split(" ");
  expect([program, script]).toEqual(["node", "scripts/build.mjs"]);
  expect(await built(args)).toMatch(
    /^Building Nexus into dist\/.* …\nBuilt in \d+\.\d s\. Starting the gateway .*…\n$/,
  );
  expect(await built([])).toBe("");
});
