import { dirname } from "node:path";
import { NexusError } from "../errors/nexus-error.ts";
import { findMember } from "../source/source-node.ts";
import { explicitly, missingFile } from "./load.ts";
import { candidates, type Candidate, type ConfigContext } from "./read/places.ts";
import { loadText, parseSource } from "./read/read-source.ts";

/** `"gateway": { "database": … }` and its file. */
export interface DatabaseSetting {
  value: string;
  file: string;
  /** The base of relative paths. */
  folder: string;
}

/**
 * The database in the configuration: in the explicit file, or else in the user's files. Project files are ignored, also
 * trusted ones, because trust covers only their servers.
 */
export async function findDatabaseSetting(
  context: ConfigContext,
  explicit: string | undefined,
): Promise<DatabaseSetting | undefined> {
  const places = explicit === undefined ? candidates(context) : [explicitly(explicit, context)];
  for (const place of places) {
    const found = place.layer === "user" || place.layer === "explicit" ? await settingIn(place) : undefined;
    if (found) return found;
  }
  return undefined;
}

async function settingIn({ file, layer }: Candidate): Promise<DatabaseSetting | undefined> {
  const text = await loadText(file);
  if (text === undefined) {
    if (layer === "explicit") throw missingFile(file);
    return undefined;
  }
  const gateway = findMember(await parseSource(text, file), "gateway")?.node;
  const member = findMember(gateway, "database");
  if (!member) return undefined;
  const { node, place } = member;
  if (node.kind === "scalar" && typeof node.value === "string") {
    return { value: node.value, file, folder: dirname(file) };
  }
  throw new NexusError("CONFIG_INVALID", `"gateway.database" is not a text`, {
    phase: "config",
    source: { file, ...place },
    hint: `Use the path of a file, or postgres://user@host/database.`,
    mayHaveReached: false,
  });
}
