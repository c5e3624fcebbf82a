import type { Notification, Params } from "../../protocol/json-rpc.ts";
import type { Interests } from "../../protocol/interests.ts";
import { changeMethod, type ChangingList } from "../../protocol/list-kinds.ts";
import type { Listening, ListenRequest } from "../core/core.ts";

/** Tells everybody who listens what has changed. */
export class FeatureChanges {
  readonly #listeners = new Set<FeatureListening>();

  listen(
    accepted: (interests: Interests) => Interests,
    { interests, onChange: tell, onEnd: end }: ListenRequest,
  ): Listening {
    const listening = new FeatureListening(accepted, { tell, end, onClose: (ended) => this.#listeners.delete(ended) });
    void listening.update(interests);
    this.#listeners.add(listening);
    return listening;
  }

  listChanged(list: ChangingList): void {
    const notification: Notification = { jsonrpc: "2.0", method: changeMethod(list) };
    for (const listening of this.#listeners) if (listening.accepted.lists?.includes(list)) listening.tell(notification);
  }

  resourceUpdated(uri: string): void {
    const notification: Notification = { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } };
    for (const listening of this.#listeners) {
      if (listening.accepted.resources?.includes(uri)) listening.tell(notification);
    }
  }

  taskChanged(task: Params & { taskId: string }): void {
    const notification: Notification = { jsonrpc: "2.0", method: "notifications/tasks", params: task };
    for (const listening of this.#listeners) {
      if (listening.accepted.tasks?.includes(task.taskId)) listening.tell(notification);
    }
  }

  /** Ends what can be ended: sessions of legacy clients go on. */
  end(): void {
    for (const listening of this.#listeners) listening.end?.();
  }
}

class FeatureListening implements Listening {
  accepted: Interests = {};
  readonly tell: ListenRequest["onChange"];
  readonly end: ListenRequest["onEnd"];
  readonly #accept: (interests: Interests) => Interests;
  readonly #onClose: (listening: FeatureListening) => void;

  constructor(
    accept: (interests: Interests) => Interests,
    { tell, end, onClose }: Pick<FeatureListening, "tell" | "end"> & { onClose: (listening: FeatureListening) => void },
  ) {
    this.#accept = accept;
    this.tell = tell;
    this.end = end;
    this.#onClose = onClose;
  }

  async update(interests: Interests): Promise<void> {
    this.accepted = this.#accept(interests);
  }

  async close(): Promise<void> {
    this.#onClose(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
