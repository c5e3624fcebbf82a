import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { JsonLinePeer } from "../../test/fixtures/json-line-peer.ts";
import { LEGACY_REVISIONS } from "../protocol/revisions.ts";

const script = fileURLToPath(new URL("../../dist/demo/main.js", import.meta.url));
const demo = () => new JsonLinePeer({ command: process.execPath, args: [script] });
const accepted = { action: "accept", content: { name: "Ada", mood: "sunny" } };

describe("the demo server", () => {
  test.each(LEGACY_REVISIONS)("opens a session of %s", async (revision) => {
    await using server = demo();
    const { result } = await server.initialize(revision);

    expect(result).toMatchObject({ protocolVersion: revision, serverInfo: { name: "nexus-demo" } });
    expect((await server.request("tools/list")).result.tools).toHaveLength(5);
  });

  test("answers an unknown version with the newest legacy one", async () => {
    await using server = demo();

    expect((await server.initialize("1999-01-01")).result.protocolVersion).toBe("2025-11-25");
  });

  test("needs no opening in 2026-07-28", async () => {
    await using server = demo();
    const { result } = await server.modern("tools/call", { name: "add", arguments: { a: 2, b: 3 } });

    expect(result).toMatchObject({ resultType: "complete", structuredContent: { sum: 5 } });
  });

  test("says what it speaks, and for how long the answer holds", async () => {
    await using server = demo();
    const { result } = await server.modern("server/discover");

    expect(result).toMatchObject({ supportedVersions: ["2026-07-28"], cacheScope: "public" });
    expect(result.ttlMs).toBeGreaterThan(0);
  });

  test("asks a legacy client while the call waits", async () => {
    await using server = demo();
    await server.initialize("2025-06-18", { elicitation: {} });
    const call = server.request("tools/call", { name: "ask_name" });
    const question = await server.receive(({ method }) => method === "elicitation/create");
    server.send({ id: question.id, result: accepted });

    expect((await call).result.content[0].text).toBe("Hello, Ada! Have a sunny day.");
  });

  test("asks nothing that the revision does not have", async () => {
    await using server = demo();
    await server.initialize("2025-03-26", { elicitation: {} });

    expect((await server.request("tools/call", { name: "ask_name" })).result).toMatchObject({ isError: true });
  });

  test("asks a modern client in rounds", async () => {
    await using server = demo();
    const first = await server.modern("tools/call", { name: "ask_name" }, { elicitation: {} });
    expect(first.result).toMatchObject({
      resultType: "input_required",
      inputRequests: { visitor: { method: "elicitation/create" } },
    });

    const retry = { name: "ask_name", inputResponses: { visitor: accepted } };
    const second = await server.modern("tools/call", retry, { elicitation: {} });
    expect(second.result.content[0].text).toBe("Hello, Ada! Have a sunny day.");
  });

  test("names the capability that a modern client lacks", async () => {
    await using server = demo();
    const { error } = await server.modern("tools/call", { name: "ask_name" });

    expect(error).toMatchObject({
      code: -32021,
      message: "The client lacks a capability: elicitation.form.",
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
  });

  test("reports progress to a client that gave a token", async () => {
    await using server = demo();
    const args = { to: 3, pauseMs: 1 };
    const call = server.modern("tools/call", { name: "slow_count", arguments: args, _meta: { progressToken: "p" } });
    const progress = await server.receive(({ params }) => params?.["progress"] === 3);

    expect(progress.params).toMatchObject({ progressToken: "p", total: 3 });
    expect((await call).result.content[0].text).toBe("Counted to 3.");
  });

  test("gives no answer to a call that was cancelled", async () => {
    await using server = demo();
    await server.initialize("2025-11-25");
    server.send({ id: "slow", method: "tools/call", params: { name: "slow_count", arguments: { pauseMs: 10_000 } } });
    server.send({ method: "notifications/cancelled", params: { requestId: "slow" } });
    const answers = Promise.race([server.receive(({ id }) => id === "slow"), server.request("ping")]);

    expect((await answers).result).toEqual({});
  });

  test("reads resources by address and by template", async () => {
    await using server = demo();
    const welcome = await server.modern("resources/read", { uri: "demo://welcome" });
    const colour = await server.modern("resources/read", { uri: "demo://colours/teal" });
    const nothing = await server.modern("resources/read", { uri: "demo://colours/plaid" });

    expect(welcome.result.contents[0].text).toContain("# Welcome");
    expect(JSON.parse(colour.result.contents[0].text)).toEqual({ name: "teal", hex: "#008080" });
    expect(nothing.error).toMatchObject({ code: -32602, data: { uri: "demo://colours/plaid" } });
  });

  test("completes the arguments of its prompt", async () => {
    await using server = demo();
    const ref = { type: "ref/prompt", name: "postcard" };
    const { result } = await server.modern("completion/complete", { ref, argument: { name: "place", value: "l" } });

    expect(result.completion.values).toEqual(["Lisbon", "Ljubljana"]);
    const prompt = await server.modern("prompts/get", { name: "postcard", arguments: { place: "Lisbon" } });
    expect(prompt.result.messages[0].content.text).toContain("Lisbon");
  });

  test("survives what is no JSON and no message", async () => {
    await using server = demo();
    server.writeLine("{broken");
    server.writeLine(`{"jsonrpc":"2.0","id":7}`);

    expect((await server.receive(({ id }) => id === undefined)).error?.code).toBe(-32700);
    expect((await server.receive(({ id }) => id === 7)).error?.code).toBe(-32600);
    expect(
      (await server.modern("tools/call", { name: "echo", arguments: { text: "still here" } })).result,
    ).toBeDefined();
  });

  test("ends when its input ends, even in the middle of a call", async () => {
    await using server = demo();
    await server.initialize("2025-11-25");
    server.send({ id: "slow", method: "tools/call", params: { name: "slow_count", arguments: { pauseMs: 10_000 } } });

    expect(await server.end()).toBe(0);
  });
});
