import type { ServerResponse } from "node:http";
import type { Deadlines, Timed } from "../../client/deadlines.ts";
import type { NexusError } from "../../errors/nexus-error.ts";

/** What all event streams of an endpoint share. */
export interface StreamSurroundings {
  deadlines: Deadlines;
  /** Those that belong to no call, with somebody at the other end. */
  open: Set<unknown>;
  /** Bytes of events that are kept for clients that come back, over all streams. */
  kept: { bytes: number };
  keepAliveMs: number;
  /** Bytes that may wait for a client that does not read; then it is disconnected. */
  unreadBytes: number;
}

export const EVENT_STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** The number of the stream that belongs to a session and no request. */
export const OWN_STREAM = 0;

/** Bounds of what is kept: for one stream, and for all of an endpoint. */
const MAX_KEPT_EVENTS = 1000;
const MAX_KEPT_BYTES = 4 * 1024 * 1024;
const MAX_ALL_KEPT_BYTES = 32 * 1024 * 1024;
/** How long a client waits before it comes back for the rest. */
const RETRY_MS = 1000;

interface KeptEvent {
  sequence: number;
  text: string;
}

/**
 * A stream of events that outlives its connection: events are numbered and some are kept, so that a client whose
 * connection broke goes on from where it was.
 */
export class EventStream implements Timed {
  slot = -1;
  readonly number: number;
  readonly #around: StreamSurroundings;
  /** 2025-11-25: an event without data gives the client an id before anything has happened. Older clients fail on it. */
  readonly #isPrimed: boolean;
  #kept: KeptEvent[] = [];
  #keptBytes = 0;
  /** Of the newest event, of the newest that was written, and of the newest that is no longer kept. */
  #newest = 0;
  #written = 0;
  #dropped = 0;
  #response: ServerResponse | undefined;
  #wroteAt = 0;
  #wasOpened = false;
  #isOver = false;

  constructor(number: number, around: StreamSurroundings, { isPrimed }: { isPrimed: boolean }) {
    this.number = number;
    this.#around = around;
    this.#isPrimed = isPrimed;
  }

  get isOpen(): boolean {
    return this.#response !== undefined;
  }

  /** Whether a client reads it, or can come back for it. */
  get isReachable(): boolean {
    return this.isOpen || this.#wasOpened;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether every event after this one is still there. */
  hasAllAfter(sequence: number): boolean {
    return sequence >= this.#dropped && sequence <= this.#newest;
  }

  /** Writes to `response` from now on, first what came after the event; without one, what nobody has been sent. */
  open(response: ServerResponse, after = this.#written): void {
    this.#response?.end();
    this.#leave();
    this.#wasOpened = true;
    this.#response = response;
    if (this.number === OWN_STREAM) this.#around.open.add(this);
    response.writeHead(200, EVENT_STREAM_HEADERS);
    response.once("close", () => {
      if (this.#response === response) this.#leave();
    });
    this.#wroteAt = performance.now();
    this.#around.deadlines.add(this);
    if (this.#isPrimed) response.write(`id: ${this.number}-${after}\nretry: ${RETRY_MS}\ndata: \n\n`);
    else response.flushHeaders();
    for (const { sequence, text } of this.#kept) if (sequence > after) response.write(text);
    this.#written = this.#newest;
    if (this.#isOver) this.#finish();
  }

  /** One message, or a batch of them, as JSON. */
  push(json: string): void {
    const sequence = ++this.#newest;
    const text = `id: ${this.number}-${sequence}\nevent: message\ndata: ${json}\n\n`;
    this.#keep(sequence, text);
    const response = this.#response;
    if (!response) return;
    response.write(text);
    this.#written = sequence;
    this.#wroteAt = performance.now();
    // Who does not read must not fill our memory; what is kept is there when it comes back.
    if (response.writableLength <= this.#around.unreadBytes + text.length) return;
    this.#leave();
    response.destroy();
  }

  /** Whether the very same waits already for somebody to come: a notice need not be given twice. */
  isWaiting(json: string): boolean {
    if (this.#written === this.#newest) return false;
    const end = `data: ${json}\n\n`;
    return this.#kept.some(({ sequence, text }) => sequence > this.#written && text.endsWith(end));
  }

  /** Nothing more will come. */
  end(): void {
    this.#isOver = true;
    this.#finish();
  }

  /** Ends it, and keeps nothing for anybody. */
  discard(): void {
    this.end();
    this.#around.kept.bytes -= this.#keptBytes;
    this.#kept = [];
    this.#keptBytes = 0;
    this.#dropped = this.#newest;
  }

  get remainingMs(): number {
    return this.#wroteAt + this.#around.keepAliveMs - performance.now();
  }

  expire(): void {
    this.#wroteAt = performance.now();
    this.#response?.write(": still here\n\n");
    this.#around.deadlines.wakeWithin(this.#around.keepAliveMs);
  }

  stop(_error: NexusError): void {
    this.discard();
  }

  #finish(): void {
    this.#response?.end();
    this.#leave();
  }

  #leave(): void {
    this.#response = undefined;
    this.#around.open.delete(this);
    this.#around.deadlines.remove(this);
  }

  #keep(sequence: number, text: string): void {
    this.#kept.push({ sequence, text });
    this.#keptBytes += text.length;
    this.#around.kept.bytes += text.length;
    while (this.#kept.length > 0 && this.#isTooMuch) {
      const oldest = this.#kept.shift();
      if (!oldest) return;
      this.#keptBytes -= oldest.text.length;
      this.#around.kept.bytes -= oldest.text.length;
      this.#dropped = oldest.sequence;
    }
  }

  get #isTooMuch(): boolean {
    if (this.#kept.length > MAX_KEPT_EVENTS || this.#around.kept.bytes > MAX_ALL_KEPT_BYTES) return true;
    // A single answer over the bound is kept as long as there is room: without it the call would be lost.
    return this.#keptBytes > MAX_KEPT_BYTES && this.#kept.length > 1;
  }
}
