import type { RequestId } from "./json-rpc.ts";
import { OversizeOutline, type Answered } from "./oversize-outline.ts";

interface LineHandler {
  line(text: string): void;
  /** A line was longer than the limit. `asked` is its id if it was a request. */
  tooLong(bytes: number, answered: Answered, asked?: RequestId): void;
}

const NEWLINE = 0x0a;

/** Splits bytes into lines. Each byte is looked at once, no matter how a line is spread over chunks. */
export class LineReader {
  readonly #handler: LineHandler;
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #length = 0;
  /** Set while a line over the limit is read. */
  #oversize: OversizeOutline | undefined;

  constructor(maxBytes: number, handler: LineHandler) {
    this.#maxBytes = maxBytes;
    this.#handler = handler;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      if (this.#length === 0 && end - start <= this.#maxBytes) {
        if (end > start) this.#handler.line(chunk.toString("utf8", start, end));
      } else {
        this.#keep(chunk.subarray(start, end));
        this.#finish();
      }
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  #keep(bytes: Buffer): void {
    this.#length += bytes.length;
    if (this.#oversize) {
      this.#oversize.push(bytes);
      return;
    }
    this.#parts.push(bytes);
    if (this.#length <= this.#maxBytes) return;
    this.#oversize = new OversizeOutline();
    for (const part of this.#parts) this.#oversize.push(part);
    this.#parts = [];
  }

  #finish(): void {
    const [parts, length, oversize] = [this.#parts, this.#length, this.#oversize];
    this.#parts = [];
    this.#length = 0;
    this.#oversize = undefined;
    if (oversize) this.#handler.tooLong(length, oversize.answered, oversize.asked);
    else this.#handler.line(Buffer.concat(parts, length).toString("utf8"));
  }
}
