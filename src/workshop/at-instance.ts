import { isLoopback } from "../text/loopback.ts";
import { strictest } from "../net/public-only.ts";
import type { CompiledApi } from "./compile/compile.ts";
import type { ToolFile } from "./file/model/tool-file.ts";
import { withFake } from "./open-published.ts";
import type { openRunner, RunnerContext } from "./open-runner.ts";
import type { ApiInstance } from "./publish/published.ts";
import { RequestRate } from "./run/request-rate.ts";
import type { ServedVersion } from "./serve/running-version.ts";

/** How a version is opened for an instance: with its upstream, settings and limits. */
export function atInstance(
  version: ServedVersion,
  { upstream, settings, limits, origin }: ApiInstance,
  given: RunnerContext,
): Parameters<typeof openRunner> {
  const isElsewhere = upstream !== undefined && upstream !== "fake" && !isOnThisMachine(upstream);
  const limited = withTimeout(version.api, limits?.timeoutMs);
  const api = isElsewhere ? rebased(limited, upstream) : limited;
  const served = upstream === "fake" ? { ...withFake(version), api } : { ...version, api };
  const isPublic = version.isForeign === true || (upstream !== undefined && origin === "network");
  const publicOnly = isPublic ? strictest(given.publicOnly, true) : given.publicOnly;
  const reach = { upstream: isElsewhere ? undefined : upstream, settings };
  return [served, reach, { ...given, publicOnly, isElsewhere }];
}

/** Requests per minute are counted for an instance, whichever version makes them. */
export class InstanceRates {
  #perMinute: number | undefined;
  #rate: RequestRate | undefined;

  of({ limits }: Pick<ApiInstance, "limits">): RequestRate | undefined {
    if (limits?.perMinute !== this.#perMinute) {
      this.#perMinute = limits?.perMinute;
      this.#rate = this.#perMinute === undefined ? undefined : new RequestRate(this.#perMinute);
    }
    return this.#rate;
  }
}

function isOnThisMachine(address: string): boolean {
  return URL.canParse(address) && isLoopback(new URL(address).hostname);
}

/** The same API at another address: what began with the old base begins with the new one. */
function rebased(api: CompiledApi, address: string): CompiledApi {
  const base = address.endsWith("/") ? address : `${address}/`;
  const { upstream } = api.file;
  const allow = upstream.allow.map((prefix) =>
    prefix.startsWith(upstream.base) ? base + prefix.slice(upstream.base.length) : prefix,
  );
  return withUpstream(api, { ...upstream, base, allow });
}

function withUpstream(api: CompiledApi, upstream: ToolFile["upstream"]): CompiledApi {
  return { ...api, file: { ...api.file, upstream } };
}

/** Limits of an instance can only be stricter. */
function withTimeout(api: CompiledApi, mostMs: number | undefined): CompiledApi {
  if (mostMs === undefined) return api;
  const tools = Object.entries(api.file.tools).map(([name, tool]) => {
    const timeoutMs = Math.min(tool.limits.timeoutMs, mostMs);
    return [name, { ...tool, limits: { ...tool.limits, timeoutMs } }] as const;
  });
  return { ...api, file: { ...api.file, tools: Object.fromEntries(tools) } };
}
