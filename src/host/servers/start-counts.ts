import type { ServerState } from "./server-state.ts";

export interface ServerStarts {
  /** Connections that were opened or tried, for all owners: of a program, as many processes. */
  starts: number;
  /** How often the host connected again after a connection was lost or a start had failed. */
  restarts: number;
}

const NONE: ServerStarts = { starts: 0, restarts: 0 };

/** Counts the starts of the servers of a host. */
export class StartCounts {
  readonly #counts = new Map<string, ServerStarts>();
  /** Servers that failed since they were last connected. */
  readonly #failed = new Set<string>();

  of(server: string): ServerStarts {
    return this.#counts.get(server) ?? NONE;
  }

  count(server: string): void {
    this.#entry(server).starts++;
  }

  /** The state of a server has changed. */
  look(server: string, state: ServerState["kind"] | undefined): void {
    if (state === "failed") this.#failed.add(server);
    else if (state === "starting" && this.#failed.delete(server)) this.#entry(server).restarts++;
  }

  #entry(server: string): ServerStarts {
    let counts = this.#counts.get(server);
    if (!counts) this.#counts.set(server, (counts = { ...NONE }));
    return counts;
  }
}
