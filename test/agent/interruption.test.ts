import fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { TurnEvent } from "../../src/agent/loop/turn-event.ts";
import type { ToolConsent } from "../../src/agent/consent/tool-consent.ts";
import { ScriptedModel, ScriptedServer, type ScriptedMove } from "../../src/testing/index.ts";
import { Agent } from "../../src/agent/loop/agent.ts";
import { openWorld, resultsIn, type AgentWorld } from "../fixtures/agent/agent-world.ts";
import { historyProblems } from "../fixtures/agent/history-rules.ts";
import { examples } from "../fixtures/depth.ts";
import { childrenOf } from "../fixtures/processes.ts";
import { startHttpFixture, type HttpFixture } from "../fixtures/servers/http-fixture.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";

const FOREVER_MS = 3_000_000;
/** A turn that hangs is reported instead of waited for. */
const ENDS = { message: "the turn has ended after its signal was aborted", timeout: 15_000 };

/** Interrupts a turn at one of its points: events, moves of the model, questions and work at servers are counted. */
class Interruption {
  readonly abort = new AbortController();
  #left: number;

  constructor(point: number) {
    this.#left = point;
  }

  reach(): void {
    if (this.#left-- === 0) this.abort.abort();
  }
}

let web: HttpFixture;
let world: AgentWorld;
let childrenBefore: number[];
let current = new Interruption(Infinity);
/** Calls that the server in this process works on. */
let pending = 0;

const memory = new ScriptedServer({
  tools: {
    quick: () => {
      current.reach();
      return "quick";
    },
    failing: () => {
      throw new Error("failing");
    },
    stuck: async (_args, { signal, progress }) => {
      pending++;
      progress({ progress: 1, message: "working" });
      current.reach();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      pending--;
      return "stopped";
    },
  },
});

beforeAll(async () => {
  childrenBefore = childrenOf(process.pid);
  web = await startHttpFixture({ revision: "2026-07-28" });
  world = await openWorld({
    servers: { kit: stdioFixture(), web: { url: web.url }, memory: memory.transport },
    script: [],
  });
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await web.close();
  expect(childrenOf(process.pid).filter((pid) => !childrenBefore.includes(pid))).toEqual([]);
});

const consent: ToolConsent = {
  decide: async ({ tool }) => {
    current.reach();
    return tool === "test_simple_text" ? { kind: "denied", reason: "No." } : { kind: "allowed" };
  },
};

const CALLS: readonly { call: string; arguments: unknown }[] = [
  { call: "mcp__kit__echo", arguments: { text: "hello" } },
  { call: "mcp__kit__sleep", arguments: { ms: 1 } },
  { call: "mcp__kit__test_simple_text", arguments: {} },
  { call: "mcp__memory__quick", arguments: {} },
  { call: "mcp__memory__failing", arguments: {} },
  { call: "mcp__web__add_numbers", arguments: { a: "one" } },
  { call: "mcp__web__test_tool_with_progress", arguments: {} },
  { call: "mcp__nowhere__tool", arguments: {} },
];
/** They end only if they are interrupted. */
const STUCK = "mcp__memory__stuck";
const WEB_SLEEP = "mcp__web__sleep";
const ENDLESS: readonly { call: string; arguments: unknown }[] = [
  { call: STUCK, arguments: {} },
  { call: WEB_SLEEP, arguments: { ms: FOREVER_MS } },
  { call: "mcp__kit__sleep", arguments: { ms: FOREVER_MS } },
];

function isEndless({ tool, arguments: args }: { tool: string; arguments: unknown }): boolean {
  return tool === "stuck" || (tool === "sleep" && JSON.stringify(args) === JSON.stringify({ ms: FOREVER_MS }));
}

const hook: ScriptedMove = { hook: () => current.reach() };
const move = fc.oneof(
  fc.constantFrom<ScriptedMove>({ text: "Some words. " }, { text: "" }, { reasoning: "hm" }, hook, { wait: 5 }),
  fc.constantFrom<ScriptedMove>(...CALLS),
);
const scripts = fc.record({
  answers: fc.array(fc.array(move, { minLength: 1, maxLength: 5 }), { maxLength: 3 }),
  last: fc.subarray([...ENDLESS], { minLength: 0 }),
  point: fc.integer({ min: 0, max: 40 }),
});

test("interrupting a turn at any point leaves no call, no process and a valid conversation (G6)", async () => {
  await fc.assert(
    fc.asyncProperty(scripts, async ({ answers, last, point }) => {
      const interruption = (current = new Interruption(point));
      const model = new ScriptedModel([...answers.map((moves) => [...moves, hook]), last]);
      model.add(...answers.map(() => "The end."), "The end.");
      const agent = new Agent({ host: world.host, model, consent, maxSteps: 10 });
      const open = new Set<string>();
      const endless = new Set(last.map(({ call }) => call.split("__")[1]));
      const sleeps = web.observations.sleeps;
      const onEvent = (event: TurnEvent) => {
        if (event.type === "tool_start") open.add(event.id);
        if (event.type === "tool_end") open.delete(event.id);
        if (event.type === "tool_start" && isEndless(event)) endless.delete(event.server);
        interruption.reach();
      };
      const turn = agent.send("go", { signal: interruption.abort.signal, onEvent });
      const isUnderWay = () =>
        last.length > 0 &&
        endless.size === 0 &&
        last.every(
          ({ call }) =>
            (call !== STUCK || pending === 1) && (call !== WEB_SLEEP || web.observations.sleeps === sleeps + 1),
        );
      let isOver = false;
      void turn.then(() => (isOver = true));
      await vi.waitUntil(() => isOver || interruption.abort.signal.aborted || isUnderWay(), {
        interval: 2,
        timeout: 60_000,
      });
      // What would never end is interrupted at the latest when it is under way.
      if (!isOver) interruption.abort.abort();
      await expect.poll(() => isOver, ENDS).toBe(true);
      const result = await turn;

      expect(["end", "cancelled"]).toContain(result.stopReason);
      expect(result.error).toBeUndefined();
      expect(open.size).toBe(0);
      expect(model.pending).toBe(0);
      expect(historyProblems(agent.messages)).toEqual([]);
      expect(result.steps).toHaveLength(resultsIn(agent.messages).length);
      await expect.poll(() => pending).toBe(0);
      await expect.poll(() => web.observations.sleeps - web.observations.cancelled.length).toBe(0);

      current = new Interruption(Infinity);
      agent.model = new ScriptedModel([[{ call: "mcp__kit__echo", arguments: { text: "on" } }], "The end."]);
      expect(await agent.send("and now?")).toMatchObject({ stopReason: "end", steps: [{ outcome: "ok" }] });
      expect(historyProblems(agent.messages)).toEqual([]);
      for (const { messages } of model.requests) expect(historyProblems(messages)).toEqual([]);
    }),
    { numRuns: examples(300), endOnFailure: true },
  );
});

test("a sleep that is interrupted is cancelled at its server, over stdio and HTTP (G6)", async () => {
  const abort = new AbortController();
  const sleeps = web.observations.sleeps;
  const model = new ScriptedModel([
    ["kit", "web"].map((server) => ({ call: `mcp__${server}__sleep`, arguments: { ms: FOREVER_MS + 1 } })),
  ]);
  const agent = new Agent({ host: world.host, model, consent });
  const turn = agent.send("sleep", { signal: abort.signal });
  await expect.poll(() => web.observations.sleeps).toBe(sleeps + 1);
  // Requests are answered in order: the sleep before this echo has begun.
  await world.host.callTool("kit.echo", { text: "under way" });
  abort.abort();
  expect(await turn).toMatchObject({
    stopReason: "cancelled",
    steps: [{ outcome: "cancelled" }, { outcome: "cancelled" }],
  });
  const recorded = async () => (await world.host.callTool("kit.recorded_cancellations")).content[0]?.text;
  await expect.poll(recorded).toContain(String(FOREVER_MS + 1));
  await expect.poll(() => web.observations.cancelled).toContain(FOREVER_MS + 1);
});
