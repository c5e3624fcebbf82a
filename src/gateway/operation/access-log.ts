import { ANYBODY } from "../../server/core/principal.ts";
import { isWritten, type Logger } from "../../text/logger.ts";
import type { AuditRecord, Outcome } from "./audit.ts";

/** Calls that did what they should are for those who want to see everything. */
const LEVELS: Record<Outcome, "debug" | "info"> = {
  ok: "debug",
  input_required: "debug",
  task: "debug",
  cancelled: "debug",
  tool_error: "info",
  error: "info",
  refused: "info",
};

/** Longer names are of no tool and no method that exists. Callers choose them, so they must not fill the log. */
const MAX_NAME = 128;

/**
 * One line for each call: who asked what of which server, and how it ended. It has no arguments and no results; addresses of
 * resources are left out, because they may contain both.
 */
export class AccessLog {
  readonly #logger: Logger;
  readonly #writes: Record<"debug" | "info", boolean>;

  constructor(logger: Logger) {
    this.#logger = logger;
    this.#writes = { debug: isWritten(logger, "debug"), info: isWritten(logger, "info") };
  }

  /** Called for every call, so it does nothing where nothing is written. */
  write(record: AuditRecord): void {
    const level = LEVELS[record.outcome];
    if (!this.#writes[level]) return;
    const { correlationId, traceId, principal, server, outcome, target, errorCode: code } = record;
    const method = record.method.slice(0, MAX_NAME);
    const name = isName(method) && server !== "" ? target?.slice(0, MAX_NAME) : undefined;
    this.#logger[level](`${method}${name === undefined ? "" : ` ${name}`}: ${outcome}`, {
      correlationId,
      ...(traceId === correlationId ? {} : { traceId }),
      tenant: principal.tenant,
      ...(principal.id === ANYBODY.id ? {} : { keyId: principal.id }),
      ...(server === "" ? {} : { server }),
      method,
      ...(name === undefined ? {} : { target: name }),
      outcome,
      ...(code === undefined ? {} : { code }),
      durationMs: Math.round(record.durationMs * 10) / 10,
    });
  }
}

function isName(method: string): boolean {
  return method === "tools/call" || method === "prompts/get";
}
