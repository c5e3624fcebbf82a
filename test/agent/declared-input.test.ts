import { expect, test } from "vitest";
import { AgentInput, SamplingDesk } from "../../src/agent/index.ts";
import { ScriptedModel } from "../../src/testing/index.ts";
import { openWorld } from "../fixtures/agent/agent-world.ts";
import { packageBin } from "../interop/server-process.ts";

const EVERYTHING = {
  command: process.execPath,
  args: [packageBin("@modelcontextprotocol/server-everything"), "stdio"],
};
const TOOL = "mcp__everything__trigger-sampling-request";
const SCRIPT = [[{ call: TOOL, arguments: { prompt: "hello" } }], "done", "again"];
const samplingInput = () => {
  const sampled = new ScriptedModel(["sampled text"]);
  return new AgentInput({
    sampling: new SamplingDesk({ models: () => [sampled], ask: async () => ({ kind: "once" }) }),
  });
};

test("a tool that a server lists only for clients with sampling is called if the host has the agent's input", async () => {
  const input = samplingInput();
  await using world = await openWorld({
    servers: { everything: EVERYTHING },
    script: SCRIPT,
    input,
    hostOptions: { input },
  });
  const { steps } = await world.agent.send("go", { onEvent: world.note });
  expect(steps).toMatchObject([{ tool: "trigger-sampling-request", outcome: "ok" }]);
  expect(JSON.stringify(world.agent.messages)).toContain("sampled text");
  expect(world.events.filter(({ type }) => type === "notice")).toEqual([]);
});

test("an agent whose host was opened without its input says once that tools may be missing", async () => {
  await using world = await openWorld({ servers: { everything: EVERYTHING }, script: SCRIPT, input: samplingInput() });
  const { steps } = await world.agent.send("go", { onEvent: world.note });
  await world.agent.send("again", { onEvent: world.note });
  expect(steps).toMatchObject([{ outcome: "error" }]);
  expect(world.model.requests[0]?.tools?.map(({ name }) => name)).not.toContain(TOOL);
  expect(world.events.filter(({ type }) => type === "notice")).toEqual([
    {
      type: "notice",
      text:
        "The host was opened without sampling, so servers may not list tools that need it. " +
        `Pass the same "input" to Host.open() and to new Agent().`,
    },
  ]);
});
