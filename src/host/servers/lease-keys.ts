import type { InputProvider } from "../../client/conversation/input.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { Backoff, type BackoffSettings } from "../../async/backoff.ts";
import { HOST, ONCE } from "./connection-pool.ts";

/** Declares nothing, so that nothing is asked. */
export const NOBODY: InputProvider = {
  capabilities: {},
  handle: () => Promise.reject(new NexusError("INPUT_FAILED", "This connection has no caller to ask")),
};

export interface KeyRequest {
  owner: string;
  input: InputProvider | undefined;
  isolation: ServerDefinition["isolation"];
  /** The server keeps nothing of its callers, or they do not mind. */
  isShared: boolean;
}

const MAX_OWNERS = 1_000;

/** Tells who may share a connection with whom, and who has failed how often. */
export class LeaseKeys {
  readonly #own: InputProvider | undefined;
  readonly #settings: BackoffSettings;
  readonly #providers = new WeakMap<InputProvider, number>();
  #nextProvider = 1;
  readonly #backoffs = new Map<string, Backoff>();

  constructor(own: InputProvider | undefined, settings: BackoffSettings) {
    this.#own = own;
    this.#settings = settings;
  }

  /** Questions go to whoever opened a connection: another provider, even of the same owner, needs another one. */
  keyFor({ owner, input, isolation, isShared }: KeyRequest): string {
    if (isolation === "call") return ONCE + crypto.randomUUID();
    if (isShared || (owner === HOST && (!input || input === this.#own))) return HOST;
    return `${input ? this.#numberOf(input) : 0} ${owner}`;
  }

  /** One owner's failures are no reason to refuse another. */
  backoffOf(owner: string): Backoff {
    const known = this.#backoffs.get(owner) ?? new Backoff(this.#settings);
    this.#backoffs.set(owner, known);
    const [oldest] = this.#backoffs.keys();
    if (this.#backoffs.size > MAX_OWNERS && oldest !== undefined) this.#backoffs.delete(oldest);
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
