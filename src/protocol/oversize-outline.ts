import type { RequestId } from "./json-rpc.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The request that a message answers: its id, "unknown", or "nothing" for the server's own messages. */
export type Answered = { id: RequestId } | "unknown" | "nothing";

/** Longer ids are not kept, because no request of ours has one. */
const MAX_SCALAR = 256;

/**
 * Reads a message that is too long to keep, and remembers only which request it answers. The id may come before or
 * after the result, so the whole message is scanned byte by byte in constant memory.
 */
export class OversizeOutline {
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The scalar that is being read at depth 1. */
  #scalar = "";
  #key = "";
  #afterColon = false;
  #id: RequestId | undefined;
  #hasMethod = false;

  /** Of a message that is all there, but too much to parse. */
  static of(json: string): OversizeOutline {
    const outline = new OversizeOutline();
    outline.push(Buffer.from(json));
    return outline;
  }

  push(bytes: Uint8Array): void {
    for (const byte of bytes) this.#step(byte);
  }

  get answered(): Answered {
    if (this.#hasMethod) return "nothing";
    return this.#id === undefined ? "unknown" : { id: this.#id };
  }

  /** Its id, if it was a request. */
  get asked(): RequestId | undefined {
    return this.#hasMethod ? this.#id : undefined;
  }

  #step(byte: number): void {
    if (this.#inString) return this.#stepInString(byte);
    switch (byte) {
      case QUOTE:
        this.#inString = true;
        this.#keep(byte);
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        this.#depth++;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (this.#depth === 1) this.#endMember();
        this.#depth--;
        break;
      case COLON:
        if (this.#depth === 1) this.#endKey();
        break;
      case COMMA:
        if (this.#depth === 1) this.#endMember();
        break;
      default:
        this.#keep(byte);
    }
  }

  #stepInString(byte: number): void {
    this.#keep(byte);
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) this.#inString = false;
  }

  #keep(byte: number): void {
    if (this.#depth === 1 && this.#scalar.length < MAX_SCALAR) this.#scalar += String.fromCharCode(byte);
  }

  #endKey(): void {
    this.#key = this.#scalar.trim();
    this.#scalar = "";
    this.#afterColon = true;
    if (this.#key === '"method"') this.#hasMethod = true;
  }

  #endMember(): void {
    if (this.#afterColon && this.#key === '"id"') this.#id = parseId(this.#scalar);
    this.#scalar = "";
    this.#key = "";
    this.#afterColon = false;
  }
}

function parseId(text: string): RequestId | undefined {
  try {
    // Each byte was collected as one character.
    const value: unknown = JSON.parse(Buffer.from(text, "latin1").toString("utf8"));
    return typeof value === "string" || typeof value === "number" ? value : undefined;
  } catch {
    return undefined;
  }
}
