import { basename, dirname, isAbsolute } from "node:path";
import { toAbsolutePath } from "../../files/paths.ts";
import type { ServerEntry } from "../../transport/server-entry.ts";
import { CLIENTS } from "./clients.ts";
import type { ImportedServer } from "./import.ts";
import { looksRelative } from "./relative-words.ts";

/** The file to which an entry is copied. */
interface Destination {
  cwd: string;
  home: string;
  /** A file of the project in the working folder, whose paths are relative to that folder. */
  isOfProject: boolean;
}

/** A server that means the same in its new file: relative paths become absolute. */
export function withFixedPaths(server: ImportedServer, { cwd, home, isOfProject }: Destination): ImportedServer {
  const folder = folderOf(server, cwd);
  if (isOfProject && folder === cwd) return server;
  if (folder === undefined) return { ...server, entry: ofUser(server, home) };
  const { client, entry } = server;
  // An explicitly named file can be anywhere.
  return {
    ...server,
    entry: entryBoundTo(folder, home, { entry, runsThere: client !== "file" || looksRelative(entry).length > 0 }),
  };
}

/**
 * The folder to which an entry's paths are relative; undefined for a user's entry, which depends on the working folder.
 */
function folderOf({ client, scope, project, source }: ImportedServer, cwd: string): string | undefined {
  if (project !== undefined) return project;
  if (scope === "project") return cwd;
  if (client !== "file") return undefined;
  const folder = dirname(source.file);
  // .vscode, .cursor and similar folders refer to the folder that contains them.
  return basename(folder).startsWith(".") ? dirname(folder) : folder;
}

function ofUser({ client, entry }: ImportedServer, home: string): ServerEntry {
  const startsAtHome = client !== "file" && CLIENTS[client].dialect?.startsAtHome === true;
  // A relative "envFile" is relative to our own file, not to theirs.
  if (startsAtHome) return withAbsolute(entry, PATHS, { home, base: home });
  return withAbsolute(inWorkingFolder(entry), ["envFile"], { home, base: home });
}

/** Terminal programs resolve relative paths in the folder where they are started; Nexus resolves them at the file. */
function inWorkingFolder(entry: ServerEntry): ServerEntry {
  const members = Object.entries(entry).map(([key, value]: [string, unknown]) => {
    const isRelative = ["cwd", "workdir"].includes(key) && typeof value === "string" && /^[^~$/\\]/.test(value);
    return [key, isRelative && !isAbsolute(value) ? `\${workspaceFolder}/${value}` : value];
  });
  return Object.fromEntries(members) as ServerEntry;
}

/** An entry whose paths no longer depend on its folder. A project's server runs in that folder by default. */
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
    // A path that begins with another variable is treated as absolute.
    if (typeof path !== "string" || path === "" || /^(?:~|\$\{|file:)/.test(path)) return path;
    return toAbsolutePath(path, places);
  };
  const members = Object.entries(entry).map(([key, value]) => [key, keys.includes(key) ? absolute(value) : value]);
  return Object.fromEntries(members) as ServerEntry;
}

function withFolder(value: unknown, folder: string): unknown {
  if (typeof value === "string") {
    // A folder with ${ in its name must not become a variable.
    const written = folder.replaceAll("${", () => "$${");
    return value.replaceAll(/(?<!\$)\$\{workspaceFolder(?::-[^{}]*)?\}/g, () => written);
  }
  if (Array.isArray(value)) return value.map((item) => withFolder(item, folder));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withFolder(item, folder)]));
}
