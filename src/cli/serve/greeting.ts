import { quoteWord } from "../../text/shell-words.ts";
import { CLIENTS, INSTALL_CLIENTS } from "../../config/import/clients.ts";
import { fullName } from "../../gateway/names/names.ts";
import type { Host, ServerStatus } from "../../host/host.ts";
import { estimateWords, type ProcessEstimate } from "./process-estimate.ts";
import { exampleArguments } from "../look/example-call.ts";

export interface Greeting {
  host: Pick<Host, "servers" | "tools">;
  estimate: ProcessEstimate;
  platform: NodeJS.Platform;
  needsKey: boolean;
}

/** What to do with a running gateway, in lines. */
export function greeting(url: string, { host, estimate, platform, needsKey }: Greeting): string[] {
  const servers = host.servers();
  const shown = servers.filter(({ state }) => state.kind !== "disabled");
  const width = Math.max(0, ...shown.map(({ id }) => id.length));
  const rows = shown.map((server) => `  ${server.id.padEnd(width)}  ${stateWords(server)}`);
  const processes = estimateWords(estimate);
  const others = INSTALL_CLIENTS.filter((client) => client !== "claude-code" && CLIENTS[client].shape?.url.http);
  const local = localUrl(url);
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
    `A single server is at ${local.replace(/mcp$/, "servers/<id>/mcp")}. Press Ctrl-C to stop the gateway.`,
  ];
}

/** From this machine, all of its addresses are one. */
export function localUrl(url: string): string {
  return url.replace(/^http:\/\/(?:0\.0\.0\.0|\[::\]):/, "http://127.0.0.1:");
}

const NO_SERVERS = "No servers are configured. Add one: nexus mcp add NAME -- COMMAND …, or try it with --demo.";

/** A server's state in a few words. */
export function stateWords({ id, state }: ServerStatus): string {
  switch (state.kind) {
    case "ready":
      return `ready (${state.protocolVersion})`;
    case "degraded":
      return `ready (${state.protocolVersion}), but ${state.error.message}`;
    case "failed":
      return `failed: ${state.error.message}`;
    case "waiting-for-trust":
      return `not trusted; review its file: nexus mcp trust`;
    case "starting":
      return "starting";
    case "idle":
      return "starts on first use";
    case "paused":
      return "paused, starts on next use";
    case "disabled":
      return `disabled; to enable it: nexus mcp enable ${id}`;
    case "stopped":
      return "stopped";
  }
}

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
