import type { IncomingMessage, ServerResponse } from "node:http";
import type { OperationsHandler } from "../gateway/edge/operations-handler.ts";
import type { Store } from "../store/store.ts";
import type { KeyDoor } from "../team/key-door.ts";
import type { Logger } from "../text/logger.ts";
import { LoginCodes } from "./access/login-codes.ts";
import type { OpenedOperations } from "./opened-operations.ts";

export interface OperationsOptions {
  store: Store;
  /** Undefined where callers of MCP need no key: operators need one nevertheless. */
  door: KeyDoor | undefined;
  stateFolder: string;
  logger: Logger;
}

/** `/api/v1` and `/console` of a gateway. What they need is loaded with the first request. */
export class Operations implements OperationsHandler, AsyncDisposable {
  readonly #options: OperationsOptions;
  readonly #codes = new LoginCodes();
  #opening: Promise<OpenedOperations> | undefined;
  #isClosed = false;

  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  /** A link that signs in once. `url`: any address of the gateway. */
  consoleLink(url: string): string {
    return new URL(`/console/login?code=${this.#codes.issue()}`, url).href;
  }

  async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    this.#opening ??= this.#open();
    await (await this.#opening).serve(req, res);
  }

  drain(): void {
    this.#isClosed = true;
    void this.#opening?.then((opened) => opened.drain()).catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.drain();
    const opened = await this.#opening?.catch(() => undefined);
    opened?.[Symbol.dispose]();
  }

  async #open(): Promise<OpenedOperations> {
    try {
      const { OpenedOperations: Opened } = await import("./opened-operations.ts");
      const opened = await Opened.open(this.#options, this.#codes);
      if (this.#isClosed) opened.drain();
      return opened;
    } catch (error) {
      // For example the database is away: the next request tries again.
      this.#opening = undefined;
      throw error;
    }
  }
}
