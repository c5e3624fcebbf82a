// An agent: a model that uses the tools of two servers, through the Vercel AI SDK. The model is a fake that always wants
// the same two things, so that the story runs anywhere; with a real one nothing else changes.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateText, jsonSchema, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { agentTools, aiSdkTools, Host } from "nexus-mcp";

const stateFolder = await mkdtemp(join(tmpdir(), "nexus-example-"));
const host = await Host.open({
  servers: {
    demo: { command: "node", args: ["dist/demo/main.js"] },
    kit: { command: "node", args: ["build/fixtures/everything.cjs", "--revision", "2025-11-25"] },
  },
  policy: { readOnly: true }, // this agent may look, not touch
  stateFolder,
});
await host.ready();

const wishes = [
  { toolName: "mcp__demo__add", input: { a: 20, b: 22 } },
  { toolName: "mcp__kit__echo", input: { text: "the answer is on its way" } },
];
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const model = new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => {
    const answered = prompt.filter(({ role }) => role === "tool").length;
    const wish = wishes[answered];
    const content = wish
      ? [
          {
            type: "tool-call",
            toolCallId: `call-${answered}`,
            toolName: wish.toolName,
            input: JSON.stringify(wish.input),
          },
        ]
      : [{ type: "text", text: "It is 42." }];
    return { content, finishReason: { unified: wish ? "tool-calls" : "stop" }, usage, warnings: [] };
  },
});

const { text, steps } = await generateText({
  model,
  tools: aiSdkTools(agentTools(host), { jsonSchema }),
  stopWhen: stepCountIs(5),
  prompt: "What is 20 + 22?",
});
const results = steps.flatMap(({ toolResults }) =>
  toolResults.map(({ toolName, output }) => [toolName, output.content[0].text]),
);
console.log(results);
console.log(text);

assert.equal(text, "It is 42.");
assert.equal(results.length, 2);
assert.match(results[0][1], /42/);
assert.deepEqual(results[1], ["mcp__kit__echo", "the answer is on its way"]);
await host.close();
await rm(stateFolder, { recursive: true });
