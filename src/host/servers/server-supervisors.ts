import type { ServerDefinition } from "../../config/read/server-definition.ts";
import type { DefinitionChange } from "../definitions/definition-ledger.ts";
import type { ServerState } from "./server-state.ts";
import { ServerSupervisor, type SupervisorOptions } from "./server-supervisor.ts";
import type { ChangingList } from "../../protocol/list-kinds.ts";

export type HostEvent =
  | { kind: "state"; server: string; state: ServerState }
  /** The lists of a server changed. `told`: the lists for which the server sent a notification. */
  | { kind: "lists"; server: string; told?: readonly ChangingList[] }
  /** A server lists other definitions than those that were accepted. Reported once. */
  | { kind: "definitions"; server: string; changes: readonly DefinitionChange[] }
  /** Definitions of a server were accepted, or could be compared after all: what was held may be listed and used now. */
  | { kind: "accepted"; server: string };

export interface SupervisorsOptions extends Omit<SupervisorOptions, "onState" | "onLists"> {
  tell: (event: HostEvent) => void;
}

/** The servers of a host: those of the current configuration, in its order, and those that are being closed. */
export class ServerSupervisors {
  readonly #options: SupervisorsOptions;
  readonly #byId = new Map<string, ServerSupervisor>();
  readonly #leaving = new Set<Promise<void>>();

  constructor(options: SupervisorsOptions) {
    this.#options = options;
  }

  all(): ServerSupervisor[] {
    return [...this.#byId.values()];
  }

  find(id: string): ServerSupervisor | undefined {
    return this.#byId.get(id);
  }

  /** Resolves when every server that starts automatically is connected or has failed. */
  async started(): Promise<void> {
    await Promise.all(this.all().map((supervisor) => supervisor.started));
  }

  /** Replaces the servers; unchanged ones keep their connection. Resolves when removed ones have ended. */
  async apply(definitions: readonly ServerDefinition[]): Promise<void> {
    const wanted = new Map(definitions.map((definition) => [definition.id, definition]));
    const before = new Map(this.#byId);
    const leaving = new Map<string, Promise<void>>();
    for (const [id, supervisor] of before) {
      const definition = wanted.get(id);
      if (definition && supervisor.adopt(definition)) continue;
      leaving.set(id, this.#leave(supervisor));
      before.delete(id);
    }
    // Lists follow the order of the configuration, not the order of starting.
    this.#byId.clear();
    for (const [id, definition] of wanted) {
      this.#byId.set(id, before.get(id) ?? this.#supervise(definition, leaving.get(id)));
    }
    for (const server of leaving.keys()) this.#options.tell({ kind: "lists", server });
    // Also starts servers that were just enabled; a failed one keeps its pause.
    for (const supervisor of this.all()) if (supervisor.state.kind === "idle") void supervisor.start();
    // A server that starts has reported its state itself; the others are reported here.
    for (const [server, { state }] of this.#byId) {
      if (!before.has(server) && state.kind !== "starting") this.#options.tell({ kind: "state", server, state });
    }
    await Promise.all(leaving.values());
  }

  async close(): Promise<void> {
    await Promise.all([...this.all().map((supervisor) => supervisor.close()), ...this.#leaving]);
  }

  #leave(supervisor: ServerSupervisor): Promise<void> {
    const leaving = supervisor.close().finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
    return leaving;
  }

  /** The replaced server ends before the new one starts: two processes may need the same file, port or lock. */
  #supervise(definition: ServerDefinition, predecessor: Promise<void> | undefined): ServerSupervisor {
    const { tell, connect, ...options } = this.#options;
    const { id } = definition;
    const supervisor: ServerSupervisor = new ServerSupervisor(definition, {
      ...options,
      connect: async (wanted, settings) => {
        await predecessor;
        return connect(wanted, settings);
      },
      onState: (state) => {
        const current = this.#byId.get(id);
        // The end of a replaced supervisor says nothing about the running server.
        if (!current || current === supervisor) tell({ kind: "state", server: id, state });
      },
      onLists: (told = []) => tell({ kind: "lists", server: id, ...(told.length > 0 ? { told } : {}) }),
    });
    return supervisor;
  }
}
