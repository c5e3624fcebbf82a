import type { CancelSignal } from "../../async/cancellation.ts";
import type { Client } from "../../client/client.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { FairShares, type Share } from "../../async/fair-shares.ts";
import type { Host } from "../../host/host.ts";
import type { Lease, LeaseRequest } from "../../host/servers/lease.ts";
import { isConnected } from "../../host/servers/server-state.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
import type { Era } from "../../protocol/revisions.ts";
import { declaredText } from "../../server/core/declared-text.ts";
import { ownerKey, principalKey, type Principal } from "../../server/core/principal.ts";
import { legacyCapabilities, NO_CAPABILITIES } from "./upstream-capabilities.ts";

/** The caller for which a connection is wanted. */
export interface LeaseFor {
  principal: Principal;
  owner: string;
  /** From `capabilitiesFor`. */
  capabilities: ClientCapabilities;
  signal?: CancelSignal | undefined;
  /** Called with the reason, in words, if it has to wait. */
  onWait?: ((reason: string) => void) | undefined;
}

/** A connection in use. A user that needs it longer than the call calls `keep`. */
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

  /** Reports each failure once, even if several users of the connection see it. */
  report(error: unknown): void {
    if (this.#reported !== error) this.#lease.report(error);
    this.#reported = error;
  }

  /** Adds a user; the returned function releases the connection for this user. */
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

/**
 * Connections for callers. A legacy server gets one for each owner and set of capabilities; a modern server gets the
 * capabilities with each call.
 */
export class UpstreamLeases {
  readonly #host: Host;
  readonly #eras = new Map<string, Era>();
  /** By principal and capabilities: the host shares a connection only for the same provider. */
  readonly #providers = new Map<string, { provider: InputProvider; share: Share }>();
  readonly #shares: FairShares;
  /** The keys of owners at the host, for releasing their connections. */
  readonly #keys = new Map<string, Set<string>>();

  /** `share`: the part of the providers that one principal may use while others compete, from 0 to 1. */
  constructor(host: Host, share?: number) {
    this.#host = host;
    this.#shares = new FairShares(MAX_PROVIDERS, { share });
  }

  /** A connection that is already open; undefined if one has to be waited for. */
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

  /** Releases the connections of an owner that is gone. */
  release(owner: string): void {
    for (const key of this.#keys.get(owner) ?? []) this.#host.release(key);
    this.#keys.delete(owner);
  }

  async #wait(server: string, wanted: LeaseFor): Promise<UpstreamLease> {
    const expected = this.#eras.get(server) ?? (await this.#findEra(server, wanted));
    const lease = await this.#host.lease(server, this.#requestFor(wanted, expected));
    const { era } = lease.client;
    if (era === expected) return new UpstreamLease(lease);
    // The server was replaced by one of the other era.
    this.#eras.set(server, era);
    lease.release();
    // If the era changes again, the connection is used as it is: each call declares its own capabilities.
    return new UpstreamLease(await this.#host.lease(server, this.#requestFor(wanted, era)));
  }

  #requestFor(wanted: LeaseFor, era: Era): LeaseRequest {
    const { principal, owner, signal, onWait } = wanted;
    const capabilities = era === "legacy" ? legacyCapabilities(wanted.capabilities) : NO_CAPABILITIES;
    const by = principalKey(principal);
    const request: LeaseRequest = { owner: this.#ownerKey(principal, owner), principal: by };
    if (signal) request.signal = signal;
    if (onWait) request.onWait = onWait;
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

  /** False if the principal has none. */
  #forgetProvider(of: Share): boolean {
    const [key] = [...this.#providers].find(([, { share }]) => share === of) ?? [];
    if (key === undefined) return false;
    this.#providers.delete(key);
    this.#shares.give(of);
    return true;
  }

  /** The era of the host's own connection, from which everything else about the server is also read. */
  async #findEra(server: string, { signal, onWait }: Pick<LeaseFor, "signal" | "onWait">): Promise<Era> {
    const state = this.#host.find(server)?.state;
    let era = state && isConnected(state) ? state.era : undefined;
    if (!era) {
      using lease = await this.#host.lease(server, { ...(signal && { signal }), ...(onWait && { onWait }) });
      era = lease.client.era;
    }
    this.#eras.set(server, era);
    return era;
  }
}

/** A limit, because callers choose what they declare. */
const MAX_PROVIDERS = 1_000;

/**
 * Declares capabilities for calls on a connection. Questions outside a call are refused, because there is no caller to
 * ask.
 */
export function refusing(capabilities: ClientCapabilities): InputProvider {
  return {
    capabilities,
    handle({ method }) {
      const code = method === "sampling/createMessage" ? "INPUT_FAILED" : "CAPABILITY_MISSING";
      throw new NexusError(code, `The server sent ${method} outside a call`);
    },
  };
}
