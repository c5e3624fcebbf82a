import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { isFull } from "../fixtures/depth.ts";
import { isOurs, lasting, runShown, shownCommands } from "../fixtures/shown-commands.ts";

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

/** Runs programs one after the other; prints what each of them printed. */
const PROGRAMS = fileURLToPath(new URL("../fixtures/programs.mjs", import.meta.url));

/** Their commands are run by tests of their own, with more around them. */
const RUN_ELSEWHERE = ["docs/guide/team.md", "docs/guide/capcorn.md"];

const hasJq = run("jq", ["--version"]).then(
  () => true,
  () => false,
);

/** A guide may show fifty commands, each of which is a process. */
const COMMANDS_MS = 180_000;

describe.each(documents)("%s", (document) => {
  test("N14: its programs run, its commands exist, its links lead somewhere", async () => {
    const text = await readFile(join(root, document), "utf8");

    const folder = join(root, "build/documents");
    await mkdir(folder, { recursive: true });
    const files: string[] = [];
    for (const [index, program] of blocks(text, "js").entries()) {
      const file = join(folder, `${document.replaceAll("/", "-")}-${index}.mjs`);
      await writeFile(file, program);
      files.push(file);
    }
    const env = { ...process.env, XDG_STATE_HOME: join(folder, "state") };
    // In a quick run the programs of a document share a process, which ends by itself as each of them alone does.
    for (const together of isFull ? files.map((file) => [file]) : [files].filter(({ length }) => length > 0)) {
      const { stdout } = await run(process.execPath, [PROGRAMS, ...together], { cwd: root, env });
      const printed = JSON.parse(stdout) as string[];
      expect(printed).toHaveLength(together.length);
      for (const each of printed) expect(each).not.toBe("");
    }

    for (const { command } of shownCommands(text).flatMap(({ lines }) => lines)) {
      if (isOurs(command)) continue;
      for (const part of command.split("&&")) {
        const [, script] = /^npm (?:run )?([\w-]+)/.exec(part.trim()) ?? [];
        expect(["ci", "install", ...Object.keys(manifest.scripts)], part).toContain(script);
      }
    }

    for (const [, target] of text.matchAll(/\]\(([^)#:]+)\)/g)) {
      expect(existsSync(join(root, dirname(document), target ?? "")), target).toBe(true);
    }
    for (const [, path] of text.matchAll(/`((?:src|test|bench|scripts|docs)\/[\w./-]+?)\/?`/g)) {
      expect(existsSync(join(root, path ?? "")), path).toBe(true);
    }
  });

  const posix = test.runIf(process.platform !== "win32" && !RUN_ELSEWHERE.includes(document));
  posix("N14: its commands do what it shows, one after the other", { timeout: COMMANDS_MS }, async () => {
    const shown = shownCommands(await readFile(join(root, document), "utf8"));
    const home = await mkdtemp(join(tmpdir(), "nexus-documents-"));
    try {
      for (const { lines, output } of shown) {
        let printed = "";
        for (const { command, exitCode } of lines.filter((line) => isOurs(line.command))) {
          if (command.includes("| jq ") && !(await hasJq)) continue;
          const ran = await runShown(command, { root, home });
          expect(ran, command).toMatchObject({ code: exitCode });
          printed += ran.output;
        }
        if (output !== undefined) expect(lasting(printed)).toBe(lasting(output));
      }
    } finally {
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    }
  });
});

test("N14: every file and folder that the documents about the code name exists", async () => {
  const texts = ["ARCHITECTURE.md", "docs/speed.md"].map((document) => readFile(join(root, document), "utf8"));
  const text = (await Promise.all(texts)).join("\n");
  const files = [...text.matchAll(/`([a-z][\w/-]+\/[\w-]+\.ts)`/g)].map(([, path = ""]) => path.replace(/^src\//, ""));
  const steps = [...text.matchAll(/^ {0,2}([a-z]+\/[\w/-]+) {2,}/gm)].map(([, path = ""]) => path);
  expect(files.length + steps.length).toBeGreaterThan(50);
  for (const file of files)
    expect(existsSync(join(root, file)) || existsSync(join(root, "src", file)), file).toBe(true);
  for (const step of steps) {
    expect(existsSync(join(root, "src", step)) || existsSync(join(root, "src", `${step}.ts`)), step).toBe(true);
  }
});
