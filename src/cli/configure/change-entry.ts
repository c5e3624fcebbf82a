import { resolve } from "node:path";
import type { ServerEdit } from "../../config/edit/edit.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { CommandContext, Options } from "../command/command.ts";
import { openConfigured, placesOf } from "./configured-servers.ts";

/** The option of commands that change an entry in its file. */
export const SOURCE = {
  file: { type: "string", value: "FILE", help: "change this file instead of the one that configures the server" },
} as const satisfies Options;

/** The servers of a gateway elsewhere are not in a file here. */
export function requireNoFile({ file, gateway }: { file?: string | undefined; gateway?: string | undefined }): void {
  const other = gateway === undefined ? "--tenant" : "--gateway";
  if (file !== undefined) throw wrongUsage(`${other} and --file exclude each other`, `Remove --file, or ${other}.`);
}

interface Changed {
  before: ServerDefinition;
  /** The server with this name after the change; undefined if there is none. */
  after: ServerDefinition | undefined;
  file: string;
}

/** Changes the effective entry in its file. */
export async function changeEntry(
  context: CommandContext<{ file?: string | undefined }>,
  name: string,
  edit: (definition: ServerDefinition) => ServerEdit | undefined,
): Promise<Changed> {
  const { options, surroundings, stateFolder } = context;
  const explicit = options.file === undefined ? undefined : resolve(options.file);
  await using found = await openConfigured(context, { file: explicit });
  const before = found.get(name);
  const file = before.origin?.file;
  if (file === undefined) throw new NexusError("INTERNAL", `Server "${before.id}" is not configured in a file`);

  const change = edit(before);
  if (!change) return { before, after: before, file };
  const { editTrusted } = await import("../../config/edit/edit-trusted.ts");
  const { trustStore } = await import("../../host/servers/load-options.ts");
  const trust = trustStore(surroundings, stateFolder);
  await editTrusted(file, [change], { trust, surroundings: placesOf(context) });
  await using now = await openConfigured(context, { file: explicit });
  return { before, after: now.configuration.servers.find(({ id }) => id === before.id), file };
}
