import type { Params } from "./json-rpc.ts";
import { CHANGING_LISTS, type ChangingList } from "./list-kinds.ts";

/** What to subscribe to. */
export interface Interests {
  lists?: readonly ChangingList[];
  /** URIs of resources. */
  resources?: readonly string[];
  /** Ids of tasks. */
  tasks?: readonly string[];
}

/** Interests as `subscriptions/listen` and its acknowledgement write them, in `notifications`. */
export function asNotifications({ lists = [], resources = [], tasks = [] }: Interests): Params {
  return {
    ...Object.fromEntries(lists.map((list) => [`${list}ListChanged`, true])),
    ...(resources.length > 0 && { resourceSubscriptions: resources }),
    ...(tasks.length > 0 && { taskIds: tasks }),
  };
}

/** The lists whose changes such `notifications` name. */
export function listsIn(notifications: Params): ChangingList[] {
  return CHANGING_LISTS.filter((list) => notifications[`${list}ListChanged`] === true);
}
