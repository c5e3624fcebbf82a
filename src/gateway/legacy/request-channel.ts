import type { Message, Response } from "../../protocol/json-rpc.ts";

/** The way back to a client for what belongs to one request. */
export interface RequestChannel {
  /** False: nothing can be sent before the answer, so the client can neither be asked nor told anything. */
  readonly canStream: boolean;
  /** Sends something before the answer. Never throws; false where it cannot arrive. */
  send(message: Message): boolean;
  /** Lets the client go until there is more to say; absent where it cannot come back. */
  pause?(retryMs: number | undefined): void;
  /** Once for each request; undefined where none is due, because the client cancelled it. */
  finish(answer: Response | undefined): void;
}

/** The requests of one message on a way that carries everything: a pipe, or the stream of HTTP+SSE. */
export class SharedChannel implements RequestChannel {
  readonly canStream = true;
  readonly #write: (message: Message | Response[]) => boolean;
  /** Of a batch: its answers leave together. */
  readonly #batch: Response[] | undefined;
  #waiting: number;

  constructor(write: (message: Message | Response[]) => boolean, batchOf?: number) {
    this.#write = write;
    this.#batch = batchOf === undefined ? undefined : [];
    this.#waiting = batchOf ?? 1;
  }

  send(message: Message): boolean {
    return this.#write(message);
  }

  finish(answer: Response | undefined): void {
    this.#waiting -= 1;
    if (!this.#batch) {
      if (answer) this.#write(answer);
      return;
    }
    if (answer) this.#batch.push(answer);
    if (this.#waiting === 0 && this.#batch.length > 0) this.#write(this.#batch);
  }
}
