import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { serverId } from "../../text/server-id.ts";
import type { Host, ServerStatus } from "../../host/host.ts";
import type { ServerState } from "../../host/servers/server-state.ts";
import type { TenantServer } from "../../store/keep/tenant-servers.ts";
import { maskUrl } from "../../text/mask-secrets.ts";

/** What operators see of a server. Values of headers and variables are not part of it: secrets do not come out. */
export interface ServerView {
  id: string;
  name: string | null;
  tenant: string;
  enabled: boolean;
  source: "configuration" | "published" | TenantServer["origin"];
  transport: string | null;
  url: string | null;
  pinned: boolean;
  tools: number | null;
  state: ServerStateView;
}

interface ServerStateView {
  kind: ServerState["kind"] | "closed";
  era: string | null;
  protocolVersion: string | null;
  error: { code: string; message: string; hint: string | null } | null;
  retryAt: string | null;
}

/** A server of a host that is open. `kept`: as it is in the store. */
export function serverView(status: ServerStatus, host: Host, kept?: TenantServer): ServerView {
  const { id, state, definition } = status;
  const { name, entry, transport, pin, written } = definition;
  const reach = entry?.reach;
  const url = reach && "url" in reach ? (written?.url ?? reach.url) : written?.url;
  return {
    id,
    name: name ?? null,
    tenant: host.tenant,
    enabled: state.kind !== "disabled",
    source: reach?.kind === "api" && reach.published ? "published" : (kept?.origin ?? "configuration"),
    transport: reach?.kind ?? (transport ? "memory" : null),
    url: url === undefined ? null : maskUrl(url),
    pinned: pin !== undefined,
    tools: host.offered(id).tools.length,
    state: stateView(state),
  };
}

/** A server of a tenant whose host is closed. */
export function closedServerView({ name, entry, origin }: TenantServer, tenant: string): ServerView {
  const { url, command, api, type, transport, enabled, disabled, pin } = entry;
  const kind = command !== undefined ? "stdio" : api !== undefined ? "api" : (type ?? transport ?? "http");
  return {
    id: serverId(name),
    name: typeof entry["name"] === "string" ? entry["name"] : null,
    tenant,
    enabled: enabled !== false && disabled !== true,
    source: origin,
    transport: typeof kind === "string" ? kind : null,
    url: typeof url === "string" ? maskUrl(url) : null,
    pinned: pin !== undefined && pin !== false,
    tools: null,
    state: { kind: "closed", era: null, protocolVersion: null, error: null, retryAt: null },
  };
}

/** Whether its servers are those of the configuration files, which the network does not change. */
export function isConfigured(tenant: string): boolean {
  return tenant === DEFAULT_TENANT;
}

function stateView(state: ServerState): ServerStateView {
  const { era, protocolVersion, error, retryAt } = state as Partial<Extract<ServerState, { kind: "degraded" }>> & {
    retryAt?: number;
  };
  return {
    kind: state.kind,
    era: era ?? null,
    protocolVersion: protocolVersion ?? null,
    error: error ? { code: error.code, message: error.message, hint: error.hint ?? null } : null,
    retryAt: retryAt === undefined ? null : new Date(retryAt).toISOString(),
  };
}
