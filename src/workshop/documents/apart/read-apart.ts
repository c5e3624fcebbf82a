import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { CancelSignal } from "../../../async/cancellation.ts";
import { NexusError } from "../../../errors/nexus-error.ts";

/** What is read in a thread of its own. */
export type ReaderTask =
  | { kind: "pdf"; bytes: Uint8Array }
  | { kind: "blocks"; text: string; format: "markdown" | "html" | "text" | "pdf" };

/** What the thread answers. A problem is one of the document; its text goes on after the document's name. */
export type ReaderAnswer = { result: unknown } | { problem: string; fix?: string | undefined };

/** A document that cannot be read within the limits. `fix` is undefined if it only has to be smaller. */
export class ReadingProblem extends Error {
  override readonly name = "ReadingProblem";
  constructor(
    message: string,
    readonly fix?: string,
  ) {
    super(message);
  }
}

/** Time of the processor, so that a busy machine does not refuse more; a stopped thread ends after the second time. */
const LIMITS = { cpuMs: 3_300, waitMs: 30_000, growth: 95 * 1024 * 1024, heapMb: 96 };
const CHECK_MS = 25;

/**
 * Reads a document in a thread of its own, so that a hostile one costs only limited time and memory, and the program
 * goes on to react to signals. `here` reads it in this thread: used where the program was not built.
 */
export async function readApart<T>(task: ReaderTask, here: () => Promise<T>, signal?: CancelSignal): Promise<T> {
  const program = new URL("../workshop/reader.js", import.meta.url);
  if (!existsSync(program)) return here();
  const bytes = task.kind === "pdf" ? task.bytes.buffer : undefined;
  const isOwn = task.kind === "pdf" && task.bytes.byteLength === bytes?.byteLength;
  const worker = new Worker(program, {
    workerData: task,
    transferList: isOwn && bytes instanceof ArrayBuffer ? [bytes] : [],
    resourceLimits: { maxOldGenerationSizeMb: LIMITS.heapMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    stdout: true,
    stderr: true,
  });
  const answer = await answerOf(worker, signal);
  if ("problem" in answer) throw new ReadingProblem(answer.problem, answer.fix);
  // The thread is our own program: its answer has the type that the task asks for.
  return answer.result as T;
}

/** The first that comes: an answer, a limit that is exceeded, or the end of the thread. The thread has then ended. */
async function answerOf(worker: Worker, signal: CancelSignal | undefined): Promise<ReaderAnswer> {
  const limits = new Limits();
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<ReaderAnswer>((resolve, reject) => {
      timer = setInterval(() => {
        const problem = limits.exceeded();
        if (problem !== undefined) resolve({ problem });
        else if (signal?.aborted) reject(new NexusError("CANCELLED", "Reading the document was cancelled"));
      }, CHECK_MS);
      worker.once("message", resolve);
      worker.once("error", (error: NodeJS.ErrnoException) =>
        error.code === "ERR_WORKER_OUT_OF_MEMORY" ? resolve({ problem: TOO_MUCH_MEMORY }) : reject(error),
      );
      worker.once("exit", () => reject(new Error("The thread that reads documents ended without an answer")));
    });
  } finally {
    clearInterval(timer);
    await worker.terminate();
  }
}

const TOO_MUCH_MEMORY = "needs more memory to be read than is allowed";

class Limits {
  readonly #cpu = process.cpuUsage();
  readonly #start = performance.now();
  readonly #memory = process.memoryUsage.rss();

  exceeded(): string | undefined {
    const { user, system } = process.cpuUsage(this.#cpu);
    const isSlow = (user + system) / 1_000 > LIMITS.cpuMs || performance.now() - this.#start > LIMITS.waitMs;
    if (isSlow) return "takes longer to be read than is allowed";
    return process.memoryUsage.rss() - this.#memory > LIMITS.growth ? TOO_MUCH_MEMORY : undefined;
  }
}
