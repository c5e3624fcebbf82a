import { describe, expect, test } from "vitest";
import { ANTHROPIC_FAILURES, openAnthropicFake } from "../../../test/fixtures/providers/anthropic-fake.ts";
import { OPENAI_FAILURES, openOpenAiFake } from "../../../test/fixtures/providers/openai-fake.ts";
import type { ProviderFake } from "../../../test/fixtures/providers/provider-fake.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { Network } from "../../net/network.ts";
import type { ModelEvent, ModelRequest } from "./model-provider.ts";
import { normalBaseUrl, type ProviderType } from "./provider-endpoint.ts";
import { SdkModel } from "./sdk-model.ts";

const TYPES: ProviderType[] = ["anthropic", "openai", "openai-compatible"];

interface World extends AsyncDisposable {
  fake: ProviderFake;
  model: SdkModel;
}

async function open(
  type: ProviderType,
  options: { timeoutMs?: number; model?: string; key?: string } = {},
): Promise<World> {
  const fake = await (type === "anthropic" ? openAnthropicFake() : openOpenAiFake());
  const network = new Network();
  const model = new SdkModel({
    endpoint: {
      provider: "fake",
      type,
      baseUrl: normalBaseUrl(fake.url),
      apiKey: options.key ?? "test-key",
      headers: {},
      keyHint: "Set another key.",
    },
    model: options.model ?? "fake-large",
    network,
    timeoutMs: options.timeoutMs ?? 60_000,
  });
  return {
    fake,
    model,
    [Symbol.asyncDispose]: async () => {
      await network.close();
      await fake.close();
    },
  };
}

const HELLO: ModelRequest = { messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }] };
const TOOL = {
  name: "add",
  description: "Adds",
  inputSchema: { type: "object", properties: { a: { type: "number" } } },
};

async function all(model: SdkModel, request: ModelRequest = HELLO, signal?: AbortSignal): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream(request, { signal })) events.push(event);
  return events;
}

async function failureOf(
  model: SdkModel,
  request?: ModelRequest,
): Promise<{ error: NexusError; events: ModelEvent[] }> {
  const events: ModelEvent[] = [];
  try {
    for await (const event of model.stream(request ?? HELLO)) events.push(event);
  } catch (error) {
    if (error instanceof NexusError) return { error, events };
    throw error;
  }
  throw new Error("It did not fail");
}

describe.each(TYPES)("%s", (type) => {
  test(`${type}: an answer comes as text in pieces, with usage and a message at its end`, async () => {
    await using world = await open(type);
    world.fake.script({ text: ["Good ", "morning"], usage: { input: 12, output: 3 } });
    expect(await all(world.model, { ...HELLO, system: "Be short." })).toEqual([
      { type: "text", text: "Good " },
      { type: "text", text: "morning" },
      {
        type: "end",
        stopReason: "end",
        usage: { inputTokens: 12, outputTokens: 3 },
        message: { role: "assistant", content: [{ type: "text", text: "Good morning" }] },
      },
    ]);
    expect(JSON.stringify(world.fake.asked[0]?.body)).toContain("Be short.");
  });

  test(`${type}: parallel tool calls are complete when they are reported`, async () => {
    await using world = await open(type);
    world.fake.script({
      text: "I add.",
      calls: [
        { id: "a1", name: "add", arguments: { a: 1 } },
        { id: "a2", name: "add", arguments: { a: 2 } },
      ],
    });
    const events = await all(world.model, { ...HELLO, tools: [TOOL] });
    const calls = [
      { type: "tool_call", id: "a1", name: "add", arguments: { a: 1 } },
      { type: "tool_call", id: "a2", name: "add", arguments: { a: 2 } },
    ];
    expect(events.filter(({ type: kind }) => kind === "tool_call")).toMatchObject(calls.map((call) => ({ call })));
    expect(events.at(-1)).toMatchObject({
      type: "end",
      stopReason: "tool_calls",
      message: { content: [{ type: "text", text: "I add." }, ...calls] },
    });
  });

  test(`${type}: a broken stream fails after what arrived, with CONNECTION_LOST`, async () => {
    await using world = await open(type);
    world.fake.script({ text: ["One", "Two", "Three"], breakAfter: 5 });
    const { error, events } = await failureOf(world.model);
    expect(error).toMatchObject({ code: "CONNECTION_LOST" });
    expect(events.length).toBeGreaterThan(0);
    expect(world.fake.asked).toHaveLength(1);
  });

  test(`${type}: a stream that ends too early is not a complete answer`, async () => {
    await using world = await open(type);
    world.fake.script({ text: ["One", "Two", "Three"], endAfter: 4 });
    const { error } = await failureOf(world.model);
    expect(error).toMatchObject({ code: "CONNECTION_LOST" });
  });

  test(`${type}: an event that is not JSON is reported as an unreadable answer`, async () => {
    await using world = await open(type);
    world.fake.script({ text: ["One", "Two"], malformedAt: 2 });
    const { error } = await failureOf(world.model);
    expect(error).toMatchObject({ code: "PROTOCOL_VIOLATION" });
    expect(error.hint).toContain(world.fake.url);
  });

  test(`${type}: a wrong key is refused with what to do, and never shown`, async () => {
    await using world = await open(type, { key: "wrong-key-123" });
    const { error } = await failureOf(world.model);
    expect(error).toMatchObject({ code: "AUTH_REQUIRED", hint: "Set another key." });
    expect(JSON.stringify([error.message, error.details])).not.toContain("wrong-key-123");
  });

  test(`${type}: an unknown model names the nearest one`, async () => {
    await using world = await open(type, { model: "fake-lagre" });
    const { error } = await failureOf(world.model);
    expect(error.code).toBe("NAME_UNKNOWN");
    expect(error.hint).toContain(`Did you mean "fake:fake-large"?`);
  });

  test(`${type}: a limited request waits as told and is made again`, async () => {
    await using world = await open(type);
    const failures = type === "anthropic" ? ANTHROPIC_FAILURES : OPENAI_FAILURES;
    world.fake.script(failures.rateLimited({ "retry-after-ms": "150" }), { text: "Now." });
    const events = await all(world.model);
    expect(events[0]).toMatchObject({ type: "wait", ms: 150 });
    expect(events[1]).toEqual({ type: "text", text: "Now." });
    expect(world.fake.asked).toHaveLength(2);
  });
});
