import { chain, type Next } from "../requests/request.ts";
import { audit } from "./audit.ts";
import { decide } from "./decide.ts";
import { gate } from "./gate.ts";
import { quota } from "./quota.ts";
import { run } from "./run.ts";
import { trace } from "./trace.ts";

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
