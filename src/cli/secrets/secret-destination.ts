import { ownedName } from "../../auth/secret-name.ts";
import { neededSecrets } from "../api/needed-secrets.ts";
import type { CommandContext } from "../command/command.ts";

/** A configured server whose secret it is, and the origin that its requests go to. */
export interface SecretDestination {
  server: string;
  origin: string;
  /** The secrets that its tools use; a name with `{…}` in it stands for many. */
  used: string[];
}

/**
 * Where a secret called `<server>.<name>` goes: to the address of that server's tool file, as approved, or to the one that the
 * entry puts in its place. Undefined where no such server is configured, or it cannot be used.
 */
export async function destinationOf(
  name: string,
  { openServers, surroundings, stateFolder, flags }: CommandContext,
): Promise<SecretDestination | undefined> {
  const { server } = ownedName(name).of;
  if (server === "") return undefined;
  try {
    await using servers = await openServers();
    const { entry, trusted } = servers.get(server);
    if (!trusted || entry?.reach.kind !== "api") return undefined;
    const { loadApproved } = await import("../../workshop/load-api.ts");
    const { trustFor } = await import("../../host/servers/load-options.ts");
    const trust = trustFor({ surroundings, stateFolder, trust: flags.trust });
    const { file } = await loadApproved(entry.reach.file, { trust });
    const { upstream } = entry.reach;
    // A fake gets placeholders, never what is stored.
    const address = upstream === undefined || upstream === "fake" ? file.upstream.base : upstream;
    return { server, origin: new URL(address).origin, used: neededSecrets(file, server) };
  } catch {
    // What is wrong with the configuration is no reason not to store a secret.
    return undefined;
  }
}
