/** What a call needs of an AbortSignal; any AbortSignal is one. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void, options?: { once: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/**
 * Controller and signal in one, for what is made with every call: a signal of Node's own costs as much as sending the
 * message, and makes the young generation of the heap grow. Listeners hear once.
 */
export class Cancellation implements CancelSignal {
  aborted = false;
  reason: unknown;
  #listeners: (() => void)[] | undefined;

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    // One that is removed by another before its turn does not hear.
    for (let next = this.#listeners?.shift(); next; next = this.#listeners?.shift()) next();
  }

  addEventListener(_type: "abort", listener: () => void): void {
    if (this.aborted) return;
    if (this.#listeners) this.#listeners.push(listener);
    else this.#listeners = [listener];
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    const at = this.#listeners?.indexOf(listener) ?? -1;
    if (at !== -1) this.#listeners?.splice(at, 1);
  }
}

/** The same as a signal of Node's own, for those who are asked. */
export function abortSignalOf(signal: CancelSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return controller.signal;
}
