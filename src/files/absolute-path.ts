import { isAbsolute, join, resolve } from "node:path";

/** A path of a configuration file, which means the same from wherever Nexus is started. */
export function absolutePath(path: string, { home, base }: { home: string; base: string }): string {
  if (path === "~" || path.startsWith("~/") || path.startsWith("~\\")) return join(home, path.slice(1));
  return isAbsolute(path) ? path : resolve(base, path);
}
