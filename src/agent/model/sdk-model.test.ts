import { describe, expect, test } from "vitest";
import { ANTHROPIC_FAILURES } from "../../../test/fixtures/providers/anthropic-fake.ts";
import { OPENAI_FAILURES } from "../../../test/fixtures/providers/openai-fake.ts";
import { all, failureOf, HELLO, openFakeModel } from "../../../test/fixtures/providers/fake-model.ts";
import type { ModelRequest } from "./model-provider.ts";
import type { ProviderType } from "../../config/models-setting.ts";

const TYPES: ProviderType[] = ["anthropic", "openai", "openai-compatible"];

const TOOL = {
  name: "add",
  description: "Adds",
  inputSchema: { type: "object", properties: { a: { type: "number" } } },
};

describe.each(TYPES)("%s", (type) => {
  test(`${type}: an answer comes as text in pieces, with usage and a message at its end`, async () => {
    await using world = await openFakeModel(type);
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
    await using world = await openFakeModel(type);
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
    await using world = await openFakeModel(type);
    world.fake.script({ text: ["One", "Two", "Three"], breakAfter: 5 });
    const { error, events } = await failureOf(world.model);
    expect(error).toMatchObject({ code: "CONNECTION_LOST" });
    expect(events.length).toBeGreaterThan(0);
    expect(world.fake.asked).toHaveLength(1);
  });

  test(`${type}: a stream that ends too early is not a complete answer`, async () => {
    await using world = await openFakeModel(type);
    world.fake.script({ text: ["One", "Two", "Three"], endAfter: 4 });
    const { error } = await failureOf(world.model);
    expect(error).toMatchObject({ code: "CONNECTION_LOST" });
  });

  test(`${type}: an event that is not JSON is reported as an unreadable answer`, async () => {
    await using world = await openFakeModel(type);
    world.fake.script({ text: ["One", "Two"], malformedAt: 2 });
    const { error } = await failureOf(world.model);
    expect(error).toMatchObject({ code: "PROTOCOL_VIOLATION" });
    expect(error.hint).toContain(world.fake.url);
  });

  test(`${type}: a wrong key is refused with what to do, and never shown`, async () => {
    await using world = await openFakeModel(type, { key: "wrong-key-123" });
    const { error } = await failureOf(world.model);
    expect(error).toMatchObject({ code: "AUTH_REQUIRED", hint: "Set another key." });
    expect(JSON.stringify([error.message, error.details])).not.toContain("wrong-key-123");
  });

  test(`${type}: a key that the provider repeats in an error or a limit is masked`, async () => {
    const key = "plain words as a key";
    await using world = await openFakeModel(type, { key });
    world.fake.key = undefined;
    const refusal = (status: number) => ({
      status,
      headers: { "retry-after-ms": "1" },
      body: { error: { message: `Not with ${key}` } },
    });
    world.fake.script(refusal(429), refusal(400));
    const { error, events } = await failureOf(world.model);
    expect(error.message).toContain("Not with");
    expect(JSON.stringify([error.message, error.details, events])).not.toContain(key);
  });

  test(`${type}: an unknown model names the nearest one`, async () => {
    await using world = await openFakeModel(type, { model: "fake-lagre" });
    const { error } = await failureOf(world.model);
    expect(error.code).toBe("NAME_UNKNOWN");
    expect(error.hint).toContain(`Did you mean "fake:fake-large"?`);
  });

  test(`${type}: a limited request waits as told and is made again`, async () => {
    await using world = await openFakeModel(type);
    const failures = type === "anthropic" ? ANTHROPIC_FAILURES : OPENAI_FAILURES;
    world.fake.script(failures.rateLimited({ "retry-after-ms": "150" }), { text: "Now." });
    const events = await all(world.model);
    expect(events[0]).toMatchObject({ type: "wait", ms: 150 });
    expect(events[1]).toEqual({ type: "text", text: "Now." });
    expect(world.fake.asked).toHaveLength(2);
  });
});

test("a provider that is away for a time that it names is asked again after that time", async () => {
  await using world = await openFakeModel("openai");
  world.fake.script({ status: 503, headers: { "retry-after": "7" }, body: "<html>" });
  for await (const event of world.model.stream(HELLO)) {
    expect(event).toMatchObject({ type: "wait", ms: 7_000 });
    break;
  }
  expect(world.fake.asked).toHaveLength(1);
});

test("a limit without a time says what was tried, not that the provider asked for a wait", async () => {
  // Long enough for requests on a busy machine, and short enough for the pauses that grow.
  await using world = await openFakeModel("anthropic", { timeoutMs: 6_000 });
  world.fake.fallback = ANTHROPIC_FAILURES.rateLimited();
  const { error } = await failureOf(world.model);
  expect(error).toMatchObject({ code: "RATE_LIMITED", details: { retryAfterMs: undefined } });
  expect(error.hint).toMatch(/^After \d (?:try|tries) and \d s of waiting, the time limit of 6 s leaves no time/);
  world.fake.fallback = ANTHROPIC_FAILURES.rateLimited({ "retry-after": "600" });
  expect((await failureOf(world.model)).error.hint).toContain(
    "asks to wait 10 min, which is longer than the time limit",
  );
});

const PNG = "iVBORw0KGgo=";
const CALLS = [
  { type: "tool_call", id: "a1", name: "add", arguments: { a: 1 } },
  { type: "tool_call", id: "a2", name: "look", arguments: "{broken" },
] as const;
/** A conversation with everything that messages can have. */
const WHOLE: ModelRequest = {
  tools: [TOOL],
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "Look" },
        { type: "media", data: PNG, mediaType: "image/png" },
        { type: "media", data: Buffer.from("a,b").toString("base64"), mediaType: "text/csv" },
        { type: "media", data: PNG, mediaType: "audio/ogg" },
        { type: "media", data: "https://evil.example/", mediaType: "image/png" },
      ],
    },
    { role: "assistant", content: [{ type: "text", text: "" }, ...CALLS] },
    {
      role: "tool",
      content: [
        {
          type: "tool_result",
          id: "a1",
          name: "add",
          isError: false,
          content: [
            { type: "text", text: "a picture" },
            { type: "media", data: PNG, mediaType: "image/png" },
          ],
        },
        { type: "tool_result", id: "a2", name: "look", isError: true, content: [{ type: "text", text: "not JSON" }] },
      ],
    },
  ],
};

test("anthropic: media, calls and results arrive in the provider's form", async () => {
  await using world = await openFakeModel("anthropic");
  await all(world.model, WHOLE);
  const { messages, tools } = world.fake.asked[0]?.body ?? {};
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };
  expect(messages).toMatchObject([
    {
      role: "user",
      content: [
        { type: "text", text: "Look" },
        image,
        { type: "text", text: "a,b" },
        { type: "text", text: "[audio/ogg, 8 B: left out, because this model does not take it]" },
        { type: "text", text: "[image/png: left out, because its data is not base64]" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "tool_use", id: "a1", name: "add", input: { a: 1 } },
        { type: "tool_use", id: "a2", name: "look", input: { invalid_arguments: "{broken" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "a1", content: [{ type: "text", text: "a picture" }, image] },
        { type: "tool_result", tool_use_id: "a2", is_error: true, content: "not JSON" },
      ],
    },
  ]);
  expect(tools).toMatchObject([{ name: "add", description: "Adds", input_schema: TOOL.inputSchema }]);
});

test.each(["openai", "openai-compatible"] as const)(
  "%s: media of results follow as a message of the user, and errors are said in words",
  async (type) => {
    await using world = await openFakeModel(type);
    await all(world.model, WHOLE);
    const { messages, tools } = world.fake.asked[0]?.body ?? {};
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } };
    expect(messages).toMatchObject([
      {
        role: "user",
        content: [{ type: "text", text: "Look" }, image, { text: "a,b" }, { type: "text" }, { type: "text" }],
      },
      {
        role: "assistant",
        tool_calls: [
          { id: "a1", function: { name: "add", arguments: `{"a":1}` } },
          { id: "a2", function: { name: "look", arguments: `{"invalid_arguments":"{broken"}` } },
        ],
      },
      { role: "tool", tool_call_id: "a1", content: "a picture\n[Its images and files follow in the next message.]" },
      { role: "tool", tool_call_id: "a2", content: "Error: not JSON" },
      { role: "user", content: [{ type: "text", text: "From the result of the tool add:" }, image] },
    ]);
    expect(tools).toMatchObject([{ type: "function", function: { name: "add", parameters: TOOL.inputSchema } }]);
  },
);

test("reasoning is returned to its provider with its signature", async () => {
  await using world = await openFakeModel("anthropic");
  world.fake.script({ reasoning: "Hm.", text: "Yes." });
  const events = await all(world.model);
  expect(events[0]).toEqual({ type: "reasoning", text: "Hm." });
  const end = events.at(-1);
  if (end?.type !== "end") throw new Error("no end");
  expect(end.message.content).toEqual([
    { type: "reasoning", text: "Hm.", metadata: { anthropic: { signature: "signed-by-fake" } } },
    { type: "text", text: "Yes." },
  ]);
  await all(world.model, { messages: [...HELLO.messages, end.message, ...HELLO.messages] });
  expect(world.fake.asked[1]?.body.messages[1]).toMatchObject({
    content: [{ type: "thinking", thinking: "Hm.", signature: "signed-by-fake" }, { type: "text" }],
  });
});

test("reasoning of a compatible server is reported and returned", async () => {
  await using world = await openFakeModel("openai-compatible");
  world.fake.script({ reasoning: "Hm.", text: "Yes." });
  const end = (await all(world.model)).at(-1);
  if (end?.type !== "end") throw new Error("no end");
  await all(world.model, { messages: [...HELLO.messages, end.message, ...HELLO.messages] });
  expect(world.fake.asked[1]?.body.messages[1]).toMatchObject({ reasoning_content: "Hm.", content: "Yes." });
});

describe.each(TYPES)("%s in special cases", (type) => {
  const failures = type === "anthropic" ? ANTHROPIC_FAILURES : OPENAI_FAILURES;

  test(`${type}: missing usage counts as 0, and refused content is a reason to stop`, async () => {
    await using world = await openFakeModel(type);
    world.fake.script({ text: "No.", usage: null, stop: type === "anthropic" ? "refusal" : "content_filter" });
    expect((await all(world.model)).at(-1)).toMatchObject({
      stopReason: "refused",
      usage: { inputTokens: 0, outputTokens: 0 },
    });
  });

  test(`${type}: aborting ends the request at the provider`, async () => {
    await using world = await openFakeModel(type);
    world.fake.script({ text: ["One", "Two"], stallAfter: 4 });
    const abort = new AbortController();
    await expect(async () => {
      for await (const event of world.model.stream(HELLO, { signal: abort.signal })) {
        if (event.type === "text") abort.abort();
      }
    }).rejects.toMatchObject({ code: "CANCELLED" });
    expect(await world.fake.asked[0]?.closed).toBe("aborted");
  });

  test(`${type}: who stops reading ends the request at the provider`, async () => {
    await using world = await openFakeModel(type);
    world.fake.script({ text: ["One", "Two"], stallAfter: 4 });
    for await (const event of world.model.stream(HELLO, {})) if (event.type === "text") break;
    expect(await world.fake.asked[0]?.closed).toBe("aborted");
  });

  test.each([{ text: ["One", "Two"], stallAfter: 3 }, "never" as const])(
    `${type}: an answer that does not come in time fails with TIMEOUT`,
    async (answer) => {
      await using world = await openFakeModel(type, { timeoutMs: 400 });
      world.fake.script(answer);
      expect((await failureOf(world.model)).error).toMatchObject({ code: "TIMEOUT" });
      expect(world.fake.asked).toHaveLength(1);
    },
  );

  test(`${type}: a provider that fails for a moment is asked again, and then not for ever`, async () => {
    await using world = await openFakeModel(type);
    world.fake.script(failures.internal(), "close", { text: "Back." });
    const events = await all(world.model);
    expect(events.map((event) => event.type)).toEqual(["wait", "wait", "text", "end"]);
    world.fake.fallback = failures.internal();
    const { error } = await failureOf(world.model);
    expect(error).toMatchObject({ code: "HTTP_STATUS", details: { status: 500 } });
    expect(error.message).toContain(world.fake.url);
    expect(world.fake.asked).toHaveLength(6);
  });

  test(`${type}: context and content that the provider refuses are not tried again`, async () => {
    await using world = await openFakeModel(type);
    world.fake.script(failures.contextTooLong(), failures.refusedContent());
    const long = (await failureOf(world.model)).error;
    expect(long).toMatchObject({ code: "SERVER_ERROR" });
    expect(long.message).toContain("too long for fake:fake-large");
    const refused = (await failureOf(world.model)).error;
    expect(refused).toMatchObject({ code: "SERVER_ERROR" });
    expect(refused.message).toContain("refused the content");
    expect(world.fake.asked).toHaveLength(2);
  });

  test(`${type}: a page instead of a stream is not an answer`, async () => {
    await using world = await openFakeModel(type);
    world.fake.script({ status: 200, headers: { "content-type": "text/html" }, body: "<html>" });
    const { error } = await failureOf(world.model);
    expect(error).toMatchObject({ code: "PROTOCOL_VIOLATION" });
    expect(error.message).toContain("text/html");
  });

  test(`${type}: names of tools that the provider would refuse are mapped there and back`, async () => {
    await using world = await openFakeModel(type);
    const name = `what.a ${"very ".repeat(20)}long name`;
    world.fake.script(({ body }) => {
      const [tool = {}] = body.tools ?? [];
      const { name: sent } = (tool["function"] ?? tool) as { name: string };
      expect(sent).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      return { calls: [{ name: sent, arguments: {} }] };
    });
    const events = await all(world.model, { ...HELLO, tools: [{ ...TOOL, name, inputSchema: {} }] });
    expect(events[0]).toMatchObject({ type: "tool_call", call: { name } });
  });

  test(`${type}: ids of calls are unique in a conversation`, async () => {
    await using world = await openFakeModel(type);
    world.fake.script({ calls: [{ id: "a1", name: "add", arguments: { a: 3 } }] });
    expect((await all(world.model, WHOLE))[0]).toMatchObject({ call: { id: "a1-2" } });
  });

  test(`${type}: arguments that are nested too deeply are not taken as JSON`, async () => {
    await using world = await openFakeModel(type);
    const nested = `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    world.fake.script({ calls: [{ name: "add", arguments: nested }] });
    expect((await all(world.model, HELLO))[0]).toMatchObject({ call: { arguments: "(nested too deeply)" } });
  });

  test(`${type}: two messages of the user in a row are accepted as they are`, async () => {
    await using world = await openFakeModel(type);
    await all(world.model, { messages: [...HELLO.messages, ...HELLO.messages] });
    expect(JSON.stringify(world.fake.asked[0]?.body.messages).match(/Hello/g)).toHaveLength(2);
  });
});
