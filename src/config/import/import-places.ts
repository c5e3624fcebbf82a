import { readdirSync } from "node:fs";
import { CLIENT_IDS, clientFolders, CLIENTS, type ClientId } from "./clients.ts";
import { candidates, pathOf, type ConfigContext } from "../read/places.ts";

/** A file with the servers of a program. */
export interface ImportPlace {
  /** "file": a file that was named explicitly, of any program. */
  client: ClientId | "file";
  file: string;
  /** Of the user, or of the project in the working folder. */
  scope: "user" | "project";
}

/** The files of other programs with servers on this platform: the user's files first, then the project's. */
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
      // The slash at the end of a folder is kept.
      names.map((name) => path.join(cwd, name)),
    );
  }
  // .mcp.json, the project's file of Claude Code, is also one of ours.
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
