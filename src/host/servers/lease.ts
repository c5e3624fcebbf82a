import type { CancelSignal } from "../../async/cancellation.ts";
import type { Client } from "../../client/client.ts";
import type { InputProvider } from "../../client/conversation/input.ts";

/** A connection that somebody uses. It is given back when it is no longer needed. */
export interface Lease extends Disposable {
  readonly client: Client;
  release(): void;
  /** Tells what a call on it failed with: a server that cannot be reached any more is connected anew. */
  report(error: unknown): void;
}

/** Who wants a connection. Owners never share one that keeps state. */
export interface LeaseRequest {
  /** The host's own where absent. */
  owner?: string;
  /** On whose behalf: owners of one principal have one share of a server's connections. Each owner its own where absent. */
  principal?: string;
  /**
   * Answers the server's questions, in place of the host's own provider. The same object is the same person: a
   * connection that keeps state stays with it, another one gets a connection of its own.
   */
  input?: InputProvider;
  signal?: CancelSignal;
  /** It is no hurry: servers that others wait for are started first. */
  canWait?: boolean;
}
