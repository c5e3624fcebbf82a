import type { Notification } from "../../protocol/json-rpc.ts";
import { changeMethod, type ChangingList } from "../../protocol/list-kinds.ts";

/** Reports of the same change over several connections arrive within this time. */
const GATHER_MS = 25;

/** Notifies a caller that lists changed: once, even if several servers or connections report it at the same time. */
export class ListChanges {
  readonly #tell: (notification: Notification) => void;
  readonly #gathered = new Set<ChangingList>();
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: (notification: Notification) => void) {
    this.#tell = tell;
  }

  add(lists: readonly ChangingList[]): void {
    for (const list of lists) this.#gathered.add(list);
    if (this.#gathered.size > 0) this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#gathered.clear();
  }

  #flush(): void {
    this.#timer = undefined;
    const lists = [...this.#gathered];
    this.#gathered.clear();
    for (const list of lists) this.#tell({ jsonrpc: "2.0", method: changeMethod(list) });
  }
}
