import { existsSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "./make-folder.ts";

test("a folder is made with those above it, also by two at the same time", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "nexus-folder-")), "a", "b", "c");
  await Promise.all([makeFolder(path), makeFolder(path)]);
  expect(statSync(path).isDirectory()).toBe(true);
  await makeFolder(path);
});

test("a folder below a file is an error", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "nexus-folder-")), "file");
  writeFileSync(file, "");
  await expect(makeFolder(join(file, "a", "b"))).rejects.toThrow();
});

test.skipIf(!existsSync("/proc/self"))("a folder where none can be made is an error at once", async () => {
  await expect(makeFolder("/proc/nexus-folder/a")).rejects.toThrow();
});
