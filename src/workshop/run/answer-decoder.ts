import type { Decoded } from "../codec/record/codec.ts";

/** An answer that is passed on as it came. */
export interface AnswerBytes {
  bytes: Uint8Array;
  contentType: string;
}

/** What is in an answer. */
export interface DecodedAnswer extends Decoded {
  /** Members that are not fields of the type: the text, or what is known about the bytes. */
  own: Record<string, unknown>;
  bytes?: AnswerBytes;
}

/** UTF-8; if it is not, the likely encoding. */
export function textOf(body: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return new TextDecoder("latin1").decode(body);
  }
}
