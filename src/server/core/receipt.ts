import type { IncomingHttpHeaders } from "node:http";
import { messageOf } from "../../errors/nexus-error.ts";
import { type ErrorObject, INTERNAL_ERROR, isResponse, type Message, type Response } from "../../protocol/json-rpc.ts";
import { rpcErrorOf } from "./rpc-error.ts";

/** Writes the record of a request when it is known how its answer leaves. */
export interface Recorder {
  /** `bytes`: of the answer; undefined where there is none. If it rejects, the caller gets that error instead. */
  record(bytes: number | undefined): Promise<void> | undefined;
}

/** What becomes known of a request on its way, for the record of it. An edge makes one and hands it to the core. */
export class Receipt {
  /** Of the HTTP body that it came in; undefined where that is not declared. */
  readonly requestBytes: number | undefined;
  /** The hash of the definition of the tool or prompt that was used, as its server lists it. */
  definition: string | undefined = undefined;
  /** Whether rules refused it. The caller is told that there is no such thing. */
  isDenied = false;
  /** Set by a core that records requests. */
  recorder: Recorder | undefined = undefined;

  constructor(headers: IncomingHttpHeaders | undefined) {
    const declared = headers?.["content-length"];
    this.requestBytes = declared === undefined ? undefined : Number(declared);
  }

  /** Called once before an answer is written. Where it returns a promise, the answer has to wait for it. */
  answer(text: string): Promise<void> | undefined {
    return this.recorder?.record(Buffer.byteLength(text));
  }

  /** Called instead where no answer is due, because the caller has left. A record that fails is reported by the recorder. */
  leave(): void {
    this.recorder?.record(undefined)?.catch(() => {});
  }
}

/** An answer and its text. */
export interface WrittenAnswer {
  answer: Response;
  text: string | undefined;
}

/**
 * Writes an answer as JSON, when it is recorded. A promise only where the record has to be waited for. `isInProcess`:
 * nobody reads the text, and it is made only to count its bytes for a record.
 */
export function recordedAnswer(
  answer: Response,
  receipt: Receipt,
  isInProcess = false,
): WrittenAnswer | Promise<WrittenAnswer> {
  if (isInProcess && !receipt.recorder) return { answer, text: undefined };
  const text = jsonText(answer);
  const recorded = receipt.answer(text ?? "");
  const written = { answer, text };
  if (!recorded) return written;
  return recorded.then(
    () => written,
    // The caller gets no answer that could not be recorded.
    (error: unknown) => ({ answer: failed(answer, rpcErrorOf(error)), text: undefined }),
  );
}

function failed({ id }: Response, error: ErrorObject): Response {
  return { jsonrpc: "2.0", ...(id === undefined ? {} : { id }), error };
}

/**
 * A message as JSON; undefined where it cannot be written. A server can send what is nested too deeply, or is too long, to
 * be written again: that must end its own call and nothing else, so an answer becomes an error.
 */
export function jsonText(message: Message): string | undefined {
  let error = UNWRITABLE;
  try {
    const text = JSON.stringify(message);
    if (text.length <= MAX_LENGTH) return text;
  } catch (problem) {
    // A handler returned a bigint, a circle, or something whose `toJSON` throws.
    if (!(problem instanceof RangeError))
      error = { ...UNWRITABLE, message: `The answer cannot be written as JSON: ${messageOf(problem)}` };
  }
  return isResponse(message) ? JSON.stringify({ jsonrpc: "2.0", id: message.id, error }) : undefined;
}

/** Far below the longest text there can be, so that what is put around it fits. */
const MAX_LENGTH = 2 ** 27;
const UNWRITABLE = { code: INTERNAL_ERROR, message: "The answer is nested too deeply or too large to forward" };
