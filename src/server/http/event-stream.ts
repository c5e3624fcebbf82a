import type { ServerResponse } from "node:http";
import type { Deadlines, Timed } from "../../async/deadlines.ts";
import type { NexusError } from "../../errors/nexus-error.ts";
import { expectReading, STUCK_BEATS } from "./stuck-readers.ts";
import { NO_ROOM, type UnreadBytes } from "../core/byte-budget.ts";
import { type OpenStreams, TOO_MANY_STREAMS } from "../core/open-streams.ts";
import { type Principal, principalKey } from "../core/principal.ts";
import { type EventStore, KeptEvents } from "./kept-events.ts";

/** What all event streams of an endpoint share. */
export interface StreamSurroundings {
  deadlines: Deadlines;
  /** Those that belong to no call, with somebody at the other end. */
  open: OpenStreams;
  kept: EventStore;
  keepAliveMs: number;
  /** How long one response lasts where its client comes back for the rest. */
  streamMs: number;
  /** Bytes that may wait for a client that does not read; then it is disconnected. */
  unreadBytes: number;
  /** Counts them for all clients. */
  unread: UnreadBytes;
}

export const EVENT_STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** The number of the stream that belongs to a session and no request. */
export const OWN_STREAM = 0;

/** How long a client waits before it comes back for the rest. */
const RETRY_MS = 1000;

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
  readonly #principal: Principal;
  readonly #kept: KeptEvents;
  /** The number after which its events are numbered. */
  readonly #start: number;
  #leaveOpen: (() => void) | undefined;
  /** Of the newest event, and of the newest that was written. */
  #newest: number;
  #written: number;
  #response: ServerResponse | undefined;
  #openedAt = 0;
  #wroteAt = 0;
  #wasOpened = false;
  #isOver = false;

  /** `start`: the number after which events are numbered. */
  constructor(
    number: number,
    around: StreamSurroundings,
    { isPrimed, principal, start = 0 }: { isPrimed: boolean; principal: Principal; start?: number },
  ) {
    this.number = number;
    this.#around = around;
    this.#isPrimed = isPrimed;
    this.#principal = principal;
    this.#start = this.#newest = this.#written = start;
    this.#kept = new KeptEvents(around.kept, principalKey(principal));
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

  /** Whether a client can go on after this event without a gap. */
  canGoOnAfter(sequence: number): boolean {
    return sequence <= this.#newest && this.#kept.hasAllAfter(sequence);
  }

  /** Whether anything follows this event, or may follow. */
  hasMoreAfter(sequence: number): boolean {
    return !this.#isOver || sequence < this.#newest;
  }

  /**
   * Writes to `response` from now on, first what came after the event; without one, what nobody has been sent. Returns
   * why that cannot be done now.
   */
  open(response: ServerResponse, after?: number): string | undefined {
    // What it does not know it cannot go on from; then it is better to miss some changes than all that come.
    const from = after === undefined || after > this.#newest ? this.#written : after;
    this.#response?.end();
    this.#leave();
    const missed = this.#kept.after(from);
    const length = missed.reduce((sum, text) => sum + text.length, 0);
    if (!this.#around.unread.mayWrite(response, this.#principal, length)) return NO_ROOM;
    if (this.number === OWN_STREAM) {
      this.#leaveOpen = this.#around.open.open(this.#kept.principal, () => this.#letGo());
      if (!this.#leaveOpen) return TOO_MANY_STREAMS;
    }
    this.#wasOpened = true;
    this.#response = response;
    response.writeHead(200, EVENT_STREAM_HEADERS);
    response.once("close", () => {
      if (this.#response === response) this.#leave();
    });
    this.#openedAt = this.#wroteAt = performance.now();
    this.#around.deadlines.add(this);
    if (this.#isPrimed) response.write(primer(this.number, from));
    else response.flushHeaders();
    for (const text of missed) response.write(text);
    this.#written = this.#newest;
    if (this.#isOver) this.#finish();
    return undefined;
  }

  /** Whether a text of this length reaches the client: now, or when it comes back, which takes the id of an event. */
  canCarry(length: number): boolean {
    const response = this.#response;
    if (!response || this.#isPrimed || this.#written !== this.#start) return true;
    return this.#hasRoom(response, length);
  }

  /** One message, or a batch of them, as JSON. */
  push(json: string): void {
    const text = this.#next(json);
    const response = this.#response;
    if (!response) return;
    if (this.#hasRoom(response, text.length)) {
      response.write(text);
      this.#written = this.#newest;
      this.#wroteAt = performance.now();
      return;
    }
    // Who does not read must not fill our memory; what is kept is there when it comes back.
    this.#leave();
    response.destroy();
  }

  #hasRoom(response: ServerResponse, length: number): boolean {
    const { unread, unreadBytes } = this.#around;
    return response.writableLength <= unreadBytes && unread.mayWrite(response, this.#principal, length);
  }

  /** Lets the client go, and come back after a while for the rest; only those that can be told so. */
  pause(retryMs = RETRY_MS): void {
    const response = this.#response;
    if (!response || !this.#isPrimed) return;
    this.#leave();
    response.end(`retry: ${retryMs}\n\n`);
  }

  /** Whether the very same waits already for somebody to come: a notice need not be given twice. */
  isWaiting(json: string): boolean {
    if (this.#written === this.#newest) return false;
    const end = `data: ${json}\n\n`;
    return this.#kept.after(this.#written).some((text) => text.endsWith(end));
  }

  /** Nothing more will come. */
  end(): void {
    this.#isOver = true;
    this.#kept.end();
    this.#finish();
  }

  /** Ends it, and keeps nothing for anybody. */
  discard(): void {
    this.end();
    this.#kept.discard();
  }

  get remainingMs(): number {
    return Math.min(this.#wroteAt + this.#around.keepAliveMs, this.#pauseAt) - performance.now();
  }

  expire(): void {
    if (this.#pauseAt <= performance.now()) return this.pause();
    if (this.#response) expectReading(this.#response, this.#stuckMs);
    this.#wroteAt = performance.now();
    this.#response?.write(": still here\n\n");
    this.#around.deadlines.wakeWithin(this.remainingMs);
  }

  stop(_error: NexusError): void {
    this.discard();
  }

  get #pauseAt(): number {
    return this.#isPrimed ? this.#openedAt + this.#around.streamMs : Infinity;
  }

  #next(json: string): string {
    const sequence = ++this.#newest;
    const text = eventText(this.number, sequence, json);
    this.#kept.add(sequence, text);
    return text;
  }

  get #stuckMs(): number {
    return this.#around.keepAliveMs * STUCK_BEATS;
  }

  #finish(): void {
    const response = this.#response;
    response?.end();
    if (response) expectReading(response, this.#stuckMs);
    this.#leave();
  }

  /** Another principal needs the stream; the client can come back. */
  #letGo(): void {
    if (this.#isPrimed) return this.pause();
    const response = this.#response;
    this.#leave();
    response?.end();
  }

  #leave(): void {
    this.#response = undefined;
    this.#leaveOpen?.();
    this.#leaveOpen = undefined;
    this.#around.deadlines.remove(this);
  }
}

/**
 * A stream that begins and ends with one event: for clients that expect one, at the price of plain JSON. Nothing of it is
 * kept, so the event has no id: a client would come back for what follows it.
 */
export function sendWholeStream(response: ServerResponse, json: string): void {
  const text = `event: message\ndata: ${json}\n\n`;
  response.writeHead(200, { "content-type": "text/event-stream", "content-length": Buffer.byteLength(text) });
  response.end(text);
}

function primer(number: number, after: number): string {
  return `id: ${number}-${after}\nretry: ${RETRY_MS}\ndata: \n\n`;
}

function eventText(number: number, sequence: number, json: string): string {
  return `id: ${number}-${sequence}\nevent: message\ndata: ${json}\n\n`;
}
