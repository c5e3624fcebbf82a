import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { CancelSignal } from "../../../async/cancellation.ts";
import { FairQueue, type QueuePlace } from "../../../async/fair-queue.ts";
import { unlessAborted } from "../../../async/unless-aborted.ts";
import { messageOf } from "../../../errors/nexus-error.ts";
import type { ToolFile } from "../../file/model/tool-file.ts";
import { findType, shapesOf, typesIn } from "../../shape/shape-parts.ts";
import type { AnswerPlan, AnswerReply, AnswerTask, Unread } from "./answer-task.ts";
import type { ToldSteps } from "../steps/told-steps.ts";
import type { TellingParts, ToldTool } from "../told-answer.ts";

/** What a thread is asked: `plan` is the same object in all calls of the tool. */
export interface ThreadQuestion {
  telling: TellingParts;
  plan: ToldTool | ToldSteps;
  /** Made when a thread is free; with the bytes that it may take away. */
  work: () => { work: AnswerTask["work"]; given: readonly Uint8Array<ArrayBuffer>[] };
  /** Aborted when its caller leaves. */
  signal: CancelSignal | undefined;
}

interface Waiting extends QueuePlace {
  asked: ThreadQuestion;
  resolve: (reply: AnswerReply) => void;
}

/** Some of the cores are for the calls of others. */
const MOST_THREADS = Math.max(1, Math.min(4, availableParallelism() - 1));
/** Time that passes: the machine may be busy, and expressions and patterns have limits of their own. */
const MOST_MS = 30_000;
const HEAP_MB = 512;
const YOUNG_HEAP_MB = 8;
/** Starting one takes as long as reading an answer of a megabyte. */
const IDLE_MS = 20_000;
/** How many tools a thread knows; then it starts again. */
const MOST_PLANS = 100;
/** Its place in the package: see rolldown.config.ts. */
const PROGRAM = new URL("../workshop/answers.js", import.meta.url);

/**
 * Threads that read very large answers, so that the event loop goes on to serve others. All APIs of the process share
 * them: those with answers that wait take turns. What a thread gets leaves it again with its answer.
 */
class AnswerThreads {
  readonly #waiting = new FairQueue<Waiting>();
  readonly #idle: AnswerThread[] = [];
  #started = 0;
  #isBuilt: boolean | undefined;

  /** Whether there can be any: not where the program runs from its sources. */
  get isBuilt(): boolean {
    return (this.#isBuilt ??= existsSync(PROGRAM));
  }

  async ask(asked: ThreadQuestion, place: QueuePlace): Promise<AnswerReply> {
    let leave = () => {};
    const reply = new Promise<AnswerReply>((resolve) => {
      const waiting = { ...place, asked, resolve };
      this.#waiting.add(waiting);
      leave = () => this.#waiting.delete(waiting);
    });
    this.#serve();
    try {
      return await unlessAborted(reply, asked.signal);
    } finally {
      leave();
    }
  }

  #serve(): void {
    while (this.#waiting.size > 0) {
      const thread = this.#idle.pop() ?? this.#start();
      const [next] = thread ? this.#waiting.inTurn() : [];
      if (!thread || !next) return;
      this.#waiting.take(next);
      if ("problem" in thread) next.resolve(thread);
      else void this.#read(next, thread);
    }
  }

  async #read({ asked, resolve }: Waiting, thread: AnswerThread): Promise<void> {
    resolve(await thread.read(asked));
    if (thread.isAlive) this.#idle.push(thread);
    this.#serve();
  }

  /** Undefined: those that there are have to do. A request was sent, so what is wrong with a new one is a reply. */
  #start(): AnswerThread | Unread | undefined {
    if (this.#started >= MOST_THREADS) return undefined;
    try {
      return this.#newThread();
    } catch (error) {
      return this.#started > 0 ? undefined : { kind: "problem", problem: messageOf(error) };
    }
  }

  #newThread(): AnswerThread {
    const thread = new AnswerThread(() => {
      this.#started--;
      const at = this.#idle.indexOf(thread);
      if (at !== -1) this.#idle.splice(at, 1);
    });
    this.#started++;
    return thread;
  }
}

/** Of the process: more threads than cores would not read more. */
export const ANSWER_THREADS = new AnswerThreads();

/** One thread; it reads one answer at a time. */
class AnswerThread {
  readonly #worker: Worker;
  readonly #onEnd: () => void;
  readonly #plans = new Map<object, number>();
  #replied: (reply: AnswerReply) => void = () => {};
  #idle: NodeJS.Timeout | undefined;
  isAlive = true;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
    this.#worker = new Worker(PROGRAM, {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_HEAP_MB, stackSizeMb: 4 },
      stdout: true,
      stderr: true,
    });
    const fail = (problem: string, isLimit = false) => {
      this.#gone();
      this.#replied({ kind: "problem", problem, isLimit });
    };
    this.#worker.on("message", (reply: AnswerReply) => this.#replied(reply));
    this.#worker.on("error", (error: NodeJS.ErrnoException) =>
      error.code === "ERR_WORKER_OUT_OF_MEMORY"
        ? fail("it needs more memory than is allowed", true)
        : fail(error.message),
    );
    this.#worker.on("exit", () => fail("the thread that reads answers ended"));
  }

  async read(asked: ThreadQuestion): Promise<AnswerReply> {
    clearTimeout(this.#idle);
    this.#worker.ref();
    const { signal } = asked;
    let leave = () => {};
    let timer: NodeJS.Timeout | undefined;
    const reply = await new Promise<AnswerReply>((resolve) => {
      this.#replied = resolve;
      const problem = "it takes longer to be read than is allowed";
      timer = setTimeout(() => resolve({ kind: "problem", problem, isLimit: true }), MOST_MS);
      // Otherwise it keeps others waiting for as long.
      leave = () => resolve({ kind: "problem", problem: "the caller has left" });
      signal?.addEventListener("abort", leave, { once: true });
      try {
        this.#send(asked);
      } catch (error) {
        resolve({ kind: "problem", problem: messageOf(error) });
      }
    });
    clearTimeout(timer);
    signal?.removeEventListener("abort", leave);
    if (reply.kind === "problem" || this.#plans.size >= MOST_PLANS) await this.#end();
    else this.#rest();
    return reply;
  }

  #send({ telling, plan, work: makeWork }: ThreadQuestion): void {
    const { file, hidden, mostKept, wantsDifferences } = telling;
    const known = this.#plans.get(plan);
    const id = known ?? this.#plans.size;
    this.#plans.set(plan, id);
    const sentPlan = known === undefined ? sendable(file, plan) : undefined;
    const { work, given } = makeWork();
    const task: AnswerTask = { id, plan: sentPlan, hidden: hidden.values(), mostKept, wantsDifferences, work };
    this.#worker.postMessage(
      task,
      given.map(({ buffer }) => buffer),
    );
  }

  /** It does not keep the process alive, and ends when nothing comes for a while. */
  #rest(): void {
    this.#worker.unref();
    this.#idle = setTimeout(() => void this.#end(), IDLE_MS).unref();
  }

  async #end(): Promise<void> {
    this.#gone();
    await this.#worker.terminate();
  }

  #gone(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.#onEnd();
  }
}

/** Only the part of a file that answers of one tool need: a large API has thousands of types, and takes long to be sent. */
function sendable(file: ToolFile, plan: ToldTool | ToldSteps): AnswerPlan {
  const { type } = plan.spec.response;
  const names = new Set(type === undefined ? [] : [type]);
  // The set grows while it is read.
  const types: ToolFile["types"] = {};
  for (const name of names) {
    const found = findType(file, name);
    if (!found) continue;
    types[name] = found;
    for (const inner of shapesOf(found).flatMap(typesIn)) names.add(inner);
  }
  const part = { ...file, types, tools: {}, documents: {} };
  // A plan has more than that, which cannot be sent.
  return plan.kind === "steps"
    ? { file: part, kind: "steps", name: plan.name, spec: plan.spec }
    : { file: part, kind: "request", name: plan.name, spec: plan.spec };
}
