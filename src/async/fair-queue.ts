/** Whose an item of a queue is: groups take turns, and so do the members of a group. */
export interface QueuePlace {
  readonly group: string;
  readonly member: string;
}

/** A queue in which groups are served in turn, and within a group its members; those of one member in order of arrival. */
export class FairQueue<T extends QueuePlace> {
  /** By group and member; those that were served last stand at the end. */
  readonly #groups = new Map<string, Map<string, Set<T>>>();
  /** How many items it has. */
  size = 0;

  add(item: T): void {
    const group = this.#groups.get(item.group) ?? new Map<string, Set<T>>();
    this.#groups.set(item.group, group);
    const items = group.get(item.member) ?? new Set<T>();
    group.set(item.member, items);
    items.add(item);
    this.size++;
  }

  /** It is served: its group and its member have had their turn. */
  take(item: T): void {
    if (!this.delete(item)) return;
    const group = this.#groups.get(item.group);
    if (!group) return;
    moveToEnd(this.#groups, item.group);
    moveToEnd(group, item.member);
  }

  /** It leaves without having been served. False where it is not in the queue. */
  delete(item: T): boolean {
    const group = this.#groups.get(item.group);
    const items = group?.get(item.member);
    if (!items?.delete(item)) return false;
    this.size--;
    if (items.size === 0) group?.delete(item.member);
    if (group?.size === 0) this.#groups.delete(item.group);
    return true;
  }

  /** All items, in the order in which they are served. */
  inTurn(): T[] {
    const groups = [...this.#groups.values()];
    return interleaved(groups.map((members) => interleaved([...members.values()].map((items) => [...items]))));
  }
}

function moveToEnd<V>(map: Map<string, V>, key: string): void {
  const value = map.get(key);
  if (value === undefined) return;
  map.delete(key);
  map.set(key, value);
}

/** The first of each list, then the second of each, and so on. */
function interleaved<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list.slice(index, index + 1))).flat();
}
