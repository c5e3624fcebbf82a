import { describe, expect, test } from "vitest";
import { all, failureOf, openFakeModel } from "../../../test/fixtures/providers/fake-model.ts";
import { PROVIDER_TYPES } from "./provider-endpoint.ts";

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
    expect((await failureOf(world.model)).error).toMatchObject({ code: "HTTP_STATUS", details: { status: 529 } });
  });
});
