import { expect, test } from "vitest";
import { failure } from "../../test/fixtures/failure.ts";
import type { ModelEvent, ModelRequest } from "../agent/model/model-provider.ts";
import { ScriptedModel } from "./index.ts";

const REQUEST: ModelRequest = { messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }] };

async function answer(model: ScriptedModel, request = REQUEST, signal?: AbortSignal): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream(request, { signal })) events.push(event);
  return events;
}

test("a scripted model plays its moves as events, and the last one has the whole message", async () => {
  const model = new ScriptedModel([
    [
      { wait: 100, reason: "busy" },
      { reasoning: "hm" },
      { text: "a" },
      { text: "b" },
      { call: "add", arguments: { a: 1 } },
      { usage: { inputTokens: 7, outputTokens: 3 } },
    ],
  ]);
  const call = { type: "tool_call", id: "call-1", name: "add", arguments: { a: 1 } };
  expect(await answer(model)).toEqual([
    { type: "wait", ms: 100, reason: "busy" },
    { type: "reasoning", text: "hm" },
    { type: "text", text: "a" },
    { type: "text", text: "b" },
    { type: "tool_call", call },
    {
      type: "end",
      stopReason: "tool_calls",
      usage: { inputTokens: 7, outputTokens: 3 },
      message: { role: "assistant", content: [{ type: "reasoning", text: "hm" }, { type: "text", text: "ab" }, call] },
    },
  ]);
});

test("requests are recorded as they were, and a function can choose the answer", async () => {
  const model = new ScriptedModel(({ messages }, index) => `${index}: ${messages.length}`, { name: "test:choice" });
  const messages = [...REQUEST.messages];
  expect((await answer(model, { messages })).at(-1)).toMatchObject({ message: { content: [{ text: "0: 1" }] } });
  messages.push({ role: "assistant", content: [{ type: "text", text: "yes" }] });
  expect(model.requests[0]?.messages).toHaveLength(1);
  expect((await answer(model, { messages })).at(-1)).toMatchObject({ message: { content: [{ text: "1: 2" }] } });
});

test("an error is thrown where it is in the script, and a script that is over says so", async () => {
  const model = new ScriptedModel([[{ text: "a" }, { error: new Error("down") }]]);
  await expect(answer(model)).rejects.toThrow("down");
  await expect(answer(model)).rejects.toThrow("has no answer for request 2");
  expect(await answer(model.add("more"))).toHaveLength(2);
});

test("a hook holds the answer, and an aborted signal ends it there", async () => {
  const model = new ScriptedModel([[{ hook: () => new Promise(() => {}) }, { text: "never" }]]);
  const abort = new AbortController();
  const answered = failure(answer(model, REQUEST, abort.signal));
  await expect.poll(() => model.pending).toBe(1);
  abort.abort();
  expect((await answered).code).toBe("CANCELLED");
  expect({ pending: model.pending, aborted: model.aborted }).toEqual({ pending: 0, aborted: 1 });
});
