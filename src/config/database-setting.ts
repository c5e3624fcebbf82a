import { dirname } from "node:path";
import { plainValue } from "../source/source-node.ts";
import { loadSection } from "./load-section.ts";
import type { ConfigContext } from "./read/places.ts";

/** `"gateway": { "database": … }` and its file. */
export interface DatabaseSetting {
  value: string;
  file: string;
  /** The base of relative paths. */
  folder: string;
}

/** The database in the configuration. */
export async function findDatabaseSetting(
  context: ConfigContext,
  explicit: string | undefined,
): Promise<DatabaseSetting | undefined> {
  const gateway = await loadSection("gateway", context, explicit);
  const setting = gateway.find("database");
  if (!setting) return undefined;
  const { node, file } = setting;
  const value = plainValue(node);
  if (typeof value === "string") return { value, file, folder: dirname(file) };
  throw gateway.invalid(setting, "is not a text", `Use the path of a file, or postgres://user@host/database.`);
}
