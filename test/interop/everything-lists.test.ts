import { Client as Client2, StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FaultWorld } from "../gateway/faults/faults-world.ts";
import { NexusWorld } from "../fixtures/nexus.ts";
import { agreeable } from "./answers.ts";
import { connect } from "../../src/index.ts";
import { packageBin } from "./server-process.ts";

const PROGRAM = packageBin("@modelcontextprotocol/server-everything");
const ENTRY = { command: process.execPath, args: [PROGRAM, "stdio"] };
const INFO = { name: "interop", version: "1.0.0" };
const EVERYTHING = { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {} };

const names = (tools: readonly { name: string }[]) => tools.map(({ name }) => name.replace("everything__", "")).sort();

describe("server-everything behind /mcp lists to each client what it lists to that client directly (R10, X1)", () => {
  let world: FaultWorld;
  /** What a client that declares everything is listed without a gateway. */
  let all: string[];

  beforeAll(async () => {
    world = await FaultWorld.open(() => ({ everything: ENTRY }), {}, {});
    await using direct = await connect(ENTRY, { input: { ...agreeable().input, capabilities: EVERYTHING } });
    all = names(await direct.listTools());
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("17 tools are listed to a client that declares everything", () => {
    expect(all).toHaveLength(17);
  });

  test.for(["SDK 1.x", "SDK 2.x"] as const)("to the client of %s, whatever it declares", async (sdk) => {
    const list = async (capabilities: typeof EVERYTHING | Record<string, never>) => {
      const client =
        sdk === "SDK 1.x"
          ? new Client1(INFO, { capabilities })
          : new Client2(INFO, { capabilities, versionNegotiation: { mode: "auto" } });
      const url = new URL(world.gateway.url);
      if (client instanceof Client1) await client.connect(new Http1(url));
      else await client.connect(new Http2(url));
      try {
        return names((await client.listTools()).tools);
      } finally {
        await client.close();
      }
    };
    const [able, plain] = [await list(EVERYTHING), await list({})];
    await expect.poll(() => list(EVERYTHING), { timeout: 60_000 }).toEqual(all);
    expect(all).toEqual(expect.arrayContaining(able));
    expect(plain).not.toContain("trigger-elicitation-request");
  });
});

test("mcp tools lists what mcp call can call, and no more (R10)", async () => {
  await using world = await NexusWorld.open();
  await world.configure({ everything: ENTRY });
  const { stdout } = await world.run(["mcp", "tools", "everything", "--json"]);
  const listed = names((JSON.parse(stdout) as { items: { name: string }[] }).items);
  expect(listed).toContain("trigger-elicitation-request");
  const call = await world.run(["mcp", "call", "everything.trigger-elicitation-request", "--answer", "form=decline"]);
  expect(call).toMatchObject({ code: 0, stdout: expect.stringContaining("declined") as string });
  expect(listed).not.toContain("trigger-sampling-request");
  const sampling = ["mcp", "call", "everything.trigger-sampling-request", "prompt=x"];
  expect(await world.run(sampling)).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("offer tools that use a model only with --sample-with") as string,
  });
  const sampled = await world.run([...sampling, "--sample-with", "cat", "--yes"]);
  expect(sampled, sampled.stderr).toMatchObject({ code: 0 });
});
