import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Nearly no client sends any; who sends more is disconnected. */
const MAX_WAITING = 32;

/**
 * Requests that were sent before the answers to earlier ones on the same connection were there. They wait: answers leave in
 * order anyway, and the number of connections bounds what runs at the same time only if each runs one.
 */
export class PipelinedRequests {
  readonly #waiting = new WeakMap<Socket, number>();

  /** Resolves when the earlier ones are answered; false where there are too many. Never resolves for a client that left. */
  async turn({ socket }: IncomingMessage, res: ServerResponse): Promise<boolean> {
    const before = this.#waiting.get(socket) ?? 0;
    if (before >= MAX_WAITING) {
      socket.destroy();
      return false;
    }
    this.#waiting.set(socket, before + 1);
    // A response gets the connection when it is its turn.
    await once(res, "socket");
    this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1);
    return true;
  }
}
