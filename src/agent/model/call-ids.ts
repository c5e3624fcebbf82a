/** Gives each call an id that no other has: some providers count the calls of each answer from 0, or send no id. */
export class CallIds {
  readonly #taken: Set<string>;
  /** By id: the number to try next, because an answer may repeat one id thousands of times. */
  readonly #next = new Map<string, number>();

  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /** The same id if it is free. */
  take(id: string): string {
    const base = id === "" ? "call" : id;
    let unique = base;
    for (let count = this.#next.get(base) ?? 2; this.#taken.has(unique); count++) {
      unique = `${base}-${count}`;
      this.#next.set(base, count + 1);
    }
    this.#taken.add(unique);
    return unique;
  }
}
