import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { NexusWorld } from "../fixtures/nexus.ts";

const PACKAGE = fileURLToPath(new URL("../../", import.meta.url));
const world = await NexusWorld.open();
afterAll(() => world[Symbol.asyncDispose]());

/** Installs what the project depends on, as npm does for a folder. */
async function install(folder: string): Promise<void> {
  await mkdir(join(folder, "node_modules"));
  await symlink(PACKAGE, join(folder, "node_modules", "nexus-mcp"), "junction");
}

const run = (folder: string, ...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: folder });

test("N1: a new server has a test that passes, and commands can use it at once", async () => {
  const made = await world.run(["new", "server", "Word Counter"]);
  expect(made).toMatchObject({ code: 0, stderr: "" });
  expect(made.stdout).toMatch(/^Made word-counter in .*Word Counter.*: README\.md, \.gitignore, .*\nNext:\n {2}cd /);
  const folder = join(world.project, "Word Counter");
  const { name, dependencies } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
    name: string;
    dependencies: Record<string, string>;
  };
  expect(name).toBe("word-counter");
  expect(dependencies["nexus-mcp"]).toBe(`file:${PACKAGE.replaceAll("\\", "/")}`);
  await install(folder);
  expect((await run(folder, "--test")).stdout).toMatch(/# pass 3\n# fail 0/);
  const called = await world.run(
    ["mcp", "call", "count_words", "--arg", "text=one two", "--stdio", "node src/main.js"],
    {
      cwd: folder,
    },
  );
  expect(called).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(called.stdout)).toEqual({ words: 2, characters: 7 });
}, 60_000);

test("N1: a new client has a test that passes, and prints the tools of the demo server", async () => {
  const made = await world.run(["new", "client", "reporter", "--json"]);
  const { folder, files } = JSON.parse(made.stdout) as { folder: string; files: string[] };
  expect((await readdir(folder)).sort()).toEqual([...new Set(files.map((file) => file.split("/")[0] ?? ""))].sort());
  await install(folder);
  expect((await run(folder, "--test")).stdout).toMatch(/# pass 1\n# fail 0/);
  expect((await run(folder, "src/main.js")).stdout).toMatch(/ speaks 2026-07-28 and offers:\n {2}/);
}, 60_000);

test("a new project replaces nothing, and says where it could be", async () => {
  await world.write("home/work/project/full/notes.txt", "mine");
  expect(await world.run(["new", "server", "full"])).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining('The folder "full" is not empty'),
  });
  expect(await world.run(["new", "client", "full/notes.txt"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('"full/notes.txt" is a file'),
  });
  expect(await readdir(join(world.project, "full"))).toEqual(["notes.txt"]);
  expect(await world.run(["new", "servr", "x"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("new server"),
  });
});

test("a project in a folder with the name of the package has another name, so that npm can install the package", async () => {
  const made = await world.run(["new", "server", "nexus-mcp", "--json"]);
  expect(JSON.parse(made.stdout)).toMatchObject({ name: "nexus-mcp-server" });
});

test("a folder that cannot be made is an error that says which and what to do", async () => {
  await symlink("nowhere", join(world.project, "dangling"));
  expect(await world.run(["new", "server", "dangling"])).toMatchObject({
    code: 3,
    stdout: "",
    stderr: expect.stringMatching(/dangling.*" cannot be written: E(?:NOENT|EXIST)[^]*fix: Name a folder/),
  });
});
