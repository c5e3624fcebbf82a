import { isServerId } from "../../text/server-id.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { AddressGuard } from "../../net/address-guard.ts";
import { isLoopback } from "../../text/loopback.ts";
import type { CompiledApi } from "../../workshop/compile/compile.ts";
import { covers } from "../../workshop/file/forms/parts.ts";
import {
  addressesOf,
  isElsewhere,
  notReplaced,
  unreplacedAddresses,
} from "../../workshop/publish/instance-addresses.ts";
import type { ApiInstance, InstanceLimits, PublicationOrigin } from "../../workshop/publish/published.ts";
import { exampleSettings, settingValues } from "../../workshop/run/setting-values.ts";

/** What is changed in an instance. Members that are absent stay; null removes. */
export interface InstanceChange {
  /** The id of its server; only for a new one. Default: the API's name, for `live`, else `<api>-<name>`. */
  server?: string | undefined;
  upstream?: string | null | undefined;
  /** Where other addresses of the file are reached, if it has an upstream address. */
  addresses?: Readonly<Record<string, string | null>> | undefined;
  settings?: Readonly<Record<string, string | null>> | undefined;
  limits?: { [Name in keyof InstanceLimits]?: number | null | undefined } | undefined;
}

/** The instance that a name means if none is named. */
export const LIVE = "live";

export function newInstance(api: string, name: string, { server }: InstanceChange): Omit<ApiInstance, "current"> {
  if (!isServerId(name)) throw invalidName(name, "an instance");
  const id = server ?? (name === LIVE ? api : `${api}-${name}`);
  if (!isServerId(id)) throw invalidName(id, "a server");
  return { api, name, server: id, former: [], settings: {}, origin: "local" };
}

/** Throws if the instance could not be served with this version: a setting, or an address that is not allowed. */
export function changedInstance(
  before: ApiInstance,
  { server, upstream, addresses = {}, settings = {}, limits = {} }: InstanceChange,
  { compiled, origin }: { compiled: CompiledApi; origin: PublicationOrigin },
): ApiInstance {
  if (server !== undefined && server !== before.server) throw otherServer(before);
  const allLimits: InstanceLimits = withoutNulls({ ...before.limits, ...limits });
  if (typeof upstream === "string" && upstream !== "fake") checkUpstream(before.server, upstream, origin);
  const { upstream: former, limits: _limits, addresses: _addresses, ...rest } = before;
  const target = upstream === undefined ? former : (upstream ?? undefined);
  const reached = changedAddresses({ ...before, upstream: target }, addresses, { compiled, origin });
  const changed: ApiInstance = {
    ...rest,
    settings: withoutNulls({ ...before.settings, ...settings }),
    ...(target === undefined ? {} : { upstream: target }),
    ...(Object.keys(reached).length === 0 ? {} : { addresses: reached }),
    ...(Object.keys(allLimits).length === 0 ? {} : { limits: allLimits }),
    origin: originOf({ ...before, addresses: reached }, { upstream, addresses }, origin),
  };
  const left = unreplacedAddresses(compiled.file, changed);
  if (left.length > 0) throw notReplaced("ARGUMENTS_INVALID", changed, left);
  requireSettings(compiled, changed);
  return changed;
}

/** From the network, as long as one of its addresses is. */
function originOf(
  before: ApiInstance,
  { upstream, addresses = {} }: InstanceChange,
  origin: PublicationOrigin,
): PublicationOrigin {
  const changed = Object.keys(addresses);
  if (upstream === undefined && changed.length === 0) return before.origin;
  const isLeft = Object.keys(before.addresses ?? {}).some((address) => !changed.includes(address));
  const isUpstreamLeft = upstream === undefined && before.upstream !== undefined;
  return isLeft || isUpstreamLeft ? strictestOrigin(before.origin, origin) : origin;
}

function strictestOrigin(...origins: readonly PublicationOrigin[]): PublicationOrigin {
  return origins.includes("network") ? "network" : "local";
}

/** Those of an instance that is not elsewhere end: all its requests go to one place. */
function changedAddresses(
  { server, upstream, addresses: before }: Omit<ApiInstance, "upstream"> & { upstream: string | undefined },
  changes: Readonly<Record<string, string | null>>,
  { compiled: { file }, origin }: { compiled: CompiledApi; origin: PublicationOrigin },
): Record<string, string> {
  const isAway = isElsewhere(upstream);
  for (const [address, target] of Object.entries(changes)) {
    if (target === null) continue;
    if (!isAway)
      throw invalid(
        server,
        "Only an upstream address elsewhere has other addresses",
        "Say where it is with {changeApiInstance.upstream}.",
      );
    checkUpstream(server, target, origin);
    const known = addressesOf(file);
    if (URL.canParse(address) && known.some((each) => covers(address, each))) continue;
    throw invalid(server, `The tool file does not use the address ${address}`, `It uses ${known.join(", ")}.`);
  }
  return isAway ? withoutNulls({ ...before, ...changes }) : {};
}

function invalid(server: string, message: string, hint: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", `Server "${server}": ${message}`, { server, hint, mayHaveReached: false });
}

function withoutNulls<T>(values: Readonly<Record<string, T | null | undefined>>): Record<string, T> {
  const kept = Object.entries(values).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, value] as const],
  );
  return Object.fromEntries(kept);
}

function requireSettings({ file }: CompiledApi, { server, settings, upstream }: ApiInstance): void {
  try {
    // The fake has the values of the file.
    settingValues(file, upstream === "fake" ? { ...exampleSettings(file), ...settings } : settings, server);
  } catch (error) {
    if (!(error instanceof NexusError)) throw error;
    const names = Object.keys(file.settings ?? {});
    const hint = names.length === 0 ? error.details.hint : `Its settings need values: ${names.join(", ")}.`;
    throw new NexusError("ARGUMENTS_INVALID", error.message, { ...error.details, hint });
  }
}

function checkUpstream(server: string, upstream: string, origin: PublicationOrigin): void {
  const url = URL.canParse(upstream) ? new URL(upstream) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "" || /[?#]/.test(upstream)) {
    throw new NexusError("ARGUMENTS_INVALID", `The upstream address of "${server}" is not an http or https address`, {
      server,
      hint: 'Use an address without user, password and query, as in https://test.example/v1/, or "fake".',
      mayHaveReached: false,
    });
  }
  if (origin === "network") requirePublic(server, url);
}

/** What comes from the network reaches public addresses only; names are checked again with every connection. */
export function requirePublic(server: string, url: URL): void {
  new AddressGuard({ advice: PUBLISH_ON_THE_MACHINE }).check(url);
  if (!isLoopback(url.hostname)) return;
  throw new NexusError("ADDRESS_REFUSED", `Server "${server}": ${url.hostname} is not a public address`, {
    server,
    hint: PUBLISH_ON_THE_MACHINE,
    mayHaveReached: false,
  });
}

const PUBLISH_ON_THE_MACHINE =
  "What is published over the network reaches public addresses only. The operator of the gateway can publish it on its machine: nexus api publish";

function invalidName(name: string, what: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", `${JSON.stringify(name)} is not a valid name for ${what}`, {
    hint: "Use 1 to 32 lower-case letters, digits and dashes, starting with a letter.",
    mayHaveReached: false,
  });
}

function otherServer({ api, name, server }: ApiInstance): NexusError {
  return new NexusError("ARGUMENTS_INVALID", `The instance "${name}" of "${api}" is the server "${server}"`, {
    server,
    hint: "An instance keeps its server. Add another instance, or remove this one first.",
    mayHaveReached: false,
  });
}
