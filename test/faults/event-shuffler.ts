import type { EventFault } from "./fault.ts";

export interface ShufflerOptions {
  /** Of this connection. */
  faults: readonly EventFault[];
  write: (bytes: Buffer) => void;
  onStrike: (fault: EventFault) => void;
}

/** An event that nothing follows is let go after this time: it may be the one that the next depends on. */
const PATIENCE_MS = 20;
const HEAD_END = "\r\n\r\n";

type State =
  | { kind: "head" }
  /** A body of known length. */
  | { kind: "sized"; left: number }
  | { kind: "chunks"; events: boolean };

/**
 * Repeats events and changes their order. The test server writes each event as one HTTP chunk, so whole chunks of event
 * streams are what is moved; to the client it is a valid answer in which the server said things twice or out of order.
 */
export class EventShuffler {
  readonly #options: ShufflerOptions;
  #faults: EventFault[];
  #buffer: Buffer = Buffer.alloc(0);
  #state: State = { kind: "head" };
  #events = 0;
  #held: Buffer | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ShufflerOptions) {
    this.#options = options;
    this.#faults = [...options.faults];
  }

  push(bytes: Buffer): void {
    this.#buffer = this.#buffer.length > 0 ? Buffer.concat([this.#buffer, bytes]) : bytes;
    while (this.#step());
  }

  /** The source is done; whatever is left goes as it is. */
  flush(): void {
    this.#release();
    if (this.#buffer.length > 0) this.#options.write(this.#buffer);
    this.#buffer = Buffer.alloc(0);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#held = undefined;
  }

  /** False when there is nothing more to be done without more bytes. */
  #step(): boolean {
    if (this.#buffer.length === 0) return false;
    switch (this.#state.kind) {
      case "head":
        return this.#head();
      case "sized":
        return this.#sized(this.#state);
      case "chunks":
        return this.#chunk(this.#state.events);
    }
  }

  #head(): boolean {
    const end = this.#buffer.indexOf(HEAD_END);
    if (end < 0) return false;
    const head = this.#take(end + HEAD_END.length);
    const text = head.toString("latin1").toLowerCase();
    if (text.includes("transfer-encoding: chunked")) {
      this.#state = { kind: "chunks", events: text.includes("text/event-stream") };
    } else {
      const left = Number(/content-length: (\d+)/.exec(text)?.[1] ?? 0);
      this.#state = left > 0 ? { kind: "sized", left } : { kind: "head" };
    }
    this.#options.write(head);
    return true;
  }

  #sized(state: { left: number }): boolean {
    const bytes = this.#take(Math.min(state.left, this.#buffer.length));
    state.left -= bytes.length;
    if (state.left === 0) this.#state = { kind: "head" };
    this.#options.write(bytes);
    return true;
  }

  #chunk(isEvent: boolean): boolean {
    const lineEnd = this.#buffer.indexOf("\r\n");
    if (lineEnd < 0) return false;
    const size = Number.parseInt(this.#buffer.toString("latin1", 0, lineEnd), 16);
    const length = lineEnd + 2 + size + 2;
    if (this.#buffer.length < length) return false;
    const chunk = this.#take(length);
    if (size > 0 && isEvent) {
      this.#event(chunk);
      return true;
    }
    this.#release();
    if (size === 0) this.#state = { kind: "head" };
    this.#options.write(chunk);
    return true;
  }

  #event(chunk: Buffer): void {
    const nth = this.#events++;
    const kinds = new Set(this.#faults.filter((fault) => fault.nth === nth).map((fault) => this.#struck(fault)));
    const bytes = kinds.has("duplicate-event") ? Buffer.concat([chunk, chunk]) : chunk;
    if (kinds.has("reorder-events") && !this.#held) {
      this.#held = bytes;
      this.#timer = setTimeout(() => this.#release(), PATIENCE_MS);
      return;
    }
    this.#options.write(bytes);
    this.#release();
  }

  #struck(fault: EventFault): EventFault["kind"] {
    this.#options.onStrike(fault);
    return fault.kind;
  }

  #release(): void {
    clearTimeout(this.#timer);
    const held = this.#held;
    this.#held = undefined;
    if (held) this.#options.write(held);
  }

  #take(length: number): Buffer {
    const taken = this.#buffer.subarray(0, length);
    this.#buffer = this.#buffer.subarray(length);
    return taken;
  }
}
