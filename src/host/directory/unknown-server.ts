import { nearNames } from "../../text/nearest-name.ts";
import { NexusError } from "../../errors/nexus-error.ts";

/** More names than these are looked up, not read. */
const MOST_NAMES = 8;

interface Advice {
  /** The ids that the name may have been meant to be; the nearest ones unless given. */
  near?: readonly string[];
  /** What to say where there are no servers at all. */
  none?: string;
}

/** For a name that no server has: with what it may have been meant to be, and what there is. */
export function unknownServer(
  name: string,
  ids: readonly string[],
  { near = nearNames(name, ids, 3), none = "No servers are configured." }: Advice = {},
): NexusError {
  const known = ids.length === 0 ? none : listedServers(ids);
  const meant = near.map((id) => `"${id}"`).join(" or ");
  return new NexusError("NAME_UNKNOWN", `There is no server "${name}"`, {
    hint: meant === "" ? known : `Did you mean ${meant}? ${known}`,
    mayHaveReached: false,
  });
}

/** What is configured, for messages. */
export function listedServers(ids: readonly string[]): string {
  return ids.length > MOST_NAMES
    ? `"nexus mcp servers" lists all ${ids.length} servers.`
    : `Configured: ${ids.join(", ")}.`;
}
