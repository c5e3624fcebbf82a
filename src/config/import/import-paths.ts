import { basename, dirname, isAbsolute } from "node:path";
import { toAbsolutePath } from "../../files/paths.ts";
import type { ServerEntry } from "../../transport/server-entry.ts";
import { CLIENTS } from "./clients.ts";
import type { ImportedServer } from "./import.ts";
import { looksRelative } from "./relative-words.ts";

/** Where an entry is copied to. */
interface Destination {
  cwd: string;
  home: string;
  /** A file of the project in the working folder, which speaks about that folder itself. */
  isOfProject: boolean;
}

/** A server that means the same in the file it goes to: what was relative to a folder leads there from everywhere. */
export function withFixedPaths(server: ImportedServer, { cwd, home, isOfProject }: Destination): ImportedServer {
  const folder = folderOf(server, cwd);
  if (isOfProject && folder === cwd) return server;
  if (folder === undefined) return { ...server, entry: ofUser(server, home) };
  const { client, entry } = server;
  // A file that was named may be anywhere.
  return {
    ...server,
    entry: entryBoundTo(folder, home, { entry, runsThere: client !== "file" || looksRelative(entry).length > 0 }),
  };
}

/** The folder that an entry speaks about; undefined for one of the user, which speaks about wherever they are. */
function folderOf({ client, scope, project, source }: ImportedServer, cwd: string): string | undefined {
  if (project !== undefined) return project;
  if (scope === "project") return cwd;
  if (client !== "file") return undefined;
  const folder = dirname(source.file);
  // .vscode, .cursor and the like speak about the folder they are in.
  return basename(folder).startsWith(".") ? dirname(folder) : folder;
}

function ofUser({ client, entry }: ImportedServer, home: string): ServerEntry {
  const startsAtHome = client !== "file" && CLIENTS[client].dialect?.startsAtHome === true;
  // A relative "envFile" of ours is beside our own file, where theirs is not.
  if (startsAtHome) return withAbsolute(entry, PATHS, { home, base: home });
  return withAbsolute(inWorkingFolder(entry), ["envFile"], { home, base: home });
}

/** Programs of a terminal look for relative paths where they are started; here they start at the file they are in. */
function inWorkingFolder(entry: ServerEntry): ServerEntry {
  const members = Object.entries(entry).map(([key, value]: [string, unknown]) => {
    const isRelative = ["cwd", "workdir"].includes(key) && typeof value === "string" && /^[^~$/\\]/.test(value);
    return [key, isRelative && !isAbsolute(value) ? `\${workspaceFolder}/${value}` : value];
  });
  return Object.fromEntries(members) as ServerEntry;
}

/** An entry whose paths no longer depend on the folder it speaks about. A project's server runs there without saying so. */
export function entryBoundTo(
  folder: string,
  home: string,
  { entry, runsThere }: { entry: ServerEntry; runsThere: boolean },
): ServerEntry {
  const bound = withAbsolute(withFolder(entry, folder) as ServerEntry, PATHS, { home, base: folder });
  const { command, cwd = bound.workdir } = bound;
  return command !== undefined && cwd === undefined && runsThere ? { ...bound, cwd: folder } : bound;
}

const PATHS = ["cwd", "workdir", "envFile", "api", "roots"];

function withAbsolute(
  entry: ServerEntry,
  keys: readonly string[],
  places: { home: string; base: string },
): ServerEntry {
  const absolute = (path: unknown): unknown => {
    if (Array.isArray(path)) return path.map(absolute);
    // What begins with another variable is whole, as far as anybody can know.
    if (typeof path !== "string" || path === "" || /^(?:~|\$\{|file:)/.test(path)) return path;
    return toAbsolutePath(path, places);
  };
  const members = Object.entries(entry).map(([key, value]) => [key, keys.includes(key) ? absolute(value) : value]);
  return Object.fromEntries(members) as ServerEntry;
}

function withFolder(value: unknown, folder: string): unknown {
  if (typeof value === "string") {
    // A folder that has ${ in its name must not become a reference.
    const written = folder.replaceAll("${", () => "$${");
    return value.replaceAll(/(?<!\$)\$\{workspaceFolder(?::-[^{}]*)?\}/g, () => written);
  }
  if (Array.isArray(value)) return value.map((item) => withFolder(item, folder));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withFolder(item, folder)]));
}
