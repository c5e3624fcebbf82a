import type { IncomingHttpHeaders } from "node:http";
import type { Logger } from "../../text/logger.ts";
import type { Request, Result } from "../../protocol/json-rpc.ts";
import type { Implementation } from "../../protocol/mcp.ts";
import type { Admission, Core, Listening, ListenRequest, Offer, RequestOrigin } from "../../server/core/core.ts";
import { correlationOf } from "../../server/core/request-meta.ts";
import type { Principal } from "../../server/core/principal.ts";
import { Receipt } from "../../server/core/receipt.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { type Allowance, withCorrelation } from "../operation/allowance.ts";
import type { AuditTrail } from "../operation/audit.ts";
import type { CallGate } from "../operation/call-gate.ts";
import { inCallerWords } from "../operation/caller-error.ts";
import type { FailureLog } from "../operation/failure-log.ts";
import type { Metrics } from "../operation/metrics.ts";
import type { CallTracer } from "../operation/call-tracer.ts";
import { EVERYTHING, type View, viewKey } from "../names/view.ts";
import { type EndpointExchange, GatewayRequest, type Next, labelsOf } from "../requests/request.ts";
import type { Views } from "../requests/views.ts";
import { type Ending, type RecordedRequest, Records } from "../stages/records.ts";
import { endpointStages } from "../stages/stages.ts";

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

const LISTEN = "subscriptions/listen";

interface HiddenAttempt {
  /** As of HTTP: `POST /servers/bank/mcp`. */
  method: string;
  /** The server or set. */
  target: string;
  headers: IncomingHttpHeaders;
}

/** One endpoint of the gateway: its requests pass through the stages, and what it refuses before them is recorded as well. */
export class GuardedCore implements Core<View, GatewayRequest> {
  readonly endpoint: View;
  readonly name: string;
  readonly showsCorrelation = true;
  readonly #options: GuardedCoreOptions;
  readonly #records: Records;
  readonly #stages: Next;

  constructor(view: View, options: GuardedCoreOptions) {
    const { views, audit } = options;
    this.endpoint = view;
    this.name = viewKey(view);
    this.#options = options;
    const records = (this.#records = new Records({
      ...options,
      listsTool: (server, tool) => views.listsTool(server, tool),
    }));
    const report = this.#failure.bind(this);
    this.#stages = endpointStages({ ...options, audit, records, report }, ({ exchange }) => views.handle(exchange));
  }

  admit(
    principal: Principal,
    requests: readonly Request[],
    caller: RequestOrigin,
  ): Admission | undefined | Promise<Admission | undefined> {
    const admission = this.#options.allowance?.take(principal, requests.length);
    if (admission === undefined) return undefined;
    return admission instanceof Promise
      ? admission.then((refused) => refused && this.#recordRefused(principal, requests, { caller, refused }))
      : this.#recordRefused(principal, requests, { caller, refused: admission });
  }

  #recordRefused(
    principal: Principal,
    requests: readonly Request[],
    { caller, refused }: { caller: RequestOrigin; refused: Admission },
  ): Admission | undefined | Promise<Admission | undefined> {
    const { admitted, error } = refused;
    const startedAt = performance.now();
    const waiting: Promise<void>[] = [];
    // All of them get the same error, with the id of the first.
    let failure: NexusError | undefined;
    for (const { method, params = {} } of requests.slice(admitted)) {
      const { correlationId, traceId } = correlationOf(params["_meta"], caller.headers);
      failure ??= withCorrelation(error, correlationId);
      const asked = { principal, method, params, caller, correlationId, traceId, receipt: new Receipt(caller.headers) };
      const record = this.#finish(asked, { outcome: "refused", failure, startedAt, result: undefined });
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

  handle(exchange: EndpointExchange): Promise<Result> {
    const request = GatewayRequest.of(exchange);
    request.resolved ??= this.#options.views.resolve(exchange);
    return this.#stages(request);
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
      if (asked) await this.#finish({ ...asked, principal, method: LISTEN }, ending).record(undefined);
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
    await this.#finish(asked, { outcome: "refused", failure, startedAt, result: undefined }).record(undefined);
    return undefined;
  }

  /** What it throws comes back with the exchange, which is then recorded. */
  paramHeaders(_principal: Principal, _tool: string, exchange: EndpointExchange): ReturnType<Core["paramHeaders"]> {
    return this.#options.views.paramHeaders(exchange);
  }

  release(owner: string): void {
    this.#options.views.release(owner);
  }

  #failure(error: unknown, method: string, correlationId?: string): NexusError {
    const server = this.endpoint.kind === "one" ? this.endpoint.server : undefined;
    const reported = inCallerWords(this.#options.failures.report(error, { server, method, correlationId }));
    return correlationId === undefined ? reported : withCorrelation(reported, correlationId);
  }

  /** What went through no stages. */
  #finish(asked: Omit<RecordedRequest, "endpoint">, ending: Ending): ReturnType<Records["finish"]> {
    const request = { ...asked, endpoint: this.endpoint };
    return this.#records.finish(request, labelsOf(request, { resolved: this.#options.views.resolve(request) }), ending);
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
    if (view.kind === "all" && !view.search) return this.all;
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
