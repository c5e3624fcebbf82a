import { expect, test } from "vitest";
import { openWorld, resultsIn, resultText } from "../../../test/fixtures/agent/agent-world.ts";
import { ScriptedServer } from "../../testing/index.ts";
import type { ModelEvent, ModelProvider } from "../model/model-provider.ts";

const ACT = { call: "mcp__s__act" };
const actor = () => new ScriptedServer({ tools: { act: () => "done" } });

/** A model of a program, which may break the rules of iterators. */
function ruleBreaker(next: () => Promise<IteratorResult<ModelEvent>>, end: () => Promise<never>): ModelProvider {
  const iterator = { next, return: end };
  return { name: "own:model", stream: () => ({ [Symbol.asyncIterator]: () => iterator }) };
}

test("a consent desk that throws at once denies the call", async () => {
  const server = actor();
  await using world = await openWorld({
    servers: { s: server.transport },
    consent: {
      decide: () => {
        throw new Error("the desk is closed");
      },
    },
    script: [[ACT], "done"],
  });
  const { steps } = await world.agent.send("go");
  expect(steps).toMatchObject([{ outcome: "denied" }]);
  expect(resultText(resultsIn(world.agent.messages)[0])).toContain("the desk is closed");
  expect(server.methods).not.toContain("tools/call");
});

test("a consent desk that ignores the signal does not hold the turn", async () => {
  const server = actor();
  const abort = new AbortController();
  await using world = await openWorld({
    servers: { s: server.transport },
    consent: {
      decide: () => {
        abort.abort();
        return new Promise(() => {});
      },
    },
    script: [[ACT], "done"],
  });
  const { stopReason, steps } = await world.agent.send("go", { signal: abort.signal });
  expect(stopReason).toBe("cancelled");
  expect(steps).toMatchObject([{ outcome: "cancelled" }]);
  expect(server.methods).not.toContain("tools/call");
});

test("a model that fails when it is ended does not lose its answer", async () => {
  await using world = await openWorld({ servers: {}, script: [] });
  const content = [{ type: "text", text: "Yes." }] as const;
  const usage = { inputTokens: 1, outputTokens: 1 };
  const last: ModelEvent = { type: "end", stopReason: "end", usage, message: { role: "assistant", content } };
  world.agent.model = ruleBreaker(
    () => Promise.resolve({ done: false, value: last }),
    () => {
      throw new Error("already closed");
    },
  );
  expect(await world.agent.send("go")).toMatchObject({ stopReason: "end", text: "Yes." });
});

test("a model that ignores the signal does not hold the turn", async () => {
  await using world = await openWorld({ servers: {}, script: [] });
  const abort = new AbortController();
  world.agent.model = ruleBreaker(
    () => {
      abort.abort();
      return new Promise(() => {});
    },
    () => Promise.reject(new Error("never began")),
  );
  expect(await world.agent.send("go", { signal: abort.signal })).toMatchObject({ stopReason: "cancelled" });
});
