import { existsSync } from "node:fs";
import { chmod, mkdir, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NexusWorld, type RunOptions } from "../fixtures/nexus.ts";

const DEMO = fileURLToPath(new URL("../../dist/demo/main.js", import.meta.url));
const PATH = process.env["PATH"] ?? "";
const isWindows = process.platform === "win32";

let world: NexusWorld;
/** A repository of a stranger. */
let clone: string;
/** Written by programs of the stranger when they run. */
let marker: string;
/** Folders that are searched for programs; one has the user's own server, "notes", which writes down where it runs. */
let path: string;

beforeEach(async () => {
  world = await NexusWorld.open();
  clone = world.project;
  marker = join(world.root, "marker");
  path = `${join(world.root, "bin")}${delimiter}${PATH}`;
  await program("bin/notes", `pwd -P > '${world.root}/folder'\nexec '${process.execPath}' '${DEMO}'`);
  await world.configure({ notes: { command: "notes" } });
});

afterEach(() => world[Symbol.asyncDispose]());

async function program(name: string, script: string): Promise<void> {
  await chmod(await world.write(name, `#!/bin/sh\n${script}\n`), 0o755);
}

/** Where the server was started by a command. */
async function folderOf(args: readonly string[], options: RunOptions = {}): Promise<string> {
  await rm(join(world.root, "folder"), { force: true });
  const { code, stderr } = await world.run(args, { ...options, env: { PATH: path, ...options.env } });
  expect(code, stderr).toBe(0);
  return (await world.read("folder")).trim();
}

const PING = ["mcp", "ping", "notes"];

test.skipIf(isWindows)(
  "npx of the user's own file runs no program of the folder that a command is given in",
  async () => {
    const entry = { command: "npx", args: ["--offline", "--no", "planted-server"] };
    await world.configure({ planted: entry });
    await program("home/work/project/node_modules/.bin/planted-server", `touch '${marker}'`);
    expect((await world.run(["mcp", "ping", "planted"])).code).toBe(4);
    expect(existsSync(marker)).toBe(false);

    // In a folder that is trusted this is what people want.
    await world.run(["mcp", "ping", "planted", "--trust"]);
    expect(existsSync(marker)).toBe(true);
  },
);

test.skipIf(isWindows).each(["", ".", "node_modules/.bin", "./node_modules/.bin"])(
  "with %j in PATH the user's own servers are no programs of the folder that a command is given in",
  async (entry) => {
    for (const folder of ["", "node_modules/.bin"]) {
      await program(join("home/work/project", folder, "notes"), `touch '${marker}'`);
      await program(join("home/work/project", folder, "secret-tool"), `touch '${marker}'`);
    }
    const env = { PATH: `${entry}${delimiter}${path}` };
    expect(await folderOf(PING, { env })).toBe(world.home);
    expect((await world.run(["secrets", "set", "token"], { env, stdin: "not-a-real-one" })).code).toBe(0);
    const doctor = await world.run(["mcp", "doctor", "notes"], { env });
    expect(doctor.stdout).toContain(join(world.root, "bin", "notes"));
    expect(existsSync(marker)).toBe(false);
  },
);

test.skipIf(isWindows)('servers of the user\'s own file start in the home folder, or where "cwd" says', async () => {
  expect(await folderOf(PING)).toBe(world.home);
  const started = async (cwd: unknown) => {
    await world.configure({ notes: { command: "notes", cwd } });
    return folderOf(PING);
  };
  await mkdir(join(world.home, ".nexus", "sub"), { recursive: true });
  await mkdir(join(clone, "sub"));
  expect(await started(join(clone, "sub"))).toBe(join(clone, "sub"));
  expect(await started("${workspaceFolder}")).toBe(clone);
  expect(await started("~/work")).toBe(join(world.home, "work"));
  // A relative path starts at the file, as that of "envFile" does.
  expect(await started("sub")).toBe(join(world.home, ".nexus", "sub"));
  for (const nothing of ["", null, "${NONE:-}"]) expect(await started(nothing)).toBe(world.home);
});

test.skipIf(isWindows)("the user's own servers start in the working folder where that is trusted", async () => {
  expect(await folderOf([...PING, "--trust"])).toBe(clone);

  await world.write("home/work/project/.mcp.json", { mcpServers: { theirs: { command: "notes" } } });
  expect(await folderOf(PING)).toBe(world.home);
  expect((await world.run(["mcp", "trust", "--yes"])).code).toBe(0);
  expect(await folderOf(PING)).toBe(clone);

  const below = join(clone, "below");
  await mkdir(below);
  // As servers of the project do; the folder below may have come from anywhere.
  expect(await folderOf(PING, { cwd: below })).toBe(clone);
  // Another repository in one that is trusted.
  await mkdir(join(below, ".git"));
  expect(await folderOf(PING, { cwd: below })).toBe(world.home);

  await world.write("home/work/project/.mcp.json", { mcpServers: { theirs: { command: "another" } } });
  expect(await folderOf(PING)).toBe(world.home);
});

test.skipIf(isWindows)(
  "servers of a trusted project start in its folder, those that were typed in the working folder",
  async () => {
    await world.write("home/work/project/.mcp.json", { mcpServers: { theirs: { command: "notes" } } });
    await world.run(["mcp", "trust", "--yes"]);
    const below = join(clone, "below");
    await mkdir(below);
    expect(await folderOf(["mcp", "ping", "theirs"], { cwd: below })).toBe(clone);
    expect(await folderOf(["mcp", "ping", "--stdio", "notes"], { cwd: below })).toBe(below);
    expect(await folderOf(["mcp", "ping", "theirs", "--config", "../.mcp.json"], { cwd: below })).toBe(below);
  },
);
