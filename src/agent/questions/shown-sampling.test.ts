import { expect, test, vi } from "vitest";
import type { InputContext } from "../../client/conversation/input.ts";
import type { Content, CreateMessageRequest, Tool } from "../../protocol/mcp.ts";
import type { ModelProvider } from "../model/model-provider.ts";
import { SamplingDesk } from "./sampling-desk.ts";
import type { SamplingAsker } from "./sampling-question.ts";
import { shownSampling } from "./shown-sampling.ts";

type Params = CreateMessageRequest["params"];
const base64 = (text: string) => Buffer.from(text).toString("base64");
const text = { type: "text", text: "Hi" };

function params(content: Content[], more: Partial<Params> = {}): Params {
  return { messages: [{ role: "user", content }], maxTokens: 100, ...more };
}

const blobs: [string, Content, string][] = [
  [
    "a text as a blob",
    { type: "resource", resource: { uri: "a:b", mimeType: "text/plain", blob: base64("Obey\u202e me") } },
    "[resource text/plain, 10 bytes] Obey\\u202e me",
  ],
  [
    "a text as an image",
    { type: "image", mimeType: " TEXT/plain; charset=utf-8", data: base64("Obey me\nnow") },
    "[image  TEXT/plain; charset=utf-8, 11 bytes] Obey me\nnow",
  ],
  [
    "JSON as an image",
    { type: "image", mimeType: "application/json", data: base64(`{"a":1}`) },
    `[image application/json, 7 bytes] {"a":1}`,
  ],
  [
    "a file in the result of a tool",
    {
      type: "tool_result",
      toolUseId: "1",
      content: [{ type: "resource", resource: { uri: "a:b", mimeType: "text/csv", blob: base64("1,2") } }],
    },
    "[result of a tool] [resource text/csv, 3 bytes] 1,2",
  ],
  ["an image", { type: "image", mimeType: "image/png", data: "AAAA" }, "[image image/png, 3 bytes]"],
  [
    "another file",
    { type: "resource", resource: { uri: "a:b", mimeType: "application/pdf", blob: "AAAA" } },
    "[resource application/pdf, 3 bytes]",
  ],
];

test.each(blobs)(
  "R3: a sampling request with %s shows the text that the model reads, or type and size",
  (_, block, shown) => {
    const { messages, request } = shownSampling(params([text, block]));
    expect(messages).toEqual([{ role: "user", text: `Hi\n${shown}` }]);
    expect(request).toEqual({ text: `user: Hi\n${shown}`, isShortened: false, whole: `user: Hi\n${shown}` });
  },
);

test("R3: descriptions and schemas of tools, stop sequences and temperature of a sampling request are shown", () => {
  const tools: Tool[] = [{ name: "t", description: "Obey\nme", inputSchema: { type: "object", title: "and me" } }];
  const more = { systemPrompt: "Be brief", tools, toolChoice: { mode: "required" }, stopSequences: ["\n", ""] };
  expect(shownSampling(params([text], { ...more, temperature: 0.2 })).request.text.split("\n")).toEqual([
    "system: Be brief",
    "user: Hi",
    "tool t: Obey",
    "me",
    `schema: {"type":"object","title":"and me"}`,
    "use of tools: required",
    String.raw`stop at: "\n"`,
    "temperature: 0.2",
  ]);
});

test("R3: long parts of a sampling request are shortened in the middle, and everything can be viewed", () => {
  const long = (name: string) => `${name} begins ${"x".repeat(50_000)} hidden ${"x".repeat(50_000)} ${name} ends`;
  const tools: Tool[] = [
    { name: "t", description: long("tool"), inputSchema: { type: "object", title: long("schema") } },
  ];
  const { request } = shownSampling(
    params([{ type: "text", text: long("message") }], {
      systemPrompt: long("system"),
      tools,
      stopSequences: [long("stop")],
    }),
  );
  expect(request.isShortened).toBe(true);
  expect(request.text.length).toBeLessThan(20_000);
  expect(request.text).not.toContain("hidden");
  for (const name of ["system", "message", "tool", "stop"]) {
    expect(request.text).toContain(`${name} begins`);
    expect(request.text).toContain(`${name} ends`);
  }
  expect(request.whole.match(/hidden/g)).toHaveLength(5);
});

const model: ModelProvider = {
  name: "fake:small",
  prices: undefined,
  async *stream() {
    await Promise.resolve();
    const usage = { inputTokens: 5, outputTokens: 5 };
    yield { type: "end", stopReason: "end", usage, message: { role: "assistant", content: [] } };
  },
};
const context = (): InputContext => ({ server: "geo", key: 1, signal: new AbortController().signal });
const huge = "word ".repeat(200_000);

test.each<[string, Params]>([
  ["a text", params([{ type: "text", text: huge }])],
  ["a text as an image", params([{ type: "image", mimeType: "text/plain", data: base64(huge) }])],
  [
    "arguments of a call",
    params([], {
      messages: [
        { role: "assistant", content: [{ type: "tool_use", id: "1", name: "t", input: { data: huge } }] },
        { role: "user", content: [{ type: "tool_result", toolUseId: "1", content: [] }] },
      ],
    }),
  ],
])("R3: nobody is asked about a sampling request with %s that is larger than what is left", async (_, sent) => {
  const ask = vi.fn<SamplingAsker>().mockResolvedValue({ kind: "once" });
  const desk = new SamplingDesk({ models: () => [model], ask });
  const answering = desk.answer({ method: "sampling/createMessage", params: sent }, context());
  await expect(answering).rejects.toThrow("200000 tokens in this session");
  expect(ask).not.toHaveBeenCalled();
});

test("R3: a declined or edited sampling request keeps no tokens reserved", async () => {
  const ask = vi.fn<SamplingAsker>().mockResolvedValue({ kind: "decline" });
  const desk = new SamplingDesk({ models: () => [model], ask, limits: { tokens: 300 } });
  const answer = () => desk.answer({ method: "sampling/createMessage", params: params([text]) }, context());
  await expect(answer()).rejects.toMatchObject({ code: "DENIED" });
  ask.mockResolvedValue({ kind: "once", edit: { systemPrompt: "Be brief" } });
  await answer();
  await answer();
  expect(ask.mock.calls.map(([{ left }]) => left.tokens)).toEqual([300, 300, 290]);
});
