import { mkdtemp, mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findProgram, windowsProgram } from "./find-program.ts";

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

test.skipIf(process.platform === "win32")(
  "on Windows a program is found by its endings, and not in the working folder",
  async () => {
    const path = join(folder, "nodejs");
    await mkdir(path);
    for (const name of ["npx", "npx.CMD", "odd"]) await writeFile(join(path, name), "");
    await writeFile(join(folder, "npx.CMD"), "");
    const search = {
      env: { Path: `.;;relative;${path}`, pathext: ".EXE;.CMD" },
      platform: "win32",
      cwd: folder,
    } as const;
    expect(findProgram("npx", search)).toBe(join(path, "npx.CMD"));
    expect(findProgram("npx.CMD", search)).toBe(join(path, "npx.CMD"));
    expect(findProgram("odd", search)).toBe(join(path, "odd"));
    expect(findProgram("./npx", search)).toBe(join(folder, "npx.CMD"));
  },
);

test("a program of Windows is in the folder of the system, unless that is not a full path", () => {
  expect(windowsProgram("taskkill.exe", { systemroot: "D:\\Win" })).toBe("D:\\Win\\System32\\taskkill.exe");
  for (const root of ["", ".", "Windows", "\\Windows", "C:Windows", undefined]) {
    expect(windowsProgram("taskkill.exe", { SystemRoot: root })).toBe("C:\\Windows\\System32\\taskkill.exe");
  }
});
