import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AuditRecord } from "../../../src/gateway/operation/audit.ts";
import { serve } from "../../../src/gateway/index.ts";
import { connect, Host } from "../../../src/index.ts";
import { failure } from "../../fixtures/failure.ts";
import { NexusWorld } from "../../fixtures/nexus.ts";
import { bareServer } from "../../fixtures/servers/bare-server.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";

const LONG = "t".repeat(58);

let folder: string;
let world: NexusWorld;
/** A server with one tool, whose name has 58 characters. */
let wordy: { command: string; args: string[] };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-prefix-"));
  world = await NexusWorld.open();
  const file = join(folder, "wordy.mjs");
  await writeFile(file, bareServer([{ name: LONG, inputSchema: { type: "object" } }]));
  wordy = { command: process.execPath, args: [file] };
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

test("B2, G2: names of tools and prompts begin with the prefix of the entry; the server's id still leads to them", async () => {
  const records: AuditRecord[] = [];
  const servers = { everything: { ...stdioFixture(), prefix: "ev" }, other: stdioFixture() };
  const host = await Host.open({ servers, stateFolder: folder });
  await using gateway = await serve({ host, port: 0, audit: (record) => records.push(record) });
  await gateway.ready();
  await using client = await connect({ url: gateway.url });
  const tools = (await client.listTools()).map(({ name }) => name);
  expect(tools).toEqual(expect.arrayContaining(["ev__echo", "other__echo"]));
  expect(tools).not.toContain("everything__echo");
  for (const name of ["ev__echo", "everything__echo"]) {
    expect(await client.callTool(name, { text: "hi" })).toMatchObject({ content: [{ text: "hi" }] });
    expect(records.at(-1)).toMatchObject({ server: "everything", target: name, outcome: "ok" });
  }
  const prompts = (await client.listPrompts()).map(({ name }) => name);
  expect(prompts.some((name) => name.startsWith("ev__"))).toBe(true);
  expect(await client.getPrompt("ev__test_simple_prompt")).toMatchObject({ messages: [{}] });
  const resources = (await client.listResources()).map(({ uri }) => uri);
  expect(resources.some((uri) => uri.startsWith("everything+"))).toBe(true);
  expect(await failure(client.callTool("ev_echo"))).toMatchObject({ code: "SERVER_ERROR" });

  expect(host.tools().map(({ name }) => name)).toContain("mcp__ev__echo");
  for (const name of ["mcp__ev__echo", "mcp__everything__echo", "everything.echo"]) {
    expect(await host.callTool(name, { text: "hi" })).toMatchObject({ content: [{ text: "hi" }] });
  }
});

test("B2: a changed prefix changes the names", async () => {
  const host = await Host.open({ servers: { everything: stdioFixture() }, stateFolder: folder });
  await using gateway = await serve({ host, port: 0 });
  await gateway.ready();
  await using client = await connect({ url: gateway.url });
  const names = async () => (await client.listTools()).map(({ name }) => name);
  expect(await names()).toContain("everything__echo");
  await host.setServers({ everything: { ...stdioFixture(), prefix: "ev" } });
  await expect.poll(names).toContain("ev__echo");
  expect(await names()).not.toContain("everything__echo");
});

test("P1.9: doctor and serve warn of names over 64 characters and say which prefix would do; with it they say nothing", async () => {
  await world.configure({ "wordy-server": wordy });
  const { stdout } = await world.run(["mcp", "doctor", "wordy-server"]);
  expect(stdout).toContain(`wordy-server__${LONG} (72)`);
  expect(stdout).toContain(`"prefix": "ws"`);
  const { child, output } = world.start(["serve", "--port", "0"]);
  await expect.poll(() => output.stderr).toContain(`"prefix": "ws"`);
  child.kill("SIGINT");
  if (child.exitCode === null) await once(child, "close");

  await world.configure({ "wordy-server": { ...wordy, prefix: "ws" } });
  expect((await world.run(["mcp", "doctor", "wordy-server"])).stdout).not.toContain("over 64 characters");
  expect((await world.run(["mcp", "explain", "wordy-server"])).stdout).toMatch(/prefix:? +ws\n/);
});

test("G2: on the command line a tool is found by the name that begins with its prefix", async () => {
  await world.configure({ kit: { ...stdioFixture(), prefix: "k" } });
  const called = await world.run(["mcp", "call", "mcp__k__echo", "--arg", "text=hi"]);
  expect(called).toMatchObject({ code: 0, stdout: "hi\n" });
  expect((await world.run(["mcp", "export", "kit"])).stdout).toContain(`"prefix": "k"`);
});

test("P0: a server of a project that is not trusted is not reached by the prefix of another one", async () => {
  await world.configure({ kit: { ...stdioFixture(), prefix: "k" } });
  const file = await world.write("home/work/project/.mcp.json", { mcpServers: { k: wordy } });
  const { child, output } = world.start(["serve", "--port", "0"]);
  await expect.poll(() => output.stdout).toContain("Ctrl-C");
  const url = /http:\/\/[\d.:]+\/mcp/.exec(output.stdout)?.[0] ?? "";
  await using client = await connect({ url });
  expect(await client.callTool("k__echo", { text: "hi" })).toMatchObject({ content: [{ text: "hi" }] });
  child.kill("SIGINT");
  if (child.exitCode === null) await once(child, "close");
  await rm(file);
});
