import { deepStrictEqual as equal } from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { connect, NexusError, type Client } from "../../src/index.ts";
import type { Observations } from "../fixtures/servers/everything.ts";
import { startHttpFixture } from "../fixtures/servers/http-fixture.ts";
import type { Fault } from "./fault.ts";
import { FaultProxy } from "./fault-proxy.ts";
import type { Plan } from "./plan.ts";
import { getServerKind, type ServerKind } from "./server-kind.ts";
import { answering, doStep, MOST_CALLS, stepOf, type Step } from "./step.ts";
import { isBreaking, isCorrupting, isExplained, mayWaitInVain, type Ending } from "./verdict.ts";

export interface RunReport {
  /** Connecting, each step, and the call after everything was well again. */
  endings: Ending[];
  struck: readonly Fault[];
}

/** Far above everything that has a clock of its own: whoever is not done by then never will be. */
const HANG_MS = 120_000;
const SHORT_MS = 250;
/** Never waited for on a quiet machine: in these runs the answer comes. */
const LONG_MS = 60_000;

/**
 * Makes one run, or throws what was wrong about it: an answer that is not the right one, an error that nothing explains,
 * a hang, a call made twice, a connection left behind.
 */
export async function runPlan(plan: Plan): Promise<RunReport> {
  const kind = getServerKind(plan.server);
  await using server = await startHttpFixture({ ...kind.fixture, pageSize: 12 });
  await using proxy = await FaultProxy.start(server.port, plan.faults);
  const run = new Run(plan, kind, proxy);
  const timeoutMs = mayWaitInVain(plan) ? SHORT_MS : LONG_MS;
  const ending = new AbortController();
  let client: Client | undefined;
  try {
    client = await run.connect(() =>
      connect(kind.entry(`http://127.0.0.1:${proxy.port}`), {
        timeoutMs,
        connectTimeoutMs: timeoutMs,
        retry: { backoffMs: 1 },
        input: answering,
        signal: ending.signal,
        ...(plan.opening === "pinned" ? { protocolVersion: kind.revision } : {}),
      }),
    );
    if (client) {
      await run.steps(client, kind.asks ? plan.steps : plan.steps.filter((step) => step.kind !== "ask"));
      await run.recovery(client);
      await within(client.close(), "closing");
    }
  } finally {
    // A run that went wrong shall not disturb the others, whatever it is stuck in.
    ending.abort();
    void client?.close();
  }
  await within(proxy.clientsGone(), "letting go of the connections");
  const messages = server.transcript.messages("in");
  run.checkCalls(messages);
  await within(run.cancellations(server.observations, messages), "cancelling at the server");
  return { endings: run.endings, struck: proxy.struck };
}

class Run {
  readonly endings: Ending[] = [];
  readonly #plan: Plan;
  readonly #kind: ServerKind;
  readonly #proxy: FaultProxy;
  /** By key. */
  readonly #outcomes = new Map<string, { step: Step; error?: unknown }>();

  constructor(plan: Plan, kind: ServerKind, proxy: FaultProxy) {
    this.#plan = plan;
    this.#kind = kind;
    this.#proxy = proxy;
  }

  async connect(open: () => Promise<Client>): Promise<Client | undefined> {
    try {
      const client = await within(open(), "connecting");
      this.endings.push("right answer");
      return client;
    } catch (error) {
      this.#judge("connecting", error);
      return undefined;
    }
  }

  async steps(client: Client, steps: readonly Step[]): Promise<void> {
    const one = (step: Step, index: number) => this.#step(client, step, `step${index}`);
    if (this.#plan.order === "all at once") await Promise.all(steps.map(one));
    else for (const [index, step] of steps.entries()) await one(step, index);
  }

  /** Once nothing strikes any more, the same client works: no socket that died in its pool is in the way. */
  async recovery(client: Client): Promise<void> {
    this.#proxy.heal();
    const options = { timeoutMs: LONG_MS };
    await this.#recovered(client.listTools(options), "the list after all was well again");
    const call = client.callTool("echo", { text: "well" }, options);
    await this.#recovered(
      call.then(({ content }) => equal(content, [{ type: "text", text: "well" }])),
      "the call after all was well again",
    );
  }

  /** What the server saw has to fit what the client said. */
  checkCalls(messages: readonly unknown[]): void {
    // Whoever doubles the bytes of a request doubles the request.
    if (this.#isCorrupted) return;
    const counts = new Map<string, number>();
    for (const call of messages.map(stepOf)) {
      if (!call) continue;
      const name = `${call.key}, ${call.round}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    for (const [key, { step, error }] of this.#outcomes) {
      const first = counts.get(`${key}, first`) ?? 0;
      const most = Math.max(first, counts.get(`${key}, answer`) ?? 0);
      if (most > MOST_CALLS[step.kind]) throw new Error(`${key} (${step.kind}) reached the server ${most} times`);
      if (first > 0 && error instanceof NexusError && error.details.mayHaveReached === false) {
        throw new Error(`${key} (${step.kind}) reached the server, but its error denies it`, { cause: error });
      }
    }
  }

  /** Resolves when every sleep that the server began was cancelled there; whoever breaks connections may prevent it. */
  async cancellations({ cancelled }: Observations, messages: readonly unknown[]): Promise<void> {
    if (this.#isCorrupted || this.#proxy.struck.some(isBreaking)) return;
    const steps = messages.map(stepOf).map((call) => this.#outcomes.get(call?.key ?? "")?.step);
    const begun = steps.filter((step) => step?.kind === "abort").length;
    while (cancelled.length < begun) await pause(5);
  }

  async #step(client: Client, step: Step, key: string): Promise<void> {
    const outcome: { step: Step; error?: unknown } = { step };
    this.#outcomes.set(key, outcome);
    const what = `${key} (${step.kind})`;
    let check: () => void;
    try {
      check = await within(doStep(client, step, key), what);
    } catch (error) {
      outcome.error = error;
      this.#judge(what, error, step);
      return;
    }
    try {
      check();
    } catch (error) {
      if (!this.#isCorrupted) throw new Error(`${what} had a wrong answer`, { cause: error });
      this.endings.push("changed answer");
      return;
    }
    this.endings.push("right answer");
  }

  async #recovered(call: Promise<unknown>, what: string): Promise<void> {
    try {
      await within(call, what);
    } catch (error) {
      if (error instanceof Hang) throw error;
      if (!this.#isCorrupted && !this.#isOverFor(error)) throw new Error(`${what} failed`, { cause: error });
    }
  }

  #judge(what: string, error: unknown, step?: Step): void {
    if (error instanceof Hang) throw error;
    if (!(error instanceof NexusError)) throw new Error(`${what} threw what is no NexusError`, { cause: error });
    if (!isExplained(error, { plan: this.#plan, struck: this.#proxy.struck, step })) {
      throw new Error(`${what} failed, and nothing that happened explains it`, { cause: error });
    }
    this.endings.push(error.code);
  }

  #isOverFor(error: unknown): boolean {
    return this.#kind.oneStream && error instanceof NexusError && error.code === "CONNECTION_LOST";
  }

  get #isCorrupted(): boolean {
    return this.#proxy.struck.some(isCorrupting);
  }
}

class Hang extends Error {
  override readonly name = "Hang";
}

async function within<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Hang(`${what} does not end`)), HANG_MS);
  });
  try {
    return await Promise.race([promise, tooLong]);
  } finally {
    clearTimeout(timer);
  }
}
