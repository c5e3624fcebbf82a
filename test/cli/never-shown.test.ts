import { afterAll, beforeAll, expect, test } from "vitest";
import { NexusWorld } from "../fixtures/nexus.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";

const PASSWORD = "hunter2";
let world: NexusWorld;

beforeAll(async () => {
  world = await NexusWorld.open();
  await world.run(["secrets", "set", "place"], { stdin: PASSWORD });
  await world.configure({
    placed: { command: "node", args: ["x.js"], cwd: "${HOME}/${secret:place}", roots: ["file:///${secret:place}"] },
    dies: {
      command: process.execPath,
      args: ["-e", "process.exit(3)", "--", "--token", PASSWORD, `API_KEY=${PASSWORD}`],
    },
    gone: { command: "no-such-program", args: ["--token", PASSWORD] },
    whole: { command: `no-such-program --token ${PASSWORD}` },
    away: { url: `http://ada:${PASSWORD}@127.0.0.1:1/mcp?key=${PASSWORD}` },
  });
});

afterAll(() => world[Symbol.asyncDispose]());

async function everything(...args: string[]): Promise<string> {
  const people = await world.run(args);
  const programs = await world.run([...args, "--json"]);
  return people.stdout + people.stderr + programs.stdout + programs.stderr;
}

test("X9: a secret in a folder is not filled in, and the entry is shown as it was written", async () => {
  const explained = await everything("mcp", "explain", "placed");
  expect(explained).toContain("runs in:     ${HOME}/${secret:place}");
  expect(explained).toContain("file:///${secret:place}");
  expect(explained).not.toContain(PASSWORD);
  const examined = await everything("mcp", "doctor", "placed");
  expect(examined).toContain('"cwd" has ${secret:place}');
  expect(examined).not.toContain(PASSWORD);
});

test.each(["dies", "gone", "whole", "away"])(
  "X9: a password written into an entry is not in what is said of %s",
  async (id) => {
    for (const command of ["connect", "doctor", "explain"]) {
      const said = await everything("mcp", command, id);
      expect(said).not.toContain(PASSWORD);
      expect(said).toContain(id === "away" ? "127.0.0.1:1/mcp" : "--token •••");
    }
  },
);

test("X9: an address to try is masked, and quoted for the shell", async () => {
  const { stderr } = await world.run(["mcp", "ping", "away"]);
  expect(stderr).toMatch(/curl -v '\S+'/);
});

test("X9: the command that goes on with a call repeats no password", async () => {
  const { command, args } = stdioFixture(["--revision", "2025-11-25"]);
  const script = `process.argv = [process.argv[0], ...${JSON.stringify(args)}]; await import(process.argv[1]);`;
  const wrapper = await world.write("wrapper.mjs", script);
  const line = [command, wrapper, "--token", PASSWORD].join(" ");
  const { code, stderr } = await world.run([
    "mcp",
    "call",
    "test_elicitation",
    "--arg",
    "message=Who?",
    "--stdio",
    line,
    "--env",
    `TOKEN=${PASSWORD}`,
  ]);
  expect(code).toBe(9);
  expect(stderr).toContain("--token •••");
  expect(stderr).toContain("--env 'TOKEN=…'");
  expect(stderr).not.toContain(PASSWORD);
});
