import type { Params } from "../../protocol/json-rpc.ts";

export type Change =
  | { kind: "tools" }
  | { kind: "prompts" }
  | { kind: "resources" }
  | { kind: "resource"; uri: string }
  /** An extension's notification, sent to listeners that named its topic. */
  | { kind: "topic"; topic: string; method: string; params: Params }
  /** The server ends all listening. */
  | { kind: "end" };

/** Tells every conversation what changed in the lists and resources. */
export class Changes {
  readonly #listeners = new Set<(change: Change) => void>();

  /** Returns the way to stop. */
  listen(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  publish(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }
}

export const LIST_CHANGED = {
  tools: "notifications/tools/list_changed",
  prompts: "notifications/prompts/list_changed",
  resources: "notifications/resources/list_changed",
} as const;

export const RESOURCE_UPDATED = "notifications/resources/updated";
