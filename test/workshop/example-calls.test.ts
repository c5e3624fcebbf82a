import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { splitWords } from "../../src/cli/command/command-line.ts";
import { NexusWorld } from "../fixtures/nexus.ts";

const APIS = ["capcorn", "museum"];
let world: NexusWorld;

beforeAll(async () => {
  world = await NexusWorld.open();
  const path = (api: string) => fileURLToPath(new URL(`../../api/${api}/${api}.nexus.yaml`, import.meta.url));
  await world.configure(Object.fromEntries(APIS.map((api) => [api, { api: path(api), upstream: "fake" }])));
});

afterAll(() => world[Symbol.asyncDispose]());

test.each([
  ["capcorn", "availability_search"],
  ["capcorn", "create_reservation"],
  ["museum", "order_tickets"],
])("X2: the call that %s.%s prints for copying is accepted by the tool itself", async (api, name) => {
  const { stdout } = await world.run(["mcp", "tools", api, "--name", name]);
  const [, line = ""] = /^ +nexus (mcp call .*)$/m.exec(stdout) ?? [];
  expect(line, stdout).toContain("--arg ");
  const { code, stdout: answer, stderr } = await world.run(splitWords(line));
  expect(answer + stderr).not.toMatch(/do not fit|cannot be used/);
  // A price that has changed would be asked about, and nobody is here to answer.
  expect([0, 1], answer + stderr).toContain(code);
});

test("X2: an argument error repeats a call that the tool accepts", async () => {
  const { code, stderr } = await world.run(["mcp", "call", "museum.opening_hours", "--arg", "date=soon"]);
  expect(code).toBe(2);
  const [, line = ""] = /For example: (.*)/.exec(stderr) ?? [];
  expect(await world.run(["mcp", "call", "museum.opening_hours", ...splitWords(line)])).toMatchObject({ code: 0 });
});
