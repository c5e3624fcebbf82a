import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../../src/index.ts";
import { failure } from "../fixtures/failure.ts";
import { NexusWorld } from "../fixtures/nexus.ts";

/** Values as entries, variables of the user and addresses have them. */
const CANARIES = {
  plain: "canary-7f3a/+plain",
  passed: "canary-91bc=passed",
  header: "canary-55de+header",
  argument: "canary-23af_argument",
  password: "canary-0b7e~password",
  query: "canary-c4d1.query",
  quoted: 'canary-"8e2d"\\quoted',
  lines: "canary-a1-first\ncanary-a2-second",
};
/** Of each, enough to know it again however it is written: no other text here has it. */
const TRACES = ["7f3a", "91bc", "55de", "23af", "0b7e", "c4d1", "8e2d", "a1-first", "a2-second"];

/** Writes what it was given in every way that a program may, to stderr or stdout, and ends. */
const TELLTALE = `
const texts = [process.env.PLAIN, process.env.PASSED, process.env.QUOTED, process.env.LINES, process.argv.at(-1)];
const stream = process.argv[2] === "stdout" ? process.stdout : process.stderr;
for (const text of texts) {
  const base64 = Buffer.from("user:" + text).toString("base64");
  const forms = [text, encodeURIComponent(text), new URLSearchParams({ text }).toString(), JSON.stringify({ text }), base64,
    Buffer.from(text).toString("base64url"), "postgres://user:" + encodeURIComponent(text) + "@db/x",
    text.slice(0, 9) + "\\n" + text.slice(9)];
  for (const form of forms) stream.write("Error: " + form + "\\n");
}
stream.write("the level is verbose, at /srv/data, the port is 8080\\n");
process.exitCode = 3;
`;

let world: NexusWorld;
const variables = { PASSED: CANARIES.passed };

beforeAll(async () => {
  world = await NexusWorld.open();
  const script = await world.write("telltale.mjs", TELLTALE);
  const env = {
    PLAIN: CANARIES.plain,
    QUOTED: CANARIES.quoted,
    LINES: CANARIES.lines,
    LEVEL: "verbose",
    PORT: "8080",
    DATA: "/srv/data",
  };
  const entry = (to: string) => ({
    command: process.execPath,
    args: [script, to, "--token", CANARIES.argument],
    env,
    env_passthrough: ["PASSED"],
  });
  await world.configure({
    stderr: entry("stderr"),
    stdout: entry("stdout"),
    away: {
      url: `http://ada:${encodeURIComponent(CANARIES.password)}@127.0.0.1:1/mcp?key=${CANARIES.query}`,
      headers: { "X-Key": CANARIES.header },
    },
  });
});

afterAll(() => world[Symbol.asyncDispose]());

test.each([
  ["connect", "stderr"],
  ["connect", "stdout"],
  ["connect", "away"],
  ["tools"],
  ["tools", "--verbose"],
  ["doctor"],
  ["doctor", "--verbose"],
  ["servers"],
  ["explain", "stderr"],
  ["explain", "away"],
  ["retry"],
  ["logs", "stderr"],
])("P1.9: values of env, headers and addresses are masked by: nexus mcp %s %s", async (...given) => {
  const words = ["mcp", ...given.filter((word) => word !== undefined)];
  const people = await world.run(words, { env: variables });
  expect(tracesIn(people.stdout + people.stderr)).toEqual([]);
  const programs = await world.run([...words, "--json"], { env: variables });
  expect(tracesIn(programs.stdout + programs.stderr)).toEqual([]);
});

test("P1.9: what is kept of a server's stderr has no values of its environment, and all the rest", async () => {
  await world.run(["mcp", "connect", "stderr"], { env: variables });
  const log = await readFile(`${world.home}/.local/state/nexus/logs/stderr.log`, "utf8");
  expect(tracesIn(log)).toEqual([]);
  expect(log).toContain("Error: •••\n");
  expect(log).toContain("the level is verbose, at /srv/data, the port is 8080\n");
});

test("P1.9: an error of the library has no values of the entry anywhere", async () => {
  const script = await world.write("telltale.mjs", TELLTALE);
  const dead = await failure(
    connect({
      command: process.execPath,
      args: [script, "stderr", "--token", CANARIES.argument],
      env: { PLAIN: CANARIES.plain, PASSED: CANARIES.passed, QUOTED: CANARIES.quoted, LINES: CANARIES.lines },
    }),
  );
  expect(dead).toMatchObject({ code: "SERVER_EXITED" });
  expect(tracesIn(everythingOf(dead))).toEqual([]);
  const away = await failure(
    connect({
      url: `http://ada:${CANARIES.password}@127.0.0.1:1/mcp?key=${CANARIES.query}`,
      headers: { "X-Key": CANARIES.header },
    }),
  );
  expect(away).toMatchObject({ code: "CONNECTION_FAILED" });
  expect(tracesIn(everythingOf(away))).toEqual([]);
});

function tracesIn(text: string): string[] {
  const plain = text + Buffer.from(text.replaceAll(/[^A-Za-z0-9+/_-]/g, ""), "base64").toString("latin1");
  const words = text.match(/[\w+/-]{8,}/g) ?? [];
  const decoded = words.map((word) => Buffer.from(word, "base64").toString("latin1")).join("\n");
  return TRACES.filter((trace) => plain.includes(trace) || decoded.includes(trace));
}

function everythingOf(error: Error & { details?: unknown }): string {
  const { message, stack, cause, details } = error;
  return JSON.stringify([message, stack, String(cause), details]);
}
