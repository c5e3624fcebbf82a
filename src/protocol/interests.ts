import type { ChangingList } from "./list-kinds.ts";

/** What to subscribe to. */
export interface Interests {
  lists?: readonly ChangingList[];
  /** URIs of resources. */
  resources?: readonly string[];
  /** Ids of tasks. */
  tasks?: readonly string[];
}
