import { Cancellation, type CancelSignal } from "../../../async/cancellation.ts";
import { unlessAborted } from "../../../async/unless-aborted.ts";
import type { CallToolResult } from "../../../protocol/mcp.ts";
import type { EarlierWrite, WriteLedger, WriteOutcome } from "./write-ledger.ts";

export interface SentWrite {
  result: CallToolResult;
  /** The part of the result for later repetitions. */
  lasting: CallToolResult;
  outcome: WriteOutcome["kind"];
}

interface OneWrite {
  key: string;
  tool: string;
  /** The latest end of the write. */
  until: number;
  signal: CancelSignal | undefined;
  send: () => Promise<SentWrite>;
  /** The answer if it was sent before. */
  earlier: (record: EarlierWrite) => CallToolResult;
  /** Called if the write was executed but could not be recorded: it counts as unknown from now on. */
  unrecorded: (error: unknown) => void;
}

/** Sends each write at most once, for all callers, unless it was refused. */
export class WriteOnce {
  readonly #ledger: WriteLedger;
  readonly #running = new Map<string, Promise<CallToolResult>>();
  readonly #shared = new Map<string, SharedRun>();

  constructor(ledger: WriteLedger) {
    this.#ledger = ledger;
  }

  /** Whether a person can record an outcome later. */
  get isLasting(): boolean {
    return this.#ledger.isLasting === true;
  }

  /** What is already known, before anything is prepared. */
  async find({
    key,
    signal,
    earlier,
  }: Pick<OneWrite, "key" | "signal" | "earlier">): Promise<CallToolResult | undefined> {
    const running = this.#running.get(key);
    if (running) return unlessAborted(running, signal);
    const record = await this.#ledger.find(key);
    return record && earlier(record);
  }

  async run(write: OneWrite): Promise<CallToolResult> {
    const running = this.#running.get(write.key);
    if (running) return unlessAborted(running, write.signal);
    const sending = this.#send(write);
    this.#running.set(write.key, sending);
    const forget = () => this.#running.delete(write.key);
    sending.then(forget, forget);
    // A caller that leaves does not stop it: a sent write is completed and recorded.
    return unlessAborted(sending, write.signal);
  }

  /** Resolves when no write is being sent. */
  async idle(): Promise<void> {
    const shared = [...this.#shared.values()].map(({ result }) => result);
    await Promise.allSettled([...this.#running.values(), ...shared]);
  }

  async #send(write: OneWrite): Promise<CallToolResult> {
    const sent = await this.once(write);
    return "record" in sent ? write.earlier(sent.record) : sent.result;
  }

  /** Sends unless there is a record, which is returned. For writes inside of a shared call. */
  async once<T extends Pick<SentWrite, "lasting" | "outcome">>(
    write: Pick<OneWrite, "key" | "tool" | "until" | "unrecorded"> & { send: () => Promise<T> },
  ): Promise<T | { record: EarlierWrite }> {
    const { key, tool, until, send, unrecorded } = write;
    const record = await this.#ledger.begin(key, until, tool);
    if (record) return { record };
    const sent = await send();
    await this.#ledger.settle(key, outcomeOf(sent, tool)).catch(unrecorded);
    return sent;
  }

  /** The record of an earlier write, if it prevents sending. */
  recordOf(key: string): Promise<EarlierWrite | undefined> {
    return this.#ledger.find(key);
  }

  /** Records the result of a call whose writes are recorded one by one. */
  async recordDone(key: string, result: CallToolResult): Promise<void> {
    await this.#ledger.settle(key, { kind: "done", result });
  }

  /**
   * One run for all callers with the same key at the same time. `start` gets a signal that is aborted when none of them
   * waits any more.
   */
  async share(
    key: string,
    signal: CancelSignal | undefined,
    start: (stop: CancelSignal) => Promise<CallToolResult>,
  ): Promise<CallToolResult> {
    let shared = this.#shared.get(key);
    while (shared?.stop.aborted) {
      // It finishes what is being sent.
      await unlessAborted(shared.result.then(ignored, ignored), signal);
      shared = this.#shared.get(key);
    }
    shared ??= this.#start(key, start);
    shared.waiting += 1;
    try {
      return await unlessAborted(shared.result, signal);
    } finally {
      shared.waiting -= 1;
      if (shared.waiting === 0) shared.stop.abort(signal?.reason);
    }
  }

  #start(key: string, start: (stop: CancelSignal) => Promise<CallToolResult>): SharedRun {
    const stop = new Cancellation();
    const shared: SharedRun = { stop, waiting: 0, result: start(stop) };
    this.#shared.set(key, shared);
    const forget = () => void this.#shared.delete(key);
    shared.result.then(forget, forget);
    return shared;
  }
}

/** A call that several callers wait for. */
interface SharedRun {
  result: Promise<CallToolResult>;
  stop: Cancellation;
  waiting: number;
}

function ignored(): void {}

function outcomeOf({ outcome, lasting }: Pick<SentWrite, "outcome" | "lasting">, tool: string): WriteOutcome {
  if (outcome === "done") return { kind: outcome, result: lasting };
  return outcome === "unknown" ? { kind: outcome, tool } : { kind: outcome };
}
