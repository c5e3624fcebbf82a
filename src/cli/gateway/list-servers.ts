import { SERVERS, type ServerView } from "../../operations/servers.ts";
import { visible } from "../../text/visible.ts";
import { pluralize } from "../output/amounts.ts";
import { tableLines, type Cell } from "../output/table.ts";
import { openServersElsewhere, type ElsewhereContext } from "./open-servers.ts";

const HEADINGS: Cell[] = ["server", "state", "tools", "URL or kind", "added"].map((text) => ({ text, style: "dim" }));
const ADDED = {
  published: "published",
  configuration: "in a configuration file",
  local: "on the machine",
  network: "over the network",
};
const STYLES: Partial<Record<ServerView["state"]["kind"], Cell["style"]>> = {
  disabled: "dim",
  ready: "green",
  degraded: "yellow",
  "waiting-for-trust": "yellow",
  failed: "red",
};

/** nexus mcp servers --gateway URL */
export async function listRemoteServers(context: ElsewhereContext): Promise<void> {
  const { out } = context;
  const { client, tenant, again } = await openServersElsewhere(context);
  const views = await client.list(SERVERS.listServers, { tenant });
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
    { text: tools === null ? "-" : String(tools) },
    { text: visible(url ?? transport ?? "?") },
    { text: ADDED[source], style: "dim" },
  ];
}
