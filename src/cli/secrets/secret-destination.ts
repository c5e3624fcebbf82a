import { ownedName } from "../../auth/secret-name.ts";
import { addressOfSecret, neededSecrets } from "../../workshop/file/model/secret-names.ts";
import type { CommandContext } from "../command/command.ts";

/** The configured server of a secret, and the origin of its requests. */
export interface SecretDestination {
  server: string;
  origin: string;
  /** The secrets that its tools use; a name with `{…}` stands for many. */
  used: string[];
}

/**
 * The destination of a secret named `<server>.<name>`: the address in that server's approved tool file, or the one in
 * its entry. Undefined if no such server is configured or it cannot be used.
 */
export async function destinationOf(
  name: string,
  { openServers }: Pick<CommandContext, "openServers">,
): Promise<SecretDestination | undefined> {
  const { of, name: own } = ownedName(name);
  const { server } = of;
  if (server === "") return undefined;
  try {
    await using servers = await openServers();
    const { entry, trusted } = servers.get(server);
    if (!trusted || entry?.reach.kind !== "api" || entry.reach.published) return undefined;
    const { loadApproved } = await import("../../workshop/load-api.ts");
    const { file } = await loadApproved(entry.reach.file, { trust: servers.trust });
    const { upstream } = entry.reach;
    // A fake gets placeholders, never stored secrets.
    const address = upstream === undefined || upstream === "fake" ? addressOfSecret(file, own) : upstream;
    return { server, origin: new URL(address).origin, used: neededSecrets(file, server) };
  } catch {
    // A problem in the configuration does not prevent storing a secret.
    return undefined;
  }
}
