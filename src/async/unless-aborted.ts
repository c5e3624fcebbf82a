import type { CancelSignal } from "./cancellation.ts";
import { NexusError } from "../errors/nexus-error.ts";

/** Rejects with CANCELLED when the signal is aborted. The promise itself continues, because others may wait for it. */
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

/** Resolves when the signal is aborted. */
export function untilAborted(signal: CancelSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
