/** Runs one function after the other, in the order of the calls. A failure does not stop the next one. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Settles like `work`. A failure that no caller waits for is ignored. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  /** Resolves when all functions so far have ended. */
  async ended(): Promise<void> {
    await this.#last;
  }
}
