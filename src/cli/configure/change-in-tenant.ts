import { serverId } from "../../text/server-id.ts";
import { unknownServer } from "../../host/directory/unknown-name.ts";
import type { NexusError } from "../../errors/nexus-error.ts";
import type { TenantServers } from "../../store/keep/tenant-servers.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { CommandContext } from "../command/command.ts";
import { TenantState } from "../store/tenant-state.ts";

type ChangeContext = CommandContext<{ readonly file?: string | undefined }>;

/** nexus mcp remove docs --tenant shop */
export async function removeFromTenant(context: ChangeContext): Promise<void> {
  const { out } = context;
  const [name = ""] = context.words;
  await using state = stateOf(context);
  const servers = (await state.getStore()).servers(state.tenant);
  if (!(await servers.remove(name))) throw await unknown(servers, name, state);
  const server = serverId(name);
  if (out.json) return out.value({ server, tenant: state.tenant });
  out.line(`Removed ${out.style("bold", server)} from the tenant "${state.tenant}"`);
}

/** nexus mcp disable docs --tenant shop */
export async function switchInTenant(context: ChangeContext, enabled: boolean): Promise<void> {
  const { out } = context;
  const [name = ""] = context.words;
  await using state = stateOf(context);
  const servers = (await state.getStore()).servers(state.tenant);
  const before = await servers.enable(name, enabled);
  if (!before) throw await unknown(servers, name, state);
  const wasEnabled = before.entry["enabled"] !== false && before.entry["disabled"] !== true;
  const [server, changed] = [serverId(name), wasEnabled !== enabled];
  if (out.json) return out.value({ server, tenant: state.tenant, enabled, changed });
  const is = `${changed ? "" : "already "}${enabled ? "enabled" : "disabled"}`;
  out.line(`${out.style("bold", server)} is ${is} (tenant "${state.tenant}")`);
}

function stateOf(context: ChangeContext): TenantState {
  if (context.options.file !== undefined) {
    throw wrongUsage("The servers of a tenant are in the database, not in a file", "Remove --file, or --tenant.");
  }
  return new TenantState(context);
}

async function unknown(
  servers: TenantServers,
  name: string,
  { tenant, optionsAgain }: TenantState,
): Promise<NexusError> {
  const known = (await servers.list()).servers.map((server) => serverId(server.name));
  const none = `The tenant "${tenant}" has no servers. Add one: nexus mcp add NAME${optionsAgain} -- COMMAND …`;
  return unknownServer(name, known, { none });
}
