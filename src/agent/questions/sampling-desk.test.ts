import { describe, expect, test, vi } from "vitest";
import type { InputContext } from "../../client/conversation/input.ts";
import type { CreateMessageRequest, Tool } from "../../protocol/mcp.ts";
import type { AssistantMessage } from "../model/model-message.ts";
import type { ModelPrices, ModelProvider, ModelRequest, ModelStopReason } from "../model/model-provider.ts";
import { chooseModel } from "./sampling-desk.ts";
import { SamplingDesk, type SamplingDeskOptions } from "./sampling-desk.ts";
import type { SamplingAsker, SamplingQuestion, SamplingReply, SamplingReviewer } from "./sampling-question.ts";
import { SafeNames } from "../model/provider-names.ts";

/** Of the tool weather.now. */
const SAFE_NAME = new SafeNames().toSafe("weather.now");

type Params = CreateMessageRequest["params"];
interface Scripted {
  content?: AssistantMessage["content"];
  stopReason?: ModelStopReason;
  tokens?: number;
  fail?: Error;
}

/** A model that gives these answers, and keeps the requests. */
function model(
  answers: Scripted[] = [],
  { name = "fake:small", prices }: { name?: string; prices?: ModelPrices } = {},
) {
  const requests: ModelRequest[] = [];
  const provider: ModelProvider & { requests: ModelRequest[] } = {
    name,
    prices,
    requests,
    async *stream(request) {
      requests.push(request);
      const {
        content = [{ type: "text", text: "Paris" }],
        stopReason = "end",
        tokens = 5,
        fail,
      } = answers.shift() ?? {};
      if (fail) throw fail;
      await Promise.resolve();
      const usage = { inputTokens: tokens, outputTokens: tokens };
      yield { type: "end", stopReason, usage, message: { role: "assistant", content } };
    },
  };
  return provider;
}

const CALL = { method: "tools/call" };
const context = (over: Partial<InputContext> = {}): InputContext => ({
  server: "geo",
  call: CALL,
  key: 1,
  signal: new AbortController().signal,
  ...over,
});
const request = (params: Partial<Params> = {}): CreateMessageRequest => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: "Capital?" } }], maxTokens: 100, ...params },
});
const desk = (options: Partial<SamplingDeskOptions> & { model?: ModelProvider } = {}) => {
  const { model: given = model(), ...rest } = options;
  return new SamplingDesk({ models: () => [given], allow: ["geo"], ...rest });
};

describe("approval", () => {
  test("with nobody to ask a request is declined, and the hint names the flag", async () => {
    const used = model();
    const onRefused = vi.fn();
    const answering = desk({ model: used, allow: [], onRefused }).answer(request(), context());
    await expect(answering).rejects.toMatchObject({ code: "DENIED" });
    expect(onRefused.mock.calls[0]?.[1]).toMatchObject({ hint: expect.stringContaining("--allow-sampling geo") });
    expect(used.requests).toEqual([]);
  });

  test("the person sees server, model, prompt and limits, with nothing hidden", async () => {
    let seen: SamplingQuestion | undefined;
    const ask: SamplingAsker = (question) => {
      seen = question;
      return Promise.resolve({ kind: "once" });
    };
    const params = {
      systemPrompt: "Be\u001b[2J brief",
      temperature: 0.2,
      stopSequences: ["END"],
      maxTokens: 1_000_000,
      includeContext: "allServers",
      messages: [
        {
          role: "user" as const,
          content: [
            { type: "text", text: "Hi\u202e\nthere" },
            { type: "image", data: "AAAA", mimeType: "image/png" },
          ],
        },
      ],
    };
    await desk({ allow: [], ask }).answer(request(params), context());
    expect(seen).toMatchObject({
      server: "geo",
      model: "fake:small",
      system: "Be\\x1b[2J brief",
      messages: [{ role: "user", text: "Hi\\u202e\nthere\n[image image/png, 3 bytes]" }],
      maxTokens: 4_096,
      temperature: 0.2,
      stopSequences: ["END"],
      left: { requests: 49, tokens: 200_000 },
    });
  });

  test("declining and a failing question do not run the model", async () => {
    const used = model();
    for (const ask of [() => Promise.resolve({ kind: "decline" }), () => Promise.reject(new Error("gone"))]) {
      const answering = desk({ model: used, allow: [], ask: ask as SamplingAsker }).answer(request(), context());
      await expect(answering).rejects.toMatchObject({ code: "DENIED" });
    }
    expect(used.requests).toEqual([]);
  });

  test.each([
    [{ action: "allow" }, `{ action: "allow" }`],
    [{ kind: "yes" }, `{ kind: "yes" }`],
    ["once", `"once"`],
    [undefined, "undefined"],
  ])("the reply %j does not run the model, and the error names the handler and its replies", async (reply, shown) => {
    const used = model();
    const ask = vi.fn<SamplingAsker>().mockResolvedValue(reply as SamplingReply);
    await expect(desk({ model: used, allow: [], ask }).answer(request(), context())).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
      message:
        `The handler "ask" of SamplingDesk returned ${shown}. ` +
        `It has to return { kind: "once" }, { kind: "session" } or { kind: "decline" }`,
    });
    expect(used.requests).toEqual([]);
  });

  test("a wrong reply of the review sends nothing, and the error names the handler and its replies", async () => {
    const review = (() => Promise.resolve(true)) as unknown as SamplingReviewer;
    await expect(desk({ review }).answer(request(), context())).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
      message:
        `The handler "review" of SamplingDesk returned true. ` +
        `It has to return { kind: "send" } or { kind: "decline" }`,
    });
  });

  test("session allows the further requests of this server, and of no other", async () => {
    const ask = vi.fn<SamplingAsker>().mockResolvedValue({ kind: "session" });
    const asked = desk({ allow: [], ask });
    await Promise.all([asked.answer(request(), context()), asked.answer(request(), context())]);
    expect(ask).toHaveBeenCalledTimes(1);
    await asked.answer(request(), context({ server: "other" }));
    expect(ask).toHaveBeenCalledTimes(2);
  });

  test("an edited request is sent to the model as edited, within the limits", async () => {
    const used = model();
    const edit = {
      systemPrompt: "Be kind",
      messages: [{ role: "user" as const, content: { type: "text", text: "Country?" } }],
      maxTokens: 9_999_999,
    };
    const ask = vi.fn<SamplingAsker>().mockResolvedValue({ kind: "once", edit });
    await desk({ model: used, allow: [], ask }).answer(request(), context());
    expect(used.requests[0]).toMatchObject({
      system: "Be kind",
      messages: [{ role: "user", content: [{ type: "text", text: "Country?" }] }],
      maxTokens: 4_096,
    });
  });

  test("an answer is reviewed before it is sent, and can be changed or held back", async () => {
    const review = vi.fn<SamplingReviewer>().mockResolvedValue({ kind: "send", text: "London" });
    expect(await desk({ review }).answer(request(), context())).toMatchObject({ content: { text: "London" } });
    expect(review.mock.calls[0]?.[0]).toMatchObject({ server: "geo", model: "fake:small", text: "Paris" });
    review.mockResolvedValue({ kind: "decline" });
    await expect(desk({ review }).answer(request(), context())).rejects.toMatchObject({ code: "DENIED" });
  });

  test("a question ends when the server no longer needs the answer", async () => {
    const ended = new AbortController();
    const ask: SamplingAsker = () => new Promise(() => {});
    const answering = desk({ allow: [], ask }).answer(request(), context({ signal: ended.signal }));
    ended.abort();
    await expect(answering).rejects.toMatchObject({ code: "CANCELLED" });
  });
});

describe("the request to the model", () => {
  test("has the limits and settings of the server's request, and one block answers one block", async () => {
    const used = model();
    const settings = { systemPrompt: "Brief", temperature: 0.5, stopSequences: ["\n"], maxTokens: 7 };
    const answer = await desk({ model: used }).answer(request(settings), context());
    expect(used.requests[0]).toMatchObject({
      system: "Brief",
      temperature: 0.5,
      stopSequences: ["\n"],
      maxTokens: 7,
    });
    expect(answer).toEqual({
      role: "assistant",
      model: "fake:small",
      content: { type: "text", text: "Paris" },
      stopReason: "endTurn",
    });
  });

  test("has text, images, audio, calls and results of tools, in one form for all revisions", async () => {
    const used = model();
    const tools: Tool[] = [{ name: "weather.now", description: "Weather", inputSchema: { type: "object" } }];
    await desk({ model: used }).answer(
      request({
        tools,
        toolChoice: { mode: "required" },
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "Look" },
              { type: "image", data: "aQ==", mimeType: "image/png" },
              { type: "audio", data: "YQ==", mimeType: "audio/wav" },
            ],
          },
          {
            role: "assistant",
            content: [
              { type: "text", text: "Wait" },
              { type: "tool_use", id: "c1", name: "weather.now", input: { city: "Oslo" } },
              { type: "tool_use", id: "c2", name: "weather.now", input: {} },
            ],
          },
          {
            role: "user",
            content: [
              { type: "tool_result", toolUseId: "c2", content: [], structuredContent: { error: 1 }, isError: true },
              { type: "tool_result", toolUseId: "c1", content: [{ type: "text", text: "Rain" }] },
            ],
          },
        ],
      }),
      context(),
    );
    expect(used.requests[0]).toMatchObject({
      toolChoice: "required",
      tools: [{ name: SAFE_NAME, description: "Weather" }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Look" },
            { type: "media", data: "aQ==", mediaType: "image/png" },
            { type: "media", data: "YQ==", mediaType: "audio/wav" },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "text", text: "Wait" },
            { type: "tool_call", id: "c1", name: SAFE_NAME, arguments: { city: "Oslo" } },
            { type: "tool_call", id: "c2", name: SAFE_NAME, arguments: {} },
          ],
        },
        {
          role: "tool",
          content: [
            { id: "c1", name: SAFE_NAME, isError: false, content: [{ type: "text", text: "Rain" }] },
            { id: "c2", isError: true, content: [{ type: "text", text: '{"error":1}' }] },
          ],
        },
      ],
    });
  });

  test("the model's calls of the server's tools go back to the server, which runs them", async () => {
    const used = model([
      {
        content: [
          { type: "reasoning", text: "hidden" },
          { type: "text", text: "Let me see" },
          { type: "tool_call", id: "c1", name: SAFE_NAME, arguments: { city: "Oslo" } },
        ],
        stopReason: "tool_calls",
      },
    ]);
    const tools: Tool[] = [{ name: "weather.now", inputSchema: { type: "object" } }];
    expect(await desk({ model: used }).answer(request({ tools }), context())).toEqual({
      role: "assistant",
      model: "fake:small",
      stopReason: "toolUse",
      content: [
        { type: "text", text: "Let me see" },
        { type: "tool_use", id: "c1", name: "weather.now", input: { city: "Oslo" } },
      ],
    });
  });

  const text = { type: "text", text: "x" };
  const use = { type: "tool_use", id: "c1", name: "t", input: {} };
  const result = { type: "tool_result", toolUseId: "c1", content: [] };
  test.each<[string, unknown]>([
    ["no messages", []],
    ["messages that are no list", "hello"],
    ["a message without content", [{ role: "user" }]],
    ["a message of the system", [{ role: "system", content: text }]],
    ["an unknown kind of content", [{ role: "user", content: { type: "hologram" } }]],
    [
      "a call without its result",
      [
        { role: "assistant", content: [use] },
        { role: "user", content: text },
      ],
    ],
    ["a call at the end", [{ role: "assistant", content: [use] }]],
    ["a result without its call", [{ role: "user", content: [result] }]],
    [
      "a result among other content",
      [
        { role: "assistant", content: [use] },
        { role: "user", content: [result, text] },
      ],
    ],
    [
      "two results of one call",
      [
        { role: "assistant", content: [use] },
        { role: "user", content: [result, result] },
      ],
    ],
  ])("a request with %s is refused, and the model is not asked", async (_what, messages) => {
    const used = model();
    const answering = desk({ model: used }).answer(request({ messages: messages as Params["messages"] }), context());
    await expect(answering).rejects.toMatchObject({
      code: "INPUT_FAILED",
      message: expect.stringContaining("not valid"),
    });
    expect(used.requests).toEqual([]);
  });

  test("a failure of the provider is not taken for a failure of the server", async () => {
    const failing = model([{ fail: Object.assign(new Error("refused"), { code: "CONNECTION_FAILED" }) }]);
    await expect(desk({ model: failing }).answer(request(), context())).rejects.toMatchObject({ code: "INPUT_FAILED" });
  });
});

describe("the budget of a server", () => {
  test("a server that asks in a loop is stopped during one call", async () => {
    const used = model();
    const limited = desk({ model: used, limits: { requestsPerCall: 3 } });
    for (let round = 0; round < 3; round++) await limited.answer(request(), context());
    const fourth = limited.answer(request(), context());
    await expect(fourth).rejects.toMatchObject({
      code: "DENIED",
      message: expect.stringContaining("3 requests during one"),
    });
    expect(used.requests).toHaveLength(3);
    // Another call, and another server, are not affected.
    await limited.answer(request(), context({ call: { method: "tools/call" } }));
  });

  test("requests and tokens of a session are limited for each server", async () => {
    const byRequests = desk({ limits: { requests: 1 } });
    await byRequests.answer(request(), context());
    await expect(byRequests.answer(request(), context())).rejects.toThrow("1 requests in this session");
    const used = model([{ tokens: 40 }, {}]);
    const byTokens = desk({ model: used, limits: { tokens: 100 } });
    await byTokens.answer(request(), context());
    await byTokens.answer(request(), context());
    expect(used.requests.map(({ maxTokens }) => maxTokens)).toEqual([100, 20]);
  });

  test("declined requests count, so that a server cannot ask a person without end", async () => {
    const ask = vi.fn<SamplingAsker>().mockResolvedValue({ kind: "decline" });
    const limited = desk({ allow: [], ask, limits: { requests: 2 } });
    for (let round = 0; round < 5; round++) await limited.answer(request(), context()).catch(() => {});
    expect(ask).toHaveBeenCalledTimes(2);
  });
});

test("R3: a request that is larger than what is left is refused before the model gets it", async () => {
  const used = model();
  const messages = [{ role: "user" as const, content: { type: "text", text: "word ".repeat(200_000) } }];
  const one = desk({ model: used });
  await expect(one.answer(request({ messages }), context())).rejects.toThrow("200000 tokens in this session");
  const tools = [{ name: "t", description: "word ".repeat(200_000), inputSchema: {} }] as unknown as Tool[];
  await expect(one.answer(request({ tools }), context())).rejects.toThrow("200000 tokens in this session");
  expect(used.requests).toEqual([]);
});

test("R3: links and structured results that the model gets are shown as well", async () => {
  const ask = vi.fn<SamplingAsker>().mockResolvedValue({ kind: "decline" });
  const messages = [
    { role: "assistant" as const, content: [{ type: "tool_use", id: "1", name: "t", input: {} }] },
    {
      role: "user" as const,
      content: [{ type: "tool_result", toolUseId: "1", content: [], structuredContent: { hidden: "text" } }],
    },
    { role: "user" as const, content: { type: "resource_link", uri: "memo://hidden", name: "n" } },
  ];
  await desk({ allow: [], ask })
    .answer(request({ messages }), context())
    .catch(() => {});
  const texts = ask.mock.calls[0]?.[0].messages.map(({ text }) => text);
  expect(texts?.slice(1)).toEqual([`[result of a tool] {"hidden":"text"}`, "[link] memo://hidden"]);
});

test("R3: a request with very many parts is refused before anything is done with them", async () => {
  const used = model();
  const blocks = Array.from({ length: 50_000 }, (_, at) => ({ type: "tool_use", id: `${at}`, name: `\u6f22${at}` }));
  const messages = [{ role: "assistant" as const, content: blocks }];
  await expect(desk({ model: used }).answer(request({ messages }), context())).rejects.toThrow("more than 2000 parts");
  expect(used.requests).toEqual([]);
});

describe("the choice of the model", () => {
  const first = model([], { name: "a:big", prices: { input: 10, output: 30 } });
  const small = model([], { name: "b:Haiku-small", prices: { input: 1, output: 3 } });
  const unknown = model([], { name: "c:local" });
  const all = [first, small, unknown];
  test.each<[string, unknown, ModelProvider]>([
    ["nothing: the default", undefined, first],
    ["a hint, in any case", { hints: [{ name: "haiku" }] }, small],
    ["the first hint that fits", { hints: [{ name: "gpt" }, { name: "local" }, { name: "haiku" }] }, unknown],
    ["hints that fit nothing", { hints: [{ name: "gpt" }, {}, 5, { name: "" }] }, first],
    ["low costs most", { costPriority: 0.9, intelligencePriority: 0.2 }, small],
    ["intelligence most", { costPriority: 0.3, intelligencePriority: 0.9 }, first],
    ["low costs, among those of the hint", { hints: [{ name: "local" }], costPriority: 1 }, unknown],
    ["nonsense", { hints: "x", costPriority: "1" }, first],
  ])("for %s", async (_what, preferences, expected) => {
    expect(await chooseModel(all, preferences)).toBe(expected);
  });

  test("a hint that none of the user's models fits is looked for among others, in the server's order", async () => {
    const listed = model([], { name: "a:gpt-next" });
    const find = vi.fn(async (hint: string) => (hint === "gpt" ? listed : undefined));
    const hints = [{ name: "Sonnet" }, { name: "GPT" }];
    expect(await chooseModel(all, { hints, costPriority: 1 }, find)).toBe(listed);
    expect(find.mock.calls).toEqual([["sonnet"], ["gpt"]]);
    expect(await chooseModel(all, { hints: [{ name: "sonnet" }] }, find)).toBe(first);
  });

  test("others are not looked for without a hint, or where one of the user's models fits", async () => {
    const find = vi.fn(async () => undefined);
    expect(await chooseModel(all, { hints: [{ name: "gpt" }, { name: "haiku" }] }, find)).toBe(small);
    expect(await chooseModel(all, undefined, find)).toBe(first);
    expect(find).not.toHaveBeenCalled();
  });

  test("without any model a request is declined", async () => {
    const none = new SamplingDesk({ models: () => [], allow: ["geo"] });
    await expect(none.answer(request(), context())).rejects.toMatchObject({ code: "DENIED" });
  });
});
