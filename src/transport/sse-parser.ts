import { concatBytes, decodeUtf8 } from "../text/bytes.ts";

/** One event of a `text/event-stream`. */
export interface SseEvent {
  /** Empty for an event of the default kind. */
  type: string;
  data: string;
}

interface SseHandler {
  event(event: SseEvent): void;
  retry?(ms: number): void;
  /** An event was larger than the limit; reading stops. */
  tooLarge(bytes: number): void;
}

const CR = 0x0d;
const LF = 0x0a;

/** Parses an event stream by the HTML standard: CR, LF and CRLF, without comments, in linear time. */
export class SseParser {
  readonly #handler: SseHandler;
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #skipLf = false;
  #atStart = true;
  #stopped = false;
  #type = "";
  #data: string | undefined;
  #id = "";
  #lastEventId = "";

  constructor(maxBytes: number, handler: SseHandler) {
    this.#maxBytes = maxBytes;
    this.#handler = handler;
  }

  /** The id of the last complete event. */
  get lastEventId(): string {
    return this.#lastEventId;
  }

  push(chunk: Uint8Array): void {
    let start = 0;
    if (this.#skipLf && chunk.length > 0) {
      if (chunk[0] === LF) start = 1;
      this.#skipLf = false;
    }
    let cr = chunk.indexOf(CR, start);
    let lf = chunk.indexOf(LF, start);
    while (!this.#stopped && (cr !== -1 || lf !== -1)) {
      const end = cr === -1 ? lf : lf === -1 ? cr : Math.min(cr, lf);
      this.#line(this.#take(chunk, start, end));
      start = end + 1;
      if (end === cr) {
        if (start === chunk.length) this.#skipLf = true;
        else if (chunk[start] === LF) start++;
        cr = chunk.indexOf(CR, start);
      }
      if (lf !== -1 && lf < start) lf = chunk.indexOf(LF, start);
    }
    if (!this.#stopped && start < chunk.length) {
      this.#parts.push(chunk.subarray(start));
      this.#count(chunk.length - start);
    }
  }

  #take(chunk: Uint8Array, start: number, end: number): string {
    this.#count(end - start);
    if (this.#parts.length === 0) return decodeUtf8(chunk, start, end);
    this.#parts.push(chunk.subarray(start, end));
    const line = decodeUtf8(concatBytes(this.#parts));
    this.#parts = [];
    return line;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#maxBytes || this.#stopped) return;
    this.#stopped = true;
    this.#parts = [];
    this.#handler.tooLarge(this.#bytes);
  }

  #line(text: string): void {
    if (this.#stopped) return;
    const line = this.#atStart && text.startsWith("\uFEFF") ? text.slice(1) : text;
    this.#atStart = false;
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) {
      // A comment keeps the connection alive and does not count.
      if (this.#data === undefined) this.#bytes = 0;
      return;
    }
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    else if (field === "event") this.#type = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    else if (field === "retry" && /^\d+$/.test(value)) this.#handler.retry?.(Number(value));
  }

  #dispatch(): void {
    const [type, data] = [this.#type, this.#data];
    this.#type = "";
    this.#data = undefined;
    this.#bytes = 0;
    this.#lastEventId = this.#id;
    if (data !== undefined) this.#handler.event({ type, data });
  }
}
