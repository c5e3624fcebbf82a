import { IdTable } from "./id-table.ts";

/** Those who come and go with every call, each under a number; a Set would cost what IdTable tells of a Map. */
export class Roster<V> {
  readonly #table = new IdTable<V>();
  #last = 0;

  get size(): number {
    return this.#table.size;
  }

  /** The number to leave with. */
  enter(value: V): number {
    this.#table.set(++this.#last, value);
    return this.#last;
  }

  leave(number: number): void {
    this.#table.delete(number);
  }

  /** Who is there now; whoever comes or goes meanwhile changes nothing about it. */
  values(): V[] {
    return this.#table.values();
  }
}
