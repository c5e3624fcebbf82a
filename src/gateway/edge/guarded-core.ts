import type { Logger } from "../../text/logger.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import type { Implementation } from "../../protocol/mcp.ts";
import type { Audit, Outcome } from "../audit.ts";
import type { Core, Exchange, Listening, ListenRequest, Offer, View } from "../exchange.ts";
import type { FailureLog } from "../failure-log.ts";
import type { Metrics } from "../metrics.ts";
import { principalKey, type Principal } from "../principal.ts";
import type { CallGate } from "./call-gate.ts";

export interface GuardedCoreOptions {
  core: Core;
  gate: CallGate;
  metrics: Metrics;
  audit: Audit;
  logger: Logger;
  failures: FailureLog;
}

/**
 * What all edges have in common: each call passes the gate, is counted, and leaves one record; of a failure, what its
 * caller is not told is logged.
 */
export class GuardedCore implements Core {
  readonly #options: GuardedCoreOptions;

  constructor(options: GuardedCoreOptions) {
    this.#options = options;
  }

  sees(principal: Principal, server: string): boolean {
    return this.#options.core.sees(principal, server);
  }

  serverOfPrefix(prefix: string): string | undefined {
    return this.#options.core.serverOfPrefix(prefix);
  }

  async offer(view: View, principal: Principal): Promise<Offer> {
    const { core, gate } = this.#options;
    gate.requireOpen();
    return core.offer(view, principal).catch((error: unknown) => this.#fail(error, view, "initialize"));
  }

  serverInfo(view: View): Implementation | undefined {
    return this.#options.core.serverInfo(view);
  }

  async handle(exchange: Exchange): Promise<Result> {
    const { core, gate } = this.#options;
    const startedAt = performance.now();
    let outcome: Outcome = "refused";
    try {
      const share = gate.shareOf(principalKey(exchange.principal));
      const turn = gate.enter(share, exchange.signal);
      if (turn) await turn;
      outcome = "error";
      try {
        const result = await core.handle(exchange);
        outcome = outcomeOf(result);
        return result;
      } finally {
        gate.leave(share);
      }
    } catch (error) {
      if (exchange.signal.aborted) outcome = "cancelled";
      return this.#fail(error, exchange.view, exchange.method);
    } finally {
      this.#record(exchange, outcome, performance.now() - startedAt);
    }
  }

  async listen(request: ListenRequest): Promise<Listening> {
    const { core, gate } = this.#options;
    gate.requireOpen();
    return core.listen(request).catch((error: unknown) => this.#fail(error, request.view, "subscriptions/listen"));
  }

  paramHeaders(view: View, principal: Principal, tool: string): ReturnType<Core["paramHeaders"]> {
    const headers = this.#options.core.paramHeaders(view, principal, tool);
    return headers instanceof Promise
      ? headers.catch((error: unknown) => this.#fail(error, view, "tools/call"))
      : headers;
  }

  release(owner: string): void {
    this.#options.core.release(owner);
  }

  #fail(error: unknown, view: View, method: string): never {
    throw this.#options.failures.report(error, { server: view.kind === "one" ? view.server : undefined, method });
  }

  #record(exchange: Exchange, outcome: Outcome, durationMs: number): void {
    const { metrics, audit } = this.#options;
    const { principal, method, caller } = exchange;
    const target = targetOf(exchange);
    const server = this.#serverOf(exchange, target);
    metrics.called({ server, method, outcome, durationMs });
    const at = Date.now() - durationMs;
    const record = { at, principal, era: caller.era, server, method, target, outcome, durationMs };
    try {
      const written: unknown = audit(record);
      if (written instanceof Promise) written.catch(this.#onAuditError);
    } catch (error) {
      this.#onAuditError(error);
    }
  }

  /** The call was made all the same, and its caller gets what came of it. */
  readonly #onAuditError = (error: unknown) => {
    this.#options.logger.error("a call could not be recorded: audit failed", { error });
  };

  /** Only servers that the caller may know of: it chooses names, and must neither choose what is counted nor learn from it. */
  #serverOf({ view, method, principal }: Exchange, target: string | undefined): string {
    if (view.kind === "one") return view.server;
    const isUri = method === "resources/read";
    const end = target?.indexOf(isUri ? "+" : "__") ?? -1;
    const prefix = target === undefined || end < 1 ? "" : target.slice(0, end);
    const server = isUri ? prefix : (this.serverOfPrefix(prefix) ?? "");
    return server !== "" && this.sees(principal, server) ? server : "";
  }
}

function targetOf({ params }: Exchange): string | undefined {
  const target = params["name"] ?? params["uri"] ?? params["taskId"];
  return typeof target === "string" ? target : undefined;
}

function outcomeOf({ resultType, isError }: Result): Outcome {
  if (resultType === "input_required" || resultType === "task") return resultType;
  return isError === true ? "tool_error" : "ok";
}
