import { serverId } from "../../text/server-id.ts";
import { visible } from "../../text/visible.ts";
import { wrongUsage } from "../command/command-line.ts";
import { putServer } from "../gateway/servers.ts";
import type { CommandContext } from "../command/command.ts";
import { ServerSet } from "../command/server-set.ts";
import { shortPath } from "../output/short-path.ts";
import { openTenant, type OperatedContext } from "../store/open-operations.ts";
import { TenantState } from "../store/tenant-state.ts";
import { outcomeForPrograms, tellOutcome } from "./added-server.ts";
import { reachAsWritten } from "./entry-words.ts";
import { connectOnce } from "./first-connection.ts";
import { findApi, newEntry, type EntryOptions } from "./new-entry.ts";

export interface AddOptions extends EntryOptions {
  project?: boolean | undefined;
  file?: string | undefined;
  force?: boolean | undefined;
  "no-check"?: boolean | undefined;
}

type AddContext = CommandContext<AddOptions & OperatedContext["options"]>;

/** Keeps a new server for a tenant, and connects once. */
export async function addToTenant(
  context: AddContext,
  { name, command, cwd }: { name: string; command: readonly string[]; cwd: string },
): Promise<void> {
  const { options, out, surroundings, flags, signal } = context;
  if (options.project || options.file !== undefined) {
    throw wrongUsage("--tenant keeps the server in the database, not in a file", "Remove --project and --file.");
  }
  const api = await findApi(options.api, cwd);
  // Paths are as in the user's own file: absolute, because the gateway runs elsewhere.
  const target = { file: "", layer: "user", folder: surroundings.home } as const;
  const entry = newEntry(name, command, { ...options, api, target, from: cwd });
  const id = serverId(name);
  await using source = new TenantState(context);
  const { tenant } = source;
  await using opened = await openTenant(context);
  await putServer(opened, { name, entry, replace: options.force === true });

  if (!out.json) {
    const called = id === name ? "" : `; its name in commands is ${id}`;
    out.line(`Added ${out.style("bold", visible(name))} to the tenant "${tenant}"${called}`);
    out.line(out.style("dim", `  ${reachAsWritten(entry)}`));
    if (entry.cwd !== undefined) out.line(out.style("dim", `  in ${visible(shortPath(entry.cwd, surroundings.home))}`));
  }
  const asksFor = (server: string) => server === id;
  await using servers = await ServerSet.open({ surroundings, source, flags, values: {}, out }, { asksFor });
  const definition = servers.get(id);
  const isTried = options["no-check"] !== true && definition.enabled;
  const outcome = isTried ? await connectOnce(servers, definition, signal) : undefined;
  if (!out.json) return tellOutcome(out, servers, { definition, outcome });
  out.value({ server: id, tenant, enabled: definition.enabled, check: outcomeForPrograms(outcome) });
}
