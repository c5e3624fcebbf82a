import { chmod, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeEach, expect, test } from "vitest";
import { defaultStateFolder } from "../../src/host/state-folder.ts";
import { NexusWorld, type RunOptions } from "../fixtures/nexus.ts";

const DEMO = fileURLToPath(new URL("../../dist/demo/main.js", import.meta.url));
const world = await NexusWorld.open();
await world.configure({
  demo: { command: process.execPath, args: [DEMO] },
  gone: { command: "no-such-program", enabled: false },
});
const surroundings = { platform: process.platform, home: world.home, variables: {}, proxy: {}, extraCertificates: [] };
const folder = join(defaultStateFolder(surroundings), "code");
const file = join(folder, "mcp-tools.bin");

afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => rm(folder, { recursive: true, force: true }));

async function tools(options?: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await world.run(["mcp", "tools"], options);
  expect(code, stderr).toBe(0);
  expect(stdout).toContain("echo(text: string)");
  return stdout;
}

test("a command keeps its compiled code, for its owner alone, and the next run leaves it as it is", async () => {
  const first = await tools();
  const { ino, size, mode } = await stat(file);
  expect(size).toBeGreaterThan(100_000);
  if (process.platform !== "win32") expect(mode & 0o777).toBe(0o600);
  expect(await tools()).toBe(first);
  expect((await stat(file)).ino).toBe(ino);
});

test("damaged code is made anew, and so is code that others could have written", async () => {
  await tools();
  const whole = await readFile(file);
  await writeFile(file, Buffer.concat([whole.subarray(0, 50_000), Buffer.alloc(whole.length - 50_000)]));
  await tools();
  expect((await readFile(file)).subarray(50_000).some((byte) => byte !== 0)).toBe(true);

  await chmod(file, 0o666);
  await tools();
  if (process.platform !== "win32") expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("ten first runs at the same time leave one file, and it is whole", async () => {
  await Promise.all(Array.from({ length: 10 }, () => tools()));
  expect(await readdir(folder)).toEqual(["mcp-tools.bin"]);
  const { ino } = await stat(file);
  await tools();
  expect((await stat(file)).ino).toBe(ino);
});

test("nothing is kept by --version, --help, a run that failed, or with NEXUS_CODE_CACHE=off", async () => {
  for (const args of [
    ["--version"],
    ["--help"],
    ["mcp", "tools", "--help"],
    ["mcp", "ping", "gone"],
    ["mcp", "nothing"],
  ])
    await world.run(args);
  await tools({ env: { NEXUS_CODE_CACHE: "off" } });
  expect(await readdir(folder).catch(() => "no folder")).toBe("no folder");
});

test("commands run where nothing can be kept", async () => {
  const state = await world.write("no-folder", "");
  await tools({ env: { XDG_STATE_HOME: state } });
  await tools({ env: { XDG_STATE_HOME: state } });
});
