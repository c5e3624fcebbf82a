import { serverId } from "../../text/server-id.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { CHAT_AGENT, type ChatState } from "./chat-state.ts";

type OfServers = Pick<ChatState, "servers">;

/** All servers of the chat in the order of the configuration, also those that were disconnected by hand. */
export function serverIds({ servers }: OfServers): string[] {
  const visible = servers.host.directory.visibleTo(CHAT_AGENT).map(({ id }) => id);
  const known = new Set([...visible, ...servers.disconnected]);
  return servers.ids.filter((id) => known.has(id));
}

/** The id of a server that this chat has; throws NAME_UNKNOWN, with the command that lists the servers. */
export function serverIn(state: OfServers, name: string, list = "/mcp"): string {
  const ids = serverIds(state);
  const id = ids.includes(name) ? name : serverId(name);
  if (ids.includes(id)) return id;
  const near = nearestName(name, ids);
  throw new NexusError("NAME_UNKNOWN", `This chat has no server "${name}"`, {
    hint: `${near === undefined ? "" : `Did you mean "${near}"? `}${list} lists them.`,
    mayHaveReached: false,
  });
}

/** The same for commands that need a connection; throws CLOSED if it was closed by hand. */
export function connectedServerIn(state: OfServers, name: string): string {
  const id = serverIn(state, name);
  if (!state.servers.disconnected.includes(id)) return id;
  throw unusable(`${id} is disconnected. To connect it: /mcp connect ${id}`);
}

/** The same for commands that use what a server offers; throws CLOSED if it is disabled. */
export function usedServerIn(state: OfServers, name: string): string {
  const id = connectedServerIn(state, name);
  if (state.servers.host.find(id)?.state.kind !== "disabled") return id;
  throw unusable(`${id} is disabled. To enable it: /mcp enable ${id}`);
}

/** Throws CLOSED if a name such as `server:prompt` belongs to a server that is not used now. */
export function requireUsedServer(state: OfServers, name: string): void {
  const id = serverIds(state).find((each) => name.startsWith(`${each}:`) || name.startsWith(`${each}.`));
  if (id !== undefined) usedServerIn(state, id);
}

function unusable(message: string): NexusError {
  return new NexusError("CLOSED", message, { mayHaveReached: false });
}
