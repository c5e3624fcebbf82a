import { sep } from "node:path";
import { pathInside } from "../../files/paths.ts";

/** A path as people write it: `~` for the home folder. */
export function shortPath(file: string, home: string): string {
  return file.startsWith(`${home}${sep}`) ? `~${file.slice(home.length)}` : file;
}

/** A path relative to the working folder if it is inside. */
export function nearPath(file: string, { cwd, home }: { cwd: string; home: string }): string {
  return pathInside(file, cwd) ?? shortPath(file, home);
}

/** Where a server is configured: `~/.nexus/mcp.json:4 (user)`. */
export function placeText({ file, line, layer }: { file: string; line: number; layer: string }, home: string): string {
  return `${shortPath(file, home)}:${line} (${layer})`;
}
