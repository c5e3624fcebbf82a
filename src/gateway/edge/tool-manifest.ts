import type { IncomingHttpHeaders } from "node:http";
import { readPages } from "../../client/conversation/lists.ts";
import { LATEST } from "../../protocol/revisions.ts";
import { correlationOf } from "../../server/core/request-meta.ts";
import { type Principal, principalKey } from "../../server/core/principal.ts";
import type { GuardedCore } from "./guarded-core.ts";

interface ManifestReader {
  principal: Principal;
  headers: IncomingHttpHeaders;
  signal: AbortSignal;
}

const METHOD = "tools/list";

/** All tools of one server, as it describes them. It counts as one request: throws RATE_LIMITED. */
export async function toolManifest(core: GuardedCore, reader: ManifestReader): Promise<unknown[]> {
  const { principal, headers, signal } = reader;
  const origin = { era: "modern", version: LATEST, client: undefined, headers } as const;
  const refused = await core.admit(principal, [{ jsonrpc: "2.0", id: 0, method: METHOD }], origin);
  if (refused) throw refused.error;
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
  const { correlationId, traceId } = correlationOf(undefined, headers);
  return readPages(METHOD, "tools", (params = {}) =>
    core.handle({ endpoint, principal, method: METHOD, params, caller, correlationId, traceId, signal }),
  );
}
