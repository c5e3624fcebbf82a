import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findToolFile } from "./find-tool-file.ts";

let root: string;
let places: { cwd: string; examples: string };

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "nexus-find-"));
  places = { cwd: join(root, "here"), examples: join(root, "package") };
  const files = [
    "here/api/hotel/hotel.nexus.yaml",
    "here/hotel/hotel.nexus.yaml",
    "here/folder/folder.nexus.yaml",
    "here/plain.nexus.yaml",
    "here/imports/shop.nexus.yaml",
    "here/two/a.nexus.yaml",
    "here/two/b.nexus.yaml",
    "package/hotel/hotel.nexus.yaml",
    "package/museum/museum.nexus.yaml",
  ];
  for (const file of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), "nexus: 1\n");
  }
});

afterAll(() => rm(root, { recursive: true }));

test.each([
  ["hotel", "here/api/hotel/hotel.nexus.yaml"],
  ["folder", "here/folder/folder.nexus.yaml"],
  ["plain", "here/plain.nexus.yaml"],
  ["museum", "package/museum/museum.nexus.yaml"],
  ["./hotel/hotel.nexus.yaml", "here/hotel/hotel.nexus.yaml"],
  ["plain.nexus.yaml", "here/plain.nexus.yaml"],
  ["./folder", "here/folder/folder.nexus.yaml"],
  ["imports", "here/imports/shop.nexus.yaml"],
  ["./imports", "here/imports/shop.nexus.yaml"],
  [".", "here/plain.nexus.yaml"],
])("%s means %s", async (given, file) => {
  expect(await findToolFile(given, places)).toBe(join(root, file));
});

test("an unknown API is reported with the known names", async () => {
  await expect(findToolFile("hotell", places)).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: `No tool file was found for the API "hotell"`,
    hint: expect.stringContaining("Did you mean hotel? Known APIs: folder, hotel, museum, plain."),
  });
});

test("a path that does not exist is reported", async () => {
  await expect(findToolFile("./nothing.nexus.yaml", places)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});

test("a folder with several tool files is reported with their names", async () => {
  await expect(findToolFile("./two", places)).rejects.toMatchObject({
    message: `The folder "./two" has several tool files`,
    hint: "Use the path of one of them: a.nexus.yaml, b.nexus.yaml.",
  });
});
