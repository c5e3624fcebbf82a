import type { CancelSignal } from "../../../async/cancellation.ts";
import { unlessAborted } from "../../../async/unless-aborted.ts";
import type { CallToolResult } from "../../../protocol/mcp.ts";
import type { EarlierWrite, WriteLedger, WriteOutcome } from "./write-ledger.ts";

export interface SentWrite {
  result: CallToolResult;
  /** The part of the result for later repetitions. */
  lasting: CallToolResult;
  outcome: WriteOutcome["kind"];
}

export interface OneWrite {
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
    await Promise.allSettled(this.#running.values());
  }

  async #send({ key, tool, until, send, earlier, unrecorded }: OneWrite): Promise<CallToolResult> {
    const record = await this.#ledger.begin(key, until, tool);
    if (record) return earlier(record);
    const { result, lasting, outcome } = await send();
    await this.#ledger.settle(key, outcomeOf({ outcome, lasting }, tool)).catch(unrecorded);
    return result;
  }
}

function outcomeOf({ outcome, lasting }: Pick<SentWrite, "outcome" | "lasting">, tool: string): WriteOutcome {
  if (outcome === "done") return { kind: outcome, result: lasting };
  return outcome === "unknown" ? { kind: outcome, tool } : { kind: outcome };
}
