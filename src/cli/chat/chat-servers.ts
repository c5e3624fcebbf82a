import { setTimeout as pause } from "node:timers/promises";
import { untilAborted } from "../../async/unless-aborted.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import type { Host } from "../../host/host.ts";

/** How long a chat waits for slow servers; their tools come when they are ready. */
const STARTING_MS = 10_000;
/** The servers of a chat. */
export class ChatServers implements AsyncDisposable {
  readonly host: Host;
  /** Where the logs of the servers are. */
  readonly stateFolder: string;
  readonly #definitions: readonly ServerDefinition[];
  readonly #disconnected = new Set<string>();
  readonly #close: () => Promise<void>;

  constructor(
    host: Host,
    definitions: readonly ServerDefinition[],
    { stateFolder, close }: { stateFolder: string; close: () => Promise<void> },
  ) {
    this.host = host;
    this.#definitions = definitions;
    this.stateFolder = stateFolder;
    this.#close = close;
  }

  /** The ids of all servers, in the order of the configuration. */
  get ids(): readonly string[] {
    return this.#definitions.map(({ id }) => id);
  }

  /** The ids of servers that were disconnected by hand. */
  get disconnected(): readonly string[] {
    return this.ids.filter((id) => this.#disconnected.has(id));
  }

  /** Closes the connection of a server until it is connected again. */
  async disconnect(id: string): Promise<void> {
    this.#disconnected.add(id);
    await this.#apply();
  }

  /** Connects a server that was disconnected, that failed, or that starts on first use. */
  async connect(id: string): Promise<void> {
    if (this.#disconnected.delete(id)) await this.#apply();
    const server = this.host.find(id);
    if (server?.state.kind === "disabled") await this.host.toggle(id, true);
    else if (server?.state.kind !== "ready") await this.host.retry(id);
  }

  /** Resolves when every server is connected or has failed, or after a while. */
  async started(signal: AbortSignal): Promise<void> {
    const patience = new AbortController();
    const waiting = pause(STARTING_MS, undefined, { ref: false, signal: patience.signal }).catch(() => {});
    await Promise.race([this.host.ready(), waiting, untilAborted(signal)]);
    patience.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.host.close();
    await this.#close();
  }

  async #apply(): Promise<void> {
    await this.host.setServers(this.#definitions.filter(({ id }) => !this.#disconnected.has(id)));
  }
}
