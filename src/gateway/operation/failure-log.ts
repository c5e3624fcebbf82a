import { RecentMap } from "../../async/recent-map.ts";
import type { Logger } from "../../text/logger.ts";
import { asNexusError, type NexusError } from "../../errors/nexus-error.ts";
import { renderForPrograms } from "../../errors/render.ts";
import { newCorrelation } from "../../server/core/request-meta.ts";
import { isHeldBack } from "./caller-error.ts";

/** How long the same failure keeps its id, and is not logged again. */
const SAME_MS = 600_000;
const MAX_KNOWN = 256;
/** Further repetitions of a failure are logged for those who want every call. */
const MAX_REPEATS = 100;
/** Maximum number of lines of a program's output. */
const MAX_LINES = 10;
const MAX_LINE_LENGTH = 500;

interface FailedRequest {
  server?: string | undefined;
  method?: string | undefined;
  /** Of the caller's request; made where the gateway did something by itself. */
  correlationId?: string | undefined;
}

/**
 * Logs the details of failures that callers do not see, with an id that callers see. A repeated failure is logged in full
 * once; after that, one line says which entry has the details.
 */
export class FailureLog {
  readonly #logger: Logger;
  /** By kind of failure. */
  readonly #known = new RecentMap<string, { correlationId: string; at: number; repeats: number }>({ most: MAX_KNOWN });

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Adds the id of the log line to the error. An error that its caller sees in full is returned unchanged. */
  report(thrown: unknown, { correlationId, ...about }: FailedRequest = {}): NexusError {
    const error = asNexusError(thrown).with(about);
    const { correlationId: logged } = error.details;
    if (!isHeldBack(error) || (logged !== undefined && correlationId === undefined)) return error;
    return error.amended({ correlationId: this.#correlationOf(error, correlationId) });
  }

  /** Logs a failure of which callers are told nothing but the id that it returns. */
  withhold(error: NexusError): string {
    return this.#correlationOf(error);
  }

  #correlationOf(error: NexusError, given?: string): string {
    const key = JSON.stringify([error.details.server, error.code, error.message]);
    const known = this.#known.get(key);
    if (known && performance.now() - known.at < SAME_MS) {
      if (given === undefined || given === known.correlationId) return known.correlationId;
      const { server } = error.details;
      const level = ++known.repeats > MAX_REPEATS ? "info" : "warn";
      const facts = { correlationId: given, server, sameAs: known.correlationId };
      this.#logger[level](`${subjectOf(error)} failed again`, facts);
      return given;
    }
    const correlationId = given ?? newCorrelation().correlationId;
    this.#known.set(key, { correlationId, at: performance.now(), repeats: 0 });
    this.#write(error, correlationId);
    return correlationId;
  }

  #write(error: NexusError, correlationId: string): void {
    const { stderr } = error.details;
    const { message, ...facts } = renderForPrograms(error).error;
    const lines = stderr?.slice(-MAX_LINES).map((line) => line.slice(0, MAX_LINE_LENGTH));
    const { cause } = error;
    const stack = error.code === "INTERNAL" ? (cause instanceof Error ? cause.stack : error.stack) : undefined;
    this.#logger.warn(`${subjectOf(error)} failed: ${String(message)}`, {
      correlationId,
      ...facts,
      ...(lines ? { stderr: lines } : {}),
      ...(stack === undefined ? {} : { stack }),
    });
  }
}

/** The server and the method, as far as they are known. */
function subjectOf({ details: { server, method } }: NexusError): string {
  const what = [server === undefined ? "" : `"${server}"`, method ?? ""].filter((part) => part !== "").join(", ");
  return what === "" ? "a request" : what;
}
