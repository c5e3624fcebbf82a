import { unknownName, unknownServer } from "../host/directory/unknown-name.ts";
import type { Definitions, PendingDefinition } from "../store/keep/definitions.ts";

/** What commands about changed definitions use: the definitions in a store, or those of a gateway elsewhere. */
export interface OperatedDefinitions extends Pick<Definitions, "names"> {
  /** Throws NAME_UNKNOWN for a server of which nothing is known. */
  requireServer(server: string): Promise<void>;
  /** What waits to be accepted; the definitions themselves may be missing. */
  pending(server?: string): Promise<PendingDefinition[]>;
  /** The same with the definitions. */
  read(pending: readonly PendingDefinition[]): Promise<PendingDefinition[]>;
  /** Returns the ids of those that were accepted: one that has changed again is not. */
  accept(pending: readonly PendingDefinition[]): Promise<string[]>;
}

/** The definitions of a tenant in a store. */
export class DefinitionOperations implements OperatedDefinitions {
  readonly #definitions: Definitions;

  constructor(definitions: Definitions) {
    this.#definitions = definitions;
  }

  async requireServer(server: string): Promise<void> {
    const servers = await this.#definitions.servers();
    if (servers.includes(server)) return;
    const none = "No definitions are known yet: a gateway keeps them while it runs.";
    throw servers.length === 0 ? unknownName("server", server, { server, hint: none }) : unknownServer(server, servers);
  }

  names(server: string): ReturnType<Definitions["names"]> {
    return this.#definitions.names(server);
  }

  pending(server?: string): Promise<PendingDefinition[]> {
    return this.#definitions.pending(server);
  }

  async read(pending: readonly PendingDefinition[]): Promise<PendingDefinition[]> {
    return [...pending];
  }

  accept(pending: readonly PendingDefinition[]): Promise<string[]> {
    return this.#definitions.accept(pending);
  }
}
