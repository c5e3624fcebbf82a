import { readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, posix, relative, resolve, sep } from "node:path";

/** Whether a path means the same in every working folder. On Windows `\folder` and `C:folder` do not. */
export function isAbsolutePath(path: string | undefined, platform: NodeJS.Platform): path is string {
  if (path === undefined) return false;
  return platform === "win32" ? /^(?:[a-z]:[\\/]|[\\/]{2}[^\\/])/i.test(path) : posix.isAbsolute(path);
}

/** Resolves a path of a configuration file, which may start with `~`. */
export function toAbsolutePath(path: string, { home, base }: { home: string; base: string }): string {
  if (path === "~" || path.startsWith("~/") || path.startsWith("~\\")) return join(home, path.slice(1));
  return isAbsolute(path) ? path : resolve(base, path);
}

/** The path from a folder to something in it; undefined if it is not inside. Both are absolute. */
export function pathInside(path: string, folder: string): string | undefined {
  const way = relative(folder, path);
  return way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way) ? undefined : way;
}

/** Whether an absolute path is a folder or inside it. */
export function isInside(path: string, folder: string): boolean {
  return pathInside(path, folder) !== undefined;
}

/** The path without symbolic links, also if it does not exist yet. */
export function realPath(path: string, steps = 40): string {
  try {
    return realpathSync(path);
  } catch {
    const next = linkAt(path);
    return next === undefined || steps === 0 ? path : realPath(next, steps - 1);
  }
}

export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function linkAt(path: string): string | undefined {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return undefined;
  }
}
