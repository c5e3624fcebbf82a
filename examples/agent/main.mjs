// The agent of Nexus: a model uses the tools of two servers, and a person decides what may run. Model and person are
// scripted, so that the story runs anywhere; with a real model nothing else changes.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Host } from "nexus-mcp";
import { Agent, AgentInput, ConsentDesk, ElicitationDesk } from "nexus-mcp/agent";
import { ScriptedModel, ScriptedServer } from "nexus-mcp/testing";

// A shop with one tool that looks, and one that has an effect and asks the user something while it works.
const shop = new ScriptedServer({
  tools: {
    list_bikes: { annotations: { readOnlyHint: true }, run: () => "city bike 400 €, road bike 900 €" },
    order: async ({ bike }, { ask }) => {
      const { content } = await ask("elicitation/create", {
        message: "Which colour?",
        requestedSchema: { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] },
      });
      return `Ordered: ${String(bike)}, ${content.colour}`;
    },
  },
});
// What servers ask during a call. The host declares it to servers, and the agent answers with it.
const input = new AgentInput({
  elicitation: new ElicitationDesk({ fillForm: async () => ({ action: "accept", content: { colour: "green" } }) }),
});
const stateFolder = await mkdtemp(join(tmpdir(), "nexus-example-"));
const host = await Host.open({
  servers: { shop: shop.transport, demo: { command: "node", args: ["dist/demo/main.js"] } },
  input,
  stateFolder,
});
await host.ready();

const model = new ScriptedModel([
  // Two calls of one answer run at the same time.
  [{ call: "mcp__shop__list_bikes" }, { call: "mcp__demo__add", arguments: { a: 400, b: 900 } }],
  [{ call: "mcp__shop__order", arguments: { bike: "city bike" } }],
  [{ text: "Your city bike " }, { text: "is ordered." }],
  [{ call: "mcp__shop__order", arguments: { bike: "road bike" } }],
  "Then not.",
]);

const replies = ["once", "no"];
const agent = new Agent({
  host,
  model,
  // Tools that call themselves read-only run; about others this person is asked.
  consent: new ConsentDesk({
    ask: async ({ server, tool }) => {
      const reply = replies.shift();
      console.log(`may ${server}.${tool} run? ${reply}`);
      return reply;
    },
  }),
  input,
  maxSteps: 10,
});

const first = await agent.send("Order the cheapest bike.", {
  onEvent: (event) => {
    if (event.type === "text") console.log(event.text);
    if (event.type === "tool_end") console.log(`${event.step.server}.${event.step.tool}: ${event.step.outcome}`);
  },
});
assert.equal(first.stopReason, "end");
assert.equal(first.text, "Your city bike is ordered.");
assert.deepEqual(
  first.steps.map(({ tool, outcome }) => [tool, outcome]),
  [
    ["list_bikes", "ok"],
    ["add", "ok"],
    ["order", "ok"],
  ],
);
assert.match(JSON.stringify(agent.messages), /Ordered: city bike, green/);

const second = await agent.send("And a road bike.");
assert.deepEqual(
  second.steps.map(({ outcome }) => outcome),
  ["denied"],
);
assert.equal(second.text, "Then not.");

// A turn that is interrupted cancels its calls at the servers; the conversation goes on.
const abort = new AbortController();
model.add([{ text: "Let me think about" }, { hook: () => abort.abort() }], "Where were we?");
const third = await agent.send("Which one is faster?", { signal: abort.signal });
assert.equal(third.stopReason, "cancelled");
assert.equal((await agent.send("Go on.")).text, "Where were we?");
console.log("tokens:", agent.usage);

await host.close();
await rm(stateFolder, { recursive: true });
