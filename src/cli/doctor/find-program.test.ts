import { mkdtemp, mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findProgram } from "./find-program.ts";

let folder: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "nexus-programs-")));
  await mkdir(join(folder, "first", "tool"), { recursive: true });
  await mkdir(join(folder, "second"));
  await writeFile(join(folder, "first", "plain"), "", { mode: 0o644 });
  for (const name of ["tool", "plain"]) await writeFile(join(folder, "second", name), "", { mode: 0o755 });
});

afterAll(() => rm(folder, { recursive: true }));

test.skipIf(process.platform === "win32")("the first file on PATH that may be run is the program", () => {
  const search = { env: { PATH: `${join(folder, "first")}::${join(folder, "second")}` }, platform: process.platform };
  // A folder of that name, and a file that is not executable, are passed over.
  expect(findProgram("tool", search)).toBe(join(folder, "second", "tool"));
  expect(findProgram("plain", search)).toBe(join(folder, "second", "plain"));
  expect(findProgram("absent", search)).toBeUndefined();
});

test.skipIf(process.platform === "win32")("a path starts at the working folder, and PATH does not matter", () => {
  const search = { env: { PATH: "" }, platform: process.platform, cwd: folder };
  expect(findProgram("./second/tool", search)).toBe(join(folder, "second", "tool"));
  expect(findProgram("./first/plain", search)).toBeUndefined();
  expect(findProgram(join(folder, "second", "tool"), search)).toBe(join(folder, "second", "tool"));
});
