import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../src/index.ts";
import { NexusWorld } from "../fixtures/nexus.ts";
import { childrenOf, isRunning } from "../fixtures/processes.ts";
import { bareServer } from "../fixtures/servers/bare-server.ts";
import { startHttpFixture, type HttpFixture } from "../fixtures/servers/http-fixture.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";

const ERAS = ["2026-07-28", "2025-11-25"] as const;
const WATCHED = "test://watched-resource";

let world: NexusWorld;

beforeAll(async () => {
  world = await NexusWorld.open();
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** Runs until it says that it watches. */
async function watching(args: readonly string[]): Promise<ReturnType<NexusWorld["start"]>> {
  const started = world.start(["mcp", "watch", ...args]);
  await expect.poll(() => started.output.stderr).toContain("Watching");
  return started;
}

async function codeOf(child: ChildProcess): Promise<unknown> {
  return child.exitCode ?? ((await once(child, "close")) as [unknown])[0];
}

/** Changes things at the server, as another client of it. */
async function change(http: HttpFixture, ...calls: [tool: string, args?: object][]): Promise<void> {
  await using client = await connect({ url: http.url });
  for (const [tool, args] of calls) await client.callTool(tool, args);
}

describe.each(ERAS)("with a server of %s", (revision) => {
  test("R1: shows lists and resources as they change, and ends after --count", async () => {
    await using http = await startHttpFixture({ revision });
    const { child, output } = await watching(["--url", http.url, WATCHED, "--read", "--count", "4"]);
    await change(http, ["test_trigger_tool_change"]);
    await expect.poll(() => output.stdout).toContain("tools changed: +extra_tool");
    await change(http, ["test_trigger_tool_change"]);
    await expect.poll(() => output.stdout).toContain("tools changed: -extra_tool");
    await change(http, ["test_trigger_resource_change"]);
    await expect.poll(() => output.stdout).toContain("resources changed: +test://extra");
    await change(http, ["update_resource", { uri: WATCHED }]);

    expect(await codeOf(child)).toBe(0);
    expect(output.stdout).toMatch(
      /^\d\d:\d\d:\d\d tools changed: .+\n(?:.+\n){2}\d\d:\d\d:\d\d resource updated: test:\/\/watched-resource\n {11}Watch me\.\n$/,
    );
  });
});

test("for programs a change is one line of JSON", async () => {
  await using http = await startHttpFixture();
  const started = world.start(["mcp", "watch", "--url", http.url, "--json", "--count", "1"]);
  // Nothing tells a program that the watch has begun: changes are made until one is seen.
  while (started.child.exitCode === null) await change(http, ["test_trigger_prompt_change"]);
  const [first = ""] = started.output.stdout.split("\n");

  expect(await codeOf(started.child)).toBe(0);
  expect(JSON.parse(first)).toMatchObject({
    kind: "list-changed",
    list: "prompts",
    time: expect.any(String) as string,
  });
  expect(started.output.stderr).toBe("");
});

test("Ctrl-C ends it with 130, and the server with it", async () => {
  await world.configure({ all: stdioFixture() });
  const { child, output } = await watching(["all"]);
  const children = childrenOf(child.pid ?? 0);
  child.kill("SIGINT");

  expect(await codeOf(child)).toBe(130);
  expect(output.stdout).toBe("");
  await expect.poll(() => children.some(isRunning)).toBe(false);
});

test("P1.9: a server that goes away ends it with 4 and the reason", async () => {
  await world.configure({ all: stdioFixture() });
  const { child, output } = await watching(["all"]);
  for (const server of childrenOf(child.pid ?? 0)) process.kill(server, "SIGKILL");

  expect(await codeOf(child)).toBe(4);
  expect(output.stderr).toMatch(/nexus: The server .*SIGKILL[^]*server: +all/);
});

test("a server on the network that goes away ends it with 4", async () => {
  const http = await startHttpFixture({ revision: "2026-07-28" });
  const { child, output } = await watching(["--url", http.url]);
  await http.close();

  expect(await codeOf(child)).toBe(4);
  expect(output.stdout).toContain("interrupted: ");
});

test("what the server does not tell of is refused with 6, a wrong count with 2", async () => {
  const script = await world.write("bare.mjs", bareServer([]));
  await world.configure({ bare: { command: process.execPath, args: [script] } });
  for (const [uris, what] of [
    [[], "anything"],
    [["test://a"], "test://a"],
  ] as const) {
    const { code, stdout, stderr } = await world.run(["mcp", "watch", "bare", ...uris]);
    expect({ code, stdout }).toEqual({ code: 6, stdout: "" });
    expect(stderr).toContain(`does not report changes of ${what}`);
  }
  expect(await world.run(["mcp", "watch", "bare", "--count", "none"])).toMatchObject({ code: 2, stdout: "" });
});
