import type { Notification } from "../../protocol/json-rpc.ts";
import type { Interests } from "../../protocol/interests.ts";
import { changeMethod, type ChangingList } from "../../protocol/list-kinds.ts";
import type { Listening } from "../core/core.ts";

/** Tells everybody who listens what has changed. */
export class FeatureChanges {
  readonly #listeners = new Set<FeatureListening>();

  listen(accepted: (interests: Interests) => Interests, interests: Interests, tell: Tell): Listening {
    const listening = new FeatureListening(accepted, { tell, onClose: (ended) => this.#listeners.delete(ended) });
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
}

type Tell = (notification: Notification) => void;

class FeatureListening implements Listening {
  accepted: Interests = {};
  readonly tell: Tell;
  readonly #accept: (interests: Interests) => Interests;
  readonly #onClose: (listening: FeatureListening) => void;

  constructor(
    accept: (interests: Interests) => Interests,
    { tell, onClose }: { tell: Tell; onClose: (listening: FeatureListening) => void },
  ) {
    this.#accept = accept;
    this.tell = tell;
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
