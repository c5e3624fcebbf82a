import { randomBytes } from "node:crypto";
import type { Logger } from "../../text/logger.ts";
import { asNexusError, type NexusError } from "../../errors/nexus-error.ts";
import { renderForPrograms } from "../../errors/render.ts";
import { isHeldBack } from "./caller-error.ts";

/** How long the same failure keeps its id, and is not logged again. */
const SAME_MS = 600_000;
const MAX_KNOWN = 256;
/** Maximum number of lines of a program's output. */
const MAX_LINES = 10;
const MAX_LINE_LENGTH = 500;

/**
 * Logs the details of failures that callers do not see, with an id that callers see. A repeated failure is logged once.
 */
export class FailureLog {
  readonly #logger: Logger;
  /** By kind of failure; the oldest first. */
  readonly #known = new Map<string, { correlationId: string; at: number }>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Adds the id of the log line to the error. An error that its caller sees in full is returned unchanged. */
  report(thrown: unknown, about: { server?: string | undefined; method?: string | undefined } = {}): NexusError {
    const error = asNexusError(thrown).with(about);
    if (!isHeldBack(error) || error.details.correlationId !== undefined) return error;
    return error.amended({ correlationId: this.#correlationOf(error) });
  }

  /** Logs a failure of which callers are told nothing but the id that it returns. */
  withhold(error: NexusError): string {
    return this.#correlationOf(error);
  }

  #correlationOf(error: NexusError): string {
    const key = JSON.stringify([error.details.server, error.code, error.message]);
    const known = this.#known.get(key);
    if (known && performance.now() - known.at < SAME_MS) return known.correlationId;
    const correlationId = randomBytes(8).toString("hex");
    this.#known.delete(key);
    this.#known.set(key, { correlationId, at: performance.now() });
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size > MAX_KNOWN) this.#known.delete(oldest);
    this.#write(error, correlationId);
    return correlationId;
  }

  #write(error: NexusError, correlationId: string): void {
    const { server, method, stderr } = error.details;
    const { message, ...facts } = renderForPrograms(error).error;
    const lines = stderr?.slice(-MAX_LINES).map((line) => line.slice(0, MAX_LINE_LENGTH));
    const { cause } = error;
    const stack = error.code === "INTERNAL" ? (cause instanceof Error ? cause.stack : error.stack) : undefined;
    const what = [server === undefined ? "" : `"${server}"`, method ?? ""].filter((part) => part !== "").join(", ");
    this.#logger.warn(`${what === "" ? "a request" : what} failed: ${String(message)}`, {
      correlationId,
      ...facts,
      ...(lines ? { stderr: lines } : {}),
      ...(stack === undefined ? {} : { stack }),
    });
  }
}
