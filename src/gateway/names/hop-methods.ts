import { NexusError } from "../../errors/nexus-error.ts";

/** What is between two neighbours alone: edges and clients answer it, and nothing of it is ever passed on. */
const OF_ONE_HOP = new Set([
  "initialize",
  "ping",
  "server/discover",
  "subscriptions/listen",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
  "roots/list",
  "sampling/createMessage",
  "elicitation/create",
  // Of 2025-11-25: the tasks of the newest specification have neither.
  "tasks/result",
  "tasks/list",
]);

export function isOfOneHop(method: string): boolean {
  return OF_ONE_HOP.has(method);
}

export function methodUnknown(method: string): NexusError {
  return new NexusError("CAPABILITY_MISSING", `There is no method "${method}" here`, { method, mayHaveReached: false });
}
