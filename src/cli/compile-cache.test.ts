import { chmod, mkdir, readdir, rm, stat, symlink } from "node:fs/promises";
import module from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { NexusWorld } from "../../test/fixtures/nexus.ts";

const isPosix = process.platform === "linux";

// Node 20 has no compile cache.
describe.skipIf(!("enableCompileCache" in module) || !isPosix)(
  "with a version of Node that has a compile cache",
  () => {
    let world: NexusWorld;
    let state: string;
    let folder: string;

    beforeAll(async () => {
      world = await NexusWorld.open();
      state = join(world.home, ".local", "state", "nexus");
      folder = join(state, "compile-cache");
    });
    afterAll(() => world[Symbol.asyncDispose]());
    beforeEach(() => rm(state, { recursive: true, force: true }));

    async function runServers(env: Record<string, string> = {}): Promise<void> {
      const { code, stderr } = await world.run(["mcp", "servers"], { env });
      expect(code, stderr).toBe(0);
    }

    test("a command keeps compiled code in the user's state folder, readable only by its owner", async () => {
      await runServers({ XDG_STATE_HOME: "" });
      expect((await stat(folder)).mode & 0o777).toBe(0o700);
      expect(await readdir(folder)).toHaveLength(1);
      expect(await readdir(world.project)).toEqual([]);
    });

    test("--help and --version write no compiled code", async () => {
      for (const flag of ["--help", "--version"]) expect((await world.run([flag])).code).toBe(0);
      await expect(readdir(folder)).rejects.toThrow("ENOENT");
    });

    test("a folder that others can write to is not used", async () => {
      for (const open of [folder, state]) {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await chmod(open, 0o777);
        await runServers();
        expect(await readdir(folder)).toEqual([]);
        await chmod(open, 0o700);
      }
    });

    test("a link to a folder is not used", async () => {
      const other = join(world.root, "other");
      await mkdir(other, { mode: 0o700 });
      await mkdir(state, { recursive: true, mode: 0o700 });
      await symlink(other, folder);
      await runServers();
      expect(await readdir(other)).toEqual([]);
    });

    test("if the state folder cannot be created, only the cache is missing", async () => {
      await runServers({ XDG_STATE_HOME: await world.write("no-folder", "") });
    });
  },
);
