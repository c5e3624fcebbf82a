import { CLIENTS, INSTALL_CLIENTS } from "../../config/clients.ts";
import type { ServerStatus } from "../../host/host.ts";
import { META } from "../../protocol/meta.ts";
import { LATEST } from "../../protocol/revisions.ts";

/** What to do with a gateway that listens, in lines. */
export function greeting(url: string, servers: readonly ServerStatus[], platform: NodeJS.Platform): string[] {
  const shown = servers.filter(({ state }) => state.kind !== "disabled");
  const width = Math.max(0, ...shown.map(({ id }) => id.length));
  const rows = shown.map((server) => `  ${server.id.padEnd(width)}  ${stateWords(server)}`);
  const others = INSTALL_CLIENTS.filter((client) => client !== "claude-code" && CLIENTS[client].shape?.url.http);
  return [
    "",
    ...(rows.length === 0 ? [NO_SERVERS] : ["Servers", ...rows]),
    "",
    "To connect a client, such as Claude Code",
    `  nexus mcp install claude-code --url ${url}`,
    `  the same for ${others.join(", ")}`,
    "",
    "To try it",
    `  ${discoverCommand(url, platform)}`,
    "",
    `One server alone is at ${url.replace(/mcp$/, "servers/<id>/mcp")}; Ctrl-C ends the gateway.`,
  ];
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
      return `not trusted; look at its file, then: nexus mcp trust`;
    case "starting":
      return "starting";
    case "idle":
      return "starts on first use";
    case "disabled":
      return `switched off; on again: nexus mcp enable ${id}`;
    case "stopped":
      return "stopped";
  }
}

/** A line that works as it stands, in the shell of the platform. */
function discoverCommand(url: string, platform: NodeJS.Platform): string {
  const headers = ["Content-Type: application/json", `MCP-Protocol-Version: ${LATEST}`, "Mcp-Method: server/discover"];
  const _meta = { [META.protocolVersion]: LATEST, [META.clientCapabilities]: {} };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta } });
  const quoted = platform === "win32" ? `"${body.replaceAll('"', String.raw`\"`)}"` : `'${body}'`;
  return `curl -s ${url} ${headers.map((header) => `-H "${header}"`).join(" ")} -d ${quoted}`;
}
