import { IdTable } from "./id-table.ts";

/** A set whose members change with every call, each with a number; see IdTable for why it is not a Set. */
export class Roster<V> {
  readonly #table = new IdTable<V>();
  #last = 0;

  get size(): number {
    return this.#table.size;
  }

  /** Returns the number to leave with. */
  enter(value: V): number {
    this.#table.set(++this.#last, value);
    return this.#last;
  }

  leave(number: number): void {
    this.#table.delete(number);
  }

  /** A copy of the present members. */
  values(): V[] {
    return this.#table.values();
  }
}
