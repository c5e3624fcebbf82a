import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { CancelSignal } from "../../../async/cancellation.ts";
import { NexusError, type ErrorCode, type ErrorDetails } from "../../../errors/nexus-error.ts";

/** What is read in a thread of its own. */
export type ReaderTask =
  | { kind: "pdf"; bytes: Uint8Array }
  | { kind: "blocks"; text: string; format: "markdown" | "html" | "text" | "pdf" }
  /** What a manual says, of which `blocks` were read. */
  | { kind: "manual"; document: ManualText; blocks: unknown }
  /** A tool file on the disk, with its documents and its lock. */
  | { kind: "tool-file"; path: string }
  /** A tool file that came from elsewhere; `hash`: what it has to compile to. */
  | { kind: "publication"; text: string; documents: Readonly<Record<string, string>>; hash: string };

/** A text for people about an API; `source`: its file or address. */
export interface ManualText {
  name: string;
  text: string;
  format: "markdown" | "html" | "text" | "pdf";
  source?: string;
  remarks: string[];
}

/** What the thread answers. A problem is one of the document; its text goes on after the document's name. */
export type ReaderAnswer =
  | { result: unknown }
  | { problem: string; fix?: string | undefined }
  /** An error with its own words. */
  | { refused: { code: ErrorCode; message: string; details: ErrorDetails } };

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

/** What the thread may use; undefined members are not limited. */
interface ReadingLimits {
  waitMs: number;
  heapMb: number;
  /** Of the whole process: only where nothing else runs in it. */
  alone?: { cpuMs: number; growth: number } | undefined;
}

/** Time of the processor, so that a busy machine does not refuse more; a stopped thread ends after the second time. */
const DOCUMENT: ReadingLimits = {
  waitMs: 30_000,
  heapMb: 96,
  alone: { cpuMs: 3_300, growth: 95 * 1024 * 1024 },
};
/** Rules look at every word of a manual several times, and large manuals have a million. */
const MANUAL: ReadingLimits = {
  waitMs: 60_000,
  heapMb: 400,
  alone: { cpuMs: 10_000, growth: 512 * 1024 * 1024 },
};
/** With what the thread has beside its heap it stays below 512 MB. */
export const TOOL_FILE_LIMITS = {
  publication: { waitMs: 10_000, heapMb: 400 },
  /** A command waits longer for a file of the person, where the machine is busy. */
  own: { waitMs: 60_000, heapMb: 400, alone: { cpuMs: 10_000, growth: 512 * 1024 * 1024 } },
} satisfies Record<string, ReadingLimits>;
const CHECK_MS = 25;

interface ReadApartOptions {
  signal?: CancelSignal | undefined;
  limits?: ReadingLimits;
}

/**
 * Reads a document in a thread of its own, so that a hostile one costs only limited time and memory, and the program
 * goes on to react to signals. `here` reads it in this thread: used where the program was not built.
 */
export async function readApart<T>(
  task: ReaderTask,
  here: () => Promise<T>,
  { signal, limits = task.kind === "manual" ? MANUAL : DOCUMENT }: ReadApartOptions = {},
): Promise<T> {
  const program = new URL("../workshop/reader.js", import.meta.url);
  if (!existsSync(program)) return here();
  if (signal?.aborted) throw cancelled();
  const bytes = task.kind === "pdf" ? task.bytes.buffer : undefined;
  const isOwn = task.kind === "pdf" && task.bytes.byteLength === bytes?.byteLength;
  const worker = new Worker(program, {
    workerData: task,
    transferList: isOwn && bytes instanceof ArrayBuffer ? [bytes] : [],
    resourceLimits: { maxOldGenerationSizeMb: limits.heapMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    stdout: true,
    stderr: true,
  });
  const answer = await answerOf(worker, new Watch(limits), signal);
  if ("problem" in answer) throw new ReadingProblem(answer.problem, answer.fix);
  if ("refused" in answer) {
    const { code, message, details } = answer.refused;
    throw new NexusError(code, message, details);
  }
  // The thread is our own program: its answer has the type that the task asks for.
  return answer.result as T;
}

/** The first that comes: an answer, a limit that is exceeded, or the end of the thread. The thread has then ended. */
async function answerOf(worker: Worker, watch: Watch, signal: CancelSignal | undefined): Promise<ReaderAnswer> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<ReaderAnswer>((resolve, reject) => {
      timer = setInterval(() => {
        const problem = watch.exceeded();
        if (problem !== undefined) resolve({ problem });
        else if (signal?.aborted) reject(cancelled());
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

function cancelled(): NexusError {
  return new NexusError("CANCELLED", "Reading the document was cancelled");
}

const TOO_MUCH_MEMORY = "needs more memory to be read than is allowed";

class Watch {
  readonly #limits: ReadingLimits;
  readonly #cpu = process.cpuUsage();
  readonly #start = performance.now();
  readonly #memory = process.memoryUsage.rss();

  constructor(limits: ReadingLimits) {
    this.#limits = limits;
  }

  exceeded(): string | undefined {
    const { waitMs, alone } = this.#limits;
    const { user, system } = process.cpuUsage(this.#cpu);
    const isSlow = alone !== undefined && (user + system) / 1_000 > alone.cpuMs;
    if (isSlow || performance.now() - this.#start > waitMs) return "takes longer to be read than is allowed";
    const hasGrown = alone !== undefined && process.memoryUsage.rss() - this.#memory > alone.growth;
    return hasGrown ? TOO_MUCH_MEMORY : undefined;
  }
}
