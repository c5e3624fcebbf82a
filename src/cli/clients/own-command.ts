import { realpathSync } from "node:fs";
import { join, relative } from "node:path";
import type { ServerEntry } from "../../transport/server-entry.ts";

/** How this very program was started. */
export interface OwnProgram {
  /** The file of Node that runs it. */
  node: string;
  /** The file that was run, as it was named. */
  script: string;
  platform: NodeJS.Platform;
  path: string | undefined;
}

/**
 * The command that starts this program from another one, whatever that one has in its PATH: with absolute paths, as programs
 * of the desktop have hardly any. What `npx` has fetched may be gone tomorrow, so `npx` fetches it again. `project`: others will
 * read the entry, who have the package of the project, and not the paths of this machine.
 */
export function ownCommand(program: OwnProgram, { project }: { project?: string | undefined } = {}): ServerEntry {
  const main = mainFile(program.script);
  if (project !== undefined && isInPackagesOf(project, main)) return npx(program.platform, ["nexus-mcp"]);
  if (/[\\/]_npx[\\/]/.test(main)) return npx(program.platform, ["-y", "nexus-mcp"]);
  return { command: lastingNode(program), args: [main] };
}

/** A link, as package managers put into PATH, leads to the file; a folder that is a link stays, for it outlives an update. */
function mainFile(script: string): string {
  return /[\\/]dist[\\/]cli[\\/]main\.js$/.test(script) ? script : (realOf(script) ?? script);
}

/** Homebrew and others keep Node in a folder of its version: the link in PATH is still there after an update. */
function lastingNode({ node, platform, path = "" }: OwnProgram): string {
  const separator = platform === "win32" ? ";" : ":";
  const name = platform === "win32" ? "node.exe" : "node";
  const real = realOf(node);
  const links = path
    .split(separator)
    // fnm makes a folder for each shell, and removes it with the shell.
    .filter((folder) => /^(?:[/\\]|[A-Za-z]:)/.test(folder) && !folder.includes("fnm_multishells"))
    .map((folder) => join(folder, name));
  return links.find((link) => realOf(link) === real) ?? node;
}

/** Windows starts no .cmd file without a shell. */
function npx(platform: NodeJS.Platform, args: readonly string[]): ServerEntry {
  return platform === "win32" ? { command: "cmd", args: ["/c", "npx", ...args] } : { command: "npx", args };
}

function isInPackagesOf(project: string, main: string): boolean {
  return /^node_modules[\\/]/.test(relative(project, main));
}

function realOf(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}
