import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { CancelSignal } from "../../async/cancellation.ts";
import { FairQueue, type QueuePlace } from "../../async/fair-queue.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";
import { messageOf } from "../../errors/nexus-error.ts";
import { packJson } from "../../json/exact-json.ts";
import type { Content } from "../../protocol/mcp.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import { findType, shapesOf, typesIn } from "../shape/shape-parts.ts";
import type { AnswerReply, AnswerTask, PackedValue, Unread } from "./answer-task.ts";
import { Failure } from "./failure.ts";
import type { PackedPage, PackedPages } from "./pages/page.ts";
import type { TellingParts, Told, ToldTool, ValueUse } from "./told-answer.ts";
import type { UpstreamResponse } from "./upstream.ts";

/** An answer that is read: `plan` is the same object in all calls of the tool. */
export interface AnswerAsked {
  telling: TellingParts;
  plan: ToldTool;
  answer: UpstreamResponse | undefined;
  /** If the pages of a list were read; the answer is then that of the last one. */
  pages?: PackedPages | undefined;
  input: Record<string, unknown>;
  /** Whether the caller wants what came, too. */
  wantsPayload: boolean;
  /** Aborted when its caller leaves. */
  signal: CancelSignal | undefined;
}

interface Waiting extends QueuePlace {
  asked: AnswerAsked & Pick<AnswerTask, "wants">;
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

  async value(asked: AnswerAsked, place: QueuePlace, use: ValueUse): Promise<PackedValue | Failure | Unread> {
    const reply = await this.#reply({ ...asked, wants: use }, place);
    if (reply.kind === "failure") return new Failure(reply.text, reply.options);
    return reply.kind === "packed value" ? reply : unexpected(reply);
  }

  async page(asked: AnswerAsked, place: QueuePlace): Promise<PackedPage | Failure | Unread> {
    const reply = await this.#reply({ ...asked, wants: "page" }, place);
    if (reply.kind === "failure") return new Failure(reply.text, reply.options);
    return reply.kind === "packed page" ? reply : unexpected(reply);
  }

  async tell(
    asked: AnswerAsked,
    place: QueuePlace,
  ): Promise<{ reading: Told | Failure; payload: Content | undefined } | Unread> {
    const reply = await this.#reply({ ...asked, wants: "told" }, place);
    if (reply.kind === "failure") return { reading: new Failure(reply.text, reply.options), payload: reply.payload };
    return reply.kind === "told" ? { reading: reply.told, payload: reply.payload } : unexpected(reply);
  }

  async #reply(asked: Waiting["asked"], place: QueuePlace): Promise<AnswerReply> {
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

  async read(asked: Waiting["asked"]): Promise<AnswerReply> {
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

  #send({ telling, plan, answer, pages, input, wants, wantsPayload }: Waiting["asked"]): void {
    const { file, hidden, mostKept, wantsDifferences } = telling;
    const { name, spec } = plan;
    const known = this.#plans.get(plan);
    const id = known ?? this.#plans.size;
    this.#plans.set(plan, id);
    const packed = pages ? [...pages.items, pages.others] : [];
    // Pages were read before; what came is needed again if it is shown with them.
    const sent = answer && sentAnswer(answer, !(wants === "page" && wantsPayload));
    const task: AnswerTask = {
      wants,
      id,
      plan: known === undefined ? { file: partOf(file, spec), name, spec } : undefined,
      answer: sent,
      pages,
      input: packJson(input),
      hidden: hidden.values(),
      mostKept,
      wantsDifferences,
      wantsPayload: wantsPayload && wants === "told",
    };
    const given = packed.map(({ bytes }) => bytes.buffer);
    this.#worker.postMessage(task, sent ? [sent.body.buffer, ...given] : given);
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

/** A thread answers what it was asked for. */
function unexpected(reply: AnswerReply): Unread {
  return reply.kind === "problem" ? reply : { kind: "problem", problem: `the thread answered ${reply.kind}` };
}

/** The part of a file that answers of one tool need: a large API has thousands of types, and takes long to be sent. */
function partOf(file: ToolFile, { response }: ToldTool["spec"]): ToolFile {
  const names = new Set(response.type === undefined ? [] : [response.type]);
  // The set grows while it is read.
  const types: ToolFile["types"] = {};
  for (const name of names) {
    const type = findType(file, name);
    if (!type) continue;
    types[name] = type;
    for (const inner of shapesOf(type).flatMap(typesIn)) names.add(inner);
  }
  return { ...file, types, tools: {}, documents: {} };
}

/** Bytes that may be given away are not copied; those of a small answer may lie among others. */
function sentAnswer({ status, headers, body }: UpstreamResponse, isLast: boolean) {
  const { buffer } = body;
  const isOwn = isLast && buffer instanceof ArrayBuffer && buffer.byteLength === body.byteLength;
  return { status, headers: { ...headers }, body: isOwn ? new Uint8Array(buffer) : new Uint8Array(body) };
}
