import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NexusWorld } from "../../fixtures/nexus.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";

const DEMO = fileURLToPath(new URL("../../../dist/demo/main.js", import.meta.url));
let world: NexusWorld;

beforeAll(async () => {
  world = await NexusWorld.open();
  const demo = { command: process.execPath, args: [DEMO] };
  await world.configure({ demo, nasty: stdioFixture(), My_Server: demo, "awslabs.aws-docs": demo });
});

afterAll(() => world[Symbol.asyncDispose]());

const mcp = (...args: string[]) => world.run(["mcp", ...args]);

test.each([
  ["call", "demo.add", "--arg", "a=9007199254740993", "--arg", "b=1"],
  ["call", "demo.add", "--args", '{"a": 1e400, "b": 1}'],
  ["request", "demo", "tools/call", '{"name":"add","arguments":{"a":12345678901234567890,"b":1}}'],
])("N13: a number that would arrive as another one is refused: %s %s %s %s", async (...args) => {
  const { code, stdout, stderr } = await mcp(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("cannot be sent exactly");
});

test("a byte order mark before JSON or a text is none of it", async () => {
  const json = await world.write("bom.json", `\uFEFF{"text": "hi"}`);
  const text = await world.write("bom.txt", "\uFEFFhi");
  expect(await mcp("call", "demo.echo", "--args", `@${json}`)).toMatchObject({ code: 0, stdout: "hi\n" });
  expect(await mcp("call", "demo.echo", "--arg", `text=@${text}`)).toMatchObject({ code: 0, stdout: "hi\n" });
});

test("an argument that does not fit is shown with its value and the command that shows the tool", async () => {
  const { code, stderr } = await mcp("call", "demo.add", "--arg", "a=two", "--arg", "b=1");
  expect(code).toBe(2);
  expect(stderr).toContain(`a: expected number, got string "two"`);
  expect(stderr).toContain(`"nexus mcp tools demo --name add"`);
});

test("commands to copy read the same file again (P1.9)", async () => {
  const notes = { command: process.execPath, args: [DEMO] };
  const file = await world.write("one.json", JSON.stringify({ mcpServers: { notes } }));
  const unfit = await mcp("call", "notes.add", "--arg", "a=two", "--config", file);
  expect(unfit.stderr).toMatch(/"nexus mcp tools notes --config \S*one\.json'? --name add"/);
  const unknown = await mcp("call", "notes.ad", "--config", file);
  expect(unknown.stderr).toMatch(/"nexus mcp tools notes --config \S*one\.json'?" lists/);
});

test.each([
  [2, ["call", "demo.echo", "hi"], `"hi" is not an argument of "nexus mcp call"`],
  [2, ["prompt", "demo.postcard", "Vienna"], `"Vienna" is not an argument of "nexus mcp prompt"`],
  [2, ["tools", "demo", "--server", "demo"], "Name the server once"],
  [2, ["call", "demo.echo", "--args", ""], "--args is empty"],
  [2, ["call", "nasty"], `Write nasty.TOOL; "nexus mcp tools nasty" lists them.`],
  [2, ["tools", "--url", "foo"], '--url "foo" is not an http or https URL'],
  [2, ["tools", "--server", "demo", "--stdio", "node x.js"], `"demo" cannot be used together with --stdio or --url`],
  [2, ["connect", "demo", "--stdio", "node x.js"], `"demo" cannot be used together with --stdio or --url`],
  [2, ["tools", "--name", "add", "--grep", "x"], "--name and --grep cannot be used together"],
  [6, ["call", "demo.ech"], `Did you mean "demo.echo"?`],
])("says what was meant, exit code %d: %j", async (exit, args, words) => {
  const { code, stderr } = await mcp(...args);
  expect({ code, stderr }).toMatchObject({ code: exit, stderr: expect.stringContaining(words) as string });
});

test("arguments can be written without --arg, and a server without --server (N13)", async () => {
  expect(await mcp("call", "demo.add", "a=2", "b=3", "--json")).toMatchObject({ code: 0 });
  expect(await mcp("call", "demo.echo", "--arg", "text=one", "text=two")).toMatchObject({ code: 2 });
  expect((await mcp("prompt", "demo.postcard", "place=Vienna")).stdout).toContain("Vienna");
  for (const list of ["tools", "resources", "templates", "prompts"]) {
    const [word, option] = await Promise.all([mcp(list, "demo"), mcp(list, "--server", "demo")]);
    expect(word).toMatchObject({ code: 0, stdout: option.stdout });
  }
});

test.each(["My_Server", "my-server", "awslabs.aws-docs", "awslabs-aws-docs"])(
  "a server is addressed by its id, and as its file calls it: %s (P0)",
  async (name) => {
    expect(await mcp("tools", name)).toMatchObject({ code: 0 });
    expect(await mcp("call", `${name}.echo`, "text=hi")).toMatchObject({ code: 0, stdout: "hi\n" });
    expect(await mcp("connect", name)).toMatchObject({ code: 0 });
    expect(await mcp("explain", name)).toMatchObject({ code: 0 });
  },
);

test("a tool without its server is answered with the servers that were seen to have it (P1.9)", async () => {
  await mcp("tools", "demo");
  await mcp("tools", "My_Server");
  const { code, stderr } = await mcp("call", "roll_dice");
  expect(code).toBe(6);
  expect(stderr).toMatch(/Did you mean .*"demo.roll_dice"/);
  expect(stderr).toContain(`"my-server.roll_dice"`);
});

test("mcp list and mcp ls are mcp servers", async () => {
  const { stdout } = await mcp("servers", "--json");
  for (const alias of ["list", "ls"]) {
    expect((await mcp(alias, "--json")).stdout.length).toBe(stdout.length);
    expect((await mcp(alias, "--help")).stdout).toContain("nexus mcp servers");
  }
});

test("names that share only their server are not alike", async () => {
  const { stderr } = await mcp("call", "demo.zzz");
  expect(stderr).not.toContain("Did you mean");
});

test("what to type next keeps the server in place", async () => {
  const { command, args } = stdioFixture();
  const { stderr } = await mcp("call", "zzz", "--stdio", [command, ...args].join(" "));
  expect(stderr).toContain(`"nexus mcp tools --stdio '${command} ${args[0]}'" lists`);
});

test("--version is one JSON document with --json", async () => {
  const { code, stdout } = await world.run(["--version", "--json"]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ version: expect.stringMatching(/^\d/) as string });
});
