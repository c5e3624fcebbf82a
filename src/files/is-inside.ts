import { isAbsolute, relative, sep } from "node:path";

/** Whether a path is a folder, or leads to something in it; both absolute. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
