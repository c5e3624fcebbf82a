import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ownCommand, type OwnProgram } from "./entry-writer.ts";

const root = await realpath(await mkdtemp(join(tmpdir(), "nexus-own-")));
afterAll(() => rm(root, { recursive: true }));

async function file(name: string): Promise<string> {
  const path = join(root, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, "");
  return path;
}

const node = await file("Cellar/node/22.1.0/bin/node");
const main = await file("lib/node_modules/nexus-mcp/dist/cli/main.js");
const program: OwnProgram = { node, script: main, platform: "linux", path: undefined };

const posix = test.skipIf(process.platform === "win32");

posix("a program that was started through a link in PATH is written as Node and the file it leads to", async () => {
  await mkdir(join(root, "bin"));
  const link = join(root, "bin/nexus");
  await symlink(main, link);
  expect(ownCommand({ ...program, script: link })).toEqual({ command: node, args: [main] });
});

posix(
  "Node is written as the link in PATH that outlives an update, and not as one that ends with the shell",
  async () => {
    for (const folder of ["fnm_multishells/1/bin", "stable/bin"]) {
      await mkdir(join(root, folder), { recursive: true });
      await symlink(node, join(root, folder, "node"));
    }
    const path = ["fnm_multishells/1/bin", "none", "stable/bin"].map((folder) => join(root, folder)).join(":");
    expect(ownCommand({ ...program, path }).command).toBe(join(root, "stable/bin/node"));
    expect(ownCommand({ ...program, path: join(root, "none") }).command).toBe(node);
  },
);

posix("what npx has fetched is started by npx again", async () => {
  const script = await file("_npx/abc/node_modules/nexus-mcp/dist/cli/main.js");
  expect(ownCommand({ ...program, script })).toEqual({ command: "npx", args: ["-y", "nexus-mcp"] });
  expect(ownCommand({ ...program, script, platform: "win32" })).toEqual({
    command: "cmd",
    args: ["/c", "npx", "-y", "nexus-mcp"],
  });
});

posix("a project's file has no paths of this machine where the project has the package", async () => {
  const script = await file("project/node_modules/nexus-mcp/dist/cli/main.js");
  const project = join(root, "project");
  expect(ownCommand({ ...program, script }, { project })).toEqual({ command: "npx", args: ["nexus-mcp"] });
  expect(ownCommand({ ...program, script })).toEqual({ command: node, args: [script] });
  expect(ownCommand(program, { project })).toEqual({ command: node, args: [main] });
});
