import type { Socket } from "node:net";

/** How many bytes went to and fro. Sockets count for themselves, so no message has to. */
export class Traffic {
  readonly #open = new Set<Socket>();
  #received = 0;
  #sent = 0;

  add(socket: Socket): void {
    this.#open.add(socket);
    socket.once("close", () => {
      this.#open.delete(socket);
      this.#received += socket.bytesRead;
      this.#sent += socket.bytesWritten;
    });
  }

  get connections(): number {
    return this.#open.size;
  }

  get receivedBytes(): number {
    return [...this.#open].reduce((sum, { bytesRead }) => sum + bytesRead, this.#received);
  }

  get sentBytes(): number {
    return [...this.#open].reduce((sum, { bytesWritten }) => sum + bytesWritten, this.#sent);
  }
}
