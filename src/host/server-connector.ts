import { join } from "node:path";
import type { Client } from "../client/client.ts";
import { connectEntry, type ConnectOptions } from "../client/connect-entry.ts";
import type { Logger } from "../client/logger.ts";
import type { ServerDefinition } from "../config/server-definition.ts";
import { NexusError } from "../errors/nexus-error.ts";
import type { Surroundings } from "../transport/surroundings.ts";
import { ChildLedger } from "./child-ledger.ts";
import { eraKey, type EraCache } from "./era-cache.ts";
import { ServerLog } from "./server-log.ts";
import { StartGate } from "./start-gate.ts";

export interface ConnectorOptions {
  surroundings: Surroundings;
  stateFolder: string;
  eras: EraCache;
  /** Servers that start at the same time. */
  atOnce: number;
  logger: Logger;
}

/** Opens connections for a host: so many at a time, with what is remembered of a server, and written down. */
export class ServerConnector {
  readonly #options: ConnectorOptions;
  readonly #gate: StartGate;
  readonly #ledger: ChildLedger;

  constructor(options: ConnectorOptions) {
    this.#options = options;
    this.#gate = new StartGate(options.atOnce);
    this.#ledger = new ChildLedger(join(options.stateFolder, "children"), options.surroundings.platform);
  }

  /** Ends what hosts that were killed left running. */
  sweep(): Promise<void> {
    return this.#ledger.sweep();
  }

  /** With the era as remembered; where that is no longer true, without. */
  async connect(definition: ServerDefinition, options: ConnectOptions): Promise<Client> {
    const { id, entry } = definition;
    if (!entry)
      throw definition.problem ?? new NexusError("CONFIG_INVALID", `Server "${id}" has no entry`, { server: id });
    const key = eraKey(entry);
    const remembered = await this.#options.eras.find(key);
    const log = new ServerLog(join(this.#options.stateFolder, "logs", `${id}.log`));
    const settings: ConnectOptions = {
      ...options,
      server: id,
      logger: options.logger ?? this.#options.logger,
      onStderr: (text) => {
        log.write(text);
        options.onStderr?.(text);
      },
      onSpawn: (child) => {
        const { pid, closed } = child;
        const added = this.#ledger.add(pid);
        void closed.then(() => added).then(() => this.#ledger.remove(pid));
        options.onSpawn?.(child);
      },
    };
    const open = (era: typeof remembered) =>
      this.#gate.through(() => connectEntry(entry, this.#options.surroundings, { ...settings, era }));
    try {
      const client = await open(remembered).catch((error: unknown) => {
        if (!remembered || !isEraMistake(error)) throw error;
        return open(undefined);
      });
      await this.#options.eras.remember(key, client.verdict.remember ?? remembered);
      // A command may have become another one since it was started, as scripts that `exec` do.
      if (client.pid !== undefined) await this.#ledger.add(client.pid);
      return client;
    } catch (error) {
      throw error instanceof NexusError ? error.with({ source: definition.origin }) : error;
    }
  }
}

/** A server that answered, but not in the era that was remembered. */
function isEraMistake(error: unknown): boolean {
  return (
    error instanceof NexusError &&
    ["SERVER_ERROR", "VERSION_UNSUPPORTED", "PROTOCOL_VIOLATION", "HTTP_STATUS"].includes(error.code)
  );
}
