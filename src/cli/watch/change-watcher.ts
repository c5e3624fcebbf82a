import type { Client } from "../../client/client.ts";
import type { Change } from "../../client/changes/feed.ts";
import type { Subscription } from "../../client/changes/subscriptions.ts";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import type { ResourceContents, Tool } from "../../protocol/mcp.ts";
import { CHANGING_LISTS, type ChangingList } from "../../protocol/list-kinds.ts";

/** A change as `watch` shows it. */
export type SeenChange = { time: string } & (
  | { kind: "list-changed"; list: ChangingList; added: string[]; removed: string[] }
  | { kind: "resource-updated"; uri: string; contents?: ResourceContents[]; error?: string }
  /** The stream was interrupted; until it is restored, changes may be missed. */
  | { kind: "interrupted"; reason: string }
  | { kind: "restored" }
);

export interface ChangeWatcherOptions {
  /** Resources to follow. */
  uris: readonly string[];
  /** Whether updated resources are read. */
  reads: boolean;
  /** The tools that may be shown. */
  allowed: (tools: readonly Tool[]) => readonly Tool[];
  /** The words that select the server, for commands to copy. */
  where: string;
  signal: AbortSignal;
}

const PULSE_MS = 15_000;

/** Follows one server's changes, and finds the differences. */
export class ChangeWatcher implements AsyncDisposable {
  readonly #client: Client;
  readonly #options: ChangeWatcherOptions;
  readonly #known = new Map<ChangingList, ReadonlySet<string>>();
  /** Changes that were not processed yet. */
  readonly #queue: (Change & { time: string })[] = [];
  #wake: () => void = () => {};
  #failure: NexusError | undefined;
  #subscription: Subscription | undefined;
  #pulse: NodeJS.Timeout | undefined;

  constructor(client: Client, options: ChangeWatcherOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** Subscribes; returns what the server agreed to. */
  async open(): Promise<string[]> {
    const { uris, signal } = this.#options;
    const client = this.#client;
    const lists = CHANGING_LISTS.filter((list) => client.serverCapabilities?.[list]?.listChanged);
    this.#subscription = await client.subscribe({ lists, resources: uris }, (change) => this.#heard(change));
    const { accepted } = this.#subscription;
    const refused = uris.filter((uri) => !accepted.resources?.includes(uri));
    if (refused.length > 0) throw this.#untold(refused.join(", "));
    const told = [...(accepted.lists ?? []), ...(accepted.resources ?? [])];
    if (told.length === 0) throw this.#untold("anything");
    // After subscribing: a change in between is reported, and found to be no difference.
    for (const list of accepted.lists ?? []) this.#known.set(list, await this.#names(list));
    void client.closed.then(() =>
      this.#fail(client.lost ?? new NexusError("CONNECTION_LOST", "The connection to the server was lost")),
    );
    signal.addEventListener("abort", () => this.#wake(), { once: true });
    // An HTTP server can disappear without notice.
    this.#pulse = setInterval(() => void this.#checkThere(), PULSE_MS);
    return told;
  }

  /** Changes as they come; ends when the signal is aborted, and throws when the server is gone. */
  async *changes(): AsyncGenerator<SeenChange> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      const change = this.#queue.shift();
      if (change) yield* await this.#understand(change);
      else if (this.#failure) throw this.#failure;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#pulse);
    await this.#subscription?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #heard(change: Change): void {
    this.#queue.push({ ...change, time: new Date().toISOString() });
    if (change.kind === "interrupted") void this.#checkThere();
    this.#wake();
  }

  #fail(error: NexusError): void {
    this.#failure ??= error.with({ server: this.#client.server });
    this.#wake();
  }

  async #checkThere(): Promise<void> {
    try {
      await this.#client.ping({ signal: this.#options.signal });
    } catch (error) {
      this.#fail(asNexusError(error));
    }
  }

  async #understand(change: Change & { time: string }): Promise<SeenChange[]> {
    const { time } = change;
    switch (change.kind) {
      case "list-changed":
        return [await this.#difference(change.list, time)];
      case "resource-updated":
        return [{ time, kind: change.kind, uri: change.uri, ...(await this.#read(change.uri)) }];
      case "interrupted":
        return [{ time, kind: change.kind, reason: change.error.message }];
      case "restored": {
        const missed = await Promise.all([...this.#known.keys()].map((list) => this.#difference(list, time)));
        return [{ time, kind: change.kind }, ...missed.filter(isDifferent)];
      }
      case "ended":
        this.#fail(change.error);
        return [];
      case "task-changed":
        return [];
    }
  }

  async #difference(list: ChangingList, time: string): Promise<SeenChange> {
    const before = this.#known.get(list) ?? new Set();
    const now = await this.#names(list);
    this.#known.set(list, now);
    const added = [...now].filter((name) => !before.has(name));
    const removed = [...before].filter((name) => !now.has(name));
    return { time, kind: "list-changed", list, added, removed };
  }

  async #names(list: ChangingList): Promise<ReadonlySet<string>> {
    const options = { signal: this.#options.signal, fresh: true };
    if (list === "tools") {
      const tools = await this.#client.listTools(options);
      return new Set(this.#options.allowed(tools).map(({ name }) => name));
    }
    if (list === "prompts") return new Set((await this.#client.listPrompts(options)).map(({ name }) => name));
    return new Set((await this.#client.listResources(options)).map(({ uri }) => uri));
  }

  /** A resource that cannot be read counts as changed. */
  async #read(uri: string): Promise<{ contents?: ResourceContents[]; error?: string }> {
    const { reads, signal } = this.#options;
    if (!reads) return {};
    try {
      return { contents: (await this.#client.readResource(uri, { signal, fresh: true })).contents };
    } catch (error) {
      return { error: asNexusError(error).message };
    }
  }

  #untold(what: string): NexusError {
    const { where } = this.#options;
    return new NexusError("CAPABILITY_MISSING", `The server does not report changes of ${what}`, {
      server: this.#client.server,
      hint: `"nexus mcp connect${where}" shows its capabilities; "nexus mcp resources${where}" lists its resources.`,
    });
  }
}

function isDifferent(change: SeenChange): boolean {
  return change.kind === "list-changed" && change.added.length + change.removed.length > 0;
}
