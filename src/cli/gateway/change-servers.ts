import { serverId } from "../../text/server-id.ts";
import { renderForPeople, renderForPrograms } from "../../errors/render.ts";
import { SERVERS, type ServerView } from "../../operations/servers.ts";
import { visible } from "../../text/visible.ts";
import type { ServerEntry } from "../../transport/server-entry.ts";
import { wrongUsage } from "../command/command-line.ts";
import { failureOf, idIn, openServersElsewhere, type ElsewhereContext } from "./open-servers.ts";

interface RemoteAddition {
  name: string;
  entry: ServerEntry;
  /** Whether a server with this name is replaced. */
  replace: boolean;
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
  const { client, tenant, again } = await openServersElsewhere(context);
  const id = serverId(name);
  const written = { ...entry };
  const isReplaced = replace && (await client.list(SERVERS.listServers, { tenant })).some((view) => view.id === id);
  const added = isReplaced
    ? await client.call(SERVERS.changeServer, { tenant, id, entry: written })
    : await client.call(SERVERS.addServer, { tenant, name, entry: written });
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

/** nexus mcp remove docs --gateway URL */
export async function removeRemoteServer(context: ElsewhereContext): Promise<void> {
  const { out } = context;
  const { client, tenant } = await openServersElsewhere(context);
  const server = idIn(context);
  await client.call(SERVERS.removeServer, { tenant, id: server });
  if (out.json) return out.value({ server, tenant });
  out.line(`Removed ${out.style("bold", server)} from the tenant "${tenant}"`);
}

/** nexus mcp disable docs --gateway URL */
export async function switchRemoteServer(context: ElsewhereContext, enabled: boolean): Promise<void> {
  const { out } = context;
  const { client, tenant } = await openServersElsewhere(context);
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
export function workingText({ state: { protocolVersion, era }, tools }: ServerView): string {
  const counted = tools === null ? "" : `, ${tools} ${tools === 1 ? "tool" : "tools"}`;
  return visible(`revision ${protocolVersion ?? "?"} (${era ?? "?"})${counted}`);
}

function outcomeOf(view: ServerView): object {
  const failure = failureOf(view);
  if (failure) return { ok: false, ...renderForPrograms(failure) };
  const { kind, era, protocolVersion } = view.state;
  return { ok: kind === "ready", state: kind, era, protocolVersion, tools: view.tools };
}
