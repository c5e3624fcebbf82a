import { readdirSync } from "node:fs";
import { CLIENT_IDS, clientFolders, CLIENTS, type ClientId } from "./clients.ts";
import { candidates, pathOf, type ConfigContext } from "../read/places.ts";

/** A file in which a program keeps its servers. */
export interface ImportPlace {
  /** "file": one that was named, whichever program it is of. */
  client: ClientId | "file";
  file: string;
  /** Of the user, or of the project in the working folder. */
  scope: "user" | "project";
}

/** Where other programs keep their servers on this platform: the user's files first, then those of the project. */
export function importPlaces(surroundings: ConfigContext): ImportPlace[] {
  const { cwd, platform } = surroundings;
  const path = pathOf(platform);
  const folders = clientFolders(surroundings);
  const places = new Map<string, ImportPlace>();
  const add = (client: ClientId, scope: ImportPlace["scope"], files: readonly string[]) => {
    for (const file of files.flatMap((name) => filesAt(name, path))) {
      if (!places.has(file)) places.set(file, { client, file, scope });
    }
  };
  for (const client of CLIENT_IDS) {
    const { user, alsoRead } = CLIENTS[client];
    add(client, "user", [...user(folders), ...(alsoRead?.user?.(folders) ?? [])]);
  }
  for (const client of CLIENT_IDS) {
    const { project, alsoRead } = CLIENTS[client];
    const names = [...project, ...(alsoRead?.project ?? [])];
    add(
      client,
      "project",
      // A folder keeps the slash at its end.
      names.map((name) => path.join(cwd, name)),
    );
  }
  // .mcp.json, the project's file of Claude Code, is one of our own.
  for (const { file } of candidates(surroundings)) places.delete(file);
  return [...places.values()];
}

/** The file itself, or the files of a folder. */
function filesAt(name: string, path: ReturnType<typeof pathOf>): string[] {
  if (!/[\\/]$/.test(name)) return [name];
  try {
    const files = readdirSync(name).filter((file) => /\.(?:json|ya?ml)$/i.test(file));
    return files.sort().map((file) => path.join(name, file));
  } catch {
    return [];
  }
}
