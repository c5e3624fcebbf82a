import { NexusError } from "../../errors/nexus-error.ts";
import type { LogLevel } from "../../protocol/mcp.ts";
import type { CallScope } from "./call-scope.ts";
import type { InputDesk, InputProvider } from "./input.ts";

/** One of several clients that share a connection, with what is separate for its calls. */
export class SharedClient {
  readonly input: InputProvider;
  /** Has its own roots after it has set some. */
  readonly desk: InputDesk;
  /** Sent to modern servers with every request. */
  logLevel: LogLevel | undefined;
  readonly #scopes = new Set<CallScope>();
  readonly #leftovers = new Set<() => unknown>();
  #left: NexusError | undefined;

  constructor(input: InputProvider, desk: InputDesk) {
    this.input = input;
    this.desk = desk;
  }

  enter(scope: CallScope): void {
    if (this.#left) throw this.#left;
    this.#scopes.add(scope);
  }

  leave(scope: CallScope): void {
    this.#scopes.delete(scope);
  }

  /** Registers a function that closing calls. The returned function removes it again. */
  undoLater(undo: () => unknown): () => void {
    this.#leftovers.add(undo);
    return () => this.#leftovers.delete(undo);
  }

  /** Ends its calls and subscriptions; the connection stays open for the others. */
  async close(): Promise<void> {
    this.#left ??= new NexusError("CLOSED", "The connection was closed", { mayHaveReached: false });
    const error = new NexusError("CLOSED", "The connection was closed");
    for (const scope of this.#scopes) scope.stop(error);
    const leftovers = [...this.#leftovers];
    this.#leftovers.clear();
    await Promise.allSettled(leftovers.map((undo) => undo()));
  }
}
