import type { Socket } from "node:net";

export interface Target {
  host: string;
  port: number;
  signal: AbortSignal;
}

/** Opens a socket and waits for its event or the signal. */
export function socketTo<S extends Socket>(open: () => S, event: string, signal: AbortSignal): Promise<S> {
  return new Promise((resolve, reject) => {
    const socket = open();
    const giveUp = () => {
      socket.destroy();
      reject(new Error("no answer in time"));
    };
    socket.once("error", reject);
    socket.once(event, () => {
      signal.removeEventListener("abort", giveUp);
      resolve(socket);
    });
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
  });
}

/** How long something took, for people. */
export function elapsedSince(startedAt: number): string {
  return `${Math.round((performance.now() - startedAt) * 10) / 10} ms`;
}
