import { sep } from "node:path";

/** A path as people write it: `~` for the home folder. */
export function shortPath(file: string, home: string): string {
  return file.startsWith(`${home}${sep}`) ? `~${file.slice(home.length)}` : file;
}

/** Where a server is configured: `~/.nexus/mcp.json:4 (user)`. */
export function placeText({ file, line, layer }: { file: string; line: number; layer: string }, home: string): string {
  return `${shortPath(file, home)}:${line} (${layer})`;
}
