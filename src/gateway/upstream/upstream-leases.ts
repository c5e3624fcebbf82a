import type { CancelSignal } from "../../async/cancellation.ts";
import type { Client } from "../../client/client.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { FairShares, type Share } from "../../async/fair-shares.ts";
import type { Host } from "../../host/host.ts";
import type { Lease, LeaseRequest } from "../../host/servers/lease.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
import type { Era } from "../../protocol/revisions.ts";
import { declaredText } from "../../server/core/declared-text.ts";
import { ownerKey, principalKey, type Principal } from "../../server/core/principal.ts";
import { legacyCapabilities, NO_CAPABILITIES } from "./upstream-capabilities.ts";

/** For whom a connection is wanted. */
export interface LeaseFor {
  principal: Principal;
  owner: string;
  /** As `capabilitiesFor` made them. */
  capabilities: ClientCapabilities;
  signal?: CancelSignal | undefined;
}

/** A connection in use. Whoever goes on using it after the call keeps it, and lets go by himself. */
export class UpstreamLease implements Lease {
  readonly client: Client;
  readonly release: () => void;
  readonly #lease: Lease;
  #users = 1;
  #reported: unknown;

  constructor(lease: Lease) {
    this.client = lease.client;
    this.#lease = lease;
    this.release = this.#once();
  }

  /** The same failure may pass by several of those who use the connection. */
  report(error: unknown): void {
    if (this.#reported !== error) this.#lease.report(error);
    this.#reported = error;
  }

  /** One more user; what it returns gives the connection back for that one. */
  keep(): () => void {
    this.#users++;
    return this.#once();
  }

  [Symbol.dispose](): void {
    this.release();
  }

  #once(): () => void {
    let isUsed = true;
    return () => {
      if (isUsed && --this.#users === 0) this.#lease.release();
      isUsed = false;
    };
  }
}

/** Connections for callers: legacy servers get one for each owner and what it declares, modern ones are told per call. */
export class UpstreamLeases {
  readonly #host: Host;
  readonly #eras = new Map<string, Era>();
  /** By principal and what it declares: the host takes the same provider for the same person. */
  readonly #providers = new Map<string, { provider: InputProvider; share: Share }>();
  readonly #shares: FairShares;
  /** What owners are called at the host, to release what is theirs. */
  readonly #keys = new Map<string, Set<string>>();

  /** `share`: what one principal gets of what is kept here while others compete, from 0 to 1. */
  constructor(host: Host, share?: number) {
    this.#host = host;
    this.#shares = new FairShares(MAX_PROVIDERS, share);
  }

  /** A connection that is there already. */
  find(server: string, wanted: LeaseFor): UpstreamLease | undefined {
    const era = this.#eras.get(server);
    const lease = era && this.#host.findLease(server, this.#requestFor(wanted, era));
    if (lease && lease.client.era === era) return new UpstreamLease(lease);
    lease?.release();
    return undefined;
  }

  async take(server: string, wanted: LeaseFor): Promise<UpstreamLease> {
    return this.find(server, wanted) ?? this.#wait(server, wanted);
  }

  /** An owner is gone, and the connections that were its own. */
  release(owner: string): void {
    for (const key of this.#keys.get(owner) ?? []) this.#host.release(key);
    this.#keys.delete(owner);
  }

  async #wait(server: string, wanted: LeaseFor): Promise<UpstreamLease> {
    const expected = this.#eras.get(server) ?? (await this.#findEra(server, wanted.signal));
    const lease = await this.#host.lease(server, this.#requestFor(wanted, expected));
    const { era } = lease.client;
    if (era === expected) return new UpstreamLease(lease);
    // It was replaced by a server of the other era: what was known of it is wrong.
    this.#eras.set(server, era);
    lease.release();
    // One whose connections are of both eras is taken as it comes: each call says itself what can be asked.
    return new UpstreamLease(await this.#host.lease(server, this.#requestFor(wanted, era)));
  }

  #requestFor(wanted: LeaseFor, era: Era): LeaseRequest {
    const { principal, owner, signal } = wanted;
    const capabilities = era === "legacy" ? legacyCapabilities(wanted.capabilities) : NO_CAPABILITIES;
    const by = principalKey(principal);
    const request: LeaseRequest = { owner: this.#ownerKey(principal, owner), principal: by };
    if (signal) request.signal = signal;
    if (capabilities !== NO_CAPABILITIES) request.input = this.#providerFor(by, capabilities);
    return request;
  }

  #ownerKey(principal: Principal, owner: string): string {
    const key = ownerKey(principal, owner);
    const keys = this.#keys.get(owner);
    if (keys) keys.add(key);
    else this.#keys.set(owner, new Set([key]));
    return key;
  }

  #providerFor(principal: string, capabilities: ClientCapabilities): InputProvider {
    const key = principal + declaredText(capabilities);
    const known = this.#providers.get(key);
    if (known) return known.provider;
    const provider = refusing(capabilities);
    const share = this.#shares.of(principal);
    this.#shares.makeRoom(share, (loser) => this.#forgetProvider(loser));
    this.#shares.take(share);
    this.#providers.set(key, { provider, share });
    return provider;
  }

  /** False where it has none. */
  #forgetProvider(of: Share): boolean {
    const [key] = [...this.#providers].find(([, { share }]) => share === of) ?? [];
    if (key === undefined) return false;
    this.#providers.delete(key);
    this.#shares.give(of);
    return true;
  }

  /** Known from the host's own connection, which everything else about the server is read from, too. */
  async #findEra(server: string, signal: CancelSignal | undefined): Promise<Era> {
    const state = this.#host.find(server)?.state;
    let era = state && "era" in state ? state.era : undefined;
    if (!era) {
      using lease = await this.#host.lease(server, signal ? { signal } : {});
      era = lease.client.era;
    }
    this.#eras.set(server, era);
    return era;
  }
}

/** Callers choose what they declare; nobody declares a thousand different things in earnest. */
const MAX_PROVIDERS = 1_000;

/** A connection declares what its calls can be asked; outside of them nobody is there to answer. */
export function refusing(capabilities: ClientCapabilities): InputProvider {
  return {
    capabilities,
    handle({ method }) {
      const code = method === "sampling/createMessage" ? "INPUT_FAILED" : "CAPABILITY_MISSING";
      throw new NexusError(code, `The server sent ${method} outside a call`);
    },
  };
}
