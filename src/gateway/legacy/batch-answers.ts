import { INTERNAL_ERROR, type ErrorObject, type Response } from "../../protocol/json-rpc.ts";
import { jsonText } from "../json-text.ts";

/** The answers of one batch, which leave together. They are written as they come: what does not fit is not kept. */
export class BatchAnswers {
  readonly #texts: string[] = [];
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(answer: Response): void {
    const text = jsonText(answer) ?? "";
    const bytes = Buffer.byteLength(text);
    if (this.#bytes + bytes > this.#maxBytes) {
      this.#texts.push(JSON.stringify({ jsonrpc: "2.0", id: answer.id, error: this.#tooLarge() }));
      return;
    }
    this.#bytes += bytes;
    this.#texts.push(text);
  }

  /** Undefined where no answer is due. */
  get text(): string | undefined {
    return this.#texts.length === 0 ? undefined : `[${this.#texts.join(",")}]`;
  }

  #tooLarge(): ErrorObject {
    return { code: INTERNAL_ERROR, message: `The answers of this batch take more than ${this.#maxBytes} bytes` };
  }
}
