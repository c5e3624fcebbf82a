/** The part of an AbortSignal that a call needs; every AbortSignal implements it. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void, options?: { once: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/**
 * Controller and signal in one, made for every call: an AbortController costs as much as sending the message, and makes
 * the young generation of the heap grow. Each listener is called once.
 */
export class Cancellation implements CancelSignal {
  aborted = false;
  reason: unknown;
  #listeners: (() => void)[] | undefined;

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    // A listener that another one removes before its turn is not called.
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

/** Throws the reason of a signal that was aborted. */
export function throwIfAborted(signal: CancelSignal | undefined): void {
  if (signal?.aborted) throw signal.reason;
}

/** The same as an AbortSignal, for code outside of this library. */
export function abortSignalOf(signal: CancelSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return controller.signal;
}
