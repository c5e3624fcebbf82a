import type { CancelSignal } from "../../async/cancellation.ts";
import type { Client } from "../../client/client.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import { asNexusError, messageOf, NexusError } from "../../errors/nexus-error.ts";
import { FairShares, type Share } from "../../async/fair-shares.ts";
import type { Host } from "../../host/host.ts";
import type { Lease, LeaseRequest } from "../../host/servers/lease.ts";
import { isConnected } from "../../host/servers/server-state.ts";
import { type ClientCapabilities, isLoudEnough, type LogLevel } from "../../protocol/mcp.ts";
import type { Era } from "../../protocol/revisions.ts";
import { declaredText } from "../../server/core/declared-text.ts";
import { ownerKey, type Principal, principalKey } from "../../server/core/principal.ts";
import { TASKS_EXTENSION } from "../../protocol/meta.ts";
import type { Caller } from "../../server/core/core.ts";
import type { Logger } from "../../text/logger.ts";

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

/** The properties of a caller that select the connection of its calls. */
export type CallerOutline = Pick<Caller, "era" | "owner" | "capabilities" | "ask">;

/** Calls without capabilities share their owner's plain connection. */
export const NO_CAPABILITIES: ClientCapabilities = {};

/**
 * The capabilities that a server may use with this caller: those it declared, without what concerns only the caller and
 * the gateway. The members are sorted, so that callers with equal capabilities share a connection.
 */
export function capabilitiesFor({ era, capabilities, ask }: CallerOutline): ClientCapabilities {
  const members = Object.keys(capabilities);
  if (members.length === 0) return NO_CAPABILITIES;
  // A legacy caller without a stream cannot be asked, even if it declared the capability.
  const canBeAsked = era === "modern" || ask !== undefined;
  const passed: ClientCapabilities = {};
  for (const member of members.sort()) {
    const value = capabilities[member];
    if (value === undefined) continue;
    // Tasks of 2025-11-25 that run at the client are not offered to servers.
    if (member === "tasks") continue;
    if (!canBeAsked && ASKED.has(member)) continue;
    // The caller's changes of roots do not reach this connection, so they are not announced.
    passed[member] = member === "roots" ? {} : value;
  }
  return Object.keys(passed).length === 0 ? NO_CAPABILITIES : passed;
}

/**
 * The same for a call to a modern server: a caller of 2025-11-25 that cannot be asked can still get an error with the
 * URLs to visit.
 */
export function capabilitiesForModern(caller: CallerOutline, declared: ClientCapabilities): ClientCapabilities {
  const { era, capabilities, ask } = caller;
  if (era === "modern" || ask || capabilities.elicitation?.url === undefined) return declared;
  return { ...declared, elicitation: { url: capabilities.elicitation.url } };
}

/** The capabilities for `initialize`: a legacy server does not know the tasks extension. */
export function legacyCapabilities(capabilities: ClientCapabilities): ClientCapabilities {
  const { extensions, ...others } = capabilities;
  if (extensions?.[TASKS_EXTENSION] === undefined) return capabilities;
  const { [TASKS_EXTENSION]: _tasks, ...rest } = extensions;
  if (Object.keys(rest).length > 0) return { ...others, extensions: rest };
  return Object.keys(others).length === 0 ? NO_CAPABILITIES : others;
}

const ASKED = new Set(["elicitation", "sampling", "roots"]);

/** Whether a server can ask anything. */
export function canBeAsked({ elicitation, sampling, roots }: ClientCapabilities): boolean {
  return elicitation !== undefined || sampling !== undefined || roots !== undefined;
}

export function knowsTasks({ extensions }: ClientCapabilities): boolean {
  return extensions?.[TASKS_EXTENSION] !== undefined;
}

/** How long a call waits until its server has accepted the log level. */
const PATIENCE_MS = 2_000;

/**
 * Sets the log level of connections that have one level for all calls: the lowest that any call has wanted so far. A
 * call then receives only the messages at or above its own level.
 */
export class ConnectionLogLevels {
  readonly #told = new WeakMap<Client, { level: LogLevel; done: Promise<void> }>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Resolves when the level is set. If the server rejects it, the call runs anyway. */
  async ensure(client: Client, level: LogLevel): Promise<void> {
    const told = this.#told.get(client);
    if (told && isLoudEnough(level, told.level)) return told.done;
    const done = client.setLogLevel(level, { timeoutMs: PATIENCE_MS }).catch((error: unknown) => {
      // A server that refuses or does not answer would do so again, and every call would wait for it.
      const { code } = asNexusError(error);
      if (code !== "SERVER_ERROR" && code !== "TIMEOUT") this.#told.delete(client);
      this.#logger.warn(`"${client.server}" rejected the log level ${level}: ${messageOf(error)}`);
    });
    this.#told.set(client, { level, done });
    return done;
  }
}
