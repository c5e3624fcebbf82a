import { Cancellation, type CancelSignal } from "../../async/cancellation.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";
import { NexusError } from "../../errors/nexus-error.ts";

interface Running {
  done: Promise<void>;
  abandoned: Cancellation;
  waiting: number;
}

/** Renews a credential once for all requests that need it at the same time. */
export class SharedRenewal {
  #running: Running | undefined;

  /**
   * Waits for the renewal in progress, or starts this one. Its signal is aborted when no request waits for it any more:
   * what needs no person continues then, because its answer contains the next refresh token.
   */
  async run(renew: (abandoned: CancelSignal) => Promise<void>, signal: CancelSignal | undefined): Promise<void> {
    // One that is being abandoned has no result for a new request, and the next one must not run at the same time.
    while (this.#running?.abandoned.aborted) await unlessAborted(settled(this.#running.done), signal);
    const running = (this.#running ??= this.#start(renew));
    running.waiting++;
    try {
      await unlessAborted(running.done, signal);
    } finally {
      if (--running.waiting === 0) running.abandoned.abort(new NexusError("CANCELLED", "The call was cancelled"));
    }
  }

  #start(renew: (abandoned: CancelSignal) => Promise<void>): Running {
    const abandoned = new Cancellation();
    const done = renew(abandoned).finally(() => (this.#running = undefined));
    // Its failure is that of the requests that wait for it, if any still does.
    done.catch(() => {});
    return { done, abandoned, waiting: 0 };
  }
}

function settled(promise: Promise<void>): Promise<void> {
  return promise.catch(() => {});
}
