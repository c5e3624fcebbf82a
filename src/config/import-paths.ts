import type { ServerEntry } from "../transport/server-entry.ts";
import { absolutePath } from "./absolute-path.ts";
import type { ImportedServer } from "./import.ts";

/** Where an entry is copied to. */
interface Destination {
  cwd: string;
  home: string;
  /** A file of the project in the working folder, which speaks about that folder itself. */
  isOfProject: boolean;
}

/** A server that means the same in the file it goes to: what was relative to a folder leads there from everywhere. */
export function withFixedPaths(server: ImportedServer, { cwd, home, isOfProject }: Destination): ImportedServer {
  const folder = server.project ?? (server.scope === "project" ? cwd : undefined);
  if (folder === undefined || (isOfProject && folder === cwd)) return server;
  return { ...server, entry: boundTo(folder, home, server.entry) };
}

function boundTo(folder: string, home: string, entry: ServerEntry): ServerEntry {
  const filled = withFolder(entry, folder) as Record<string, unknown>;
  const absolute = (path: unknown) => {
    // What begins with another variable is whole, as far as anybody can know.
    if (typeof path !== "string" || path === "" || /^(?:~|\$\{|file:)/.test(path)) return path;
    return absolutePath(path, { home, base: folder });
  };
  const bound: Record<string, unknown> = { ...filled };
  for (const key of ["cwd", "workdir", "envFile"]) if (key in filled) bound[key] = absolute(filled[key]);
  if (Array.isArray(filled["roots"])) bound["roots"] = filled["roots"].map(absolute);
  // A project's server runs in its folder without saying so.
  if ("command" in filled && (filled["cwd"] ?? filled["workdir"]) === undefined) bound["cwd"] = folder;
  return bound;
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
