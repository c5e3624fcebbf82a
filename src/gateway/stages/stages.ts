import {
  chain,
  type Next,
  type Stage,
  labelsOf,
  type EndpointExchange,
  type GatewayRequest,
  type ResolvedRequest,
} from "../requests/request.ts";
import { audit } from "./audit.ts";
import { run } from "./run.ts";
import type { Allowance } from "../operation/allowance.ts";
import type { CallTracer } from "../operation/call-tracer.ts";
import type { CallGate } from "../operation/call-gate.ts";
import type { Metrics } from "../operation/metrics.ts";
import { principalKey } from "../../server/core/principal.ts";
import { unknownName } from "../../host/directory/unknown-name.ts";
import { SEARCHING_TOOLS } from "../../protocol/meta.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import type { NamedThing } from "../names/names.ts";
import type { GatewayResources } from "../operation/gateway-resources.ts";
import type { CalledTools } from "../requests/called-tools.ts";
import type { Selection } from "../requests/selection.ts";
import type { CallRunner } from "../calls/upstream-call.ts";

/*
 * What happens to each request, in this order. A new stage is a file of this folder, and a line here; one that has nothing
 * to do in a gateway is left out of its chain.
 */

/** What a stage needs. */
type Of<Stage extends (options: never) => unknown> = Parameters<Stage>[0];

/** At an endpoint, which lasts as long as the gateway. `last`: the stages of the tenant's host. */
export function endpointStages(
  options: Of<typeof trace> & Of<typeof audit> & Of<typeof quota> & Of<typeof gate>,
  last: Next,
): Next {
  return chain([...trace(options), audit(options), ...quota(options), gate(options)], last);
}

/** Behind the limits, for as long as a host is open. */
export function hostStages(options: Of<typeof decide> & Of<typeof run>): Next {
  return chain([decide(options)], run(options));
}

interface QuotaOptions {
  allowance?: Allowance | undefined;
}

/** How many calls of a principal run at once. How many come in a time is counted before anything is done for them. */
function quota({ allowance }: QuotaOptions): Stage[] {
  if (!allowance) return [];
  return [
    async (request, next) => {
      const running = allowance.enter(request.exchange.principal);
      try {
        return await next(request);
      } finally {
        running?.leave();
      }
    },
  ];
}

interface TraceOptions {
  /** Undefined where the program registers no SDK of OpenTelemetry. */
  tracing?: CallTracer | undefined;
}

/** A span for each request. */
function trace({ tracing }: TraceOptions): Stage[] {
  if (!tracing) return [];
  return [
    async (request, next) => {
      const span = tracing.begin(request.exchange, labelsOf(request.exchange, request).name);
      try {
        return await next(request);
      } finally {
        span.end(request.outcome, labelsOf(request.exchange, request).server, request.failure);
      }
    },
  ];
}

interface GateOptions {
  gate: CallGate;
  metrics: Metrics;
}

/** How many calls run at once in the gateway: some wait, the rest are refused. */
function gate({ gate: calls, metrics }: GateOptions): Stage {
  return async (request, next) => {
    const { exchange } = request;
    const share = calls.shareOf(principalKey(exchange.principal));
    if (!continuesCall(exchange)) calls.requireOpen();
    const cameAt = performance.now();
    if (!calls.tryEnter(share, cameAt)) {
      await calls.queue(share, exchange.signal);
      metrics.queued(performance.now() - cameAt);
    }
    request.hasBegun = true;
    try {
      if (exchange.failure !== undefined) throw exchange.failure;
      return await next(request);
    } finally {
      calls.leave(share);
    }
  };
}

/** Whether it belongs to a call that began earlier, which may go on while the gateway shuts down. */
function continuesCall({ method, params }: EndpointExchange): boolean {
  return method.startsWith("tasks/") || params["requestState"] !== undefined;
}

interface DecideOptions {
  calls: Pick<CallRunner, "findTask">;
  calledTools: CalledTools;
  /** Of the gateway itself. */
  resources: GatewayResources | undefined;
  /** What a request is for, where that could not be found out before. */
  resolve: (request: GatewayRequest) => ResolvedRequest;
}

/** Whether the caller may do it, decided once. What it may not do is answered as if it did not exist. */
function decide({ calls, calledTools, resources, resolve }: DecideOptions): Stage {
  const decideOne: Stage = (request, next) => {
    const { selection, target } = (request.resolved ??= resolve(request));
    const { exchange } = request;
    if (!selection) throw unknownName("set", exchange.endpoint.kind === "set" ? exchange.endpoint.name : "");
    switch (target.kind) {
      case "thing":
        return SEARCHING_TOOLS.includes(target.thing.name) && calledTools.concerns(target.thing)
          ? throughSearching(target.thing, request, selection, next)
          : selection.permits.use(request, target.thing, next);
      case "method":
        return selection.permits.useMethod(request, target.server, next);
      case "task":
        return follow(request, selection, next);
      case "own":
        request.resolved.target = target.otherwise;
        return resources?.read(exchange.principal, target.uri) ?? decideOne(request, next);
      case "nothing":
        throw target.problem();
      case "list":
        // Each item of it is decided by itself.
        return next(request);
    }
  };
  return decideOne;

  /** A call that names another tool is the call of that tool. */
  async function throughSearching(
    given: NamedThing,
    request: GatewayRequest,
    selection: Selection,
    next: Next,
  ): Promise<Result> {
    selection.permits.requireSeen(request, given);
    const thing = await calledTools.resolve(given, request, selection);
    return selection.permits.use(request, thing, next);
  }

  /** A hidden task is answered like an unknown id. */
  async function follow(request: GatewayRequest, selection: Selection, next: Next): Promise<Result> {
    const { exchange } = request;
    const { method, params, principal } = exchange;
    const task = calls.findTask(params["taskId"], principal);
    const isHidden = task && !(await selection.permits.mayFollow(task, principal));
    request.resolved = { selection, target: { kind: "task", server: task?.server } };
    const asked = isHidden ? { ...params, taskId: "" } : params;
    request.call = { server: "", method, params: asked, exchange };
    return next(request);
  }
}
