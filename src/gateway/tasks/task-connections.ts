import type { Client } from "../../client/client.ts";
import { FairShares, type Share } from "../../async/fair-shares.ts";
import type { GatewayExchange } from "../names/view.ts";
import { ownerKey, principalKey } from "../../server/core/principal.ts";
import { ExpiringMap } from "../../async/expiring-map.ts";
import type { TaskPlace } from "../names/task-ids.ts";
import { LegacyTask } from "./task-legacy.ts";
import { capabilitiesFor } from "../upstream/upstream-capabilities.ts";
import type { UpstreamLease, UpstreamLeases } from "../upstream/upstream-leases.ts";

export interface TaskLimits {
  /** Connections that are kept for tasks: 256. */
  tasks: number;
  /** How long they are kept after the last request about the task: ten minutes. */
  parkedMs: number;
  gatherMs: number;
  /** The part of the connections that one principal may use while others compete, from 0 to 1. */
  share?: number | undefined;
}

/** The connection for requests about a task. */
export interface TaskConnection {
  client: Client;
  /** Only for a server of 2025-11-25. */
  legacy: LegacyTask | undefined;
}

interface Kept extends TaskConnection {
  owner: string;
  share: Share;
  release: () => void;
}

/** Keeps the connections of tasks: a process ends when nobody uses it, and its tasks end with it. */
export class TaskConnections {
  readonly #leases: UpstreamLeases;
  readonly #limits: TaskLimits;
  readonly #kept: ExpiringMap<Kept>;
  readonly #shares: FairShares;

  constructor(leases: UpstreamLeases, limits: TaskLimits) {
    this.#leases = leases;
    this.#limits = limits;
    this.#kept = new ExpiringMap<Kept>(limits.parkedMs, (kept) => this.#letGo(kept));
    this.#shares = new FairShares(limits.tasks, limits);
  }

  get size(): number {
    return this.#kept.size;
  }

  /** Runs `ask` on the connection on which the task was created, if it is kept, or on another one of the same owner. */
  async with<T>(
    place: TaskPlace,
    exchange: GatewayExchange,
    ask: (connection: TaskConnection) => Promise<T>,
  ): Promise<T> {
    const key = keyOf(place, exchange);
    const kept = this.#kept.get(key);
    if (kept && !kept.client.lost) {
      this.#kept.set(key, kept);
      return ask(kept);
    }
    this.drop(place, exchange);
    const { principal, caller, signal } = exchange;
    const wanted = { principal, owner: caller.owner, capabilities: capabilitiesFor(caller), signal };
    const lease = await this.#leases.take(place.server, wanted);
    try {
      return await ask(this.keep(place, { exchange, lease }));
    } finally {
      lease.release();
    }
  }

  /** Not needed for modern servers over HTTP: they keep tasks without a connection. */
  keep(place: TaskPlace, { exchange, lease }: { exchange: GatewayExchange; lease: UpstreamLease }): TaskConnection {
    const { client } = lease;
    if (client.era === "modern" && client.pid === undefined) return { client, legacy: undefined };
    // The same task can be kept twice: the server may reuse an id, or two requests may come after a lost connection.
    this.drop(place, exchange);
    const { caller, principal } = exchange;
    const legacy = this.#legacyTask(place, client, exchange);
    const share = this.#shares.of(principalKey(principal));
    const hasRoom = this.#shares.makeRoom(share, (loser) =>
      this.#letGo(this.#kept.takeOldest((one) => one.share === loser)),
    );
    if (!hasRoom) return { client, legacy };
    this.#shares.take(share);
    const kept = { client, legacy, owner: caller.owner, share, release: lease.keep() };
    this.#kept.set(keyOf(place, exchange), kept);
    return kept;
  }

  /** Call this when the task has ended. */
  drop(place: TaskPlace, exchange: GatewayExchange): void {
    this.#letGo(this.#kept.take(keyOf(place, exchange)));
  }

  release(owner: string): void {
    for (const kept of this.#kept.takeAll((one) => one.owner === owner)) this.#letGo(kept);
  }

  close(): void {
    for (const kept of this.#kept.takeAll()) this.#letGo(kept);
  }

  /** False if there was none. */
  #letGo(kept: Kept | undefined): boolean {
    if (!kept) return false;
    kept.legacy?.close();
    kept.release();
    this.#shares.give(kept.share);
    return true;
  }

  #legacyTask({ taskId }: TaskPlace, client: Client, { caller }: GatewayExchange): LegacyTask | undefined {
    if (client.era === "modern") return undefined;
    const { gatherMs } = this.#limits;
    return new LegacyTask({ client, taskId, capabilities: capabilitiesFor(caller), gatherMs });
  }
}

function keyOf({ server, taskId }: TaskPlace, { principal }: GatewayExchange): string {
  return ownerKey(principal, JSON.stringify([server, taskId]));
}
