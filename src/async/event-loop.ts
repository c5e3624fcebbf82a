import type { CancelSignal } from "./cancellation.ts";
import { unlessAborted } from "./unless-aborted.ts";

/** A timer that does not keep the process alive. In a browser it is a number, and there is nothing to do. */
export function inBackground(timer: NodeJS.Timeout): NodeJS.Timeout {
  if (isOfNode(timer)) timer.unref();
  return timer;
}

/** Lets a process end, or not, while the timer waits. */
export function keepProcess(timer: NodeJS.Timeout | undefined, keeps: boolean): void {
  if (timer === undefined || !isOfNode(timer)) return;
  if (keeps) timer.ref();
  else timer.unref();
}

/** Calls the function after what has arrived meanwhile was read. */
export function afterThisTurn(run: () => void): void {
  if ("setImmediate" in globalThis) setImmediate(run);
  else setTimeout(run);
}

export function nextTurn(): Promise<void> {
  return new Promise(afterThisTurn);
}

/** Resolves after that time, or rejects with CANCELLED when the signal is aborted. */
export async function pause(ms: number, signal?: CancelSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await unlessAborted(new Promise<void>((resolve) => (timer = setTimeout(resolve, ms))), signal);
  } finally {
    clearTimeout(timer);
  }
}

function isOfNode(timer: NodeJS.Timeout | number): timer is NodeJS.Timeout {
  return typeof timer === "object";
}
