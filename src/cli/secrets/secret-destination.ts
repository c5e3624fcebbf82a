import { ownedName } from "../../auth/secret-name.ts";
import { addressOfSecret, neededSecrets } from "../../workshop/file/model/secret-names.ts";
import type { CommandContext } from "../command/command.ts";
import type { ServerSet } from "../command/server-set.ts";
import type { PublishedFile } from "../command/server-source.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";

/** The configured or published server of a secret, and the origin of its requests. */
export interface SecretDestination {
  server: string;
  origin: string;
  /** The secrets that its tools use; a name with `{…}` stands for many. */
  used: string[];
}

/**
 * The destination of a secret named `<server>.<name>`: the address in that server's approved tool file, in its entry, or
 * that of a published instance. Undefined if there is no such server or it cannot be used.
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
    const found = await reachedFile(servers, servers.get(server));
    if (!found) return undefined;
    const { file, upstream } = found;
    // A fake gets placeholders, never stored secrets.
    const address = upstream === undefined || upstream === "fake" ? addressOfSecret(file, own) : upstream;
    return { server, origin: new URL(address).origin, used: neededSecrets(file, server) };
  } catch {
    // A problem in the configuration does not prevent storing a secret.
    return undefined;
  }
}

/** The tool file of a server; `upstream`: the address that replaces all of it. */
async function reachedFile(
  servers: ServerSet,
  { entry, trusted }: ServerDefinition,
): Promise<PublishedFile | undefined> {
  if (!trusted || entry?.reach.kind !== "api") return undefined;
  const { published, upstream, file: path } = entry.reach;
  if (published) return servers.findPublishedFile(published);
  const { loadApproved } = await import("../../workshop/load-api.ts");
  const { file } = await loadApproved(path, { trust: servers.trust });
  return { file, upstream };
}
