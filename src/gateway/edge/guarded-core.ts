import type { Logger } from "../../text/logger.ts";
import type { Request, Result } from "../../protocol/json-rpc.ts";
import type { Implementation } from "../../protocol/mcp.ts";
import type { Admission, Core, Listening, ListenRequest, Offer, RequestOrigin } from "../../server/core/core.ts";
import { correlationOf } from "../../server/core/correlation.ts";
import { principalKey, type Principal } from "../../server/core/principal.ts";
import type { Allowance, RunningCall } from "../operation/allowance.ts";
import { AccessLog } from "../operation/access-log.ts";
import type { Audit, AuditRecord, Outcome } from "../operation/audit.ts";
import { inCallerWords } from "../operation/caller-error.ts";
import type { FailureLog } from "../operation/failure-log.ts";
import type { Metrics } from "../operation/metrics.ts";
import { EVERYTHING, viewKey, type GatewayExchange, type View, type Views } from "../names/view.ts";
import type { CallGate } from "./call-gate.ts";

export interface GuardedCoreOptions {
  views: Views;
  gate: CallGate;
  allowance?: Allowance | undefined;
  metrics: Metrics;
  audit: Audit;
  logger: Logger;
  failures: FailureLog;
}

/** What is recorded of a request. */
type Recorded = Pick<GatewayExchange, "principal" | "method" | "params" | "correlationId" | "traceId"> & {
  caller: Pick<GatewayExchange["caller"], "era" | "version" | "client">;
};

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
    const record = (refused: Admission | undefined) => {
      for (const { method, params = {} } of refused ? requests.slice(refused.admitted) : [])
        this.#record(
          { principal, method, params, caller, ...correlationOf(params["_meta"], caller.headers) },
          "refused",
          0,
        );
      return refused;
    };
    return admission instanceof Promise ? admission.then(record) : record(admission);
  }

  async offer(principal: Principal): Promise<Offer> {
    const { views, gate } = this.#options;
    gate.requireOpen();
    return views.offer(this.endpoint, principal).catch((error: unknown) => this.#fail(error, "initialize"));
  }

  serverInfo(): Implementation | undefined {
    return this.#options.views.serverInfo(this.endpoint);
  }

  async handle(exchange: GatewayExchange): Promise<Result> {
    const { views, gate, allowance } = this.#options;
    const startedAt = performance.now();
    let outcome: Outcome = "refused";
    let running: RunningCall | undefined;
    try {
      running = allowance?.enter(exchange.principal);
      const share = gate.shareOf(principalKey(exchange.principal));
      gate.requireOpen();
      if (!gate.tryEnter(share)) await gate.queue(share, exchange.signal);
      outcome = "error";
      try {
        if (exchange.failure !== undefined) throw exchange.failure;
        const result = await views.handle(exchange);
        outcome = outcomeOf(result);
        return result;
      } finally {
        gate.leave(share);
      }
    } catch (error) {
      if (exchange.signal.aborted) outcome = "cancelled";
      return this.#fail(error, exchange.method, exchange.correlationId);
    } finally {
      running?.leave();
      this.#record(exchange, outcome, performance.now() - startedAt);
    }
  }

  async listen(request: ListenRequest): Promise<Listening> {
    const { views, gate } = this.#options;
    gate.requireOpen();
    return views
      .listen({ ...request, view: this.endpoint })
      .catch((error: unknown) => this.#fail(error, "subscriptions/listen"));
  }

  /** What it throws comes back with the exchange, which is then recorded. */
  paramHeaders(principal: Principal, tool: string): ReturnType<Core["paramHeaders"]> {
    return this.#options.views.paramHeaders(this.endpoint, principal, tool);
  }

  release(owner: string): void {
    this.#options.views.release(owner);
  }

  #fail(error: unknown, method: string, correlationId?: string): never {
    const server = this.endpoint.kind === "one" ? this.endpoint.server : undefined;
    throw inCallerWords(this.#options.failures.report(error, { server, method, correlationId }));
  }

  #record(exchange: Recorded, outcome: Outcome, durationMs: number): void {
    const { metrics, audit } = this.#options;
    const { principal, method, correlationId, traceId } = exchange;
    const { client, era, version: revision } = exchange.caller;
    const target = this.#targetOf(exchange);
    const server = this.#serverOf(exchange, target);
    metrics.called({ server, method, outcome, durationMs });
    const at = Date.now() - durationMs;
    const record: AuditRecord = {
      at,
      correlationId,
      traceId,
      principal,
      client,
      era,
      revision,
      server,
      method,
      target,
      outcome,
      durationMs,
    };
    if (this.endpoint.kind === "set") record.set = this.endpoint.name;
    this.#accessLog.write(record);
    try {
      const written: unknown = audit(record);
      if (written instanceof Promise) written.catch(this.#onAuditError);
    } catch (error) {
      this.#onAuditError(error);
    }
  }

  /** The call has been made, and its caller gets the result. */
  readonly #onAuditError = (error: unknown) => {
    this.#options.logger.error("a call could not be recorded in the audit log", { error });
  };

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
  #targetOf({ method, params }: Recorded): string | undefined {
    const target = params["name"] ?? params["uri"] ?? params["taskId"];
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

function outcomeOf({ resultType, isError }: Result): Outcome {
  if (resultType === "input_required" || resultType === "task") return resultType;
  return isError === true ? "tool_error" : "ok";
}
