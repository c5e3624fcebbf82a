import { NexusError } from "../../../errors/nexus-error.ts";

/** A record inside another one, on the path to a value. Made for every record, so its text is computed on demand. */
export interface RecordPath {
  /** The record with the list; undefined for the whole document. */
  within: RecordPath | undefined;
  /** The path from that record to the list or object. */
  list: string;
  /** -1 for an object. */
  index: number;
}

/** `hotels[0].rooms[1].adults` */
export function pathOf(place: RecordPath | undefined, ...names: readonly string[]): string {
  const before = place ? pathOf(place.within, place.list) + (place.index < 0 ? "" : `[${place.index}]`) : "";
  return [before, ...names].filter((part) => part !== "").join(".");
}

/** The nesting of records: recursive types could continue forever. */
export function depthOf(place: RecordPath | undefined): number {
  let depth = 0;
  for (let at = place; at; at = at.within) depth++;
  return depth;
}

/** The error for a value that cannot be written. */
export function unsuitable(place: RecordPath | undefined, problem: string, ...names: readonly string[]): NexusError {
  const name = pathOf(place, ...names);
  return new NexusError("ARGUMENTS_INVALID", `${name === "" ? "The value" : name} ${problem}`, {
    mayHaveReached: false,
  });
}
