import { RecentMap } from "../../async/recent-map.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { Backoff, type BackoffSettings } from "../../async/backoff.ts";
import { HOST, ONCE } from "./connection-pool.ts";
import { isConnected, type ServerState } from "./server-state.ts";

/** Declares nothing, so that the server asks nothing. */
export const NOBODY: InputProvider = {
  capabilities: {},
  handle: () => Promise.reject(new NexusError("INPUT_FAILED", "This connection has no caller to ask")),
};

interface KeyRequest {
  owner: string;
  input: InputProvider | undefined;
  isolation: ServerDefinition["isolation"];
  /** Whether the server keeps no state of its callers, or the entry allows sharing. */
  isShared: boolean;
}

const MAX_OWNERS = 1_000;

/**
 * Whether owners have connections of their own to this server, as far as that is known. A modern server over HTTP or in
 * this process keeps no state of its callers, so they share one.
 */
export function hasOwnConnections(state: ServerState, { isolation, entry }: ServerDefinition): boolean {
  if (isolation !== "owner") return false;
  const isStateless = isConnected(state) && state.era === "modern" && entry?.reach.kind !== "stdio";
  return !isStateless;
}

/** Decides which owners share a connection, and counts the failures of each. */
export class LeaseKeys {
  readonly #own: InputProvider | undefined;
  readonly #settings: BackoffSettings;
  readonly #providers = new WeakMap<InputProvider, number>();
  #nextProvider = 1;
  readonly #backoffs = new RecentMap<string, Backoff>({ most: MAX_OWNERS });

  constructor(own: InputProvider | undefined, settings: BackoffSettings) {
    this.#own = own;
    this.#settings = settings;
  }

  /**
   * Questions go to the provider that opened the connection, so another provider needs another connection, even of the
   * same owner.
   */
  keyFor({ owner, input, isolation, isShared }: KeyRequest): string {
    if (isolation === "call") return ONCE + crypto.randomUUID();
    if (isShared || (owner === HOST && (!input || input === this.#own))) return HOST;
    return `${input ? this.#numberOf(input) : 0} ${owner}`;
  }

  /** Counted separately, so that one owner's failures do not affect another. */
  backoffOf(owner: string): Backoff {
    const known = this.#backoffs.get(owner) ?? new Backoff(this.#settings);
    this.#backoffs.set(owner, known);
    return known;
  }

  forgive(owner: string): void {
    this.#backoffs.delete(owner);
  }

  forgiveAll(): void {
    this.#backoffs.clear();
  }

  #numberOf(input: InputProvider): number {
    let number = this.#providers.get(input);
    if (number === undefined) this.#providers.set(input, (number = this.#nextProvider++));
    return number;
  }
}
