import type { CancelSignal } from "./cancellation.ts";
import { NexusError } from "../errors/nexus-error.ts";

/** Waits for something that others may wait for, too: who leaves leaves them waiting. */
export async function unlessAborted<T>(promise: Promise<T>, signal: CancelSignal | undefined): Promise<T> {
  if (!signal) return promise;
  let leave: () => void = () => {};
  const left = new Promise<never>((_, reject) => {
    leave = () =>
      reject(new NexusError("CANCELLED", "The call was cancelled", { cause: signal.reason, mayHaveReached: false }));
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  });
  try {
    return await Promise.race([promise, left]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
