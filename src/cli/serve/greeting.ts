import { quoteWord } from "../../text/shell-words.ts";
import { CLIENTS, INSTALL_CLIENTS } from "../../config/import/clients.ts";
import { fullName } from "../../gateway/names/names.ts";
import type { Host } from "../../host/host.ts";
import type { ProcessEstimate } from "./process-estimate.ts";
import { exampleArguments } from "../look/example-call.ts";
import { stateWords } from "../command/state-words.ts";
import { pluralize } from "../output/amounts.ts";

interface Greeting {
  host: Pick<Host, "servers" | "tools">;
  estimate: ProcessEstimate;
  platform: NodeJS.Platform;
  needsKey: boolean;
}

/** What to do with a running gateway, in lines. `local`: its address on this machine. */
export function greeting(local: string, { host, estimate, platform, needsKey }: Greeting): string[] {
  const servers = host.servers();
  const shown = servers.filter(({ state }) => state.kind !== "disabled");
  const width = Math.max(0, ...shown.map(({ id }) => id.length));
  const rows = shown.map((server) => `  ${server.id.padEnd(width)}  ${stateWords(server)}`);
  const processes = estimateWords(estimate);
  const others = INSTALL_CLIENTS.filter((client) => client !== "claude-code" && CLIENTS[client].shape?.url.http);
  const connecting = needsKey
    ? ["To connect a client, give it the address and a key", `  Authorization: Bearer nxs_…`]
    : [
        "To connect a client, for example Claude Code",
        `  nexus mcp install claude-code --url ${local}`,
        `  Other clients: ${others.join(", ")}`,
      ];
  const again = `--url ${local}${needsKey ? ` --header "Authorization: Bearer nxs_…"` : ""}`;
  return [
    "",
    ...(rows.length === 0 ? [NO_SERVERS] : ["Servers", ...rows]),
    ...(processes === undefined ? [] : ["", processes]),
    "",
    ...connecting,
    "",
    "To try it",
    ...commandsToTry(again, host, platform).map((command) => `  ${command}`),
    "",
    `A single server is at ${local.replace(/mcp$/, "servers/<id>/mcp")}.`,
    `For clients that get too many tools: ${local.replace(/mcp$/, "search/mcp")} lists three tools that find and call all others.`,
    "Press Ctrl-C to stop the gateway.",
  ];
}

const NO_SERVERS = "No servers are configured. Add one: nexus mcp add NAME -- COMMAND …, or try it with --demo.";

/** Commands that work unchanged, or with a key; the call uses a read-only tool, if there is one. */
function commandsToTry(again: string, host: Pick<Host, "servers" | "tools">, platform: NodeJS.Platform): string[] {
  const prefixes = new Map(host.servers().map(({ id, definition }) => [id, definition.prefix]));
  const list = `nexus mcp tools ${again}`;
  const harmless = host.tools().filter(({ tool }) => tool.annotations?.readOnlyHint === true);
  const [easiest] = harmless
    .map(({ server, tool }) => ({
      name: fullName(prefixes.get(server) ?? server, tool.name),
      args: exampleArguments(tool, platform),
    }))
    .toSorted((a, b) => Math.abs(a.args.length - 1) - Math.abs(b.args.length - 1));
  if (!easiest) return [list];
  return [list, ["nexus mcp call", quoteWord(easiest.name, platform), ...easiest.args, again].join(" ")];
}

/** The estimate in one sentence; undefined where there are no processes. */
function estimateWords({ servers, shared, perClient, limit }: ProcessEstimate): string | undefined {
  if (servers === 0) return undefined;
  const own = pluralize(servers, "process", "processes");
  const more = perClient === 0 ? "for all clients together" : `and up to ${perClient} more for each client`;
  const sharing = shared > 0 && perClient > 0 ? ` (${shared} shared by all)` : "";
  const most = limit === undefined ? "" : `; at most ${limit} at the same time`;
  return `Processes: ${own}${sharing} ${more}${most}`;
}
