import { publicOnlyWith, strictest } from "../net/public-only.ts";
import type { CompiledApi } from "./compile/compile.ts";
import { withFake } from "./open-published.ts";
import type { openRunner, RunnerContext } from "./open-runner.ts";
import { atAddresses, isElsewhere, notReplaced, unreplacedAddresses } from "./publish/instance-addresses.ts";
import type { ApiInstance } from "./publish/published.ts";
import { RequestRate } from "./run/request-rate.ts";
import type { ServedVersion } from "./serve/running-version.ts";

const PUBLISHED_REMOTELY =
  "It was published over the network, so it reaches public addresses only. The operator of the gateway can publish it on its machine: nexus api publish";

/** How a version is opened for an instance: with its upstream, settings and limits. */
export function atInstance(
  version: ServedVersion,
  instance: ApiInstance,
  given: RunnerContext,
): Parameters<typeof openRunner> {
  const { upstream, settings, limits, origin } = instance;
  const isAway = isElsewhere(upstream);
  const left = unreplacedAddresses(version.api.file, instance);
  if (left.length > 0) throw notReplaced("CONFIG_INVALID", instance, left);
  const limited = withTimeout(version.api, limits?.timeoutMs);
  const api = isAway ? { ...limited, file: atAddresses(limited.file, instance) } : limited;
  const served = upstream === "fake" ? { ...withFake(version), api } : { ...version, api };
  const isPublic = version.isForeign === true || (upstream !== undefined && origin === "network");
  const publicOnly = isPublic ? strictest(given.publicOnly, publicOnlyWith(PUBLISHED_REMOTELY)) : given.publicOnly;
  const reach = { upstream: isAway ? undefined : upstream, settings };
  return [served, reach, { ...given, publicOnly, isElsewhere: isAway }];
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

/** Limits of an instance can only be stricter. */
function withTimeout(api: CompiledApi, mostMs: number | undefined): CompiledApi {
  if (mostMs === undefined) return api;
  const tools = Object.entries(api.file.tools).map(([name, tool]) => {
    const timeoutMs = Math.min(tool.limits.timeoutMs, mostMs);
    return [name, { ...tool, limits: { ...tool.limits, timeoutMs } }] as const;
  });
  return { ...api, file: { ...api.file, tools: Object.fromEntries(tools) } };
}
