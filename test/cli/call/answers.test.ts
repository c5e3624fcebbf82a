import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HAS_TERMINAL, NexusWorld } from "../../fixtures/nexus.ts";
import { quickFixture, type BothEras } from "../../fixtures/servers/quick-fixture.ts";

let world: NexusWorld;
let eras: BothEras;

beforeAll(async () => {
  world = await NexusWorld.open();
  eras = await quickFixture();
  await world.configure({
    modern: eras.modern,
    legacy: eras.legacy,
  });
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await eras[Symbol.asyncDispose]();
});

const call = (tool: string, ...args: string[]) => world.run(["mcp", "call", tool, ...args]);
const answers = (...texts: string[]) => texts.flatMap((text) => ["--answer", text]);

test("P1.9: the command to try again leaves out answers that did not fit or were not asked for", async () => {
  const { code, stderr } = await call(
    "legacy.test_elicitation_sep1034_defaults",
    ...answers("age=old", "score=1.5", "colour=red"),
  );
  expect(code).toBe(9);
  const again = stderr.trim().split("\n").at(-1)?.trim();
  expect(again).toBe("nexus mcp call legacy.test_elicitation_sep1034_defaults --answer score=1.5 --answer age=…");
  expect(stderr).toContain("asked for --answer colour=red");
});

test("P1.9: a call that cannot be kept still shows its question, and how to answer beforehand", async () => {
  await using other = await NexusWorld.open();
  await other.configure({ modern: eras.modern });
  const state = join(other.home, ".local", "state", "nexus");
  await mkdir(state, { recursive: true });
  // In the way of the folder: nothing can be kept there, whoever runs this.
  await writeFile(join(state, "parked"), "");
  const tool = "modern.test_input_required_result_elicitation";
  const { code, stderr } = await other.run(["mcp", "call", tool]);
  expect(code).toBe(9);
  expect(stderr).toContain("What is your name?");
  expect(stderr).toContain("The call could not be kept");
  expect(stderr).toContain(`nexus mcp call ${tool} --answer name=…`);
});

test("P1.9: programs get the questions of a parked call with their schemas", async () => {
  const { code, stderr } = await call("modern.test_input_required_result_elicitation", "--json");
  expect(code).toBe(9);
  const { error } = JSON.parse(stderr) as { error: { input: { continue: string; questions: unknown[] } } };
  expect(error.input).toMatchObject({
    continue: expect.stringMatching(/^\w{6}$/) as string,
    questions: [{ key: expect.any(String) as string, message: "What is your name?", schema: { type: "object" } }],
  });
});

test.runIf(HAS_TERMINAL)("with --json nothing is asked, and the terminal is not said to be missing", async () => {
  const { child, output } = world.inTerminal([
    "mcp",
    "call",
    "modern.test_input_required_result_elicitation",
    "--json",
  ]);
  expect(await once(child, "close")).toEqual([9, null]);
  expect(output.stdout).toContain("--json does not ask at the terminal");
});

test("P1.9: a misspelt answer is named, and not kept with the call", async () => {
  const tool = "modern.test_input_required_result_elicitation";
  const { stderr } = await call(tool, ...answers("nmae=Ada", "colour=red"));
  expect(stderr).toContain("asked for --answer nmae=Ada. Did you mean name?");
  expect(stderr).toContain("asked for --answer colour=red so far");
  const id = /--continue (\w+)/.exec(stderr)?.[1] ?? "";
  const file = join(world.home, ".local", "state", "nexus", "parked", `${id}.json`);
  expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ given: ["colour=red"] });
});

test("P1.9: repeated calls whose questions were declined are counted and end with 9; answers are good for each", async () => {
  const tool = "legacy.test_elicitation_sep1034_defaults";
  const declined = await call(tool, "--repeat", "3");
  expect(declined.code).toBe(9);
  expect(declined.stdout).toMatch(/errors/);
  expect(declined.stderr.match(/asks a question, but there is no terminal/g)).toHaveLength(1);
  expect(declined.stderr.match(/^ {4}age /gm)).toHaveLength(1);
  const counted = await call(tool, "--repeat", "3", "--json");
  expect(JSON.parse(counted.stdout)).toMatchObject({ calls: 3, errors: 3 });
  const answered = await call(tool, "--repeat", "3", "--json", ...answers("age=4"));
  expect({ code: answered.code, ...(JSON.parse(answered.stdout) as object) }).toMatchObject({ code: 0, errors: 0 });
});
