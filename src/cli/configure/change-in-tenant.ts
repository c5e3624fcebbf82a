import { serverId } from "../../text/server-id.ts";
import type { OperationClient } from "../../operations/client.ts";
import { SERVERS } from "../../operations/servers.ts";
import { unknownServer } from "../../host/directory/unknown-name.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { CommandContext } from "../command/command.ts";
import { openOperations } from "../store/open-operations.ts";
import { tenantAgain } from "../store/tenant-state.ts";

type ChangeContext = CommandContext<{
  readonly file?: string | undefined;
  readonly tenant?: string | undefined;
  readonly database?: string | undefined;
}>;

/** nexus mcp remove docs --tenant shop */
export async function removeFromTenant(context: ChangeContext): Promise<void> {
  const { out } = context;
  const server = serverId(context.words[0] ?? "");
  await using opened = await openOperations(requireNoFile(context));
  const { client } = opened;
  const { tenant } = await findServer(client, context, server);
  await client.call(SERVERS.removeServer, { tenant, id: server });
  if (out.json) return out.value({ server, tenant });
  out.line(`Removed ${out.style("bold", server)} from the tenant "${tenant}"`);
}

/** nexus mcp disable docs --tenant shop */
export async function switchInTenant(context: ChangeContext, enabled: boolean): Promise<void> {
  const { out } = context;
  const server = serverId(context.words[0] ?? "");
  await using opened = await openOperations(requireNoFile(context));
  const { client } = opened;
  const { tenant, enabled: wasEnabled } = await findServer(client, context, server);
  const changed = wasEnabled !== enabled;
  if (changed) await client.call(SERVERS.switchServer, { tenant, id: server, enabled });
  if (out.json) return out.value({ server, tenant, enabled, changed });
  const is = `${changed ? "" : "already "}${enabled ? "enabled" : "disabled"}`;
  out.line(`${out.style("bold", server)} is ${is} (tenant "${tenant}")`);
}

function requireNoFile<C extends ChangeContext>(context: C): C {
  if (context.options.file === undefined) return context;
  throw wrongUsage("The servers of a tenant are in the database, not in a file", "Remove --file, or --tenant.");
}

async function findServer(client: OperationClient, { options }: ChangeContext, id: string) {
  const { tenant = "", database } = options;
  const servers = await client.list(SERVERS.listServers, { tenant });
  const found = servers.find((server) => server.id === id);
  if (found) return found;
  const again = tenantAgain(tenant, database);
  const none = `The tenant "${tenant}" has no servers. Add one: nexus mcp add NAME${again} -- COMMAND …`;
  throw unknownServer(
    id,
    servers.map((server) => server.id),
    { none },
  );
}
