import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { within } from "../async/within.ts";
import type { HiddenValues } from "../masking/hidden-values.ts";
import { maskWords } from "../masking/mask-words.ts";
import { causeOfListening, likelyCauseOfExit } from "../errors/likely-cause.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { sha256 } from "../text/digest.ts";
import { isRequest, type Message, parseMessages } from "../protocol/json-rpc.ts";
import { LineReader } from "../protocol/line-reader.ts";
import { OversizeOutline } from "../protocol/oversize-outline.ts";
import { endGroup, liveChildren, type ProcessSystem, signalTree } from "../process/process-tree.ts";
import type { RunningChild } from "../process/process-budget.ts";
import { ALWAYS_FEW, tooLarge, tooManyValues } from "./too-large.ts";
import {
  type ChildView,
  type CloseReason,
  type Connection,
  type Delivery,
  MAX_EXCERPT,
  NOTHING_TO_ABANDON,
  type Receiver,
  type Sending,
  type Transport,
} from "./transport.ts";

interface StdioOptions {
  command: string;
  args: readonly string[];
  cwd?: string | undefined;
  /** The complete environment of the child. */
  env: Record<string, string>;
  /** Added to it; does not distinguish servers. */
  mark?: Readonly<Record<string, string>> | undefined;
  maxLineBytes: number;
  platform: NodeJS.Platform;
  /** Variables of this process, for finding the programs of Windows. */
  variables?: Readonly<Record<string, string | undefined>> | undefined;
  /** Values that are masked in the child's stderr. */
  hidden?: HiddenValues | undefined;
  /** Called with the child's stderr as it arrives. */
  onStderr?: ((text: string) => void) | undefined;
  /** Called as soon as the child runs. */
  onSpawn?: ((child: SpawnedChild) => void) | undefined;
}

export interface SpawnedChild extends RunningChild {
  /** Settles when its connection is closed. */
  closed: Promise<unknown>;
}

/** How long a child may take to exit after its stdin closed, then after SIGTERM, then after SIGKILL. */
const GRACE_MS = { stdinEnd: 2_000, terminate: 1_500, kill: 1_000 };
/** A child that never sent a usable message has nothing to finish. */
const HURRIED_MS = 250;
/** How long to wait for the last output after the process has exited. */
const DRAIN_MS = 500;
/** How long the children of a server that has exited may take to end. */
const SWEEP_MS = 250;
/** How long to wait for the exit, which says more, after a pipe has ended. */
const EXIT_MS = 1_000;
const MAX_LINES = 50;
const MAX_LINE_LENGTH = 2_000;
/** The size of the first write for the messages of one turn; it doubles with each further write. */
const FIRST_BATCH_LENGTH = 2_048;
/** Maximum size of messages that wait for a server that does not read. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

type Start = (command: string, args: readonly string[], options: StartOptions) => ChildProcess;
type StartOptions = SpawnOptions & Pick<StdioOptions, "cwd" | "env">;

/** A server as a child process: one JSON message per line on stdin and stdout. */
export class StdioTransport implements Transport {
  readonly kind = "stdio";
  readonly #options: StdioOptions;
  #target: Transport["target"] | undefined;

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  /** For errors only. */
  get target(): Transport["target"] {
    const { command, args } = this.#options;
    const words = () => maskWords([command, ...args]).map(quoted);
    return (this.#target ??= { command: words().join(" ") });
  }

  set target(target: Transport["target"]) {
    this.#target = target;
  }

  get identity(): { server: string; principal: string } {
    const { command, args, cwd, env } = this.#options;
    return { server: JSON.stringify([command, args, cwd]), principal: sha256(JSON.stringify(env)) };
  }

  async connect(receiver: Receiver): Promise<Connection> {
    // Only Windows needs help with scripts and with arguments that contain spaces.
    const start =
      this.#options.platform === "win32" ? (await import("../process/spawn-on-windows.ts")).spawnOnWindows : spawn;
    let child: ChildProcess;
    let connection: StdioConnection;
    try {
      child = this.#spawn(start);
      connection = new StdioConnection(child, this.#options, receiver);
      await new Promise<void>((resolve, reject) => child.once("spawn", resolve).once("error", reject));
    } catch (error) {
      const { startFailure } = await import("../process/start-failure.ts");
      throw startFailure(error, this.#options);
    }
    const { closed, exited } = connection;
    const kill = (reason: string) => connection.kill(reason);
    if (child.pid !== undefined) this.#options.onSpawn?.({ pid: child.pid, closed, exited, kill });
    return connection;
  }

  #spawn(start: Start): ChildProcess {
    const { command, args, cwd, env: own, mark, platform } = this.#options;
    const env = { ...own, ...mark };
    // Its own process group, so that the whole tree can be ended.
    const detached = platform !== "win32";
    return start(command, [...args], { cwd, env, stdio: ["pipe", "pipe", "pipe"], detached, windowsHide: true });
  }
}

class StdioConnection implements Connection {
  readonly closed: Promise<CloseReason>;
  readonly child: ChildView;
  readonly #process: ChildProcess;
  readonly #system: ProcessSystem;
  /** Resolves when the process is gone, which may be after its connection was closed. */
  readonly exited: Promise<void>;
  #settle: (reason: CloseReason) => void = () => {};
  #outbox = "";
  #batchLength = FIRST_BATCH_LENGTH;
  #isGathering = false;
  #open = true;
  #spoke = false;
  #closing: Promise<void> | undefined;
  #killedBecause: string | undefined;
  #swept: Promise<void> | undefined;

  constructor(child: ChildProcess, options: StdioOptions, receiver: Receiver) {
    const { platform, variables, maxLineBytes, onStderr, hidden } = options;
    this.#process = child;
    this.#system = { platform, variables };
    this.closed = new Promise((resolve) => (this.#settle = resolve));
    this.exited = new Promise((resolve) => child.once("exit", () => resolve()));
    this.child = watchStderr(child, { onStderr, hidden });
    this.#readMessages(receiver, maxLineBytes);
    child.on("error", () => {});
    if (child.pid !== undefined) this.#superviseExit(child.pid);
  }

  send(message: Message, delivery?: Delivery): Sending {
    if (!this.#open) return NOTHING_TO_ABANDON;
    if ((this.#process.stdin?.writableLength ?? 0) > MAX_UNREAD_BYTES) {
      delivery?.onEnd?.({ kind: "failed", error: notReading() });
      return NOTHING_TO_ABANDON;
    }
    // Messages sent in one turn are written together: the system call costs more than the message. The first ones
    // are written soon, so that the server can begin.
    const line = `${JSON.stringify(message)}\n`;
    if (!this.#isGathering) setImmediate(this.#endTurn);
    this.#isGathering = true;
    this.#outbox += line;
    if (this.#outbox.length >= this.#batchLength) {
      this.#flush();
      this.#batchLength *= 2;
    }
    if (delivery?.onEnd && !isRequest(message)) delivery.onEnd({ kind: "ended" });
    return NOTHING_TO_ABANDON;
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Ends the process and everything it started at once; what is pending fails for this reason. */
  kill(reason: string): void {
    const { pid } = this.#process;
    if (pid === undefined || this.#closing) return;
    this.#killedBecause = reason;
    signalTree(pid, "SIGKILL", this.#system);
  }

  readonly #endTurn = () => {
    this.#isGathering = false;
    this.#batchLength = FIRST_BATCH_LENGTH;
    this.#flush();
  };

  #flush(): void {
    const lines = this.#outbox;
    this.#outbox = "";
    if (lines !== "" && this.#process.stdin?.writable) this.#process.stdin.write(lines);
  }

  #readMessages(receiver: Receiver, maxLineBytes: number): void {
    const spoke = () => (this.#spoke = true);
    const reader = new LineReader(maxLineBytes, {
      line(text) {
        const error = text.length < ALWAYS_FEW ? undefined : tooManyValues(text, maxLineBytes);
        if (error) return receiver.discarded({ kind: "too-large", answered: OversizeOutline.of(text).answered, error });
        const messages = parseMessages(text);
        for (const message of messages) receiver.message(message);
        if (messages.length > 0) spoke();
        else if (text.trim() !== "") {
          receiver.discarded({ kind: "noise", excerpt: text.slice(0, MAX_EXCERPT) });
        }
      },
      tooLong(bytes, answered) {
        const error = tooLarge(bytes, maxLineBytes);
        receiver.discarded({ kind: "too-large", answered, error });
      },
    });
    this.#process.stdout?.on("data", (chunk: Buffer) => reader.push(chunk));
  }

  #superviseExit(pid: number): void {
    liveChildren.add(pid, this.#system);
    const child = this.#process;
    let drain: NodeJS.Timeout | undefined;
    /** A pipe that ends alone is a failure; usually the exit follows at once and says more. */
    const pipeEnded = (kind: "stdin-closed" | "stdout-closed") => {
      if (child.exitCode !== null || child.signalCode !== null || this.#closing) return;
      clearTimeout(drain);
      drain = setTimeout(() => {
        finish({ kind });
        void this.close();
      }, EXIT_MS);
    };
    const finish = (reason: CloseReason) => {
      clearTimeout(drain);
      this.#open = false;
      this.#settle(reason);
    };
    const exitReason = (): CloseReason => ({
      kind: "exited",
      exitCode: child.exitCode ?? undefined,
      signal: child.signalCode ?? undefined,
      killedBecause: this.#killedBecause,
    });
    const giveUpOnPipes = () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
      // Their last events come first.
      setImmediate(() => finish(exitReason()));
    };
    child.once("exit", () => {
      // Processes that the server started must not outlive it; this also closes pipes that they hold open.
      if (this.#system.platform !== "win32") this.#swept = endGroup(pid, SWEEP_MS);
      clearTimeout(drain);
      // A busy program runs this late, with output in the pipes that it has not read: one more turn reads it.
      drain = setTimeout(() => setImmediate(giveUpOnPipes), DRAIN_MS);
    });
    child.once("close", () => {
      liveChildren.remove(pid);
      finish(exitReason());
    });
    child.stdout?.once("end", () => pipeEnded("stdout-closed"));
    child.stdin?.on("error", () => pipeEnded("stdin-closed"));
  }

  async #close(): Promise<void> {
    const { pid } = this.#process;
    if (pid === undefined) return;
    this.#flush();
    this.#process.stdin?.end();
    if (!(await this.#exitsWithin(this.#spoke ? GRACE_MS.stdinEnd : HURRIED_MS))) {
      signalTree(pid, "SIGTERM", this.#system);
      if (!(await this.#exitsWithin(GRACE_MS.terminate))) {
        signalTree(pid, "SIGKILL", this.#system);
        await this.#exitsWithin(GRACE_MS.kill);
      }
    }
    await this.closed;
    await this.#swept;
  }

  async #exitsWithin(ms: number): Promise<boolean> {
    const exited = this.exited.then(() => true);
    return (await within(exited, ms)) ?? false;
  }
}

/** The last lines that a process wrote, limited in size. */
class StderrTail {
  #lines: string[] = [];
  #partial = "";

  push(text: string): void {
    const pieces = text.split(/\r?\n/);
    pieces[0] = this.#partial + (pieces[0] ?? "");
    this.#partial = (pieces.pop() ?? "").slice(-MAX_LINE_LENGTH);
    for (const line of pieces.slice(-MAX_LINES)) this.#lines.push(line.slice(0, MAX_LINE_LENGTH));
    if (this.#lines.length > MAX_LINES) this.#lines = this.#lines.slice(-MAX_LINES);
  }

  lines(): readonly string[] {
    return this.#partial === "" ? [...this.#lines] : [...this.#lines, this.#partial];
  }
}

/** Always drained: a child with a full stderr pipe would stop. */
function watchStderr(child: ChildProcess, { onStderr, hidden }: Pick<StdioOptions, "onStderr" | "hidden">): ChildView {
  const tail = new StderrTail();
  let wrote: () => void = () => {};
  const firstStderr = new Promise<void>((resolve) => (wrote = resolve));
  const pieces = hidden?.pieces();
  const take = (text: string) => {
    if (text === "") return;
    tail.push(text);
    onStderr?.(text);
  };
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    take(pieces ? pieces.next(text) : text);
    wrote();
  });
  // A pipe that other processes hold open is closed without an end.
  if (pieces) child.stderr?.once("close", () => take(pieces.rest()));
  return {
    pid: child.pid,
    stderr: () => tail.lines(),
    firstStderr,
    get hasExited() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    causeOfExit: (exit) => likelyCauseOfExit({ ...exit, stderr: tail.lines() }),
    causeOfListening,
  };
}

function notReading(): NexusError {
  return new NexusError("CONNECTION_LOST", "The server does not read its stdin", {
    hint: "The server may hang. Check what it is doing, or restart it.",
    mayHaveReached: false,
  });
}

function quoted(word: string): string {
  return /^[\w@%+=:,./•-]+$/.test(word) ? word : JSON.stringify(word);
}
