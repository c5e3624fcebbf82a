import type { RequestId } from "../protocol/json-rpc.ts";

const FIRST_SIZE = 64;

/**
 * What waits under which request id. A Map would do, but one whose entries come and go all the time leaves a chain of
 * outgrown tables behind, and each keeps the next alive through garbage collections: a third of the CPU of a call.
 * Ids that count upwards land in an array instead, at the id modulo its size.
 */
export class IdTable<V> {
  #ids: (number | undefined)[] = empty(FIRST_SIZE);
  #values: (V | undefined)[] = empty(FIRST_SIZE);
  /** The few ids with names of their own. */
  readonly #named = new Map<RequestId, V>();

  get(id: RequestId): V | undefined {
    if (!isIndex(id)) return this.#named.get(id);
    const slot = id & (this.#ids.length - 1);
    return this.#ids[slot] === id ? this.#values[slot] : undefined;
  }

  set(id: RequestId, value: V): void {
    if (!isIndex(id)) {
      this.#named.set(id, value);
      return;
    }
    while (this.#isTaken(id)) this.#grow();
    const slot = id & (this.#ids.length - 1);
    this.#ids[slot] = id;
    this.#values[slot] = value;
  }

  delete(id: RequestId): void {
    if (!isIndex(id)) {
      this.#named.delete(id);
      return;
    }
    const slot = id & (this.#ids.length - 1);
    if (this.#ids[slot] !== id) return;
    this.#ids[slot] = undefined;
    this.#values[slot] = undefined;
  }

  /** Lowest id first, then the named ones. */
  values(): V[] {
    const entries: [number, V][] = [];
    for (const [slot, id] of this.#ids.entries()) {
      const value = this.#values[slot];
      if (id !== undefined && value !== undefined) entries.push([id, value]);
    }
    entries.sort(([a], [b]) => a - b);
    return [...entries.map(([, value]) => value), ...this.#named.values()];
  }

  #isTaken(id: number): boolean {
    const holder = this.#ids[id & (this.#ids.length - 1)];
    return holder !== undefined && holder !== id;
  }

  /** Ids that met in one slot part when the size doubles: they differ, so some bit tells them apart. */
  #grow(): void {
    const [ids, values] = [this.#ids, this.#values];
    const size = ids.length * 2;
    this.#ids = empty(size);
    this.#values = empty(size);
    for (const [slot, id] of ids.entries()) {
      if (id === undefined) continue;
      this.#ids[id & (size - 1)] = id;
      this.#values[id & (size - 1)] = values[slot];
    }
  }
}

function empty(size: number): undefined[] {
  return Array.from({ length: size });
}

function isIndex(id: RequestId): id is number {
  return typeof id === "number" && Number.isInteger(id) && id >= 0 && id < 2 ** 31;
}
