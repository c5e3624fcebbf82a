import type { Client } from "../../client/client.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import type { ListHashes } from "../../host/definitions/pins.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import type { ServerSet } from "./server-set.ts";

/** A list that a command has read. */
export interface CommandList<T extends object> {
  kind: ListKind;
  client: Client;
  items: readonly T[];
}

/** The hashes of a pinned server's list, after it was compared with what was accepted; undefined if nothing is pinned. */
async function compareList<T extends object>(
  { pins }: ServerSet,
  { id: server, pin }: ServerDefinition,
  { kind, client, items }: CommandList<T>,
): Promise<ListHashes | undefined> {
  if (pin === undefined || (pin !== true && kind !== "tools")) return undefined;
  // The terminal declares capabilities, so this is not the list for all.
  return pins.compare({ server, kind, isCommon: false, items: client.asReceived(items) });
}

/** Compares the list of a server that was just added: if it is pinned, this is what is accepted. */
export async function noteList<T extends object>(
  servers: ServerSet,
  definition: ServerDefinition,
  list: CommandList<T>,
): Promise<void> {
  await compareList(servers, definition, list);
}

/** The items that are not held. */
export async function acceptedItems<T extends object>(
  servers: ServerSet,
  definition: ServerDefinition,
  list: CommandList<T> & { nameOf: (item: T) => string },
): Promise<readonly T[]> {
  const hashes = await compareList(servers, definition, list);
  if (!hashes) return list.items;
  const { kind, nameOf, items } = list;
  const { id: server } = definition;
  return items.filter((item) => {
    const name = nameOf(item);
    return servers.pins.findHold({ server, kind, name, hash: hashes.get(name) }) === undefined;
  });
}

/** Throws if the definition with this name is held. */
export async function requireAccepted<T extends object>(
  servers: ServerSet,
  definition: ServerDefinition,
  list: CommandList<T> & { name: string },
): Promise<void> {
  const hashes = await compareList(servers, definition, list);
  const { kind, name } = list;
  if (hashes) servers.pins.requireAccepted({ server: definition.id, kind, name, hash: hashes.get(name) });
}
