import type { Client } from "../../client/client.ts";
import type { Exchange } from "../exchange.ts";
import { ExpiringMap } from "./expiring-map.ts";
import type { TaskPlace } from "./task-ids.ts";
import { LegacyTask } from "./task-legacy.ts";
import { capabilitiesFor } from "./upstream-capabilities.ts";
import type { UpstreamLease, UpstreamLeases } from "./upstream-leases.ts";

export interface TaskLimits {
  /** Connections that are kept for tasks: 256. */
  tasks: number;
  /** How long after somebody last asked about the task: ten minutes. */
  parkedMs: number;
  gatherMs: number;
}

/** Where a task is asked about. */
export interface TaskConnection {
  client: Client;
  /** Of a server of 2025-11-25. */
  legacy: LegacyTask | undefined;
}

interface Kept extends TaskConnection {
  owner: string;
  release: () => void;
}

/** Connections that tasks live on: a process may end when nobody uses it, and its tasks with it. */
export class TaskConnections {
  readonly #leases: UpstreamLeases;
  readonly #limits: TaskLimits;
  readonly #kept: ExpiringMap<Kept>;

  constructor(leases: UpstreamLeases, limits: TaskLimits) {
    this.#leases = leases;
    this.#limits = limits;
    this.#kept = new ExpiringMap<Kept>(limits.parkedMs, letGo);
  }

  /** Runs `ask` on the task's connection: the one it was made on while that is kept, or one of the same owner. */
  async with<T>(place: TaskPlace, exchange: Exchange, ask: (connection: TaskConnection) => Promise<T>): Promise<T> {
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

  /** Servers that are reached by modern HTTP remember their tasks without a connection. */
  keep(place: TaskPlace, { exchange, lease }: { exchange: Exchange; lease: UpstreamLease }): TaskConnection {
    const { client } = lease;
    if (client.era === "modern" && client.pid === undefined) return { client, legacy: undefined };
    // A server may name the same task twice, and two may ask at once after its connection was lost.
    this.drop(place, exchange);
    if (this.#kept.size >= this.#limits.tasks) letGo(this.#kept.dropOldest());
    const { caller } = exchange;
    const kept = {
      client,
      legacy: this.#legacyTask(place, client, exchange),
      owner: caller.owner,
      release: lease.keep(),
    };
    this.#kept.set(keyOf(place, exchange), kept);
    return kept;
  }

  /** The task is over. */
  drop(place: TaskPlace, exchange: Exchange): void {
    letGo(this.#kept.take(keyOf(place, exchange)));
  }

  release(owner: string): void {
    for (const kept of this.#kept.takeAll((one) => one.owner === owner)) letGo(kept);
  }

  close(): void {
    for (const kept of this.#kept.takeAll()) letGo(kept);
  }

  #legacyTask({ taskId }: TaskPlace, client: Client, { caller }: Exchange): LegacyTask | undefined {
    if (client.era === "modern") return undefined;
    const { gatherMs } = this.#limits;
    return new LegacyTask({ client, taskId, capabilities: capabilitiesFor(caller), gatherMs });
  }
}

function letGo(kept: Kept | undefined): void {
  kept?.legacy?.close();
  kept?.release();
}

function keyOf({ server, taskId }: TaskPlace, { principal: { tenant, id } }: Exchange): string {
  return JSON.stringify([tenant, id, server, taskId]);
}
