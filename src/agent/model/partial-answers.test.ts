import { describe, expect, test, vi } from "vitest";
import { all, failureOf, HELLO, openFakeModel } from "../../../test/fixtures/providers/fake-model.ts";
import { PROVIDER_TYPES } from "../../config/models-setting.ts";

describe.each(PROVIDER_TYPES)("%s: answers that are not complete", (type) => {
  test(`${type}: arguments that are not JSON stay a string, unless the answer was cut off in them`, async () => {
    await using world = await openFakeModel(type);
    const calls = [{ id: "c1", name: "add", arguments: `{"a": 1` }];
    world.fake.script({ calls }, { calls, stop: type === "anthropic" ? "max_tokens" : "length" });
    expect(await all(world.model)).toMatchObject([
      { type: "tool_call", call: { id: "c1", arguments: `{"a": 1` } },
      { type: "end", stopReason: "tool_calls" },
    ]);
    expect(await all(world.model)).toMatchObject([{ type: "end", stopReason: "length", message: { content: [] } }]);
  });

  test.each(["", "{}"])(
    `${type}: a last call with the arguments "%s" is dropped if the answer was cut off`,
    async (none) => {
      await using world = await openFakeModel(type);
      const calls = ["c1", "c2"].map((id) => ({ id, name: "add", arguments: none }));
      const both = calls.map(({ id }) => ({ type: "tool_call", id, arguments: {} }));
      world.fake.script({ calls }, { calls, stop: type === "anthropic" ? "max_tokens" : "length" });
      expect(await all(world.model)).toMatchObject([
        ...both.map((call) => ({ type: "tool_call", call })),
        { type: "end", stopReason: "tool_calls", message: { content: both } },
      ]);
      expect(await all(world.model)).toMatchObject([
        { type: "tool_call", call: { id: "c1" } },
        { type: "end", stopReason: "length", message: { content: both.slice(0, 1) } },
      ]);
    },
  );

  test(`${type}: an error inside the stream is explained like one of HTTP`, async () => {
    await using world = await openFakeModel(type);
    const busy = { type: "overloaded_error", message: "Overloaded" };
    world.fake.script({ text: "x", errorAt: { at: 0, ...busy } }, { text: "Now." });
    expect((await all(world.model)).map((event) => event.type)).toEqual(["wait", "text", "end"]);
    world.fake.script({ text: ["One", "Two", "Three"], errorAt: { at: 4, ...busy } });
    expect((await failureOf(world.model)).error).toMatchObject({
      code: "HTTP_STATUS",
      message: expect.stringMatching(/^The provider "fake" failed at .*: Overloaded$/) as string,
      details: { status: undefined },
    });
  });
});

const INVALID = "invalid_request_error";
/** An error inside a stream, and the code and a part of the message that users get. */
type StreamError = [type: string, name: string | undefined, message: string, code: string, text: string];
const OF_OPENAI: StreamError[] = [
  [INVALID, "context_length_exceeded", "Too much", "SERVER_ERROR", "too long for fake:fake-large: Too much"],
  [INVALID, "model_not_found", "Gone", "NAME_UNKNOWN", `has no model "fake-large"`],
  [INVALID, "content_filter", "Not this", "SERVER_ERROR", "refused the content: Not this"],
  ["insufficient_quota", "insufficient_quota", "Pay", "FORBIDDEN", "refused the request: Pay"],
  [INVALID, "invalid_api_key", "Wrong", "AUTH_REQUIRED", "refused the API key: Wrong"],
];
const OF_ANTHROPIC: StreamError[] = [
  ["authentication_error", undefined, "Wrong", "AUTH_REQUIRED", "refused the API key: Wrong"],
  ["not_found_error", undefined, "model: fake-large", "NAME_UNKNOWN", `has no model "fake-large"`],
  ["not_found_error", undefined, "Gone", "SERVER_ERROR", "refused the request: Gone"],
  ["permission_error", undefined, "No", "FORBIDDEN", "does not allow this request: No"],
  ["request_too_large", undefined, "Big", "SERVER_ERROR", "too long for fake:fake-large: Big"],
  [INVALID, undefined, "prompt is too long: 9 > 8", "SERVER_ERROR", "too long for fake:fake-large"],
  ["billing_error", undefined, "Pay", "FORBIDDEN", "refused the request: Pay"],
];

describe.each([
  ["openai", OF_OPENAI],
  ["openai-compatible", OF_OPENAI],
  ["anthropic", OF_ANTHROPIC],
] as const)("%s: errors inside a stream", (provider, errors) => {
  test.each(errors)("%s %s (%s) is %s, is not repeated and has no status", async (type, name, message, code, text) => {
    await using world = await openFakeModel(provider);
    world.fake.script({ text: "x", errorAt: { at: 0, type, message, ...(name === undefined ? {} : { code: name }) } });
    const { error, events } = await failureOf(world.model);
    expect(error).toMatchObject({ code, details: { status: undefined } });
    expect(error.message).toContain(text);
    expect(error.message).not.toContain("HTTP");
    expect(events).toEqual([]);
    expect(world.fake.asked).toHaveLength(1);
  });
});

test("the names of models are looked up in the time that is left, and not after the caller has stopped", async () => {
  await using world = await openFakeModel("openai", { model: "fake-lagre", timeoutMs: 4_900 });
  const timeout = vi.spyOn(AbortSignal, "timeout");
  const abort = new AbortController();
  try {
    expect((await failureOf(world.model)).error.hint).toContain("Did you mean");
    expect(Math.max(...timeout.mock.calls.map(([ms]) => ms))).toBeLessThanOrEqual(4_900);
    world.fake.listing = () => {
      abort.abort();
      return undefined;
    };
    const { error } = await failureOf(world.model, HELLO, abort.signal);
    expect(error).toMatchObject({ code: "NAME_UNKNOWN", hint: expect.not.stringContaining("Did you mean") as string });
  } finally {
    timeout.mockRestore();
  }
});
