import { setImmediate as nextRound } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { openWorld, resultsIn, resultText } from "../../../test/fixtures/agent/agent-world.ts";
import { historyProblems } from "../../../test/fixtures/agent/history-rules.ts";
import { ScriptedServer, type ScriptedMove } from "../../testing/index.ts";

const calls = (count: number, name: string): ScriptedMove[] => Array.from({ length: count }, () => ({ call: name }));

test("of one answer 100 calls run, and the others get an error that says so", async () => {
  const server = new ScriptedServer({ tools: { act: () => "done" } });
  await using world = await openWorld({
    servers: { s: server.transport },
    script: [calls(103, "mcp__s__act"), "done"],
  });
  const { steps, stopReason } = await world.agent.send("go", { onEvent: world.note });
  expect(stopReason).toBe("end");
  expect(steps.map(({ outcome }) => outcome)).toEqual([
    ...Array.from({ length: 100 }, () => "ok"),
    "error",
    "error",
    "error",
  ]);
  expect(steps[102]).toMatchObject({ server: "s", tool: "act" });
  expect(server.methods.filter((method) => method === "tools/call")).toHaveLength(100);
  expect(resultText(resultsIn(world.agent.messages)[102])).toBe(
    "The answer has 103 tool calls. Only the first 100 were made. This one was not sent.",
  );
  expect(world.events.filter(({ type }) => type === "notice")).toHaveLength(1);
  expect(historyProblems(world.agent.messages)).toEqual([]);
});

test("the tools of the host are read once for all calls of an answer", async () => {
  const server = new ScriptedServer({ tools: { act: () => "done" } });
  await using world = await openWorld({
    servers: { s: server.transport },
    script: [[...calls(20, "mcp__s__act"), ...calls(20, "mcp__s__other")], "done"],
  });
  const list = vi.spyOn(world.host, "tools");
  await world.agent.send("go");
  expect(list.mock.calls.length).toBe(world.model.requests.length);
});

test("other work goes on between the calls of one answer", async () => {
  await using world = await openWorld({ servers: {}, script: [calls(50, "missing"), "done"] });
  let endedAtFirst: number | undefined;
  await world.agent.send("go", {
    onEvent: (event) => {
      world.note(event);
      if (event.type !== "answer" || endedAtFirst !== undefined) return;
      endedAtFirst = 0;
      void nextRound().then(() => (endedAtFirst = world.events.filter(({ type }) => type === "tool_end").length));
    },
  });
  expect(world.events.filter(({ type }) => type === "tool_end")).toHaveLength(50);
  expect(endedAtFirst).toBeLessThan(5);
});
