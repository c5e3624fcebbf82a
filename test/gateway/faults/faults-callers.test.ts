import { describe, expect, test } from "vitest";
import type { ServeOptions } from "../../../src/gateway/index.ts";
import { modern, OpenStream } from "../../fixtures/gateway/wire.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";
import { asking, flooding } from "./faults-servers.ts";
import { FaultWorld, metricAt, ModernCaller, recorded, textIn, WeighedGateway } from "./faults-world.ts";
import { eventsOf, LegacyWire } from "../legacy/legacy-wire.ts";

const PATIENT = { connectionWaitMs: 60_000 };
const ELICITATION = { elicitation: { form: {} } };

describe("B1: callers who stay away", () => {
  test("one who reads nothing is given up, its call cancelled, and nobody else notices", async () => {
    await using world = await FaultWorld.open(() => ({ up: flooding() }), { limits: { bufferedBytes: 256 * 1024 } });
    const flood = modern("tools/call", { name: "flood", arguments: {} }, { meta: { progressToken: 1 } });
    const deaf = new OpenStream(world.url("up"), flood, { reads: false });
    await expect.poll(() => deaf.status).toBe(200);
    using caller = world.caller("up");
    await expect.poll(async () => textIn(await caller.tool("cancelled"))).toBe("1");
    await expect.poll(() => world.metric("nexus_calls_in_flight")).toBe(0);
    deaf.leave();
  });

  test("1,000 sessions opened and abandoned: the oldest make room, the rest end by themselves", async () => {
    await using gateway = await WeighedGateway.open(
      { up: stdioFixture(["--revision", "2025-11-25"]) },
      { sessions: 200, sessionIdleMs: 1500 },
    );
    const before = await gateway.weigh();
    const opened: LegacyWire[] = [];
    const lane = async () => {
      for (let count = 0; count < 125; count++)
        opened.push(await LegacyWire.open(gateway.url, "2025-11-25", ELICITATION));
    };
    await Promise.all(Array.from({ length: 8 }, lane));
    expect(opened).toHaveLength(1000);
    expect(await metricAt(gateway.url, "nexus_sessions")).toBeLessThanOrEqual(200);
    // One that made room is opened again for its client, in place of another.
    expect((await opened[0]?.request("tools/list"))?.status).toBe(200);
    expect(await metricAt(gateway.url, "nexus_sessions")).toBeLessThanOrEqual(200);
    await expect.poll(() => metricAt(gateway.url, "nexus_sessions")).toBe(0);
    const after = await gateway.weigh();
    expect(after.heapBytes - before.heapBytes).toBeLessThan(3_000_000);
    // The connection that read its lists lingers for the next caller who declares the same.
    const processes = async () => (await gateway.weigh()).resources["ProcessWrap"];
    await expect.poll(processes).toBe(before.resources["ProcessWrap"]);
  }, 120_000);

  test("200 parked calls abandoned: none stays open at its server, and nothing is kept", async () => {
    await using world = await FaultWorld.open((folder) => ({ up: recorded(folder, "up", "2025-11-25") }), {
      limits: { parkedMs: 1500 },
    });
    const callers = Array.from({ length: 16 }, () => world.caller("up"));
    const ask = async (caller: ModernCaller, index: number) => {
      for (let at = index; at < 200; at += callers.length) {
        const extras = { capabilities: ELICITATION };
        const { message } = await caller.tool("test_elicitation", { message: `call ${at}` }, extras);
        expect(message.result).toMatchObject({ resultType: "input_required" });
      }
    };
    await Promise.all(callers.map(ask));
    await expect.poll(() => world.metric("nexus_calls_parked")).toBe(0);
    await expect.poll(() => world.openCalls("up")).toBe(0);
    using caller = world.caller("up");
    expect((await caller.tool("add_numbers", { a: 1, b: 1 })).message.result).toBeDefined();
    for (const each of callers) each[Symbol.dispose]();
  });
});

describe("B1: 64 callers who all declare elicitation, on one legacy stdio server", () => {
  const reply = (index: number) => ({ action: "accept", content: { who: `user ${index}` } });

  /** Answers whatever a call asks until it is done. */
  const ask = async (caller: ModernCaller, index: number) => {
    const extras = { capabilities: ELICITATION };
    const args = { message: `question ${index}` };
    const questions: unknown[] = [];
    let outcome = await caller.tool("ask", args, extras);
    while (outcome.message.result?.resultType === "input_required") {
      const { inputRequests, requestState } = outcome.message.result as Record<string, Record<string, unknown>>;
      const asked = Object.entries(inputRequests ?? {}) as [string, { params: { message: string } }][];
      questions.push(...asked.map(([, { params }]) => params.message));
      const inputResponses = Object.fromEntries(asked.map(([key]) => [key, reply(index)]));
      outcome = await caller.tool("ask", args, { ...extras, more: { requestState, inputResponses } });
    }
    return { questions, answer: textIn(outcome) };
  };

  test("modern ones of one owner: every question finds somebody to answer it, and every call ends", async () => {
    await using world = await FaultWorld.open(() => ({ up: asking() }));
    const callers = Array.from({ length: 64 }, () => world.caller("up"));
    const asked = await Promise.all(callers.map(ask));
    // A pipe does not say whose question it is: it may be asked in another call, though of the same owner alone.
    for (const { answer } of asked) expect(answer).toMatch(/^user \d+$/);
    const questions = new Set(asked.flatMap((call) => call.questions));
    expect(questions).toEqual(new Set(callers.map((_, index) => `question ${index}`)));
    expect(await world.metric("nexus_calls_parked")).toBe(0);
    for (const caller of callers) caller[Symbol.dispose]();
  });

  test("modern ones of one owner, each call with a process of its own: each is asked its own question", async () => {
    await using world = await FaultWorld.open(() => ({ up: { ...asking(), isolation: "call" } }));
    const callers = Array.from({ length: 64 }, () => world.caller("up"));
    const asked = await Promise.all(callers.map(ask));
    expect(asked).toEqual(callers.map((_, index) => ({ questions: [`question ${index}`], answer: `user ${index}` })));
    expect(await world.metric("nexus_calls_parked")).toBe(0);
    for (const caller of callers) caller[Symbol.dispose]();
  });

  test("modern ones of many owners: each is asked its own question", async () => {
    const authenticate: ServeOptions["authenticate"] = (headers) => ({
      tenant: "default",
      id: String(headers["x-user"]),
    });
    await using world = await FaultWorld.open(() => ({ up: asking() }), { authenticate }, PATIENT);
    const callers = Array.from({ length: 64 }, (_, index) => world.caller("up", { "x-user": `user ${index}` }));
    const asked = await Promise.all(callers.map(ask));
    expect(asked).toEqual(callers.map((_, index) => ({ questions: [`question ${index}`], answer: `user ${index}` })));
    for (const caller of callers) caller[Symbol.dispose]();
  });

  test("sessions: each is asked on its own stream; those beyond the limit wait for a place", async () => {
    await using world = await FaultWorld.open(() => ({ up: asking() }), {}, PATIENT);
    const run = async (_: unknown, index: number) => {
      const wire = await LegacyWire.open(world.url("up"), "2025-11-25", ELICITATION);
      const response = await wire.request("tools/call", { name: "ask", arguments: { message: `question ${index}` } });
      const answer = await answerIn(response, wire, index);
      await wire.delete();
      return answer;
    };
    const answers = await Promise.all(Array.from({ length: 64 }, run));
    expect(answers).toEqual(answers.map((_, index) => `user ${index}`));
  });

  test("sessions beyond the limit that find no place in time are told why, and the others go on", async () => {
    const places = { maxConnections: 3, connectionWaitMs: 50 };
    await using world = await FaultWorld.open(() => ({ up: asking() }), {}, places);
    const refused: string[] = [];
    let letGo: () => void = () => {};
    const twoRefused = new Promise<void>((resolve) => (letGo = resolve));
    const run = async (_: unknown, index: number) => {
      const wire = await LegacyWire.open(world.url("up"), "2025-11-25", ELICITATION);
      const response = await wire.request("tools/call", { name: "ask", arguments: { message: `question ${index}` } });
      const answer = await answerIn(response, wire, index, twoRefused);
      if (!answer.startsWith("user") && refused.push(answer) === 2) letGo();
      return answer;
    };
    const answers = await Promise.all(Array.from({ length: 4 }, run));
    expect(answers.filter((answer) => answer.startsWith("user"))).toHaveLength(2);
    for (const why of refused) expect(why).toContain("cannot be reached. Retry later");
  });

  /** What a call came to, whose question is answered `when` it is time. */
  async function answerIn(
    response: Response,
    wire: LegacyWire,
    index: number,
    when: Promise<void> = Promise.resolve(),
  ): Promise<string> {
    if (response.headers.get("content-type") === "application/json") {
      return JSON.stringify(await response.json());
    }
    for await (const { message } of eventsOf(response)) {
      if (message?.method === "elicitation/create") {
        expect(message.params?.["message"]).toBe(`question ${index}`);
        await when;
        await wire.post({ id: message.id, result: reply(index) });
      } else if (message && !message.method) {
        return message.error ? JSON.stringify(message.error) : (message.result.content[0].text as string);
      }
    }
    return "no answer";
  }
});

describe("B1: 10,000 calls", () => {
  test.each(["modern", "legacy"])(
    "of %s clients leave nothing behind",
    async (era) => {
      await using gateway = await WeighedGateway.open({ up: stdioFixture(["--revision", "2025-11-25"]) });
      const callers = await Promise.all(
        Array.from({ length: 8 }, async () =>
          era === "modern"
            ? new ModernCaller(gateway.server("up"))
            : LegacyWire.open(gateway.server("up"), "2025-11-25").then((wire) => ({
                tool: async (name: string, args: object) => ({
                  message: (await wire.call(name, { ...args }))[0] ?? {},
                }),
              })),
        ),
      );
      const run = async (calls: number) => {
        const lane = async (caller: (typeof callers)[number]) => {
          for (let call = 0; call < calls / callers.length; call++) {
            const { message } = await caller.tool("add_numbers", { a: call, b: 1 });
            if (message.result?.structuredContent?.sum !== call + 1) throw new Error(JSON.stringify(message));
          }
        };
        await Promise.all(callers.map(lane));
        return gateway.weigh();
      };
      const early = await run(2000);
      const late = await run(8000);
      expect(late.heapBytes - early.heapBytes).toBeLessThan(1_000_000);
      expect(late.resources).toEqual(early.resources);
      for (const caller of callers) if (caller instanceof ModernCaller) caller[Symbol.dispose]();
    },
    120_000,
  );
});

describe("B1: 600 calls that are asked something, and as many tasks,", () => {
  test("leave nothing behind", async () => {
    await using gateway = await WeighedGateway.open(
      { up: stdioFixture(["--revision", "2025-11-25"]) },
      { gatherMs: 1 },
    );
    const capabilities = { ...ELICITATION, extensions: { "io.modelcontextprotocol/tasks": {} } };
    const callers = Array.from({ length: 4 }, () => new ModernCaller(gateway.server("up")));
    const meta = { progressToken: 1 };
    const call = async (caller: ModernCaller) => {
      const args = { message: "Who?" };
      const answer = { action: "accept", content: { username: "ada", email: "a@example.org" } };
      let outcome = await caller.tool("test_elicitation", args, { capabilities });
      // On a pipe shared with others of the same owner it may be asked for one of them, too.
      while (outcome.message.result?.resultType === "input_required") {
        const { inputRequests, requestState } = outcome.message.result as Record<string, Record<string, unknown>>;
        const inputResponses = Object.fromEntries(Object.keys(inputRequests ?? {}).map((key) => [key, answer]));
        outcome = await caller.tool("test_elicitation", args, { capabilities, more: { requestState, inputResponses } });
      }
      expect(textIn(outcome)).toContain("accept");
      const started = await caller.tool("slow_compute", { seconds: 0 }, { capabilities, meta });
      expect(started.message.result).toMatchObject({ resultType: "task" });
      const { taskId } = started.message.result as { taskId: string };
      const task = await caller.request("tasks/get", { taskId }, { capabilities });
      expect(task.message.result).toMatchObject({ taskId });
      await caller.request("tasks/cancel", { taskId }, { capabilities });
    };
    const run = async (calls: number) => {
      const lane = async (caller: ModernCaller) => {
        for (let count = 0; count < calls / callers.length; count++) await call(caller);
      };
      await Promise.all(callers.map(lane));
      return gateway.weigh();
    };
    const early = await run(280);
    const late = await run(320);
    expect(late.heapBytes - early.heapBytes).toBeLessThan(1_500_000);
    expect(late.resources).toEqual(early.resources);
    for (const caller of callers) caller[Symbol.dispose]();
  });
});
