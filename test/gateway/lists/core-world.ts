import { correlationOf } from "../../../src/server/core/request-meta.ts";
import { Calls } from "../../../src/gateway/calls/calls.ts";
import { GatewayCore, type GatewayCoreOptions } from "../../../src/gateway/gateway-core.ts";
import { Seal } from "../../../src/server/core/seal.ts";
import type { Caller } from "../../../src/server/core/core.ts";
import type { View } from "../../../src/gateway/names/view.ts";
import type { EndpointExchange } from "../../../src/gateway/requests/request.ts";
import { ANYBODY } from "../../../src/server/core/principal.ts";
import { Host, type HostOptions } from "../../../src/index.ts";
import type { Params } from "../../../src/protocol/json-rpc.ts";

const FAST = { firstMs: 20, longestMs: 100, settledMs: 60_000 };

/** A host and what stands behind the edges of a gateway, without edges. */
export interface CoreWorld extends AsyncDisposable {
  host: Host;
  core: GatewayCore;
}

export async function openCore(
  hostOptions: HostOptions,
  options: Partial<GatewayCoreOptions> = {},
): Promise<CoreWorld> {
  const host = await Host.open({ backoff: FAST, ...hostOptions });
  const seal = new Seal();
  const calls = new Calls({ host, seal });
  // A list is read however busy the machine is; tests of what is not read in time say so.
  const core = new GatewayCore({ host, calls, seal, waitMs: 60_000, ...options });
  return {
    host,
    core,
    async [Symbol.asyncDispose]() {
      await core.close();
      await calls.close();
      await host.close();
    },
  };
}

export const ALL: View = { kind: "all" };
export const one = (server: string): View => ({ kind: "one", server });

/** A request of a modern caller. */
export function exchangeOf(
  view: View,
  method: string,
  params: Params = {},
  caller: Partial<Caller> = {},
): EndpointExchange {
  return {
    endpoint: view,
    principal: ANYBODY,
    method,
    params,
    ...correlationOf(caller.trace, undefined),
    signal: new AbortController().signal,
    caller: {
      era: "modern",
      version: "2026-07-28",
      owner: "me",
      capabilities: {},
      logLevel: undefined,
      progressToken: undefined,
      client: undefined,
      trace: undefined,
      notify() {},
      ask: undefined,
      ...caller,
    },
  };
}
