import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { programsOnPath } from "./start-failure.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-path-"));
  for (const name of ["npx", "npx.cmd", "node.EXE", "readme.txt"]) await writeFile(join(folder, name), "");
});

afterAll(() => rm(folder, { recursive: true }));

test("every name in a folder of PATH counts, and a missing folder is ignored (P1.9)", () => {
  const PATH = `${folder}:/no/such/folder::${folder}`;
  expect(programsOnPath({ env: { PATH }, platform: "linux" })).toEqual(["node.EXE", "npx", "npx.cmd", "readme.txt"]);
  expect(programsOnPath({ env: {}, platform: "linux" })).toEqual([]);
});

test("on Windows the extension makes a program, and is left out of its name (P1.9, P2.0)", () => {
  expect(programsOnPath({ env: { Path: folder }, platform: "win32" })).toEqual(["node", "npx"]);
  expect(programsOnPath({ env: { Path: folder, PATHEXT: ".EXE" }, platform: "win32" })).toEqual(["node"]);
});
