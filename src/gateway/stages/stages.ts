import { chain, type Next } from "../requests/request.ts";
import { audit, type AuditStageOptions } from "./audit.ts";
import { decide, type DecideOptions } from "./decide.ts";
import { gate, type GateOptions } from "./gate.ts";
import { quota, type QuotaOptions } from "./quota.ts";
import { run, type RunStageOptions } from "./run.ts";
import { trace, type TraceOptions } from "./trace.ts";

/*
 * What happens to each request, in this order. A new stage is a file of this folder, and a line here; one that has nothing
 * to do in a gateway is left out of its chain.
 */

/** At an endpoint, which lasts as long as the gateway. `last`: the stages of the tenant's host. */
export function endpointStages(
  options: TraceOptions & AuditStageOptions & QuotaOptions & GateOptions,
  last: Next,
): Next {
  return chain([...trace(options), audit(options), ...quota(options), gate(options)], last);
}

/** Behind the limits, for as long as a host is open. */
export function hostStages(options: DecideOptions & RunStageOptions): Next {
  return chain([decide(options)], run(options));
}
