import { readPages } from "../../client/conversation/lists.ts";
import { LATEST } from "../../protocol/revisions.ts";
import type { Core } from "../exchange.ts";
import { principalKey, type Principal } from "../principal.ts";

/** All tools of one server, as it describes them. */
export async function toolManifest(r: {
  core: Core;
  principal: Principal;
  server: string;
  signal: AbortSignal;
}): Promise<{ server: string; tools: unknown[] }> {
  const { core, principal, server, signal } = r;
  const caller = {
    era: "modern",
    version: LATEST,
    owner: principalKey(principal),
    capabilities: {},
    logLevel: undefined,
    progressToken: undefined,
    trace: undefined,
    notify: () => {},
    ask: undefined,
  } as const;
  const method = "tools/list";
  const tools = await readPages(method, "tools", (params = {}) =>
    core.handle({ view: { kind: "one", server }, principal, method, params, caller, signal }),
  );
  return { server, tools };
}
