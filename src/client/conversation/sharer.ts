import { NexusError } from "../../errors/nexus-error.ts";
import type { LogLevel } from "../../protocol/mcp.ts";
import type { CallScope } from "./call-scope.ts";
import type { InputDesk, InputProvider } from "./input.ts";

/** One of several who share a connection: what holds for their calls, and for nobody else's. */
export class Sharer {
  readonly input: InputProvider;
  /** With roots of their own, once they have set some. */
  readonly desk: InputDesk;
  /** Modern servers are told with every request. */
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

  /** To be undone when they go; call what it returns where it was undone before. */
  undoLater(undo: () => unknown): () => void {
    this.#leftovers.add(undo);
    return () => this.#leftovers.delete(undo);
  }

  /** Their calls end, and what they listen to; the connection stays with the others. */
  async close(): Promise<void> {
    this.#left ??= new NexusError("CLOSED", "The connection was closed", { mayHaveReached: false });
    const error = new NexusError("CLOSED", "The connection was closed");
    for (const scope of this.#scopes) scope.stop(error);
    const leftovers = [...this.#leftovers];
    this.#leftovers.clear();
    await Promise.allSettled(leftovers.map((undo) => undo()));
  }
}
