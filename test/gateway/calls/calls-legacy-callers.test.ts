import { describe, expect, test } from "vitest";
import type { Notification, Params } from "../../../src/protocol/json-rpc.ts";
import type { Question } from "../../../src/protocol/mcp.ts";
import { failure } from "../../fixtures/failure.ts";
import { CallsWorld, legacyCaller, textOf, upstreams } from "./calls-world.ts";

const UPSTREAMS = upstreams("modern stdio", "modern http", "legacy stdio", "legacy http");
const answerOf = ({ method, params }: Question) => {
  if (method === "roots/list") return { roots: [{ uri: "file:///mine" }] };
  if (method === "sampling/createMessage") {
    return { role: "assistant", model: "m", content: { type: "text", text: "Bonjour" } };
  }
  return params?.["mode"] === "url"
    ? { action: "accept" }
    : { action: "accept", content: { name: "Ada", color: "red" } };
};

describe.each(UPSTREAMS)("a legacy caller of a %s server", (upstream) => {
  test("is asked on its own stream, round after round, and gets one answer (B1)", async () => {
    await using world = await CallsWorld.open(upstream);
    const asked: Question[] = [];
    const caller = legacyCaller((question) => (asked.push(question), answerOf(question)));
    const rounds = await world.tool("test_input_required_result_multi_round", {}, caller);
    expect(rounds).toMatchObject({ resultType: "complete" });
    expect(textOf(rounds)).toBe("Ada likes red.");
    expect(asked.map(({ params }) => params?.["message"])).toEqual([
      "Step 1: What is your name?",
      "Step 2: What is your favorite color?",
    ]);
    const all = await world.tool("test_input_required_result_multiple_inputs", {}, caller);
    expect(textOf(all)).toBe(`Bonjour Ada [{"uri":"file:///mine"}]`);
    const prompt = await world.run("prompts/get", { name: "test_input_required_result_prompt" }, caller);
    expect(prompt).toMatchObject({ resultType: "complete", messages: [{ role: "user" }] });
    expect(world.calls).toMatchObject({ parked: 0, inFlight: 0 });
  });

  test("that answers a form with an error has closed it", async () => {
    await using world = await CallsWorld.open(upstream);
    const caller = legacyCaller(() => Promise.reject(new Error("no form here")));
    expect(textOf(await world.tool("test_elicitation", { message: "?" }, caller))).toContain(`"action":"cancel"`);
  });

  test("that answers sampling with an error gets a tool's failure", async () => {
    await using world = await CallsWorld.open(upstream);
    const caller = legacyCaller(() => Promise.reject(new Error("no model here")));
    expect(await world.tool("test_sampling", { prompt: "?" }, caller)).toMatchObject({ isError: true });
  });

  test("that leaves while it is asked cancels the call", async () => {
    await using world = await CallsWorld.open(upstream);
    const leaving = new AbortController();
    let isAsked = false;
    const caller = legacyCaller(() => ((isAsked = true), new Promise(() => {})), { signal: leaving.signal });
    const call = world.tool("test_elicitation", { message: "?" }, caller);
    await expect.poll(() => isAsked).toBe(true);
    leaving.abort();
    expect(await failure(call)).toMatchObject({ code: "CANCELLED" });
    expect(world.calls.inFlight).toBe(0);
  });

  test("without a stream, or without having declared it, is not asked", async () => {
    await using world = await CallsWorld.open(upstream);
    const { ask: _ask, ...streamless } = legacyCaller(answerOf);
    for (const caller of [streamless, legacyCaller(answerOf, { capabilities: {} })]) {
      const result = await world.tool("test_elicitation", { message: "?" }, caller);
      expect(result).toMatchObject({ isError: true });
      expect(textOf(result)).toContain("elicitation");
    }
  });

  test("gets the final result of what runs as a task, and is asked what the task asks", async () => {
    await using world = await CallsWorld.open(upstream);
    const caller = legacyCaller(answerOf);
    expect(await world.tool("failing_job", {}, caller)).toMatchObject({
      resultType: "complete",
      isError: true,
      content: [{ text: "The job has failed." }],
    });
    expect(textOf(await world.tool("confirm_delete", {}, caller))).toBe("Deleted.");
    expect(textOf(await world.tool("test_tool_with_task", {}, caller))).toBe("A task for Ada.");
  });

  test("hears progress and logs before the answer (X4)", async () => {
    await using world = await CallsWorld.open(upstream);
    const told: Notification[] = [];
    await world.tool("test_tool_with_progress", {}, legacyCaller(answerOf, { progressToken: "p", told }));
    expect(told.map(({ params }) => [params?.["progressToken"], params?.["progress"]])).toEqual([
      ["p", 0],
      ["p", 50],
      ["p", 100],
    ]);
    const logs: Notification[] = [];
    await world.tool("test_tool_with_logging", {}, legacyCaller(answerOf, { logLevel: "info", told: logs }));
    expect(logs.map(({ method }) => method)).toEqual(Array(3).fill("notifications/message"));
  });

  test("is sent to pages under an id, and told when they were visited", async () => {
    await using world = await CallsWorld.open(upstream);
    const told: Notification[] = [];
    const asked: Question[] = [];
    const caller = legacyCaller((question) => (asked.push(question), answerOf(question)), { told });
    expect(textOf(await world.tool("elicit_url", { url: "https://example.org/" }, caller))).toContain("accept");
    const elicitationId = asked[0]?.params?.["elicitationId"];
    expect(elicitationId).toEqual(expect.any(String));
    expect(told).toMatchObject([{ method: "notifications/elicitation/complete", params: { elicitationId } }]);
  });
});

test("an older caller is told of codes it does not know in a general way", async () => {
  await using world = await CallsWorld.open("legacy stdio");
  const url = "https://example.org/";
  const knowing = legacyCaller(answerOf);
  expect(await failure(world.tool("url_required", { url }, knowing))).toMatchObject({
    details: { rpc: { code: -32042 } },
  });
  const older = legacyCaller(answerOf, { version: "2025-06-18", capabilities: { elicitation: {} } });
  expect(await failure(world.tool("url_required", { url }, older))).toMatchObject({
    details: { rpc: { code: -32603, data: { code: -32042 } } },
  });
});

describe("a legacy caller without a stream", () => {
  const url = "https://example.org/sign-in";
  const plain = { era: "legacy", capabilities: { elicitation: { form: {}, url: {} }, sampling: {} } } as const;

  test.each(upstreams("modern stdio", "modern http"))(
    "of a %s server is told which page to visit before it calls again (B1)",
    async (upstream) => {
      await using world = await CallsWorld.open(upstream);
      const { details } = await failure(world.tool("elicit_url", { url }, plain));
      expect(details.rpc).toMatchObject({
        code: -32042,
        data: { elicitations: [{ mode: "url", url, elicitationId: expect.any(String) as string }] },
      });
      // Nothing else can be asked of it, so nothing else is declared.
      const form = await world.tool("test_elicitation", { message: "?" }, plain);
      expect(form).toMatchObject({ isError: true });
      const declared = (await world.requests("tools/call")).map(({ params }) => {
        const meta = params?.["_meta"] as Params | undefined;
        return meta?.["io.modelcontextprotocol/clientCapabilities"];
      });
      for (const each of declared) expect(each).toMatchObject({ elicitation: { url: {} } });
      for (const each of declared) expect(each).not.toHaveProperty("sampling");
    },
  );

  test.each(upstreams("legacy stdio", "legacy http"))(
    "of a %s server gets the server's own word for it",
    async (upstream) => {
      await using world = await CallsWorld.open(upstream);
      const { details } = await failure(world.tool("url_required", { url }, plain));
      expect(details.rpc).toMatchObject({ code: -32042, data: { elicitations: [{ url }] } });
    },
  );
});
