import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Params } from "../../../src/protocol/json-rpc.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";
import { openCore, type CoreWorld } from "../lists/core-world.ts";
import { eventsOf, LegacyWire, serveLegacy } from "../legacy/legacy-wire.ts";

const EVERYTHING = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

/** Older clients in front of real servers of both eras, through everything in between. */
describe.each(["2026-07-28", "2025-11-25"])("a server of %s", (revision) => {
  let world: CoreWorld;
  let edge: Awaited<ReturnType<typeof serveLegacy>>;
  const open = (version: string, capabilities: object = {}) =>
    LegacyWire.open(`${edge.origin}/mcp?server=up`, version, capabilities);

  beforeAll(async () => {
    world = await openCore({ servers: { up: stdioFixture(["--revision", revision]) } });
    edge = await serveLegacy(world.core, { patienceMs: 250 });
  });
  afterAll(async () => {
    await edge[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });

  test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
    "%s: lists, calls, reads and prompts",
    async (version) => {
      const wire = await open(version);
      const ask = async (method: string, params: Params = {}) => (await wire.answerTo(method, params)).result as Params;
      const { tools, ...rest } = await ask("tools/list");
      expect(rest).not.toHaveProperty("resultType");
      expect(rest).not.toHaveProperty("ttlMs");
      expect((tools as { name: string }[]).map(({ name }) => name)).toContain("add_numbers");
      const sum = await ask("tools/call", { name: "add_numbers", arguments: { a: 1, b: 2 } });
      expect(sum["structuredContent"]).toEqual(version >= "2025-06-18" ? { sum: 3 } : undefined);
      expect(sum["content"]).toMatchObject([{ type: "text" }]);
      const { resources } = (await ask("resources/list")) as { resources: { uri: string }[] };
      expect(await ask("resources/read", { uri: resources[0]?.uri })).toHaveProperty("contents");
      const { prompts } = (await ask("prompts/list")) as { prompts: { name: string }[] };
      expect(prompts.length).toBeGreaterThan(0);
      const missing = await wire.answerTo("resources/read", { uri: "test://nothing" });
      expect(missing.error?.code).toBe(-32002);
    },
  );

  test("2024-11-05 gets text in place of audio", async () => {
    const [answer] = await (await open("2024-11-05")).call("test_audio_content");
    expect(answer?.result.content).toMatchObject([{ type: "text", text: expect.stringMatching(/^\[audio, audio\//) }]);
  });

  test("progress and logs come before the answer", async () => {
    const wire = await open("2025-06-18");
    const reports = await wire.call("test_tool_with_progress", {}, { progressToken: "mine" });
    expect(reports.map(({ params }) => params?.["progress"])).toEqual([0, 50, 100, undefined]);
    expect(reports.slice(0, 3).every(({ params }) => params?.["progressToken"] === "mine")).toBe(true);
    await wire.request("logging/setLevel", { level: "info" });
    const lines = await wire.call("test_tool_with_logging");
    expect(lines.filter(({ method }) => method === "notifications/message")).toHaveLength(3);
  });

  test.each([
    ["test_elicitation", { message: "?" }, { action: "accept", content: { username: "u", email: "e" } }],
    ["test_sampling", { prompt: "?" }, { role: "assistant", model: "m", content: { type: "text", text: "s" } }],
    ["ask_roots", {}, { roots: [{ uri: "file:///root" }] }],
  ])("%s asks on the stream of its call", async (tool, args, answer) => {
    const wire = await open("2025-11-25", EVERYTHING);
    const { questions, result } = await answered(wire, tool, { args, answer });
    expect(questions).toHaveLength(1);
    expect(JSON.stringify(result)).toMatch(/username|LLM response: s|file:\/\/\/root/);
  });

  test("two questions at once are both answered", async () => {
    const wire = await open("2025-06-18", { elicitation: {} });
    const answer = { action: "accept", content: { ok: true } };
    const { questions } = await answered(wire, "ask_twice", { answer });
    expect(questions).toHaveLength(2);
    expect(new Set(questions.map(({ id }) => id)).size).toBe(2);
  });

  test("a page to visit has an id, and the client hears when it is no longer waited for", async () => {
    const wire = await open("2025-11-25", EVERYTHING);
    const args = { url: "https://example.org/visit" };
    const { questions, others } = await answered(wire, "elicit_url", { args, answer: { action: "accept" } });
    const elicitationId = questions[0]?.params?.["elicitationId"];
    expect(elicitationId).toMatch(/^[\da-f-]{36}$/);
    const completed = others.filter(({ method }) => method === "notifications/elicitation/complete");
    expect(completed.map(({ params }) => params)).toEqual([{ elicitationId }]);
  });

  test("several of many are asked as yes-or-no fields in 2025-06-18, and reach the server as it asked for them", async () => {
    const wire = await open("2025-06-18", { elicitation: {} });
    const content = {
      untitledSingle: "option1",
      "untitledMulti: option3": true,
      "untitledMulti: option1": true,
      "untitledMulti: option2": false,
      "titledMulti: value2": true,
    };
    const answer = { action: "accept", content };
    const { questions, result } = await answered(wire, "test_elicitation_sep1330_enums", { answer });
    const { properties } = (questions[0]?.params?.["requestedSchema"] ?? {}) as { properties: Record<string, Params> };
    expect(properties).toMatchObject({
      titledSingle: {
        enum: ["value1", "value2", "value3"],
        enumNames: ["First Option", "Second Option", "Third Option"],
      },
      "titledMulti: value2": { type: "boolean", title: "titledMulti: Second Choice" },
    });
    expect(Object.values(properties).map(({ type }) => type)).not.toContain("array");
    const given = { untitledSingle: "option1", untitledMulti: ["option1", "option3"], titledMulti: ["value2"] };
    expect(JSON.stringify(result)).toContain(JSON.stringify(JSON.stringify(given)).slice(1, -1));
  });

  test("cancelling reaches the server", async () => {
    const wire = await open("2025-11-25");
    const recorded = async () => (await wire.call("recorded_cancellations"))[0]?.result.content[0].text as string;
    const before = await recorded();
    const params = { name: "sleep", arguments: { ms: 60_000 } };
    const response = await wire.post({ id: "sleep", method: "tools/call", params });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    await wire.post({ method: "notifications/cancelled", params: { requestId: "sleep" } });
    for await (const { message } of eventsOf(response)) expect(message).toBeUndefined();
    await expect.poll(recorded).not.toBe(before);
  });

  test("changes of lists and of resources are told on the session's own stream", async () => {
    const wire = await open("2025-06-18");
    expect(await wire.answerTo("resources/subscribe", { uri: "test://watched-resource" })).toMatchObject({
      result: {},
    });
    const events = eventsOf(await wire.get());
    await wire.call("update_resource", { uri: "test://watched-resource" });
    expect((await events.next()).value?.message).toMatchObject({
      method: "notifications/resources/updated",
      params: { uri: "test://watched-resource" },
    });
    await wire.call("test_trigger_tool_change");
    expect((await events.next()).value?.message).toMatchObject({ method: "notifications/tools/list_changed" });
    await wire.call("test_trigger_tool_change");
    await events.return(undefined);
  });
});

/** Calls a tool and gives the same answer to everything it asks. */
async function answered(wire: LegacyWire, name: string, { args = {}, answer }: { args?: Params; answer: Params }) {
  const response = await wire.request("tools/call", { name, arguments: args });
  const questions: WireMessage[] = [];
  const others: WireMessage[] = [];
  if (response.headers.get("content-type") === "application/json") {
    return { questions, others, result: ((await response.json()) as WireMessage).result as Params };
  }
  for await (const { message } of eventsOf(response)) {
    if (!message) continue;
    if (message.method === undefined || message.id === undefined) others.push(message);
    else {
      questions.push(message);
      await wire.post({ id: message.id, result: answer });
    }
  }
  return { questions, others, result: others.at(-1)?.result as Params };
}
