import type { Result } from "../../protocol/json-rpc.ts";
import type { Allowance, RunningCall } from "../operation/allowance.ts";
import type { GatewayRequest, Next, Stage } from "../requests/request.ts";

interface QuotaOptions {
  allowance?: Allowance | undefined;
}

/** How many calls of a principal run at once. How many come in a time is counted before anything is done for them. */
export function quota({ allowance }: QuotaOptions): Stage[] {
  if (!allowance) return [];
  return [
    (request, next) => {
      const running = allowance.enter(request.exchange.principal);
      // Most keys have no such limit: then this is nothing to wait for.
      return running ? whileCounted(running, request, next) : next(request);
    },
  ];
}

async function whileCounted(running: RunningCall, request: GatewayRequest, next: Next): Promise<Result> {
  try {
    return await next(request);
  } finally {
    running.leave();
  }
}
