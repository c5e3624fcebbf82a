import type { Client } from "../../client/client.ts";
import type { Logger } from "../../text/logger.ts";
import { asNexusError, messageOf } from "../../errors/nexus-error.ts";
import { isLoudEnough, type LogLevel } from "../../protocol/mcp.ts";

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
