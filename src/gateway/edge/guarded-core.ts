import type { IncomingHttpHeaders } from "node:http";
import type { Logger } from "../../text/logger.ts";
import type { Params, Request, Result } from "../../protocol/json-rpc.ts";
import type { Implementation } from "../../protocol/mcp.ts";
import type {
  Admission,
  CalledTool,
  Core,
  Listening,
  ListenRequest,
  Offer,
  RequestOrigin,
} from "../../server/core/core.ts";
import { correlationOf } from "../../server/core/correlation.ts";
import { principalKey, type Principal } from "../../server/core/principal.ts";
import { Receipt } from "../../server/core/receipt.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { withCorrelation, type Allowance, type RunningCall } from "../operation/allowance.ts";
import { AccessLog } from "../operation/access-log.ts";
import { isRefusal, type AuditRecord, type AuditTrail, type Outcome } from "../operation/audit.ts";
import { inCallerWords } from "../operation/caller-error.ts";
import type { FailureLog } from "../operation/failure-log.ts";
import type { Metrics } from "../operation/metrics.ts";
import type { CallTracer } from "../operation/call-tracer.ts";
import { EVERYTHING, viewKey, type GatewayExchange, type View, type Views } from "../names/view.ts";
import type { CallGate } from "./call-gate.ts";
import { FinishedCall } from "./finished-call.ts";

export interface GuardedCoreOptions {
  views: Views;
  gate: CallGate;
  allowance?: Allowance | undefined;
  metrics: Metrics;
  tracing?: CallTracer | undefined;
  audit: AuditTrail;
  logger: Logger;
  failures: FailureLog;
}

/** What is recorded of a request. */
type Recorded = Pick<
  GatewayExchange,
  "principal" | "method" | "params" | "correlationId" | "traceId" | "called" | "receipt" | "upstreamMs" | "retries"
> & {
  caller: Pick<GatewayExchange["caller"], "era" | "version" | "client">;
};

const LISTEN = "subscriptions/listen";

interface HiddenAttempt {
  /** As of HTTP: `POST /servers/bank/mcp`. */
  method: string;
  /** The server or set. */
  target: string;
  headers: IncomingHttpHeaders;
}

/** How it ended. */
interface Ending {
  outcome: Outcome;
  failure: NexusError | undefined;
  startedAt: number;
  result: Result | undefined;
}

/** One endpoint of the gateway: limits, counts and audits each call, and logs the parts of errors that callers do not see. */
export class GuardedCore implements Core<View> {
  readonly endpoint: View;
  readonly name: string;
  readonly showsCorrelation = true;
  readonly #options: GuardedCoreOptions;
  readonly #accessLog: AccessLog;

  constructor(view: View, options: GuardedCoreOptions) {
    this.#accessLog = new AccessLog(options.logger);
    this.endpoint = view;
    this.name = viewKey(view);
    this.#options = options;
  }

  admit(
    principal: Principal,
    requests: readonly Request[],
    caller: RequestOrigin,
  ): Admission | undefined | Promise<Admission | undefined> {
    const admission = this.#options.allowance?.take(principal, requests.length);
    if (admission === undefined) return undefined;
    return admission instanceof Promise
      ? admission.then((refused) => this.#recordRefused(principal, requests, { caller, refused }))
      : this.#recordRefused(principal, requests, { caller, refused: admission });
  }

  #recordRefused(
    principal: Principal,
    requests: readonly Request[],
    { caller, refused }: { caller: RequestOrigin; refused: Admission | undefined },
  ): Admission | undefined | Promise<Admission | undefined> {
    if (!refused) return undefined;
    const { admitted, error } = refused;
    const startedAt = performance.now();
    const waiting: Promise<void>[] = [];
    // All of them get the same error, with the id of the first.
    let failure: NexusError | undefined;
    for (const { method, params = {} } of requests.slice(admitted)) {
      const { correlationId, traceId } = correlationOf(params["_meta"], caller.headers);
      failure ??= withCorrelation(error, correlationId);
      const asked = { principal, method, params, caller, correlationId, traceId, receipt: new Receipt(caller.headers) };
      const record = this.#finished(asked, { outcome: "refused", failure, startedAt, result: undefined });
      const written = record.record(undefined);
      if (written) waiting.push(written);
    }
    const told = { admitted, error: failure ?? error };
    return waiting.length === 0 ? told : Promise.all(waiting).then(() => told);
  }

  async offer(principal: Principal): Promise<Offer> {
    const { views, gate } = this.#options;
    gate.requireOpen();
    return views.offer(this.endpoint, principal).catch((error: unknown) => {
      throw this.#failure(error, "initialize");
    });
  }

  serverInfo(): Implementation | undefined {
    return this.#options.views.serverInfo(this.endpoint);
  }

  async handle(exchange: GatewayExchange): Promise<Result> {
    const { views, gate, allowance, audit, metrics, tracing } = this.#options;
    const startedAt = performance.now();
    let outcome: Outcome = "refused";
    let running: RunningCall | undefined;
    let failure: NexusError | undefined;
    let answered: Result | undefined;
    const span = tracing?.begin(exchange, this.#targetOf(exchange));
    try {
      audit.requireReady();
      running = allowance?.enter(exchange.principal);
      const share = gate.shareOf(principalKey(exchange.principal));
      if (!continuesCall(exchange)) gate.requireOpen();
      if (!gate.tryEnter(share, startedAt)) {
        await gate.queue(share, exchange.signal);
        metrics.queued(performance.now() - startedAt);
      }
      outcome = "error";
      try {
        if (exchange.failure !== undefined) throw exchange.failure;
        answered = await views.handle(exchange);
        outcome = outcomeOf(answered);
        return answered;
      } finally {
        gate.leave(share);
      }
    } catch (error) {
      if (exchange.signal.aborted) outcome = "cancelled";
      failure = this.#failure(error, exchange.method, exchange.correlationId);
      throw failure;
    } finally {
      running?.leave();
      span?.end(outcome, this.#serverOf(exchange, this.#targetOf(exchange)), failure);
      const record = this.#finished(exchange, { outcome, failure, startedAt, result: answered });
      const { receipt } = exchange;
      if (receipt) receipt.recorder = record;
      else {
        const written = record.record(undefined);
        if (written) await written;
      }
    }
  }

  async listen(request: ListenRequest): Promise<Listening> {
    const { asked, principal } = request;
    const startedAt = performance.now();
    const listening = await this.#beginListening(request).catch((error: unknown) =>
      this.#failure(error, LISTEN, asked?.correlationId),
    );
    const failure = listening instanceof NexusError ? listening : undefined;
    const ending: Ending = { outcome: failure ? "error" : "ok", failure, startedAt, result: undefined };
    try {
      // It is recorded when it begins: it may last for days.
      if (asked) await this.#finished({ ...asked, principal, method: LISTEN }, ending).record(undefined);
    } catch (error) {
      if (!(listening instanceof NexusError)) await listening.close();
      throw error;
    }
    if (listening instanceof NexusError) throw listening;
    return listening;
  }

  async #beginListening(request: ListenRequest): Promise<Listening> {
    const { views, gate, audit } = this.#options;
    audit.requireReady();
    gate.requireOpen();
    return views.listen({ ...request, view: this.endpoint });
  }

  /** Counts and records an attempt to use a server or set that the principal may not know of. Returns why it is over a limit. */
  async recordHidden(principal: Principal, attempt: HiddenAttempt): Promise<NexusError | undefined> {
    const { method, target, headers } = attempt;
    const caller = { era: "modern", version: "", client: undefined, headers } as const;
    const params = { name: target };
    const refused = await this.admit(principal, [{ jsonrpc: "2.0", id: 0, method, params }], caller);
    if (refused) return refused.error;
    const { correlationId, traceId } = correlationOf(undefined, headers);
    const asked = { principal, method, params, caller, correlationId, traceId };
    const failure = new NexusError("NAME_UNKNOWN", "There is no such endpoint");
    const startedAt = performance.now();
    await this.#finished(asked, { outcome: "refused", failure, startedAt, result: undefined }).record(undefined);
    return undefined;
  }

  /** What it throws comes back with the exchange, which is then recorded. */
  paramHeaders(principal: Principal, tool: string): ReturnType<Core["paramHeaders"]> {
    return this.#options.views.paramHeaders(this.endpoint, principal, tool);
  }

  release(owner: string): void {
    this.#options.views.release(owner);
  }

  #failure(error: unknown, method: string, correlationId?: string): NexusError {
    const server = this.endpoint.kind === "one" ? this.endpoint.server : undefined;
    const reported = inCallerWords(this.#options.failures.report(error, { server, method, correlationId }));
    return correlationId === undefined ? reported : withCorrelation(reported, correlationId);
  }

  /** Counts what has ended. It is recorded when it is known how its answer leaves. */
  #finished(exchange: Recorded, { outcome, failure, startedAt, result }: Ending): FinishedCall {
    const { metrics, audit } = this.#options;
    const { principal, method, correlationId, traceId, called, receipt } = exchange;
    const { client, era, version: revision } = exchange.caller;
    const durationMs = performance.now() - startedAt;
    const target = this.#targetOf(exchange);
    const server = this.#serverOf(exchange, target);
    metrics.called({ server, method, outcome, durationMs });
    if (server !== "") {
      const { upstreamMs, retries = 0 } = exchange;
      if (upstreamMs !== undefined) metrics.upstream(server, upstreamMs, retries);
      if (method === "tools/call" && target !== undefined) {
        metrics.toolCalled({ server, tool: this.#ownName(target), outcome, durationMs }, this.#isListed);
      }
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
      target,
      definitionHash: receipt?.definition,
      decision: isDenied ? "denied" : "allowed",
      outcome: isDenied && outcome === "error" ? "refused" : outcome,
      errorCode,
      durationMs,
      requestBytes: receipt?.requestBytes,
      responseBytes: undefined,
    };
    if (this.endpoint.kind === "set") record.set = this.endpoint.name;
    if (called) record.through = called.through;
    const params = called ? calledParams(exchange.params, called) : exchange.params;
    this.#accessLog.write(record);
    return new FinishedCall(audit, { record, content: { params, result }, onError: this.#onAuditError });
  }

  /** The call has been made, and its caller gets the result. */
  readonly #onAuditError = (error: unknown) => {
    this.#options.logger.error("a call could not be recorded in the audit log", { error });
  };

  readonly #isListed = (server: string, tool: string) => this.#options.views.listsTool(server, tool);

  /** The tool's name at its server. */
  #ownName(target: string): string {
    return this.endpoint.kind === "one" ? target : target.slice(target.indexOf("__") + 2);
  }

  /** Empty for a server that the caller may not see: callers must not create metrics, or learn from them, by guessing names. */
  #serverOf({ method, principal }: Recorded, target: string | undefined): string {
    if (this.endpoint.kind === "one") return this.endpoint.server;
    const { views } = this.#options;
    const isUri = method === "resources/read";
    const end = target?.indexOf(isUri ? "+" : "__") ?? -1;
    const prefix = target === undefined || end < 1 ? "" : target.slice(0, end);
    const server = isUri ? prefix : (views.serverOfPrefix(prefix) ?? "");
    return server !== "" && views.sees(principal, server, this.endpoint) ? server : "";
  }

  /** What has a name of its own in a set is recorded under its full name. */
  #targetOf({ method, params, called }: Recorded): string | undefined {
    const target = called?.name ?? params["name"] ?? params["uri"] ?? params["taskId"];
    if (typeof target !== "string") return undefined;
    if (this.endpoint.kind !== "set") return target;
    const kind = method === "prompts/get" ? "prompt" : "tool";
    return this.#options.views.findFullName(this.endpoint, kind, target) ?? target;
  }
}

/** The endpoints of a gateway: one for all servers, one for each server alone, and one for each set. */
export class Endpoints {
  readonly all: GuardedCore;
  readonly #options: GuardedCoreOptions;
  readonly #others = new Map<string, GuardedCore>();

  constructor(options: GuardedCoreOptions) {
    this.#options = options;
    this.all = new GuardedCore(EVERYTHING, options);
  }

  /** For a server or set that exists. */
  of(view: View): GuardedCore {
    if (view.kind === "all") return this.all;
    const key = viewKey(view);
    const known = this.#others.get(key);
    if (known) return known;
    const other = new GuardedCore(view, this.#options);
    this.#others.set(key, other);
    return other;
  }

  /** The endpoints of sets for which this is true; they are forgotten. */
  takeSets(isMeant: (name: string) => boolean): GuardedCore[] {
    const taken = [...this.#others.values()].filter(({ endpoint: view }) => view.kind === "set" && isMeant(view.name));
    for (const { name } of taken) this.#others.delete(name);
    return taken;
  }

  reaches(principal: Principal, view: View): boolean {
    return this.#options.views.reaches(principal, view);
  }

  sees(principal: Principal, server: string): boolean {
    return this.#options.views.sees(principal, server);
  }
}

/** Whether it belongs to a call that began earlier, which may go on while the gateway shuts down. */
function continuesCall({ method, params }: GatewayExchange): boolean {
  return method.startsWith("tasks/") || params["requestState"] !== undefined;
}

/** As if the tool had been called directly. */
function calledParams({ arguments: _arguments, ...params }: Params, called: CalledTool): Params {
  const { name, arguments: args } = called;
  return { ...params, name, ...(args === undefined ? {} : { arguments: args }) };
}

function outcomeOf({ resultType, isError }: Result): Outcome {
  if (resultType === "input_required" || resultType === "task") return resultType;
  return isError === true ? "tool_error" : "ok";
}
