import { mapConcurrently } from "../../async/map-concurrently.ts";
import { NexusError, type ErrorCode } from "../../errors/nexus-error.ts";
import { renderForPeople, renderForPrograms } from "../../errors/render.ts";
import { CHANGES } from "../../operations/changes.ts";
import { SERVERS, type ServerView } from "../../operations/servers.ts";
import type { Tool } from "../../protocol/mcp.ts";
import { serverId } from "../../text/server-id.ts";
import { visible } from "../../text/visible.ts";
import type { ServerEntry } from "../../transport/server-entry.ts";
import { exitCodeFor, failuresForPrograms, reportFailures, SERVERS_AT_ONCE } from "../command/ask-servers.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { CommandContext } from "../command/command.ts";
import { pluralize } from "../output/amounts.ts";
import type { Style } from "../output/output.ts";
import { tableLines, type Cell } from "../output/table.ts";
import { openTenant, type TenantOperations } from "../store/open-operations.ts";

/** A context of a command about servers of a tenant. */
type TenantServersContext = CommandContext<{
  readonly gateway?: string | undefined;
  readonly key?: string | undefined;
  readonly tenant?: string | undefined;
  readonly database?: string | undefined;
}>;

/** The same for a gateway elsewhere. */
export type ElsewhereContext = TenantServersContext & { options: { readonly gateway: string } };

/** Operations on the servers of a tenant, in the database here or at a gateway. */
export async function openServers(context: TenantServersContext): Promise<TenantOperations> {
  if (context.options.gateway !== undefined && context.flags.config !== undefined) {
    throw wrongUsage("--gateway and --config exclude each other", "A gateway has its own configuration.");
  }
  return openTenant(context);
}

/** The id of the server that the first word names. */
export function idIn({ words: [name = ""] }: Pick<CommandContext, "words">): string {
  return serverId(name);
}

/** Why a server does not work; undefined where nothing is known to be wrong. */
function failureOf({ id, state: { kind, error } }: ServerView): NexusError | undefined {
  if (kind !== "failed" && kind !== "degraded") return undefined;
  const { code = "SERVER_ERROR", message = `Server "${id}" failed`, hint } = error ?? {};
  return new NexusError(code as ErrorCode, message, { server: id, hint: hint ?? undefined });
}

const HEADINGS: Cell[] = ["server", "state", "tools", "URL or kind", "added"].map((text) => ({ text, style: "dim" }));
const ADDED = {
  published: "published",
  configuration: "in a configuration file",
  local: "on the machine",
  network: "over the network",
};
const STYLES: Partial<Record<ServerView["state"]["kind"], Style | undefined>> = {
  disabled: "dim",
  ready: "green",
  degraded: "yellow",
  "waiting-for-trust": "yellow",
  failed: "red",
};

/** nexus mcp servers [server] --gateway URL */
export async function listRemoteServers(context: ElsewhereContext): Promise<void> {
  const { out, words } = context;
  await using opened = await openServers(context);
  const { client, tenant, again } = opened;
  const views =
    words.length === 0
      ? await client.list(SERVERS.listServers, { tenant })
      : [await client.call(SERVERS.getServer, { tenant, id: idIn(context) })];
  if (out.json) return out.value({ servers: views, errors: [] });
  if (views.length > 0) for (const line of tableLines(out, [HEADINGS, ...views.map(rowOf)])) out.line(line);
  for (const { id, state } of views) if (state.error) out.note(visible(`${id}: ${state.error.message}`));
  const off = views.filter(({ enabled }) => !enabled).length;
  const count = `${pluralize(views.length, "server")} of the tenant "${tenant}"`;
  if (views.length > 0) out.note(`${count}${off > 0 ? `, ${off} disabled` : ""}`);
  else out.note(`The tenant "${tenant}" has no servers. Add one: nexus mcp add NAME --url URL${again}`);
}

function rowOf({ id, name, enabled, state, tools, url, transport, source }: ServerView): Cell[] {
  const version = state.protocolVersion === null ? "" : ` ${state.protocolVersion}`;
  return [
    { text: visible(name === null ? id : `${id} (${name})`), style: enabled ? "bold" : "dim" },
    { text: visible(`${enabled ? state.kind : "disabled"}${version}`), style: STYLES[state.kind] },
    tools === null ? "-" : String(tools),
    visible(url ?? transport ?? "?"),
    { text: ADDED[source], style: "dim" },
  ];
}

interface ListedTools {
  /** The server whose tools are asked for. */
  server: string | undefined;
  matches: ((tool: Tool) => boolean) | undefined;
  /** The lines of one tool for people. */
  lines: (tool: Tool) => string[];
}

/** nexus mcp tools [server] --gateway URL */
export async function listRemoteTools(
  context: ElsewhereContext,
  { server, matches, lines }: ListedTools,
): Promise<void> {
  const { out } = context;
  await using opened = await openServers(context);
  const { client, tenant, again } = opened;
  const listed = await client.list(CHANGES.listTools, { tenant, server: server && serverId(server) });
  // What a server lists has the form of a tool, or was left out.
  const tools = listed
    .map((each) => ({ ...each, tool: each.definition as unknown as Tool }))
    .filter(({ tool }) => matches?.(tool) !== false);
  const shown = tools.filter(({ held }) => !held);
  if (out.json) return out.value({ items: shown.map((each) => ({ ...each.tool, server: each.server })), errors: [] });
  for (const id of new Set(shown.map((each) => each.server))) {
    const own = shown.filter((each) => each.server === id);
    out.line(`${out.style("bold", visible(id))}  ${out.style("dim", pluralize(own.length, "tool"))}`);
    for (const line of own.flatMap(({ tool }) => lines(tool))) out.line(`  ${line}`);
    out.line();
  }
  const held = tools.length - shown.length;
  const isHeld = held > 0 ? `; ${pluralize(held, "tool")} held until accepted: nexus mcp changes list${again}` : "";
  out.note(`${pluralize(shown.length, "tool")} of the tenant "${tenant}"${isHeld}`);
}

interface GivenServer {
  name: string;
  entry: ServerEntry;
  /** Whether a server with this name is replaced. */
  replace: boolean;
}

/** Adds a server to a tenant, or replaces it. */
export async function putServer({ client, tenant }: TenantOperations, { name, entry, replace }: GivenServer) {
  const [id, written] = [serverId(name), { ...entry }];
  const isReplaced = replace && (await client.list(SERVERS.listServers, { tenant })).some((view) => view.id === id);
  const added = isReplaced
    ? await client.call(SERVERS.changeServer, { tenant, id, entry: written })
    : await client.call(SERVERS.addServer, { tenant, name, entry: written });
  return { added, isReplaced };
}

interface RemoteAddition extends GivenServer {
  /** Whether the gateway connects to it once. */
  check: boolean;
}

/** nexus mcp add docs --url https://example.com/mcp --gateway URL */
export async function addRemoteServer(context: ElsewhereContext, addition: RemoteAddition): Promise<void> {
  const { out } = context;
  const { name, entry, replace, check } = addition;
  if (entry.url === undefined) {
    throw wrongUsage(
      "Through a gateway only servers at a URL can be added",
      "Use --url URL, or add the server on the machine of the gateway.",
    );
  }
  await using opened = await openServers(context);
  const { client, tenant, again } = opened;
  const id = serverId(name);
  const { added, isReplaced } = await putServer(opened, { name, entry, replace });
  if (!out.json) {
    const called = id === name ? "" : `; its name in commands is ${id}`;
    const done = isReplaced ? "Replaced" : "Added";
    out.line(`${done} ${out.style("bold", visible(name))} ${isReplaced ? "in" : "to"} the tenant "${tenant}"${called}`);
    out.line(out.style("dim", `  ${visible(added.url ?? "")}`));
  }
  // The gateway would try the entry that was there before.
  const isTried = check && added.enabled && !isReplaced;
  const tried = isTried ? await client.call(SERVERS.retryServer, { tenant, id }) : undefined;
  if (out.json) {
    return out.value({ server: id, tenant, enabled: added.enabled, check: tried && outcomeOf(tried) });
  }
  if (!added.enabled) return out.advice(`It is disabled. To enable it: nexus mcp enable ${id}${again}`);
  const failure = tried && failureOf(tried);
  if (failure) {
    out.warn(`The server does not work yet. ${renderForPeople(failure)}`);
  }
  if (tried?.state.kind === "ready") out.line(`${out.style("green", "It works:")} ${workingText(tried)}`);
  else out.note(`Try it: nexus mcp retry ${id}${again}`);
}

/** nexus mcp remove docs --tenant shop */
export async function removeFromTenant(context: TenantServersContext): Promise<void> {
  const { out } = context;
  await using opened = await openServers(context);
  const { client, tenant } = opened;
  const server = idIn(context);
  await client.call(SERVERS.removeServer, { tenant, id: server });
  if (out.json) return out.value({ server, tenant });
  out.line(`Removed ${out.style("bold", server)} from the tenant "${tenant}"`);
}

/** nexus mcp disable docs --tenant shop */
export async function switchInTenant(context: TenantServersContext, enabled: boolean): Promise<void> {
  const { out } = context;
  await using opened = await openServers(context);
  const { client, tenant } = opened;
  const server = idIn(context);
  const before = await client.call(SERVERS.getServer, { tenant, id: server });
  const changed = before.enabled !== enabled;
  if (changed) await client.call(SERVERS.switchServer, { tenant, id: server, enabled });
  if (out.json) return out.value({ server, tenant, enabled, changed });
  const is = `${changed ? "" : "already "}${enabled ? "enabled" : "disabled"}`;
  out.line(`${out.style("bold", server)} is ${is} (tenant "${tenant}")`);
  if (changed && before.source === "configuration") {
    out.note(
      "It is in a configuration file of the gateway: this lasts until the gateway restarts or the file changes.",
    );
  }
}

/** `revision 2026-07-28 (modern), 3 tools` */
function workingText({ state: { protocolVersion, era }, tools }: ServerView): string {
  const counted = tools === null ? "" : `, ${tools} ${tools === 1 ? "tool" : "tools"}`;
  return visible(`revision ${protocolVersion ?? "?"} (${era ?? "?"})${counted}`);
}

function outcomeOf(view: ServerView): object {
  const failure = failureOf(view);
  if (failure) return { ok: false, ...renderForPrograms(failure) };
  const { kind, era, protocolVersion } = view.state;
  return { ok: kind === "ready", state: kind, era, protocolVersion, tools: view.tools };
}

/** nexus mcp retry docs --gateway URL */
export async function retryRemoteServers(context: ElsewhereContext): Promise<number> {
  const { out, words } = context;
  await using opened = await openServers(context);
  const { client, tenant } = opened;
  const isOne = words.length > 0;
  const chosen = isOne
    ? [idIn(context)]
    : (await client.list(SERVERS.listServers, { tenant }))
        .filter(({ state }) => state.kind === "failed")
        .map(({ id }) => id);
  const tried = await mapConcurrently(chosen, (id) => client.call(SERVERS.retryServer, { tenant, id }), {
    limit: SERVERS_AT_ONCE,
  });
  const failures = tried.flatMap((view) => failureOf(view) ?? []);
  const answers = tried.filter((view) => !failureOf(view));
  const [only] = failures;
  if (isOne && only) throw only;
  if (out.json) {
    const items = answers.map(({ id, state, tools }) => {
      const { kind, era, protocolVersion } = state;
      return { server: id, state: kind, era, protocolVersion, tools };
    });
    out.value({ items, errors: failuresForPrograms(failures) });
  } else if (chosen.length === 0) {
    out.line("No server has failed. To connect again anyway, name a server.");
  }
  if (!out.json) {
    for (const view of answers) {
      const how = view.state.kind === "ready" ? workingText(view) : view.state.kind;
      out.line(`${out.style("green", "✓")} ${out.style("bold", view.id)}  ${how}`);
    }
  }
  reportFailures(out, failures);
  return exitCodeFor(answers.length, failures);
}
