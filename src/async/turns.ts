/** Runs one function after the other, in the order in which they come. One that fails does not stop the next. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Settles as `work` does; where nobody waits for it, a failure is ignored. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  /** Resolves when all that came so far have ended. */
  async ended(): Promise<void> {
    await this.#last;
  }
}
