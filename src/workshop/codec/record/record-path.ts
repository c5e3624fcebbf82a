/** A record inside another, on the way to a value; made for every one, so it is only put into words when there is need. */
export interface RecordPath {
  /** The record that has the list; none for the whole. */
  within: RecordPath | undefined;
  /** The way from that record to the list, or to an object. */
  list: string;
  /** -1 for an object. */
  index: number;
}

/** `hotels[0].rooms[1].adults` */
export function pathOf(place: RecordPath | undefined, ...names: readonly string[]): string {
  const before = place ? pathOf(place.within, place.list) + (place.index < 0 ? "" : `[${place.index}]`) : "";
  return [before, ...names].filter((part) => part !== "").join(".");
}

/** Depth of records in records: types that hold themselves could go on for ever. */
export function depthOf(place: RecordPath | undefined): number {
  let depth = 0;
  for (let at = place; at; at = at.within) depth++;
  return depth;
}
