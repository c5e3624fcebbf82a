import { clientFiles, clientFileText } from "../../config/import/client-file.ts";
import { INSTALL_CLIENTS, type ClientId } from "../../config/import/clients.ts";
import { visible } from "../../text/visible.ts";
import { defineCommand, type CommandContext } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { chosenServers, type ChosenServer } from "./chosen-servers.ts";
import { clientCalled, inThisWay, WAY_OPTIONS, wayGiven } from "./client-options.ts";
import { placesOf } from "../configure/configured-servers.ts";
import { entryWriter } from "./entry-writer.ts";
import { secretIn } from "./entry-secrets.ts";

/** nexus mcp export --for codex */
export const exportServers = defineCommand({
  usage: "nexus mcp export [<server>…] [--for CLIENT] [--stdio | --url URL]",
  description: `
Prints the entries of all or the named servers in the format of Nexus, or with --for in the format of another program, so that
you can copy them to its file. No server is started and no file is written.

Variables are printed by name. Values that look like secrets are never printed: with --for, such a server is connected
through Nexus; without --for, it is skipped with a message. --stdio and --url connect every server through Nexus. Servers of
a project that is not trusted are skipped.
Clients: ${INSTALL_CLIENTS.join(", ")}.`,
  options: {
    for: { type: "string", value: "CLIENT", help: "in the format of this program" },
    ...WAY_OPTIONS,
  },
  examples: [
    ["nexus mcp export", "print all servers, for another machine or a colleague"],
    ["nexus mcp export github --for codex", "print one server in the format of Codex's config.toml"],
    [
      "nexus mcp export --for zed --url http://127.0.0.1:3210/mcp",
      "print all servers, each connected through the gateway",
    ],
  ],

  async run(context) {
    const { words, options, out } = context;
    const client = options.for === undefined ? undefined : clientCalled(options.for);
    if (client === undefined && wayGiven(options)) throw wrongUsage("--stdio and --url require --for CLIENT");
    const servers = await chosenServers(context, words.length === 0 ? undefined : words);
    const exported = client === undefined ? exportOwn(servers) : exportFor(context, client, servers);
    const { entries, skipped } = exported;
    if (out.json) out.value({ client, entries, skipped });
    else {
      for (const { server, reason } of skipped) out.note(`Skipped ${server}: ${visible(reason)}`);
      for (const [server, reason] of exported.through) {
        out.note(`${server} is connected through Nexus: ${visible(reason)}`);
      }
      if (Object.keys(entries).length > 0) out.line(await textOf(context, client, entries));
      else if (servers.length === 0) out.note("No servers are configured. Add one: nexus mcp add NAME -- COMMAND …");
    }
    // A server that was named but skipped is a failure.
    return words.length > 0 && skipped.length > 0 ? 3 : 0;
  },
});

interface Exported {
  entries: Record<string, unknown>;
  skipped: { server: string; reason: string }[];
  /** Why a server is reached through Nexus although that was not requested. */
  through: Map<string, string>;
}

function exportFor(
  context: CommandContext<{ stdio?: boolean | undefined; url?: string | undefined }>,
  client: ClientId,
  servers: readonly ChosenServer[],
): Exported {
  const writer = entryWriter(context, client);
  const way = wayGiven(context.options);
  const exported: Exported = { entries: {}, skipped: [], through: new Map() };
  for (const { definition, written } of servers) {
    if (!way && !definition.trusted) {
      exported.skipped.push({ server: definition.id, reason: UNTRUSTED });
      continue;
    }
    const { name, value, reason } = inThisWay(() => writer.server(definition, written, way ?? { kind: "own" }));
    exported.entries[name] = value;
    if (reason !== undefined) exported.through.set(name, reason);
  }
  return exported;
}

const UNTRUSTED = "it is configured in a project file that is not trusted; review it: nexus mcp trust --show";

function exportOwn(servers: readonly ChosenServer[]): Exported {
  const exported: Exported = { entries: {}, skipped: [], through: new Map() };
  for (const { definition, written } of servers) {
    const { id, trusted } = definition;
    const secret = secretIn(written);
    if (!trusted) exported.skipped.push({ server: id, reason: UNTRUSTED });
    else if (secret !== undefined) exported.skipped.push({ server: id, reason: `${secret}; ${STORE_IT}` });
    else exported.entries[id] = written;
  }
  return exported;
}

const STORE_IT = 'store it with "nexus secrets set NAME" and use ${secret:NAME} instead';

async function textOf(
  context: Omit<CommandContext, "options">,
  client: ClientId | undefined,
  entries: Record<string, unknown>,
): Promise<string> {
  if (client === undefined) return JSON.stringify({ mcpServers: entries }, undefined, 2);
  const [file = ""] = clientFiles(client, "user", placesOf(context));
  return clientFileText(client, file, entries);
}
