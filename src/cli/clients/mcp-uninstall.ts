import { isDeepStrictEqual } from "node:util";
import { clientFiles, findClientEntry, withClientEntries, type PresentEntry } from "../../config/import/client-file.ts";
import { CLIENTS, INSTALL_CLIENTS, type ClientId } from "../../config/import/clients.ts";
import { isNexusEntry, NEXUS } from "../../config/nexus-entry.ts";
import { serverId } from "../../text/server-id.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { visible } from "../../text/visible.ts";
import { isRecord } from "../../json/is-record.ts";
import { defineCommand, type CommandContext } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { chosenServers } from "./chosen-servers.ts";
import { gatewayAddress, entryWriter } from "./entry-writer.ts";
import { CLIENT_OPTIONS, clientCalled, WAY_OPTIONS, wayGiven } from "./client-options.ts";
import { placesOf } from "../configure/configured-servers.ts";
import { editClientFile } from "./edit-client-file.ts";
import { shortPath } from "../output/short-path.ts";

/** nexus mcp uninstall claude-code */
export const uninstall = defineCommand({
  usage: "nexus mcp uninstall <client> [--server ID]… [--url URL] [--project] [--as NAME] [--force] [--dry-run]",
  description: `
Removes from another program's configuration only what "nexus mcp install" added: an entry that starts Nexus, an entry with
the address of a gateway on this machine or of --url, and with --server the entry of that server. A different entry with the
same name is kept unless you use --force. If there is no such entry, nothing is changed.
Clients: ${INSTALL_CLIENTS.join(", ")}.`,
  options: {
    ...CLIENT_OPTIONS,
    url: { ...WAY_OPTIONS.url, help: "remove an entry with the address of this gateway" },
    force: { type: "boolean", help: "remove any entry with this name" },
    "dry-run": { type: "boolean", help: "show what would be removed, remove nothing" },
  },
  examples: [
    ["nexus mcp uninstall claude-code", "remove Nexus from Claude Code"],
    ["nexus mcp uninstall codex --server github", "remove this server from Codex"],
  ],

  async run(context) {
    const { words, options, out, surroundings } = context;
    const client = clientCalled(words[0] ?? "");
    const { title } = CLIENTS[client];
    const scope = options.project ? "project" : "user";
    const files = clientFiles(client, scope, placesOf(context));
    if (files.length === 0) throw wrongUsage(`${title} has no project file`, "Remove --project.");
    const names = namesOf(options);
    const isDry = options["dry-run"] === true;

    const removed: { file: string; name: string }[] = [];
    for (const file of files) {
      const here = await ours(context, { client, file, names });
      if (here.length === 0) continue;
      const entries = new Map(here.map((name) => [name, undefined]));
      await editClientFile(context, file, {
        edit: (text) => withClientEntries(client, file, { text, entries }),
        isDry,
      });
      removed.push(...here.map((name) => ({ file, name })));
    }
    if (out.json) return out.value({ client, scope, dryRun: isDry, removed });
    for (const { file, name } of removed) {
      const place = `${title} (${visible(shortPath(file, surroundings.home))})`;
      out.line(`${isDry ? "Would remove" : "Removed"} ${out.style("bold", name)} from ${place}`);
    }
    if (removed.length === 0) out.line(`${title} has no entry ${names.map((name) => `"${name}"`).join(" or ")}`);
    else if (!isDry) out.note(`If ${title} is running, restart it.`);
  },
});

interface UninstallOptions {
  server?: readonly string[] | undefined;
  as?: string | undefined;
  url?: string | undefined;
  project?: boolean | undefined;
  force?: boolean | undefined;
}

function namesOf({ server = [], as }: UninstallOptions): string[] {
  if (as !== undefined && server.length > 1) throw wrongUsage("--as requires exactly one entry", "Use one --server.");
  if (as !== undefined) return [as];
  return server.length > 0 ? server.map(serverId) : [NEXUS];
}

/** The given names that the file has as installed entries; throws for an entry that was changed. */
async function ours(
  context: CommandContext<UninstallOptions>,
  { client, file, names }: { client: ClientId; file: string; names: readonly string[] },
): Promise<string[]> {
  const found: string[] = [];
  for (const [index, name] of names.entries()) {
    const present = await findClientEntry(client, file, name);
    if (!present) continue;
    const server = context.options.server?.[index];
    if (context.options.force || (await isInstalled(context, { client, name, present, server }))) found.push(name);
    else throw another(client, file, name);
  }
  return found;
}

async function isInstalled(
  context: CommandContext<UninstallOptions>,
  {
    client,
    name,
    present,
    server,
  }: { client: ClientId; name: string; present: PresentEntry; server: string | undefined },
): Promise<boolean> {
  const { entry, value } = present;
  if (isNexusEntry(name, entry)) return true;
  const way = wayGiven({ url: context.options.url });
  const url = isRecord(entry) ? entry["url"] : undefined;
  if (way?.kind === "gateway" && (url === way.url || url === gatewayAddress(way.url, name))) return true;
  return server !== undefined && (await isOwnEntry(context, { client, server, value }));
}

/** Whether an entry equals that of a configured server. */
async function isOwnEntry(
  context: CommandContext<UninstallOptions>,
  { client, server, value }: { client: ClientId; server: string; value: unknown },
): Promise<boolean> {
  try {
    const [chosen] = await chosenServers(context, [server]);
    if (!chosen) return false;
    const writer = entryWriter(context, client, { isOfProject: context.options.project });
    return isDeepStrictEqual(writer.own(chosen.definition, chosen.written).value, value);
  } catch (error) {
    // The server may have been removed, or cannot be written directly.
    if (error instanceof NexusError) return false;
    throw error;
  }
}

function another(client: ClientId, file: string, name: string): NexusError {
  const message = `The entry "${name}" of ${CLIENTS[client].title} was not written by "nexus mcp install"`;
  return new NexusError("CONFIG_INVALID", message, {
    phase: "config",
    source: { file },
    hint: "Remove it with --force. If it is a gateway, specify its address with --url.",
    mayHaveReached: false,
  });
}
