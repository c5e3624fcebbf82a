import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findRegularText, readRegularFile } from "./regular-file.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-regular-"));
});

afterAll(() => rm(folder, { recursive: true }));

test("a regular file is read up to its limit, and not beyond", async () => {
  const file = join(folder, "text");
  await writeFile(file, "héllo");
  expect(readRegularFile(file, 6)).toEqual({ kind: "read", bytes: Buffer.from("héllo") });
  expect(readRegularFile(file, 5)).toEqual({ kind: "too-large" });
  await writeFile(file, "");
  expect(readRegularFile(file, 0)).toEqual({ kind: "read", bytes: Buffer.alloc(0) });
});

test.skipIf(process.platform !== "linux")("a file of the system that tells no size is read up to its limit", () => {
  const read = readRegularFile("/proc/self/status", 1_000_000);
  expect(read.kind === "read" && read.bytes.length > 100).toBe(true);
  expect(readRegularFile("/proc/self/status", 100)).toEqual({ kind: "too-large" });
});

test("a path that leads nowhere is missing, also where a file is in the place of a folder", async () => {
  await writeFile(join(folder, "plain"), "");
  expect(readRegularFile(join(folder, "none"), 10)).toEqual({ kind: "missing" });
  expect(readRegularFile(join(folder, "plain", "inner"), 10)).toEqual({ kind: "missing" });
});

test.skipIf(process.platform === "win32")("folders, pipes and devices are not read", async () => {
  await mkdir(join(folder, "folder"));
  await promisify(execFile)("mkfifo", [join(folder, "pipe")]);
  await symlink("/dev/zero", join(folder, "endless"));
  for (const name of ["folder", "pipe", "endless"]) {
    expect(readRegularFile(join(folder, name), 10)).toEqual({ kind: "not-a-file" });
    expect(findRegularText(join(folder, name), 10)).toBeUndefined();
  }
});
