import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const guides = (await readdir(join(root, "docs"), { recursive: true })).filter((name) => name.endsWith(".md"));
const documents = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...guides.map((name) => `docs/${name}`),
];

function blocks(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    ([, block]) => block ?? "",
  );
}

describe.each(documents)("%s", (document) => {
  test("its programs run, its commands exist, its links lead somewhere", async () => {
    const text = await readFile(join(root, document), "utf8");

    const folder = join(root, "build/documents");
    await mkdir(folder, { recursive: true });
    for (const [index, program] of blocks(text, "js").entries()) {
      const file = join(folder, `${document.replaceAll("/", "-")}-${index}.mjs`);
      await writeFile(file, program);
      const env = { ...process.env, XDG_STATE_HOME: join(folder, "state") };
      const { stdout } = await run(process.execPath, [file], { cwd: root, env });
      expect(stdout).not.toBe("");
    }

    for (const line of blocks(text, "sh").flatMap((block) => block.trim().split("\n"))) {
      for (const command of (line.split("#")[0] ?? "")
        .split("&&")
        .map((part) => part.trim())
        .filter((part) => part !== "")) {
        const [, script] = /^npm (?:run )?([\w-]+)/.exec(command) ?? [];
        expect(["ci", ...Object.keys(manifest.scripts)], command).toContain(script);
      }
    }

    for (const [, target] of text.matchAll(/\]\(([^)#:]+)\)/g)) {
      expect(existsSync(join(root, dirname(document), target ?? "")), target).toBe(true);
    }
    for (const [, path] of text.matchAll(/`((?:src|test|bench|scripts|docs)\/[\w./-]+?)\/?`/g)) {
      expect(existsSync(join(root, path ?? "")), path).toBe(true);
    }
  });
});
