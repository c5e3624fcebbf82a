import type { Client } from "../../client/client.ts";
import type { Logger } from "../../text/logger.ts";
import { asNexusError, messageOf } from "../../errors/nexus-error.ts";
import { isLoudEnough, type LogLevel } from "../../protocol/mcp.ts";

/** How long a call waits until its server knows which log messages are wanted. */
const PATIENCE_MS = 2_000;

/**
 * What legacy connections are told about the log messages that are wanted: the lowest level that any call on them
 * wanted so far, because they have one level for all. Calls hear what is at or above their own.
 */
export class LegacyLogLevels {
  readonly #told = new WeakMap<Client, { level: LogLevel; done: Promise<void> }>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Settles when the server knows. That it does not want to is no reason to fail a call. */
  async ensure(client: Client, level: LogLevel): Promise<void> {
    if (!client.serverCapabilities?.logging) return;
    const told = this.#told.get(client);
    if (told && isLoudEnough(level, told.level)) return told.done;
    const done = client.setLogLevel(level, { timeoutMs: PATIENCE_MS }).catch((error: unknown) => {
      // One that refuses, or does not answer, would do so again, and every call would wait for it.
      const { code } = asNexusError(error);
      if (code !== "SERVER_ERROR" && code !== "TIMEOUT") this.#told.delete(client);
      this.#logger.warn(`"${client.server}" rejected the log level ${level}: ${messageOf(error)}`);
    });
    this.#told.set(client, { level, done });
    return done;
  }
}
