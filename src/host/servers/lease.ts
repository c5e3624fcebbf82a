import type { CancelSignal } from "../../async/cancellation.ts";
import type { Client } from "../../client/client.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import type { Share } from "../../async/fair-shares.ts";
import type { ProcessSlot } from "../../process/process-budget.ts";

/** The use of a connection, to be released when it is no longer needed. */
export interface Lease extends Disposable {
  readonly client: Client;
  release(): void;
  /** Reports why a call on it failed: a server that can no longer be reached is connected again. */
  report(error: unknown): void;
}

/** The owner of a lease. Owners never share a connection that keeps state. */
export interface LeaseRequest {
  /** Default: the host itself. */
  owner?: string;
  /**
   * The principal of the owner. All owners of one principal have one share of a server's connections. Default: each
   * owner is its own principal.
   */
  principal?: string;
  /**
   * Answers the server's questions instead of the host's provider. The same object stands for the same person: a
   * connection that keeps state is used for one object only.
   */
  input?: InputProvider;
  signal?: CancelSignal;
  /** Not urgent: servers that other callers wait for are started first. */
  canWait?: boolean;
  /** Called with the reason, in words, if the lease has to wait: no connection or no process is free. */
  onWait?: (reason: string) => void;
}

/** One connection and its users. */
export interface Held {
  readonly key: string;
  readonly owner: string;
  /** Undefined for the host's own connection. */
  readonly share: Share | undefined;
  readonly client: Promise<Client>;
  readonly giveUp: AbortController;
  /** Of its process, where that is limited. */
  readonly slot: ProcessSlot | undefined;
  /** The client when it is connected. */
  opened?: Client;
  users: number;
  /** Set while it has no users. */
  idle?: NodeJS.Timeout | undefined;
  idleSince: number;
  isRetired: boolean;
  /** Called instead of what happens otherwise when its last user has released it; once. */
  onUnused?: (() => void) | undefined;
  ending?: Promise<void>;
}
