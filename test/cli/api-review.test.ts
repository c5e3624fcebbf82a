import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NexusWorld } from "../fixtures/nexus.ts";

const MUSEUM = fileURLToPath(new URL("../../api/museum/", import.meta.url));
const FILE = "home/work/project/api/museum/museum.nexus.yaml";

let world: NexusWorld;
beforeAll(async () => {
  world = await NexusWorld.open();
  const folder = join(world.project, "api", "museum");
  await mkdir(folder, { recursive: true });
  for (const name of ["museum.nexus.yaml", "manual.md"]) await copyFile(join(MUSEUM, name), join(folder, name));
});
afterAll(() => world[Symbol.asyncDispose]());

async function change(before: string | RegExp, after: string): Promise<() => Promise<unknown>> {
  const text = await world.read(FILE);
  const changed = text.replace(before, after);
  expect(changed).not.toBe(text);
  await world.write(FILE, changed);
  return () => world.write(FILE, text);
}

test("nexus api check finds nothing wrong with the example, and says that nobody has approved it", async () => {
  const { code, stdout } = await world.run(["api", "check", "museum"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/museum\.nexus\.yaml: 0 mistakes, \d+ warnings?; 4 tools: /);
  expect(stdout).toContain('Not approved: it is not served before "nexus api approve museum".');
});

test("nexus api check reports all mistakes at once, each with its place and what was meant", async () => {
  const undo = await change(/effect: read/, "effect: reed");
  const undoTwo = await change(/response:/, "respone:");
  const { code, stdout } = await world.run(["api", "check", "museum"]);
  expect(code).toBe(3);
  const places = stdout.match(/museum\.nexus\.yaml:\d+:\d+ error .*/g) ?? [];
  expect(places.length).toBeGreaterThanOrEqual(2);
  expect(stdout).toMatch(/"reed"[^]*read/);
  expect(stdout).toMatch(/respone[^]*response/);
  await undoTwo();
  await undo();
});

test("nexus api show tells where requests go, what is sent by itself, and one tool in full", async () => {
  const all = await world.run(["api", "show", "museum"]);
  expect(all.code).toBe(0);
  expect(all.stdout).toMatch(/reaches:\s+https:\/\//);
  expect(all.stdout).toMatch(/secrets:\s+museum\./);
  const one = await world.run(["api", "show", "museum", "--tool", "opening_hours", "--json"]);
  expect(JSON.parse(one.stdout)).toMatchObject({ name: "opening_hours", annotations: { readOnlyHint: true } });
  const none = await world.run(["api", "show", "museum", "--tool", "opening_hour"]);
  expect(none).toMatchObject({ code: 6, stderr: expect.stringContaining('Did you mean "opening_hours"?') });
});

test("X12: what is approved is served as it was approved: a change is shown by its kind, and has to be approved again", async () => {
  const silent = await world.run(["api", "approve", "museum"]);
  expect(silent).toMatchObject({ code: 9, stderr: expect.stringContaining("--yes") });
  const approved = await world.run(["api", "approve", "museum", "--by", "Ada", "--yes"]);
  expect(approved.code).toBe(0);
  expect(approved.stdout).toContain("nexus mcp add museum --api museum\n");
  expect(approved.stdout).toMatch(/requests go to https:\S+\n\s+with the secrets museum\.token\n/);
  const added = await world.run(["mcp", "add", "museum", "--api", "museum", "--upstream", "fake"]);
  expect(added).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/museum\.nexus\.yaml\n[^]*It works: museum .* 4 tools/),
  });
  await world.run(["mcp", "remove", "museum"]);
  expect(JSON.parse(await world.read(FILE.replace(".yaml", ".lock")))).toMatchObject({
    api: "museum",
    approvals: [{ by: "Ada", hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) }],
  });
  const same = await world.run(["api", "diff", "museum"]);
  expect(same).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Nothing differs\. Approved by Ada on /) });

  const undo = await change(/effect: read/, "effect: destructive");
  const differs = await world.run(["api", "diff", "museum", "--json"]);
  expect(differs.code).toBe(8);
  expect(JSON.parse(differs.stdout)).toMatchObject({
    approved: false,
    changes: expect.arrayContaining([
      expect.objectContaining({ kind: "effect raised", message: "read → destructive" }),
    ]) as unknown,
  });
  const { stdout } = await world.run(["api", "check", "museum"]);
  expect(stdout).toContain("Changed since it was approved by Ada");
  await undo();
  expect((await world.run(["api", "diff", "museum"])).code).toBe(0);
});

test("somebody at a terminal is shown the differences, and asked", async () => {
  const undo = await change(/^title: .*/m, "title: Other museums");
  const { child, output } = world.inTerminal(["api", "approve", "museum"]);
  await expect.poll(() => output.stdout, { timeout: 10_000 }).toContain("Approve this? y/N");
  expect(output.stdout).toContain("description changed");
  child.stdin?.write("n\r");
  await expect.poll(() => output.stdout, { timeout: 10_000 }).toContain("Nothing was approved.");
  await undo();
});

test("an API that there is not is named with those that there are", async () => {
  const { code, stderr } = await world.run(["api", "check", "musem"]);
  expect(code).toBe(3);
  expect(stderr).toContain("Did you mean museum?");
});

test("what a file or its lock calls itself cannot steer the terminal of whoever looks at it", async () => {
  const undo = await change(/^title: .*$/m, String.raw`title: "Museum\e[2J\nApproved already"`);
  const by = "Ada\u001b[2J";
  const seen = [
    await world.run(["api", "show", "museum"]),
    await world.run(["api", "approve", "museum", "--yes", "--by", by]),
    await world.run(["api", "check", "museum"]),
    await world.run(["api", "diff", "museum"]),
  ];
  for (const { stdout, stderr } of seen) expect(stdout + stderr).not.toContain("\u001b[2J");
  expect(seen.map(({ stdout }) => stdout).join("")).toContain(String.raw`Ada\x1b[2J`);
  await undo();
});
