import { join } from "node:path";
import { candidates, type ConfigContext } from "../../config/read/places.ts";
import { Sightings } from "../command/sightings.ts";

/** Names for completion. All come from files: nothing is started, asked or resolved. */
export interface CompletionNames {
  /** Servers, with the layer of their configuration. */
  servers(): Promise<ReadonlyMap<string, string>>;
  /** The names last seen of a server; undefined if there are none. */
  seen(server: string, kind: "tools" | "prompts"): Promise<readonly string[] | undefined>;
  secrets(): Promise<readonly string[]>;
}

interface NameSources {
  places: ConfigContext;
  stateFolder: string;
  /** The file of --config. */
  explicit: string | undefined;
  listSecrets: () => Promise<readonly string[]>;
}

export function knownNames({ places, stateFolder, explicit, listSecrets }: NameSources): CompletionNames {
  const sightings = new Sightings(join(stateFolder, "seen"));
  return {
    servers: () => serverNames(places, explicit),
    seen: async (server, kind) => {
      const names: unknown = (await sightings.last(server))?.[kind];
      return Array.isArray(names) ? names.filter((name) => typeof name === "string") : undefined;
    },
    secrets: listSecrets,
  };
}

async function serverNames(places: ConfigContext, explicit: string | undefined): Promise<Map<string, string>> {
  const { loadWrittenIds } = await import("./written-ids.ts");
  const files = explicit === undefined ? candidates(places) : [{ file: explicit, layer: "explicit" }];
  const names = new Map<string, string>();
  for (const { file, layer } of files) {
    for (const id of await loadWrittenIds(file)) if (!names.has(id)) names.set(id, layer);
  }
  return new Map([...names].sort(([a], [b]) => (a < b ? -1 : 1)));
}
