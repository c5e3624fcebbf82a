type Id = string | number;

const FIRST_SIZE = 64;

/**
 * A map from request ids. A Map whose entries change all the time leaves a chain of outgrown tables behind, each of
 * which keeps the next alive through garbage collections: that costs a third of the CPU of a call. Ids that count
 * upwards are therefore kept in an array, at the id modulo its size.
 */
export class IdTable<V> {
  #ids: (number | undefined)[] = empty(FIRST_SIZE);
  #values: (V | undefined)[] = empty(FIRST_SIZE);
  #count = 0;
  /** Ids of other kinds, and those whose slot was needed by a newer id. */
  readonly #others = new Map<Id, V>();

  get size(): number {
    return this.#count + this.#others.size;
  }

  get(id: Id): V | undefined {
    const slot = isIndex(id) ? id & (this.#ids.length - 1) : -1;
    return this.#ids[slot] === id ? this.#values[slot] : this.#others.get(id);
  }

  set(id: Id, value: V): void {
    if (!isIndex(id)) {
      this.#others.set(id, value);
      return;
    }
    if (this.#count * 2 >= this.#ids.length) this.#grow();
    this.#displace(id);
    const slot = id & (this.#ids.length - 1);
    this.#ids[slot] = id;
    this.#values[slot] = value;
    this.#count++;
  }

  delete(id: Id): void {
    const slot = isIndex(id) ? id & (this.#ids.length - 1) : -1;
    if (this.#ids[slot] !== id) {
      this.#others.delete(id);
      return;
    }
    this.#ids[slot] = undefined;
    this.#values[slot] = undefined;
    this.#count--;
  }

  /** Oldest first, as far as the ids show it. */
  values(): V[] {
    const entries: [number, V][] = [];
    for (const [slot, id] of this.#ids.entries()) {
      const value = this.#values[slot];
      if (id !== undefined && value !== undefined) entries.push([id, value]);
    }
    entries.sort(([a], [b]) => a - b);
    return [...this.#others.values(), ...entries.map(([, value]) => value)];
  }

  /** Frees the slot of a new id: its old entry has waited for long and moves to the map. */
  #displace(id: number): void {
    const slot = id & (this.#ids.length - 1);
    const [holder, value] = [this.#ids[slot], this.#values[slot]];
    if (holder === undefined || value === undefined) return;
    if (holder !== id) this.#others.set(holder, value);
    this.#count--;
  }

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

function isIndex(id: Id): id is number {
  return typeof id === "number" && Number.isSafeInteger(id) && id >= 0;
}
