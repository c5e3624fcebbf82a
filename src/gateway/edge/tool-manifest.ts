import { readPages } from "../../client/conversation/lists.ts";
import { LATEST } from "../../protocol/revisions.ts";
import { newCorrelation } from "../../server/core/correlation.ts";
import { principalKey, type Principal } from "../../server/core/principal.ts";
import type { GuardedCore } from "./guarded-core.ts";

/** All tools of one server, as it describes them. */
export async function toolManifest(core: GuardedCore, principal: Principal, signal: AbortSignal): Promise<unknown[]> {
  const caller = {
    era: "modern",
    version: LATEST,
    owner: principalKey(principal),
    capabilities: {},
    logLevel: undefined,
    progressToken: undefined,
    client: undefined,
    trace: undefined,
    onBehalfOf: undefined,
    notify: () => {},
    ask: undefined,
  } as const;
  const { endpoint } = core;
  const method = "tools/list";
  const { correlationId, traceId } = newCorrelation();
  return readPages(method, "tools", (params = {}) =>
    core.handle({ endpoint, principal, method, params, caller, correlationId, traceId, signal }),
  );
}
