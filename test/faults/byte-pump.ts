import { once } from "node:events";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import type { ByteFault } from "./fault.ts";

export interface PumpOptions {
  /** Of this direction of this connection. */
  faults: readonly ByteFault[];
  write: (bytes: Buffer) => void;
  /** The direction ends in good order. */
  end: () => void;
  /** The whole connection is reset. */
  cut: () => void;
  onStrike: (fault: ByteFault) => void;
  /** From then on nothing is held back and nothing strikes. */
  healed: AbortSignal;
}

/** As many bytes as `duplicate-bytes` may send again. */
const REMEMBERED_BYTES = 1024;

/** Carries the bytes of one direction. It never stops reading: a peer that leaves has to be noticed. */
export class BytePump {
  readonly #options: PumpOptions;
  readonly #faults: ByteFault[];
  readonly #queue: Buffer[] = [];
  #position = 0;
  #recent: Buffer = Buffer.alloc(0);
  #split: { left: number; size: number } | undefined;
  #swap = 0;
  #isRunning = false;
  #sourceEnded = false;
  #isOver = false;

  constructor(options: PumpOptions) {
    this.#options = options;
    this.#faults = options.faults.toSorted((a, b) => a.atByte - b.atByte);
  }

  start(): void {
    void this.#run();
  }

  push(bytes: Buffer): void {
    this.#queue.push(bytes);
    void this.#run();
  }

  end(): void {
    this.#sourceEnded = true;
    void this.#run();
  }

  stop(): void {
    this.#isOver = true;
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (!this.#isOver) {
      const due = this.#due();
      if (due) await this.#strike(due);
      else if (this.#queue.length > 0) await this.#forward();
      else break;
    }
    this.#isRunning = false;
    if (this.#sourceEnded && !this.#isOver) {
      this.#isOver = true;
      this.#options.end();
    }
  }

  #due(): ByteFault | undefined {
    if (this.#options.healed.aborted) this.#faults.length = 0;
    const [next] = this.#faults;
    return next && next.atByte <= this.#position ? this.#faults.shift() : undefined;
  }

  async #forward(): Promise<void> {
    const bytes = this.#queue.shift() ?? Buffer.alloc(0);
    if (this.#swap > 0) {
      // As much as has come: waiting for more would make a stall of it.
      const length = Math.min(this.#swap, bytes.length >> 1);
      this.#swap = 0;
      const [first, second] = [bytes.subarray(0, length), bytes.subarray(length, 2 * length)];
      this.#queue.unshift(Buffer.concat([second, first, bytes.subarray(2 * length)]));
      return;
    }
    const untilFault = (this.#faults[0]?.atByte ?? Infinity) - this.#position;
    const length = Math.min(untilFault, this.#split?.size ?? Infinity, bytes.length);
    if (length < bytes.length) this.#queue.unshift(bytes.subarray(length));
    this.#write(bytes.subarray(0, length));
    if (!this.#split) return;
    this.#split.left -= length;
    if (this.#split.left <= 0) this.#split = undefined;
    await nextTurn();
  }

  #write(bytes: Buffer): void {
    this.#position += bytes.length;
    this.#recent = Buffer.concat([this.#recent, bytes.subarray(-REMEMBERED_BYTES)]).subarray(-REMEMBERED_BYTES);
    this.#options.write(bytes);
  }

  async #strike(fault: ByteFault): Promise<void> {
    this.#options.onStrike(fault);
    switch (fault.kind) {
      case "delay":
      case "stall":
        await this.#hold(fault.ms);
        break;
      case "cut":
        this.#isOver = true;
        this.#options.cut();
        break;
      case "half-close":
        this.#isOver = true;
        this.#options.end();
        break;
      case "split":
        this.#split = { left: fault.length, size: fault.size };
        break;
      case "duplicate-bytes":
        this.#options.write(this.#recent.subarray(-fault.length));
        break;
      case "reorder-bytes":
        this.#swap = fault.length;
        break;
    }
  }

  async #hold(ms: number | "for ever"): Promise<void> {
    const { healed } = this.#options;
    if (healed.aborted) return;
    if (ms === "for ever") await once(healed, "abort");
    else await pause(ms, undefined, { signal: healed }).catch(() => {});
  }
}
