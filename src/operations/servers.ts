import { join } from "node:path";
import { tenantFolder } from "../auth/tenant-folder.ts";
import { serverId } from "../text/server-id.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { boolean, json, list, map, record, text, whole, choice, type Infer } from "../format/form.ts";
import type { Host, ServerStatus } from "../host/host.ts";
import { unknownServer } from "../host/directory/unknown-name.ts";
import { lastLines, timedLine } from "../host/server-log-reader.ts";
import { addNetworkServer } from "../team/network-server.ts";
import { answer, asItIs, listOf, PAGE_INPUT, pageOf, TEXT, TEXT_OR_NULL } from "./forms.ts";
import { originOf, type Actor } from "./actor.ts";
import { defineOperation } from "./operation.ts";
import type { Services } from "./services.ts";
import { DEFAULT_TENANT } from "../auth/server-instance.ts";
import type { ServerState } from "../host/servers/server-state.ts";
import type { TenantServer } from "../store/keep/tenant-servers.ts";
import { maskUrl } from "../masking/mask-words.ts";

const SOURCES = ["configuration", "published", "local", "network"] as const;
const STATES = [
  "disabled",
  "waiting-for-trust",
  "idle",
  "paused",
  "starting",
  "ready",
  "degraded",
  "failed",
  "stopped",
  "closed",
] as const;

/** What operators see of a server. Values of headers and variables are not part of it: secrets do not come out. */
const SERVER = answer("Server", {
  id: TEXT,
  name: TEXT_OR_NULL.says("A title for people."),
  tenant: TEXT,
  enabled: boolean(),
  source: choice(SOURCES).says(
    "Where it was added: in a configuration file, as a published API, on the machine itself, or over the network.",
  ),
  transport: TEXT_OR_NULL.says("`stdio`, `http`, `sse`, `api` or `memory`."),
  url: TEXT_OR_NULL.says("Without what may be secret."),
  pinned: boolean(),
  tools: whole().nullable().says("The number of tools that it lists; null while the tenant is closed."),
  state: record(
    {
      kind: choice(STATES).says("`closed`: the tenant was not used for a while; its servers start on the next use."),
      era: TEXT_OR_NULL,
      protocolVersion: TEXT_OR_NULL,
      error: record({ code: TEXT, message: TEXT, hint: TEXT_OR_NULL }, { open: true }).nullable(),
      retryAt: TEXT_OR_NULL,
    },
    { open: true },
  ),
});

export type ServerView = Infer<typeof SERVER>;
type ServerStateView = ServerView["state"];

/** A server of a host that is open. `kept`: as it is in the store. */
function serverView(status: ServerStatus, host: Host, kept?: TenantServer): ServerView {
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
function closedServerView({ name, entry, origin }: TenantServer, tenant: string): ServerView {
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
function isConfigured(tenant: string): boolean {
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

const ENTRY = map(json()).says(
  "An entry as in a configuration file, with `url`. Entries with `command`, and private or loopback addresses, can be added on the machine itself only. `${secret:NAME}` is a secret of the tenant.",
);

const TAG = "servers";
const VOLATILE = ["state", "tools"];
const PATH = "/tenants/{tenant}/servers/{id}";

const listServers = defineOperation({
  id: "listServers",
  tag: TAG,
  summary: "The servers of a tenant and their states; starts none",
  access: "operator",
  http: { method: "GET", path: "/tenants/{tenant}/servers", status: 200 },
  command: "mcp servers",
  input: PAGE_INPUT,
  output: listOf("ServerList", SERVER),
  handle: async (services, _actor, { tenant, ...page }) =>
    pageOf(await viewsOf(services, tenant), page, { keyOf: ({ id }) => id, show: asItIs }),
});

const addServer = defineOperation({
  id: "addServer",
  tag: TAG,
  summary: "Add a server to a tenant; it is served within a second",
  description: "The servers of the tenant default are those of the configuration files.",
  access: "admin",
  http: { method: "POST", path: "/tenants/{tenant}/servers", status: 201, fails: [409] },
  command: "mcp add {name}",
  input: record({ name: text({ empty: true, least: 1, most: 200 }), entry: ENTRY }).named("NewServer"),
  output: SERVER,
  async handle({ store }, actor, { tenant, name, entry }) {
    await store.tenants.require(tenant);
    return keepServer(store, actor, { tenant, name, entry });
  },
});

const getServer = defineOperation({
  id: "getServer",
  tag: TAG,
  summary: "One server and its state",
  access: "operator",
  http: { method: "GET", path: PATH, status: 200 },
  command: "mcp servers {id}",
  output: SERVER,
  volatile: VOLATILE,
  handle: (services, _actor, named) => viewOf(services, named),
});

const changeServer = defineOperation({
  id: "changeServer",
  tag: TAG,
  summary: "Replace the entry of a server",
  access: "admin",
  http: { method: "PUT", path: PATH, status: 200 },
  command: "mcp add {id} --force",
  input: record({ entry: ENTRY }).named("ServerEntry"),
  output: SERVER,
  async handle(services, actor, { entry, ...named }) {
    const { name } = await keptServer(services, named);
    return keepServer(services.store, actor, { tenant: named.tenant, name, entry, replace: true });
  },
});

const switchServer = defineOperation({
  id: "switchServer",
  tag: TAG,
  summary: "Enable or disable a server",
  description: "A server of a configuration file is switched until the gateway restarts or the file changes.",
  access: "admin",
  http: { method: "PATCH", path: PATH, status: 200 },
  command: "mcp enable {id}",
  input: record({ enabled: boolean() }).named("ServerSwitch"),
  output: SERVER,
  async handle(services, _actor, { enabled, ...named }) {
    const { tenant, id } = named;
    const before = await viewOf(services, named);
    if (isConfigured(tenant)) await services.gateway.findHost(tenant)?.toggle(id, enabled);
    else await services.store.servers(tenant).enable(id, enabled);
    return { ...before, enabled };
  },
});

const removeServer = defineOperation({
  id: "removeServer",
  tag: TAG,
  summary: "Remove a server of a tenant",
  access: "admin",
  http: { method: "DELETE", path: PATH, status: 204 },
  command: "mcp remove {id}",
  async handle(services, _actor, named) {
    const { name } = await keptServer(services, named);
    await services.store.servers(named.tenant).remove(name);
  },
});

const retryServer = defineOperation({
  id: "retryServer",
  tag: TAG,
  summary: "Try a failed server again now, or read the lists of a running one again",
  access: "admin",
  http: { method: "POST", path: `${PATH}/retry`, status: 200 },
  command: "mcp retry {id}",
  output: SERVER,
  async handle(services, _actor, named, { signal }) {
    const { tenant, id } = named;
    await viewOf(services, named);
    // That it fails again is its state, not a failure of this request.
    await services.gateway.useHost(tenant, async (host) => {
      await untilKnown(host, id, signal);
      await host.retry(id).catch(() => {});
    });
    return viewOf(services, named);
  },
});

const getServerLog = defineOperation({
  id: "getServerLog",
  tag: TAG,
  summary: "What a server that is a program printed on stderr lately",
  access: "operator",
  http: { method: "GET", path: `${PATH}/logs`, status: 200 },
  command: "mcp logs {id}",
  input: record({ lines: whole({ least: 1, most: 5000 }).default(50).says("Number of lines.") }),
  output: answer("ServerLog", {
    server: TEXT,
    lines: list(record({ time: TEXT_OR_NULL, line: TEXT }, { open: true })),
  }),
  async handle(services, _actor, { lines: most, ...named }) {
    const { id } = await viewOf(services, named);
    const file = join(tenantFolder(services.stateFolder, named.tenant), "logs", `${id}.log`);
    const { lines } = await lastLines(file, most);
    return { server: id, lines: lines.map(timedLine).map(({ line, time }) => ({ time: time ?? null, line })) };
  },
});

/** All of them, in the order of the reference. */
export const SERVERS = {
  listServers,
  addServer,
  getServer,
  changeServer,
  switchServer,
  removeServer,
  retryServer,
  getServerLog,
};

interface GivenServer {
  tenant: string;
  name: string;
  entry: Record<string, unknown>;
  replace?: boolean;
}

/** What is added on the machine itself may start programs and reach private addresses. */
async function keepServer(
  store: Services["store"],
  actor: Actor,
  { tenant, name, entry, replace }: GivenServer,
): Promise<ServerView> {
  const origin = originOf(actor);
  if (origin === "network") await addNetworkServer(store, tenant, { name, entry, replace });
  else await store.servers(tenant).put({ name, entry, origin }, { replace });
  return closedServerView({ name, entry, origin }, tenant);
}

const KNOWN_MS = 3_000;

interface NamedServer {
  tenant: string;
  id: string;
}

/** All servers of a tenant. Nothing is started for it. */
export async function viewsOf(services: Services, tenant: string): Promise<ServerView[]> {
  await services.store.tenants.require(tenant);
  const host = services.gateway.findHost(tenant);
  const kept = isConfigured(tenant) ? [] : (await services.store.servers(tenant).list()).servers;
  if (!host) return kept.map((server) => closedServerView(server, tenant));
  const byId = new Map(kept.map((server) => [serverId(server.name), server]));
  const open = host.servers().map((status) => serverView(status, host, byId.get(status.id)));
  const known = new Set(open.map(({ id }) => id));
  // One that was added a moment ago is not running yet.
  return [...open, ...kept.map((each) => closedServerView(each, tenant)).filter(({ id }) => !known.has(id))];
}

/** Throws NAME_UNKNOWN. */
export async function viewOf(services: Services, { tenant, id }: NamedServer): Promise<ServerView> {
  const views = await viewsOf(services, tenant);
  const found = views.find((view) => view.id === id);
  if (found) return found;
  const ids = views.map((view) => view.id);
  throw unknownServer(id, ids, {
    none: `The tenant "${tenant}" has no servers. Add one: {addServer}`,
  });
}

/** One that was added a moment ago is known to the host within a second. */
async function untilKnown(host: Host, id: string, signal: AbortSignal): Promise<void> {
  if (host.find(id)) return;
  await new Promise<void>((resolve) => {
    const stop = host.on(() => host.find(id) && finish());
    const timer = setTimeout(() => finish(), KNOWN_MS);
    const finish = () => {
      stop();
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    signal.addEventListener("abort", finish);
  });
}

/** A server that can be changed over the network. */
async function keptServer(services: Services, named: NamedServer): Promise<{ name: string }> {
  const { tenant, id } = named;
  await viewOf(services, named);
  const kept = isConfigured(tenant) ? undefined : await services.store.servers(tenant).find(id);
  if (kept) return kept;
  throw new NexusError("DENIED", `The server "${id}" is in a configuration file`, {
    server: id,
    hint: "Change it on the machine itself: nexus mcp add, nexus mcp remove.",
    mayHaveReached: false,
  });
}
