import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NexusWorld } from "../../fixtures/nexus.ts";

const MUSEUM = fileURLToPath(new URL("../../../api/museum/", import.meta.url));
const FOLDER = "home/work/project/api/museum";

let world: NexusWorld;
let manual: string;
beforeAll(async () => {
  world = await NexusWorld.open();
  const folder = join(world.project, "api", "museum");
  await mkdir(folder, { recursive: true });
  for (const name of ["museum.nexus.yaml", "museum.nexus.lock", "manual.md"]) {
    await copyFile(join(MUSEUM, name), join(folder, name));
  }
  manual = await world.read(`${FOLDER}/manual.md`);
});
afterAll(() => world[Symbol.asyncDispose]());

interface Found {
  stale: { path: string; evidence: string; before?: string; after?: string; tools: string[] }[];
  moved: unknown[];
}

/** A line that evidence of the file cites alone. */
async function citedLine(): Promise<number> {
  const text = await world.read(`${FOLDER}/museum.nexus.yaml`);
  return Number(/#L(\d+)(?=[\s,}\]])/.exec(text)?.[1]);
}

test("X6: nexus api stale names what leaned on lines that a newer document changed, with old and new text", async () => {
  const unchanged = await world.run([
    "api",
    "stale",
    "museum",
    "--document",
    `manual=${FOLDER}/manual.md`.replace("home/work/project/", ""),
  ]);
  expect(unchanged).toMatchObject({ code: 0, stdout: "Nothing is stale.\n" });
  const line = await citedLine();
  const lines = manual.split("\n");
  const was = lines[line - 1] ?? "";
  lines[line - 1] = "This is another rule now.";
  await world.write("home/work/project/newer.md", lines.join("\n"));
  const { code, stdout } = await world.run(["api", "stale", "museum", "--document", "newer.md", "--json"]);
  expect(code).toBe(10);
  const { stale, moved } = JSON.parse(stdout) as Found;
  expect(moved).toEqual([]);
  expect(stale.length).toBeGreaterThan(0);
  for (const { before, after } of stale) {
    expect(before).toContain(was);
    expect(after).toContain("This is another rule now.");
  }
  const text = await world.run(["api", "stale", "museum", "--document", "newer.md"]);
  expect(text.stdout).toContain("+ This is another rule now.");
  expect(text.stdout).toMatch(/of the file to check, in \d tools?: /);
});

test("nexus api stale compares the stored documents with the approval, and says if there is none", async () => {
  expect(await world.run(["api", "stale", "museum"])).toMatchObject({ code: 0 });
  await world.write(`${FOLDER}/manual.md`, `A new first line\n${manual}`);
  const moved = await world.run(["api", "stale", "museum"]);
  expect(moved).toMatchObject({ code: 0, stdout: expect.stringMatching(/^moved {4}.*#L\d+.* is now manual#L\d+/) });
  await world.write(`${FOLDER}/manual.md`, manual);
});

test("X12: an approval of format 1 counts; what it cannot compare is said, and a new approval is of format 2", async () => {
  const folder = "home/work/project/api/before";
  const before = fileURLToPath(new URL("../../fixtures/workshop/approved-before/", import.meta.url));
  await mkdir(join(world.root, folder), { recursive: true });
  for (const name of ["museum.nexus.yaml", "museum.nexus.lock", "manual.md"]) {
    await copyFile(join(before, name), join(world.root, folder, name));
  }
  const api = `${folder}/museum.nexus.yaml`.replace("home/work/project/", "");
  expect(await world.run(["api", "stale", api])).toMatchObject({ code: 0, stdout: "Nothing is stale.\n" });
  expect((await world.run(["api", "diff", api, "--trust"])).code).toBe(0);

  const text = await world.read(`${folder}/manual.md`);
  await world.write(`${folder}/manual.md`, `${text}\nOne more line.\n`);
  const unknown = await world.run(["api", "stale", api]);
  expect(unknown.code).toBe(10);
  expect(unknown.stdout).toMatch(/^not compared {2}manual: the approval has format 1, /m);
  expect(unknown.stdout).toContain("Nothing else was found to be stale.");
  await world.write(`${folder}/manual.md`, text);

  const approved = await world.run(["api", "approve", api, "--by", "Ada", "--yes"]);
  expect(approved).toMatchObject({ code: 0, stdout: expect.stringContaining("fake changed") });
  const lock = JSON.parse(await world.read(`${folder}/museum.nexus.lock`)) as { format: number; approvals: unknown[] };
  expect(lock).toMatchObject({ format: 2, compiled: { format: 2 } });
  expect(lock.approvals).toHaveLength(2);
  await world.write(`${folder}/manual.md`, `${text}\nOne more line.\n`);
  expect(await world.run(["api", "stale", api])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Nothing is/),
  });
});

test("nexus api stale refuses a name that the file does not know", async () => {
  const { code, stderr } = await world.run(["api", "stale", "museum", "--document", "other=missing.md"]);
  expect(code).toBe(3);
  expect(stderr).toContain("missing.md");
});
