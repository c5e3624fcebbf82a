import { INTERNAL_ERROR, type Response } from "../../protocol/json-rpc.ts";
import { type ByteClaim, NO_ROOM } from "../core/byte-budget.ts";
import { jsonText } from "../core/receipt.ts";

export const NO_BATCHES = "Batches are supported only in sessions of 2025-03-26";

/** The answers of one batch, which leave together. They are written as they come: what does not fit is not kept. */
export class BatchAnswers {
  readonly #texts: string[] = [];
  readonly #maxBytes: number;
  readonly #claim: ByteClaim;
  #bytes = 0;
  #isOver = false;

  /** `claim`: for what is kept until the last answer is there. */
  constructor(maxBytes: number, claim: ByteClaim) {
    this.#maxBytes = maxBytes;
    this.#claim = claim;
  }

  add(answer: Response, text: string = jsonText(answer) ?? ""): void {
    if (this.#isOver) return;
    const bytes = this.#bytes + Buffer.byteLength(text);
    const isTooLarge = bytes > this.#maxBytes;
    if (!isTooLarge && this.#claim.resize(bytes)) {
      this.#bytes = bytes;
      this.#texts.push(text);
      return;
    }
    const message = isTooLarge ? `The answers of this batch exceed the limit of ${this.#maxBytes} bytes` : NO_ROOM;
    const error = { code: INTERNAL_ERROR, message };
    this.#texts.push(JSON.stringify({ jsonrpc: "2.0", id: answer.id, error }));
  }

  /** All of them as one text, undefined where no answer is due. Nothing is kept after it. */
  take(): string | undefined {
    const text = this.#texts.length === 0 ? undefined : `[${this.#texts.join(",")}]`;
    this.#isOver = true;
    this.#texts.length = 0;
    this.#claim.release();
    return text;
  }
}
