import type { Place } from "./source-node.ts";

/** Something wrong in an entry, before it is known whose and in which file. */
export interface Fault {
  place: Place;
  what: string;
  hint: string;
}
