import type { ErrorCode, NexusError } from "../../errors/nexus-error.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import type { CalledTool, Exchange } from "../../server/core/core.ts";
import type { Recorder } from "../../server/core/receipt.ts";
import { isWritten, type Logger } from "../../text/logger.ts";
import type { View } from "../names/view.ts";
import { type AuditContent, type AuditRecord, type AuditTrail, type Outcome } from "../operation/audit.ts";
import type { Metrics } from "../operation/metrics.ts";
import type { RequestLabels } from "../requests/request.ts";
import { ANYBODY } from "../../server/core/principal.ts";

interface RecordsOptions {
  metrics: Metrics;
  audit: AuditTrail;
  logger: Logger;
  /** Whether a server lists a tool of this name, to anybody. */
  listsTool: (server: string, tool: string) => boolean;
}

/** A request that is recorded. */
export interface RecordedRequest extends Pick<
  Exchange<View>,
  | "endpoint"
  | "principal"
  | "method"
  | "params"
  | "correlationId"
  | "traceId"
  | "called"
  | "receipt"
  | "upstreamMs"
  | "retries"
> {
  caller: Pick<Exchange["caller"], "era" | "version" | "client">;
}

/** How it ended. */
export interface Ending {
  outcome: Outcome;
  failure: NexusError | undefined;
  startedAt: number;
  result: Result | undefined;
}

/** Counts what has ended, and writes its record and its line of the log. */
export class Records {
  readonly #options: RecordsOptions;
  readonly #accessLog: AccessLog;

  constructor(options: RecordsOptions) {
    this.#options = options;
    this.#accessLog = new AccessLog(options.logger);
  }

  /** Counts it. It is recorded when it is known how its answer leaves. */
  finish(request: RecordedRequest, { name, server, tool, isSearch }: RequestLabels, ending: Ending): Recorder {
    const { metrics, listsTool } = this.#options;
    const { outcome, failure, startedAt, result } = ending;
    const { principal, method, correlationId, traceId, called, receipt, endpoint } = request;
    const { client, era, version: revision } = request.caller;
    const durationMs = performance.now() - startedAt;
    metrics.called({ server, method, outcome, durationMs });
    if (server !== "") {
      const { upstreamMs, retries = 0 } = request;
      if (upstreamMs !== undefined) metrics.upstream(server, upstreamMs, retries);
      if (tool !== undefined) metrics.toolCalled({ server, tool, outcome, durationMs }, listsTool);
    }
    const errorCode = failure?.code;
    const isDenied = receipt?.isDenied === true || isRefusal(outcome, errorCode);
    const record: AuditRecord = {
      at: Date.now() - durationMs,
      correlationId,
      traceId,
      principal,
      client,
      era,
      revision,
      server,
      method,
      target: name,
      definitionHash: receipt?.definition,
      decision: isDenied ? "denied" : "allowed",
      outcome: isDenied && outcome === "error" ? "refused" : outcome,
      errorCode,
      durationMs,
      requestBytes: receipt?.requestBytes,
      responseBytes: undefined,
    };
    if (endpoint.kind === "set") record.set = endpoint.name;
    if (called) record[endpoint.search ? "via" : "through"] = called.through;
    const params = called ? calledParams(request.params, called) : request.params;
    if (this.#accessLog.writes[record.outcome]) this.#accessLog.write(record);
    const content = isSearch ? withoutWords({ params, result }) : { params, result };
    return { record: (bytes) => this.#record(record, content, bytes) };
  }

  /** A promise only where the answer has to wait for it. */
  #record(record: AuditRecord, content: AuditContent, bytes: number | undefined): Promise<void> | undefined {
    const { audit } = this.#options;
    record.responseBytes = bytes;
    try {
      const written = audit.record(record, content);
      if (!written) return undefined;
      // What was refused because nothing can be recorded is not held up by its own record.
      if (audit.isClosed && record.errorCode !== "STORE_UNAVAILABLE") return written;
      written.catch(this.#onAuditError);
    } catch (error) {
      this.#onAuditError(error);
    }
    return undefined;
  }

  /** The call has been made, and its caller gets the result. */
  readonly #onAuditError = (error: unknown) => {
    this.#options.logger.error("a call could not be recorded in the audit log", { error });
  };
}

/** Errors by which the gateway itself refuses. */
const REFUSALS: ReadonlySet<ErrorCode | undefined> = new Set<ErrorCode>([
  "NAME_UNKNOWN",
  "DENIED",
  "DEFINITION_CHANGED",
  "UNTRUSTED",
  "RATE_LIMITED",
]);

/** Whether a call counts as refused, by how it ended. */
function isRefusal(outcome: Outcome, errorCode: ErrorCode | undefined): boolean {
  return outcome === "refused" || (outcome === "error" && REFUSALS.has(errorCode));
}

/** What somebody searches for is not recorded. */
function withoutWords({ params: { arguments: _arguments, ...params }, result }: AuditContent): AuditContent {
  return { params, result: result && { resultType: "complete" } };
}

/** As if the tool had been called directly. */
function calledParams({ arguments: _arguments, ...params }: Params, called: CalledTool): Params {
  const { name, arguments: args } = called;
  return { ...params, name, ...(args === undefined ? {} : { arguments: args }) };
}

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
  /** The outcomes that are written: with most settings not those of calls that did what they should. */
  readonly writes: Readonly<Record<Outcome, boolean>>;
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
    const written = Object.entries(LEVELS).map(([outcome, level]) => [outcome, isWritten(logger, level)]);
    this.writes = Object.fromEntries(written) as Record<Outcome, boolean>;
  }

  write(record: AuditRecord): void {
    const level = LEVELS[record.outcome];
    if (!this.writes[record.outcome]) return;
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
