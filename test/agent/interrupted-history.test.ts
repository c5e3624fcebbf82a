import fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Agent } from "../../src/agent/loop/agent.ts";
import type { TurnEvent } from "../../src/agent/loop/turn-event.ts";
import { PROVIDER_TYPES, type ProviderType } from "../../src/config/models-setting.ts";
import type { ToolConsent } from "../../src/agent/consent/tool-consent.ts";
import { ScriptedServer } from "../../src/testing/index.ts";
import { openWorld, type AgentWorld } from "../fixtures/agent/agent-world.ts";
import { examples } from "../fixtures/depth.ts";
import { openFakeModel, type FakeModel } from "../fixtures/providers/fake-model.ts";
import type { FakeStream } from "../fixtures/providers/provider-fake.ts";

/** A turn that hangs is reported instead of waited for. */
const ENDS = { message: "the turn has ended after its signal was aborted", timeout: 15_000 };
const PNG = "iVBORw0KGgo=";

/** Calls that end only if they are cancelled. */
let pending = 0;
let world: AgentWorld;
const models = new Map<ProviderType, FakeModel>();

const server = new ScriptedServer({
  tools: {
    quick: () => "quick",
    empty: () => ({ content: [] }),
    picture: () => ({ content: [{ type: "image", data: PNG, mimeType: "image/png" }] }),
    failing: () => {
      throw new Error("failing");
    },
    broken_picture: () => ({ isError: true, content: [{ type: "image", data: PNG, mimeType: "image/png" }] }),
    denied: () => "never",
    stuck: async (_args, { signal }) => {
      pending++;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      pending--;
      return "stopped";
    },
  },
});

const consent: ToolConsent = {
  decide: async ({ tool }) => (tool === "denied" ? { kind: "denied", reason: "No." } : { kind: "allowed" }),
};

beforeAll(async () => {
  world = await openWorld({ servers: { kit: server.transport }, script: [] });
  for (const type of PROVIDER_TYPES) models.set(type, await openFakeModel(type));
});

afterAll(async () => {
  for (const model of models.values()) await model[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

function modelOf(type: ProviderType): FakeModel {
  const model = models.get(type);
  if (!model) throw new Error(`no model of the type ${type}`);
  return model;
}

const call = fc.constantFrom(
  ...["quick", "empty", "picture", "failing", "broken_picture", "denied", "stuck", "missing"].map((tool) => ({
    // The same id again, as some servers send it.
    id: "call_1",
    name: `mcp__kit__${tool}`,
    arguments: tool === "failing" ? `{"broken` : {},
  })),
);
const texts = fc.constantFrom<string[]>(["Some ", "words."], [" "], ["\n", "words "]);
const answer: fc.Arbitrary<FakeStream> = fc.oneof(
  fc.record({ text: texts, calls: fc.array(call, { maxLength: 3 }) }),
  fc.record({ reasoning: fc.constant("Hm."), calls: fc.array(call, { minLength: 1, maxLength: 3 }) }),
  // What came before the connection was lost is kept.
  fc.record({ text: fc.constant(["Some ", "words ", "more"]), breakAfter: fc.constant(5) }),
);

test("every provider accepts the conversation of a turn that was interrupted at any point (G6)", async () => {
  const scripts = fc.record({
    type: fc.constantFrom(...PROVIDER_TYPES),
    answers: fc.array(answer, { minLength: 1, maxLength: 3 }),
    point: fc.integer({ min: 0, max: 15 }),
  });
  await fc.assert(
    fc.asyncProperty(scripts, async ({ type, answers, point }) => {
      const abort = new AbortController();
      let left = point;
      const reach = () => {
        if (left-- === 0) abort.abort();
      };
      const { fake, model } = modelOf(type);
      fake.script(
        ...answers.map((each) => () => {
          reach();
          return each;
        }),
      );
      const agent = new Agent({ host: world.host, model, consent, maxSteps: 5 });
      let isOver = false;
      const turn = agent.send("go", { signal: abort.signal, onEvent: reach }).finally(() => (isOver = true));
      await vi.waitUntil(() => isOver || abort.signal.aborted || pending > 0, { interval: 2, timeout: 60_000 });
      if (!isOver) abort.abort();
      await expect.poll(() => isOver, ENDS).toBe(true);
      const { stopReason, error, isTakenBack = false } = await turn;
      fake.forgetScript();
      expect(["CONNECTION_LOST", undefined]).toContain(error?.code);
      expect(["end", "cancelled", "error"]).toContain(stopReason);
      // A message without any answer is not sent again with the next one.
      if (stopReason !== "end") expect(isTakenBack).toBe(agent.messages.length === 0);
      await expect.poll(() => pending).toBe(0);

      for (const next of PROVIDER_TYPES) {
        const resumed = new Agent({ host: world.host, model: modelOf(next).model, messages: agent.messages });
        const { error: refused, text } = await resumed.send("and now?");
        expect(refused?.message, `${next} after ${type}`).toBeUndefined();
        expect(text).toBe("Done.");
      }
    }),
    { numRuns: examples(150), endOnFailure: true },
  );
});

test.each(PROVIDER_TYPES)(
  "%s: aborting a turn ends the request at the provider while nothing comes (G6)",
  async (type) => {
    await using silent = await openFakeModel(type);
    silent.fake.script({ text: ["Some ", "words"], stallAfter: 4 });
    const abort = new AbortController();
    const agent = new Agent({ host: world.host, model: silent.model, consent });
    const onEvent = ({ type: kind }: TurnEvent) => {
      if (kind === "text") abort.abort();
    };
    expect(await agent.send("go", { signal: abort.signal, onEvent })).toMatchObject({ stopReason: "cancelled" });
    expect(await silent.fake.asked[0]?.closed).toBe("aborted");
  },
);
