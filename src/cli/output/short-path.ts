import { isAbsolute, relative, sep } from "node:path";

/** A path as people write it: `~` for the home folder. */
export function shortPath(file: string, home: string): string {
  return file.startsWith(`${home}${sep}`) ? `~${file.slice(home.length)}` : file;
}

/** A path as it is typed here: from the working folder if it lies in there. */
export function nearPath(file: string, { cwd, home }: { cwd: string; home: string }): string {
  const way = relative(cwd, file);
  return way.startsWith("..") || isAbsolute(way) ? shortPath(file, home) : way;
}

/** Where a server is configured: `~/.nexus/mcp.json:4 (user)`. */
export function placeText({ file, line, layer }: { file: string; line: number; layer: string }, home: string): string {
  return `${shortPath(file, home)}:${line} (${layer})`;
}
