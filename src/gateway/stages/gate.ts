import { principalKey } from "../../server/core/principal.ts";
import type { CallGate } from "../operation/call-gate.ts";
import type { Metrics } from "../operation/metrics.ts";
import type { Stage, EndpointExchange } from "../requests/request.ts";

interface GateOptions {
  gate: CallGate;
  metrics: Metrics;
}

/** How many calls run at once in the gateway: some wait, the rest are refused. */
export function gate({ gate: calls, metrics }: GateOptions): Stage {
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
