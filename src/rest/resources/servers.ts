import { join } from "node:path";
import * as z from "zod";
import { tenantFolder } from "../../auth/tenant-folder.ts";
import { serverId } from "../../text/server-id.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Host } from "../../host/host.ts";
import { unknownNameWithAdvice } from "../../host/directory/unknown-name.ts";
import { lastLines, timedLine } from "../../host/server-log-reader.ts";
import { addNetworkServer, checkNetworkServer } from "../../team/network-server.ts";
import { listOf, PAGE_QUERY, pageOf } from "../http/page.ts";
import { conflict } from "../http/problem.ts";
import { defineOperation, type ApiContext } from "./api-context.ts";
import { closedServerView, isConfigured, serverView, type ServerView } from "../../team/operate/server-view.ts";

const Server = z.object({
  id: z.string(),
  name: z.string().nullable().describe("A title for people."),
  tenant: z.string(),
  enabled: z.boolean(),
  source: z
    .enum(["configuration", "published", "local", "network"])
    .describe(
      "Where it was added: in a configuration file, as a published API, on the machine itself, or over the network.",
    ),
  transport: z.string().nullable().describe("`stdio`, `http`, `sse`, `api` or `memory`."),
  url: z.string().nullable().describe("Without what may be secret."),
  pinned: z.boolean(),
  tools: z.int().nullable().describe("The number of tools that it lists; null while the tenant is closed."),
  state: z.object({
    kind: z
      .enum([
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
      ])
      .describe("`closed`: the tenant was not used for a while; its servers start on the next use."),
    era: z.string().nullable(),
    protocolVersion: z.string().nullable(),
    error: z.object({ code: z.string(), message: z.string(), hint: z.string().nullable() }).nullable(),
    retryAt: z.string().nullable(),
  }),
});

const ENTRY = z
  .record(z.string(), z.unknown())
  .describe(
    "An entry as in a configuration file, with `url`. Entries with `command`, and private or loopback addresses, can be added on the machine itself only. `${secret:NAME}` is a secret of the tenant.",
  );

export const SERVER_SCHEMAS = {
  Server,
  ServerList: listOf(Server),
  NewServer: z.strictObject({ name: z.string().min(1).max(200), entry: ENTRY }),
  ServerEntry: z.strictObject({ entry: ENTRY }),
  ServerSwitch: z.strictObject({ enabled: z.boolean() }),
  ServerLog: z.object({
    server: z.string(),
    lines: z.array(z.object({ time: z.string().nullable(), line: z.string() })),
  }),
};

const TAG = "servers";
const VOLATILE = ["state", "tools"];
const PATH = "/tenants/{tenant}/servers/{id}";

const listServers = defineOperation({
  id: "listServers",
  method: "GET",
  path: "/tenants/{tenant}/servers",
  tag: TAG,
  summary: "The servers of a tenant and their states; starts none",
  access: "operator",
  query: z.strictObject(PAGE_QUERY),
  answer: { status: 200, schema: SERVER_SCHEMAS.ServerList },
  handle: async ({ api, params: { tenant = "" }, query }) => pageOf(await viewsOf(api, tenant), query, ({ id }) => id),
});

const addServer = defineOperation({
  id: "addServer",
  method: "POST",
  path: "/tenants/{tenant}/servers",
  tag: TAG,
  summary: "Add a server to a tenant; it is served within a second",
  description: "The servers of the tenant default are those of the configuration files.",
  access: "admin",
  body: SERVER_SCHEMAS.NewServer,
  answer: { status: 201, schema: Server },
  fails: [409],
  async handle({ api, params: { tenant = "" }, body: { name, entry } }) {
    await api.store.tenants.require(tenant);
    if (!isConfigured(tenant) && (await api.store.servers(tenant).find(name))) {
      return conflict(`The tenant "${tenant}" already has a server "${serverId(name)}"`, "Change it with PUT.");
    }
    await addNetworkServer(api.store, tenant, { name, entry });
    return closedServerView({ name, entry, origin: "network" }, tenant);
  },
});

const getServer = defineOperation({
  id: "getServer",
  method: "GET",
  path: PATH,
  tag: TAG,
  summary: "One server and its state",
  access: "operator",
  volatile: VOLATILE,
  answer: { status: 200, schema: Server },
  handle: ({ api, params }) => viewOf(api, params),
});

const changeServer = defineOperation({
  id: "changeServer",
  method: "PUT",
  path: PATH,
  tag: TAG,
  summary: "Replace the entry of a server",
  access: "admin",
  body: SERVER_SCHEMAS.ServerEntry,
  answer: { status: 200, schema: Server },
  async handle({ api, params, body: { entry } }) {
    const { tenant = "" } = params;
    const { name } = await keptServer(api, params);
    await checkNetworkServer({ name, entry });
    await addNetworkServer(api.store, tenant, { name, entry, replace: true });
    return closedServerView({ name, entry, origin: "network" }, tenant);
  },
});

const switchServer = defineOperation({
  id: "switchServer",
  method: "PATCH",
  path: PATH,
  tag: TAG,
  summary: "Enable or disable a server",
  description: "A server of a configuration file is switched until the gateway restarts or the file changes.",
  access: "admin",
  body: SERVER_SCHEMAS.ServerSwitch,
  answer: { status: 200, schema: Server },
  async handle({ api, params, body: { enabled } }) {
    const { tenant = "", id = "" } = params;
    const before = await viewOf(api, params);
    if (isConfigured(tenant)) await api.gateway.findHost(tenant)?.toggle(id, enabled);
    else await api.store.servers(tenant).enable(id, enabled);
    return { ...before, enabled };
  },
});

const removeServer = defineOperation({
  id: "removeServer",
  method: "DELETE",
  path: PATH,
  tag: TAG,
  summary: "Remove a server of a tenant",
  access: "admin",
  answer: { status: 204 },
  async handle({ api, params }) {
    const { tenant = "" } = params;
    const { name } = await keptServer(api, params);
    await api.store.servers(tenant).remove(name);
  },
});

const retryServer = defineOperation({
  id: "retryServer",
  method: "POST",
  path: `${PATH}/retry`,
  tag: TAG,
  summary: "Try a failed server again now, or read the lists of a running one again",
  access: "admin",
  answer: { status: 200, schema: Server },
  async handle({ api, params, signal }) {
    const { tenant = "", id = "" } = params;
    await viewOf(api, params);
    // That it fails again is its state, not a failure of this request.
    await api.gateway.useHost(tenant, async (host) => {
      await untilKnown(host, id, signal);
      await host.retry(id).catch(() => {});
    });
    return viewOf(api, params);
  },
});

const getServerLog = defineOperation({
  id: "getServerLog",
  method: "GET",
  path: `${PATH}/logs`,
  tag: TAG,
  summary: "What a server that is a program printed on stderr lately",
  access: "operator",
  query: z.strictObject({
    lines: z.coerce.number().int().min(1).max(5000).default(50).describe("Number of lines."),
  }),
  answer: { status: 200, schema: SERVER_SCHEMAS.ServerLog },
  async handle({ api, params, query }) {
    const { id } = await viewOf(api, params);
    const file = join(tenantFolder(api.stateFolder, params["tenant"] ?? ""), "logs", `${id}.log`);
    const { lines } = await lastLines(file, query.lines);
    const timed = lines.map(timedLine).map(({ line, time }) => ({ time: time ?? null, line }));
    return { server: id, lines: timed };
  },
});

export const SERVER_OPERATIONS = [
  listServers,
  addServer,
  getServer,
  changeServer,
  switchServer,
  removeServer,
  retryServer,
  getServerLog,
];

const KNOWN_MS = 3_000;

type Params = Readonly<Record<string, string>>;

/** All servers of a tenant. Nothing is started for it. */
async function viewsOf(api: ApiContext, tenant: string): Promise<ServerView[]> {
  await api.store.tenants.require(tenant);
  const host = api.gateway.findHost(tenant);
  const kept = isConfigured(tenant) ? [] : (await api.store.servers(tenant).list()).servers;
  if (!host) return kept.map((server) => closedServerView(server, tenant));
  const byId = new Map(kept.map((server) => [serverId(server.name), server]));
  const open = host.servers().map((status) => serverView(status, host, byId.get(status.id)));
  const known = new Set(open.map(({ id }) => id));
  // One that was added a moment ago is not running yet.
  return [...open, ...kept.map((each) => closedServerView(each, tenant)).filter(({ id }) => !known.has(id))];
}

/** Throws NAME_UNKNOWN. */
export async function viewOf(api: ApiContext, { tenant = "", id = "" }: Params): Promise<ServerView> {
  const views = await viewsOf(api, tenant);
  const found = views.find((view) => view.id === id);
  if (found) return found;
  throw unknownNameWithAdvice(
    "server",
    id,
    views.map((view) => view.id),
  );
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
async function keptServer(api: ApiContext, params: Params): Promise<{ name: string }> {
  const { tenant = "", id = "" } = params;
  await viewOf(api, params);
  const kept = isConfigured(tenant) ? undefined : await api.store.servers(tenant).find(id);
  if (kept) return kept;
  throw new NexusError("DENIED", `The server "${id}" is in a configuration file`, {
    server: id,
    hint: "Change it on the machine itself: nexus mcp add, nexus mcp remove.",
    mayHaveReached: false,
  });
}
