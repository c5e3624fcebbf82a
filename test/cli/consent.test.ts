import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { RememberedDecisions } from "../../src/agent/consent/remembered-decisions.ts";
import { NexusWorld } from "../fixtures/nexus.ts";

let world: NexusWorld;
let folder: string;
let remembered: RememberedDecisions;

beforeAll(async () => {
  world = await NexusWorld.open();
  folder = join(world.root, "state", "nexus");
  remembered = new RememberedDecisions({ folder, platform: process.platform });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const consent = (...args: string[]) =>
  world.run(["consent", ...args], { env: { XDG_STATE_HOME: join(world.root, "state") } });

beforeEach(async () => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await remembered.forget(() => true);
  for (const tool of ["create_issue", "close.issue"]) {
    await remembered.remember({ server: "github", tool, entry: "e", definition: "d" });
  }
});

test("R8: consent list shows the remembered decisions", async () => {
  const { code, stdout } = await consent("list");
  expect(code).toBe(0);
  expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["github.create_issue", "just now"],
    ["github.close.issue", "just now"],
    [""],
  ]);
  const json = JSON.parse((await consent("list", "--json")).stdout) as unknown;
  expect(json).toEqual({
    items: [
      { server: "github", tool: "create_issue", decidedAt: expect.any(String) },
      { server: "github", tool: "close.issue", decidedAt: expect.any(String) },
    ],
    errors: [],
  });
});

test("R8: consent forget withdraws one decision, or all of them", async () => {
  expect(await consent("forget", "github.close.issue")).toMatchObject({
    code: 0,
    stdout: "Forgotten: github.close.issue\n",
  });
  expect((await remembered.list()).map(({ tool }) => tool)).toEqual(["create_issue"]);
  expect(await consent("forget", "--all", "--json")).toMatchObject({
    code: 0,
    stdout: `{"forgotten":[{"server":"github","tool":"create_issue"}]}\n`,
  });
  expect(await remembered.list()).toEqual([]);
  expect(await consent("list")).toMatchObject({ code: 0, stdout: "" });
  expect(JSON.parse((await consent("list", "--json")).stdout)).toEqual({ items: [], errors: [] });
});

test("nothing to forget has exit code 6, with a similar name", async () => {
  const wrong = await consent("forget", "github.create_isue");
  expect(wrong).toMatchObject({ code: 6, stdout: "" });
  expect(wrong.stderr).toContain(`Did you mean "github.create_issue"?`);
  await consent("forget", "--all");
  expect((await consent("forget", "--all")).code).toBe(0);
  expect((await consent("forget", "github.create_issue")).code).toBe(6);
});

test.each([[[]], [["a.b", "--all"]], [["a.b", "c.d"]]])("forget %j is not a valid command line", async (args) => {
  expect((await consent("forget", ...args)).code).toBe(2);
});

test("a damaged file is an error with its path, and is not replaced", async () => {
  await writeFile(join(folder, "consent.json"), "{", { mode: 0o600 });
  for (const args of [["list"], ["forget", "--all"]]) {
    const { code, stderr } = await consent(...args);
    expect(code).toBe(10);
    expect(stderr).toContain("consent.json");
  }
  await writeFile(join(folder, "consent.json"), `{"decisions":[]}`, { mode: 0o600 });
});
