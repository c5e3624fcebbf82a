import type { Result } from "../../protocol/json-rpc.ts";
import { LATEST } from "../../protocol/revisions.ts";
import type { Core } from "../exchange.ts";
import { principalKey, type Principal } from "../principal.ts";

/** More pages than any list has: a server that never says "last" must not be read for ever. */
const MAX_PAGES = 1000;

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
  const tools: unknown[] = [];
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page++) {
    const result: Result = await core.handle({
      view: { kind: "one", server },
      principal,
      method: "tools/list",
      params: cursor === undefined ? {} : { cursor },
      caller,
      signal,
    });
    if (Array.isArray(result["tools"])) for (const tool of result["tools"] as unknown[]) tools.push(tool);
    cursor = result["nextCursor"];
    if (cursor === undefined) break;
  }
  return { server, tools };
}
