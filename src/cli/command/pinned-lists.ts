import type { Client } from "../../client/client.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { within } from "../../async/within.ts";
import { listedDefinitions } from "../../host/definitions/listed-definitions.ts";
import type { ListHashes, ReceivedList } from "../../host/definitions/pins.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import { sha256 } from "../../text/digest.ts";
import type { ServerSet } from "./server-set.ts";

/** A list that a command has read. */
interface CommandList<T extends object> {
  kind: ListKind;
  client: Client;
  items: readonly T[];
}

/** The hashes of a pinned server's list, after it was compared with what was accepted; undefined if nothing is pinned. */
async function compareList<T extends object>(
  servers: ServerSet,
  definition: ServerDefinition,
  { kind, client, items }: CommandList<T>,
): Promise<ListHashes | undefined> {
  const { id: server, pin } = definition;
  // The terminal declares capabilities, so this is not the list for all.
  const list: ReceivedList = { server, kind, isCommon: false, items: client.asReceived(items) };
  if (pin === undefined) await noteUnpinned(servers, definition, list);
  if (pin === undefined || (pin !== true && kind !== "tools")) return undefined;
  return servers.pins.compare(list);
}

/** Nothing is held, but what is different is in the list of changes. A list that is as the last time costs no database. */
async function noteUnpinned(servers: ServerSet, definition: ServerDefinition, list: ReceivedList): Promise<void> {
  if (!servers.comparesAll) return;
  const { server, kind, items } = list;
  const hashes = [...listedDefinitions(kind, items)].map(([name, { hash }]) => ({ name, hash }));
  const digest = sha256(JSON.stringify(hashes.map(({ name, hash }) => [name, hash])));
  if (await servers.hasSeenList(definition, kind, digest)) return;
  await servers.pins.compare(list);
  await within(Promise.resolve(servers.pins.settled(server)), COMPARE_MS);
  const isCompared = hashes.every(
    (each) => servers.pins.findHold({ server, kind, ...each }, { always: true }) !== "unknown",
  );
  if (isCompared) await servers.sawList(definition, kind, digest);
}

/** The command is not about this: a database that does not answer must not hold it up. */
const COMPARE_MS = 10_000;

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
