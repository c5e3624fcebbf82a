import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HAS_TERMINAL, NexusWorld } from "../fixtures/nexus.ts";
import { bareServer } from "../fixtures/servers/bare-server.ts";

/** A legacy server whose tools are odd, each in its own way. */
const ODD = `
import { createInterface } from "node:readline";
const object = (properties) => ({ type: "object", properties });
const tools = [
  { name: "big", inputSchema: object({}) },
  { name: "two\\nlines", inputSchema: object({}) },
  { name: "typed", inputSchema: object({ when: { type: "datetime" } }) },
  { name: "patterned", inputSchema: object({ id: { type: "string", pattern: "(?P<x>y)" } }) },
  { name: "nullable", inputSchema: object({ note: { type: ["string", "null"] } }) },
  { name: "picture", inputSchema: object({}) },
  { name: "violates", inputSchema: object({}) },
  { name: "dies", inputSchema: object({}) },
  { name: "hangs", inputSchema: object({}) },
  { name: "ancient", inputSchema: object({}) },
];
const text = (text) => ({ content: [{ type: "text", text }] });
const call = ({ name, arguments: args }) => {
  if (name === "big") return text("x".repeat(11 * 1024 * 1024));
  if (name === "picture") return { content: [{ type: "image", mimeType: "image/png", data: "no*base64!" }] };
  if (name === "dies") { console.error("FATAL: disk full"); console.error("error count: 1 in cache"); process.exit(7); }
  if (name === "violates") return 17;
  if (name === "ancient") return { toolResult: { answer: 42 } };
  return text(JSON.stringify(args));
};
const handlers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "odd", version: "1" } }),
  "tools/list": () => ({ tools }),
  "tools/call": call,
  ping: () => ({}),
};
if (process.argv.includes("--stays")) { process.on("SIGTERM", () => {}); setInterval(() => {}, 1e6); }
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || params?.name === "hangs") { if (params?.name === "hangs") console.error("hanging"); return; }
  const handler = handlers[method];
  const reply = handler ? { result: handler(params) } : { error: { code: -32601, message: "no " + method } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...reply }) + "\\n");
});
`;

let world: NexusWorld;
let config: string;

beforeAll(async () => {
  world = await NexusWorld.open();
  const script = await world.write("odd.mjs", ODD);
  config = await world.configure({
    odd: { command: process.execPath, args: [script] },
    stays: { command: process.execPath, args: [script, "--stays"] },
    gone: { command: "no-such-program-anywhere" },
    lost: { command: "no-such-program-either" },
  });
});

afterAll(() => world[Symbol.asyncDispose]());

const mcp = (...args: string[]) => world.run(["mcp", ...args]);

test("an answer over the limit names the option that raises it, and arrives with it", async () => {
  const { code, stderr } = await mcp("call", "odd.big");
  expect({ code, stderr }).toMatchObject({ code: 4, stderr: expect.stringContaining("--max-size 50M") as string });
  const done = await mcp("call", "odd.big", "--max-size", "12M");
  expect({ code: done.code, length: done.stdout.length }).toEqual({ code: 0, length: 11 * 1024 * 1024 + 1 });
  const params = JSON.stringify({ name: "big", arguments: {} });
  expect((await mcp("request", "odd", "tools/call", params, "--max-size", "12M")).code).toBe(0);
  expect(await mcp("call", "odd.big", "--max-size", "huge")).toMatchObject({ code: 2 });
});

test.each([
  ["typed", "when=today", `/properties/when/type names a type "datetime"`],
  ["patterned", "id=1", "/properties/id/pattern is not a valid JavaScript regular expression"],
])("a schema that cannot be used warns and sends: %s", async (tool, arg, reason) => {
  const { code, stdout, stderr } = await mcp("call", `odd.${tool}`, "--arg", arg);
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${JSON.stringify(Object.fromEntries([arg.split("=")]))}\n` });
  expect(stderr).toContain("warning: the arguments were not checked");
  expect(stderr).toContain(reason);
  const doctor = await mcp("doctor", "odd");
  expect(doctor.stdout).toContain(`${tool}: inputSchema`);
});

test("items of a list that are not valid are repaired or left out, and doctor names them (P1.9)", async () => {
  await using other = await NexusWorld.open();
  const tools = [
    { name: "plain", annotations: null, description: null },
    { name: 5 },
    { name: "fine", inputSchema: {} },
  ];
  const script = await other.write("bare.mjs", bareServer(tools));
  await other.configure({ bare: { command: process.execPath, args: [script] } });
  const { stdout } = await other.run(["mcp", "tools", "bare", "--json"]);
  expect((JSON.parse(stdout) as { items: unknown[] }).items).toEqual([
    { server: "bare", name: "plain", inputSchema: { type: "object" } },
    { server: "bare", name: "fine", inputSchema: { type: "object" } },
  ]);
  const doctor = await other.run(["mcp", "doctor", "bare"]);
  expect(doctor.code).toBe(0);
  expect(doctor.stdout).toContain(`skipped in tools/list of "bare": number 2 ("name" is not valid)`);
  expect(doctor.stdout).toContain(`repaired in tools/list of "bare": "plain" (`);
  expect(doctor.stdout).toContain(`"annotations" is null`);
});

test("null is null where the schema takes it, even beside a text", async () => {
  expect(await mcp("call", "odd.nullable", "--arg", "note=null")).toMatchObject({ stdout: '{"note":null}\n' });
  expect(await mcp("call", "odd.nullable", "--arg", "note=nil")).toMatchObject({ stdout: '{"note":"nil"}\n' });
});

test("a name that cannot be typed can be called by the one that stands for it", async () => {
  const { stdout, stderr } = await mcp("tools", "--server", "odd", "--name", "two\nlines");
  expect(stderr).toContain("cannot be typed");
  const name = /nexus mcp call (mcp__odd__\w+)/.exec(stdout)?.[1] ?? "";
  expect(await mcp("call", name)).toMatchObject({ code: 0, stdout: "{}\n" });
});

test("a result in the form before 2024-11-05 is shown, and has content for programs", async () => {
  expect(await mcp("call", "odd.ancient")).toMatchObject({ code: 0, stdout: '{\n  "answer": 42\n}\n' });
  const { stdout } = await mcp("call", "odd.ancient", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ toolResult: { answer: 42 }, content: [{ type: "text" }] });
});

test("data that is no base64 is said to be none", async () => {
  const { code, stderr } = await mcp("call", "odd.picture", "--save", "pictures");
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("not valid base64") as string });
});

test("P1.9: failures of a call say where the server is configured; a violation has a next step", async () => {
  const { code, stderr } = await mcp("call", "odd.dies", "--json");
  expect(code).toBe(4);
  expect(JSON.parse(stderr)).toMatchObject({
    error: {
      code: "SERVER_EXITED",
      source: { file: config, line: 3 },
      message: expect.stringContaining("FATAL: disk full") as string,
    },
  });
  const violated = await mcp("call", "odd.violates");
  expect(violated.code).toBe(4);
  expect(violated.stderr).toContain(`"nexus mcp doctor odd" checks the server`);
});

test("P1.9: a tool that is found is shown though other servers failed: a line each, and exit code 4", async () => {
  const { code, stdout, stderr } = await mcp("tools", "--name", "nullable");
  expect(code).toBe(4);
  expect(stdout).toContain("odd.nullable");
  expect(stderr.match(/^nexus: .*no-such-program/gm)).toHaveLength(2);
});

test("P1.9: a file of ours that may not be used is 8, a program that may not be run is 4", async () => {
  await using other = await NexusWorld.open();
  const script = await other.write("plain.txt", "not a program");
  await other.configure({ plain: { command: script } });
  expect((await other.run(["mcp", "ping", "plain"])).code).toBe(4);
  await other.run(["secrets", "set", "x"], { stdin: "y" });
  const files = (await other.shell(`find "$HOME" -path '*secret*' -type f`)).stdout.trim().split("\n");
  for (const file of files) await other.shell(`chmod 666 '${file}'`);
  await other.configure({ uses: { command: "node", env: { X: "${secret:x}" } } });
  const { code, stderr } = await other.run(["secrets", "list"]);
  expect({ code, stderr }).toMatchObject({ code: 8 });
});

describe.runIf(process.platform !== "win32")("R6: signals", () => {
  test.each([
    ["SIGHUP", 129],
    ["SIGTERM", 143],
  ] as const)("%s ends the call and its server: %d", async (signal, exit) => {
    const before = await timesHung();
    const { child } = world.start(["mcp", "call", "odd.hangs"]);
    await expect.poll(timesHung).toBe(before + 1);
    child.kill(signal);
    expect(await once(child, "close")).toEqual([exit, null]);
  });

  test.runIf(HAS_TERMINAL)("an end that takes long can be cut short, and the terminal says so", async () => {
    const { child, output } = world.inTerminal(["mcp", "call", "stays.hangs"]);
    await expect.poll(() => output.stdout).toContain("waiting");
    child.stdin?.write("\u0003");
    await expect.poll(() => output.stdout).toContain("stopping; press Ctrl-C again to stop immediately");
    child.stdin?.write("\u0003");
    expect(await once(child, "close")).toEqual([130, null]);
  });

  test.runIf(HAS_TERMINAL)("a dumb terminal gets lines, nothing that is drawn over", async () => {
    const { child, output } = world.inTerminal(["mcp", "call", "odd.picture"], { env: { TERM: "dumb" } });
    expect(await once(child, "close")).toEqual([0, null]);
    expect(output.stdout).not.toContain("\u001b");
  });
});

/** How often the server got a call that it hangs in: it writes so to stderr, which its log keeps. */
async function timesHung(): Promise<number> {
  const log = await readFile(`${world.home}/.local/state/nexus/logs/odd.log`, "utf8").catch(() => "");
  return log.split("hanging").length - 1;
}
