import { describe, expect, test } from "vitest";
import { failure } from "../../fixtures/failure.ts";
import { CallsWorld, EVERYTHING, keysOf, retryOf, textOf, upstreams } from "./calls-world.ts";
import type { Notification, Result } from "../../../src/protocol/json-rpc.ts";

const ASKABLE = { capabilities: EVERYTHING };
const ACCEPT = { action: "accept", content: { ok: true } };
const INVALID = { details: { rpc: { code: -32602, message: "request state not valid" } } };

/** The first round of `ask_twice`, which asks two questions at once. */
const asked = (world: CallsWorld) => world.tool("ask_twice", {}, ASKABLE);
const again = (world: CallsWorld, params: object, caller = ASKABLE) =>
  world.tool("ask_twice", {}, caller, { ...params });

describe.each(upstreams("legacy stdio", "legacy http"))("a modern caller of a %s server", (upstream) => {
  test("is asked with an answer, and its return continues the very same call (B1)", async () => {
    await using world = await CallsWorld.open(upstream);
    const first = await asked(world);
    expect(first).toMatchObject({ resultType: "input_required", requestState: expect.any(String) });
    expect(Object.values(first["inputRequests"] as object)).toMatchObject([
      { method: "elicitation/create", params: { mode: "form", message: "First?" } },
      { method: "elicitation/create", params: { mode: "form", message: "Second?" } },
    ]);
    expect(world.calls.parked).toBe(1);
    const result = await again(world, retryOf(first, ACCEPT));
    expect(result).toMatchObject({ resultType: "complete" });
    expect(textOf(result)).toBe(JSON.stringify([ACCEPT, ACCEPT]));
    expect(await world.requests("tools/call")).toHaveLength(1);
    expect(world.calls).toMatchObject({ parked: 0, inFlight: 0 });
  });

  test("is asked again, round after round", async () => {
    await using world = await CallsWorld.open(upstream);
    const name = "test_input_required_result_multi_round";
    const first = await world.tool(name, {}, ASKABLE);
    const answer = { action: "accept", content: { name: "Ada", color: "green" } };
    const second = await world.tool(name, {}, ASKABLE, retryOf(first, answer));
    expect(second).toMatchObject({ resultType: "input_required" });
    expect(keysOf(second)).not.toEqual(keysOf(first));
    const last = await world.tool(name, {}, ASKABLE, retryOf(second, answer));
    expect(textOf(last)).toBe("Ada likes green.");
    expect(await world.requests("tools/call")).toHaveLength(1);
  });

  test("is not asked what its return does not declare any more; the call ends (B1)", async () => {
    await using world = await CallsWorld.open(upstream);
    const name = "test_input_required_result_multi_round";
    const first = await world.tool(name, {}, ASKABLE);
    const retry = () => world.tool(name, {}, { capabilities: { sampling: {} } }, retryOf(first, ACCEPT));
    for (const again of [retry, retry]) {
      expect(await failure(again())).toMatchObject({
        details: { rpc: { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } } },
      });
    }
    await expect.poll(() => world.requests("notifications/cancelled")).toHaveLength(1);
    expect(world.calls).toMatchObject({ parked: 0, inFlight: 0 });
    expect(await world.requests("tools/call")).toHaveLength(1);
  });

  test("is asked for sampling and roots in the same way, and by prompts", async () => {
    await using world = await CallsWorld.open(upstream);
    const roots = await world.tool("ask_roots", {}, ASKABLE);
    expect(Object.values(roots["inputRequests"] as object)).toEqual([{ method: "roots/list" }]);
    const given = { roots: [{ uri: "file:///a" }] };
    expect(textOf(await world.tool("ask_roots", {}, ASKABLE, retryOf(roots, given)))).toContain("file:///a");
    const prompt = { name: "test_input_required_result_prompt" };
    const context = await world.run("prompts/get", prompt, ASKABLE);
    const answer = { action: "accept", content: { context: "rain" } };
    const got = await world.run("prompts/get", { ...prompt, ...retryOf(context, answer) }, ASKABLE);
    expect(JSON.stringify(got["messages"])).toContain("Use this context: rain");
  });

  test("that answers a part is asked for the rest", async () => {
    await using world = await CallsWorld.open(upstream);
    const first = await asked(world);
    const [one, two] = keysOf(first);
    const { requestState } = first;
    const second = await again(world, { requestState, inputResponses: { [String(one)]: ACCEPT } });
    expect(keysOf(second)).toEqual([two]);
    const last = await again(world, retryOf(second, { action: "decline" }));
    expect(textOf(last)).toBe(JSON.stringify([ACCEPT, { action: "decline" }]));
    expect(await world.requests("tools/call")).toHaveLength(1);
  });

  test("gets the same outcome for the same answers, and none for others (B1)", async () => {
    await using world = await CallsWorld.open(upstream);
    const first = await asked(world);
    const results = await Promise.all([again(world, retryOf(first, ACCEPT)), again(world, retryOf(first, ACCEPT))]);
    const later = await again(world, retryOf(first, ACCEPT));
    expect([...results, later].map(textOf)).toEqual(Array(3).fill(JSON.stringify([ACCEPT, ACCEPT])));
    expect(await failure(again(world, retryOf(first, { action: "decline" })))).toMatchObject(INVALID);
    expect(await world.requests("tools/call")).toHaveLength(1);
  });

  test("is refused with one wording whatever is wrong with its state (B1)", async () => {
    await using world = await CallsWorld.open(upstream);
    const first = await asked(world);
    const state = String(first["requestState"]);
    const other = { principal: { id: "other", tenant: "default" }, ...ASKABLE };
    const { inputResponses } = retryOf(first, ACCEPT);
    const attempts = [
      () => again(world, { inputResponses, requestState: `${state}x` }),
      () => again(world, { inputResponses, requestState: "" }),
      () => again(world, { inputResponses, requestState: 7 }),
      () => again(world, { inputResponses }),
      () => again(world, { inputResponses, requestState: state }, other),
      () => world.tool("ask_twice", { different: true }, ASKABLE, { inputResponses, requestState: state }),
      () => world.tool("ask_roots", {}, ASKABLE, { inputResponses, requestState: state }),
    ];
    for (const attempt of attempts) expect(await failure(attempt())).toMatchObject(INVALID);
    // The call is still there for its own caller.
    expect(textOf(await again(world, retryOf(first, ACCEPT)))).toContain("accept");
    expect(await world.requests("tools/call")).toHaveLength(1);
  });

  test("that leaves before it was told anything cancels the call; after it was asked it does not (B1)", async () => {
    await using world = await CallsWorld.open(upstream);
    const leaving = new AbortController();
    const sleeping = world.tool("sleep", { ms: 60_000 }, { ...ASKABLE, signal: leaving.signal });
    await expect.poll(() => world.requests("tools/call")).toHaveLength(1);
    leaving.abort();
    expect(await failure(sleeping)).toMatchObject({ code: "CANCELLED" });
    await expect.poll(() => world.requests("notifications/cancelled")).toHaveLength(1);

    const closing = new AbortController();
    const first = await world.tool("ask_twice", {}, { ...ASKABLE, signal: closing.signal });
    closing.abort();
    expect(textOf(await again(world, retryOf(first, ACCEPT)))).toContain("accept");
    expect(await world.requests("notifications/cancelled")).toHaveLength(1);
  });

  test("hears progress under the token of the request that is open, and nothing while it is away", async () => {
    await using world = await CallsWorld.open(upstream);
    const told: Notification[] = [];
    const later: Notification[] = [];
    const name = "test_streaming_elicitation";
    const first = await world.tool(name, {}, { ...ASKABLE, progressToken: "one", told });
    expect(told).toMatchObject([{ method: "notifications/progress", params: { progressToken: "one", progress: 0 } }]);
    const last = await world.tool(name, {}, { ...ASKABLE, progressToken: "two", told: later }, retryOf(first, ACCEPT));
    expect(textOf(last)).toContain("action=accept");
    expect([told.length, later]).toEqual([1, []]);
  });

  test("is sent to a page without the id that only its server knows, and the call is made again after it", async () => {
    await using world = await CallsWorld.open(upstream);
    const args = { url: "https://example.org/sign-in" };
    const asks = await world.tool("elicit_url", args, ASKABLE);
    const page = { mode: "url", url: args.url, message: "Please visit this page" };
    expect(Object.values(asks["inputRequests"] as object)).toEqual([{ method: "elicitation/create", params: page }]);
    expect(textOf(await world.tool("elicit_url", args, ASKABLE, retryOf(asks, { action: "accept" })))).toContain(
      "accept",
    );

    const refused = await world.tool("url_required", args, ASKABLE);
    expect(Object.values(refused["inputRequests"] as object)).toEqual([{ method: "elicitation/create", params: page }]);
    const calls = (await world.requests("tools/call")).length;
    const visited = await world.tool("url_required", args, ASKABLE, retryOf(refused, { action: "accept" }));
    expect(visited).toMatchObject({ resultType: "input_required" });
    expect(await world.requests("tools/call")).toHaveLength(calls + 1);
    const declined = await world.tool("url_required", args, ASKABLE, retryOf(visited, { action: "decline" }));
    expect(declined).toMatchObject({ isError: true });

    const noPages = { capabilities: { elicitation: {} } };
    expect(await failure(world.tool("url_required", args, noPages))).toMatchObject({
      details: { rpc: { code: -32021, data: { requiredCapabilities: { elicitation: { url: {} } } } } },
    });
  });

  test("that stays away too long: the server is answered, told that nobody waits, and the state is worth nothing", async () => {
    await using world = await CallsWorld.open(upstream, { limits: { parkedMs: 150 } });
    const first = await asked(world);
    const roots = await world.tool("ask_roots", {}, ASKABLE);
    await expect.poll(() => world.requests("notifications/cancelled")).toHaveLength(2);
    await expect.poll(async () => (await world.answers()).length).toBe(3);
    const results = (await world.answers()).map((answer) => ("result" in answer ? answer.result : answer));
    expect(results).toEqual([
      { action: "cancel" },
      { action: "cancel" },
      expect.objectContaining({ error: expect.objectContaining({ code: -32603 }) }),
    ]);
    expect(world.calls.parked).toBe(0);
    expect(await failure(again(world, retryOf(first, ACCEPT)))).toMatchObject(INVALID);
    expect(await failure(world.tool("ask_roots", {}, ASKABLE, retryOf(roots, { roots: [] })))).toMatchObject(INVALID);
  });

  test("is told on its return what happened meanwhile", async () => {
    await using world = await CallsWorld.open(upstream);
    const first = await asked(world);
    expect(first.resultType).toBe("input_required");
    if (upstream === "legacy stdio") {
      // The same process: it dies while the call is parked.
      await world.tool("crash", {}, ASKABLE).catch(() => {});
      expect(await failure(again(world, retryOf(first, ACCEPT)))).toMatchObject({ code: "SERVER_EXITED" });
      expect(await failure(again(world, retryOf(first, ACCEPT)))).toMatchObject({ code: "SERVER_EXITED" });
      expect(textOf(await world.tool("echo", { text: "back" }, ASKABLE))).toBe("back");
    }
    expect(world.calls.parked).toBe(upstream === "legacy stdio" ? 0 : 1);
  });
});

/** A legacy server that speaks as if it were a modern one. */
const PRETENDER = `
import { createInterface } from "node:readline";
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const capabilities = { tools: {}, prompts: {} };
const asked = { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } };
const pretended = { resultType: "input_required", requestState: "mine", inputRequests: { a: asked }, content: [] };
const methods = {
  initialize: { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "pretender", version: "1" } },
  "tools/list": { tools: [] },
  "tools/call": pretended,
  "prompts/get": { ...pretended, resultType: "task", taskId: "raw" },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id === undefined) continue;
  send(methods[method] ? { id, result: methods[method] } : { id, error: { code: -32601, message: "Method not found" } });
}
`;

test.each([{}, ASKABLE, { era: "legacy", ask: async () => ({}), ...ASKABLE } as const])(
  "what a legacy server calls its results is no question, and no task (B1): %j",
  async (caller) => {
    await using world = await CallsWorld.open("legacy stdio", { script: PRETENDER });
    expect(await world.tool("x", {}, caller)).toMatchObject({ resultType: "complete" });
    expect(await world.run("prompts/get", { name: "x" }, caller)).toMatchObject({ resultType: "complete" });
  },
);

/** Asks when it is told to, and takes back what it asked. */
const IMPATIENT = `
import { createInterface } from "node:readline";
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const info = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "impatient", version: "1" } };
const answered = [];
let call, asked = 0;
const ask = () => send({ id: "q" + ++asked, method: "elicitation/create", params: { message: "?", requestedSchema: {} } });
const methods = {
  initialize: () => info,
  "tools/list": () => ({ tools: [] }),
  "x/ask": () => (ask(), {}),
  "x/end": () => {
    send({ method: "notifications/cancelled", params: { requestId: "q" + asked } });
    send({ id: call, result: { content: [{ type: "text", text: "Answered: " + answered } ] } });
    return {};
  },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (method === "tools/call") call = id, ask();
  else if (method === undefined) answered.push(id);
  else if (id !== undefined && methods[method]) send({ id, result: methods[method]() });
  else if (id !== undefined) send({ id, error: { code: -32601, message: "Method not found" } });
}
`;

describe("a modern caller on its return", () => {
  const caller = { era: "modern", owner: "somebody", capabilities: EVERYTHING, ask: undefined } as const;
  const principal = { id: "anybody", tenant: "default" };

  test("gets at once what was asked meanwhile, and the end that came without its answer (B1)", async () => {
    await using world = await CallsWorld.open("legacy stdio", { script: IMPATIENT, limits: { gatherMs: 1 } });
    const first = await asked(world);
    using lease = await world.calls.lease("up", { principal, caller });
    await lease.client.request("x/ask");
    const second = await again(world, retryOf(first, ACCEPT));
    expect(keysOf(second)).toHaveLength(1);
    expect(keysOf(second)).not.toEqual(keysOf(first));
    await lease.client.request("x/end");
    const last = await again(world, retryOf(second, ACCEPT));
    expect(textOf(last)).toBe("Answered: q1");
    expect(textOf(await again(world, retryOf(second, ACCEPT)))).toBe("Answered: q1");
    expect(await again(world, retryOf(first, ACCEPT))).toEqual(second);
  });

  test("that leaves again before it was told anything cancels the call", async () => {
    await using world = await CallsWorld.open("legacy stdio", { limits: { gatherMs: 1000 } });
    const name = "test_input_required_result_multi_round";
    const first = await world.tool(name, {}, ASKABLE);
    const leaving = new AbortController();
    const retry = world.tool(name, {}, { ...ASKABLE, signal: leaving.signal }, retryOf(first, ACCEPT));
    await expect.poll(() => world.answers()).toHaveLength(1);
    leaving.abort();
    expect(await failure(retry)).toMatchObject({ code: "CANCELLED" });
    await expect.poll(() => world.requests("notifications/cancelled")).toHaveLength(1);
    expect(world.calls.parked).toBe(0);
  });
});

test("a server whose calls each have a process of their own keeps it until the call is over", async () => {
  await using world = await CallsWorld.open("legacy stdio", { entry: { isolation: "call" } });
  const call = (more = {}) => world.tool("test_elicitation", { message: "Who?" }, ASKABLE, more);
  const answers = await Promise.all((await Promise.all([call(), call()])).map((first) => call(retryOf(first, ACCEPT))));
  expect(answers.map(textOf)).toEqual(Array(2).fill(`User response: ${JSON.stringify(ACCEPT)}`));
  expect(await world.requests("tools/call")).toHaveLength(2);
});

describe("bounds", () => {
  const [upstream = "legacy http"] = upstreams("legacy stdio", "legacy http");

  test("more calls than may be parked are told so, and their servers that nobody waits", async () => {
    await using world = await CallsWorld.open(upstream, { limits: { parked: 2, gatherMs: 5 } });
    const results = await Promise.all(
      [1, 2, 3].map((n) => world.tool("test_elicitation", { message: `${n}` }, ASKABLE)),
    );
    const refused = results.filter((result) => result["isError"] === true);
    expect(refused).toHaveLength(1);
    expect(textOf(refused[0] as Result)).toContain("the limit of parked calls is reached (2)");
    await expect.poll(() => world.requests("notifications/cancelled")).toHaveLength(1);
    expect(world.calls.parked).toBe(2);
  });

  test("200 calls that nobody comes back to are gone when their time is over (B1)", async () => {
    await using world = await CallsWorld.open(upstream, { limits: { parkedMs: 1_500, gatherMs: 5 } });
    const calls = Array.from({ length: 200 }, (_, n) => world.tool("test_elicitation", { message: `${n}` }, ASKABLE));
    const results = await Promise.all(calls);
    expect(results.every(({ resultType }) => resultType === "input_required")).toBe(true);
    await expect.poll(() => world.calls.parked).toBe(0);
    await expect.poll(() => world.openCalls()).toBe(0);
    expect(await world.requests("tools/call")).toHaveLength(200);
    expect(textOf(await world.tool("echo", { text: "fine" }, ASKABLE))).toBe("fine");
  });

  test("an answer too heavy to be kept is given once, and the call is not made again for it (B1)", async () => {
    await using world = await CallsWorld.open(upstream, { limits: { keptBytes: 100 } });
    const first = await asked(world);
    expect(textOf(await again(world, retryOf(first, ACCEPT)))).toContain("accept");
    expect(await failure(again(world, retryOf(first, ACCEPT)))).toMatchObject(INVALID);
    expect(await world.requests("tools/call")).toHaveLength(1);
  });

  test("a server that never stops asking is stopped", async () => {
    await using world = await CallsWorld.open(upstream, { limits: { rounds: 1 } });
    const name = "test_input_required_result_multi_round";
    const first = await world.tool(name, {}, ASKABLE);
    const second = await world.tool(name, {}, ASKABLE, retryOf(first, ACCEPT));
    expect(second).toMatchObject({ isError: true });
    await expect.poll(() => world.requests("notifications/cancelled")).toHaveLength(1);
  });

  test("more calls than an owner may have running are refused, others' are not", async () => {
    await using world = await CallsWorld.open(upstream, { limits: { concurrent: 1 } });
    const leaving = new AbortController();
    const sleeping = world.tool("sleep", { ms: 60_000 }, { signal: leaving.signal });
    expect(world.calls.inFlight).toBe(1);
    expect(await world.tool("echo", { text: "x" })).toMatchObject({ isError: true });
    expect(await failure(world.run("resources/read", { uri: "x:y" }))).toMatchObject({ code: "CLOSED" });
    expect(textOf(await world.tool("echo", { text: "y" }, { owner: "else" }))).toBe("y");
    leaving.abort();
    await sleeping.catch(() => {});
    expect(textOf(await world.tool("echo", { text: "z" }))).toBe("z");
  });

  test("closing and the end of a session end what is parked", async () => {
    await using world = await CallsWorld.open(upstream);
    await world.tool("ask_twice", {}, { ...ASKABLE, owner: "a" });
    await world.tool("ask_twice", {}, { ...ASKABLE, owner: "b" });
    world.calls.release("a");
    expect(world.calls.parked).toBe(1);
    await expect.poll(() => world.requests("notifications/cancelled")).toHaveLength(1);
    await world.calls.close();
    expect(world.calls.parked).toBe(0);
    expect(await failure(world.tool("echo", { text: "x" }))).toMatchObject({ code: "CLOSED" });
  });
});
