import type { ClientId } from "../../config/import/clients.ts";
import type { CommandContext } from "../command/command.ts";
import { ClientEntries } from "./client-entries.ts";
import { placesOf } from "../configure/configured-servers.ts";
import { realpathSync } from "node:fs";
import { join, relative } from "node:path";
import type { ServerEntry } from "../../transport/server-entry.ts";

/** Makes entries for another program that start this installation of Nexus. */
export function entryWriter(
  context: Omit<CommandContext, "options">,
  client: ClientId,
  { isOfProject = false }: { isOfProject?: boolean | undefined } = {},
): ClientEntries {
  const { flags, surroundings } = context;
  const { platform, variables } = surroundings;
  const places = placesOf(context);
  const { execPath: node, argv } = process;
  const program = ownCommand(
    { node, script: argv[1] ?? "", platform, path: variables["PATH"] ?? variables["Path"] },
    { project: isOfProject ? places.cwd : undefined },
  );
  return new ClientEntries(client, { program, config: flags.config, places, isOfProject });
}

/** How this program was started. */
export interface OwnProgram {
  /** The path of the Node executable. */
  node: string;
  /** The script as it was named. */
  script: string;
  platform: NodeJS.Platform;
  path: string | undefined;
}

/**
 * The command that starts this program from another one, independent of its PATH: with absolute paths, because desktop
 * programs have a short PATH. A package that `npx` fetched may be removed, so `npx` fetches it again. `project`: others
 * will read the entry; they have the project's package, but not the paths of this machine.
 */
export function ownCommand(program: OwnProgram, { project }: { project?: string | undefined } = {}): ServerEntry {
  const main = mainFile(program.script);
  if (project !== undefined && isInPackagesOf(project, main)) return npx(program.platform, ["nexus-mcp"]);
  if (/[\\/]_npx[\\/]/.test(main)) return npx(program.platform, ["-y", "nexus-mcp"]);
  return { command: lastingNode(program), args: [main] };
}

/** Resolves a link in PATH to the file. A linked folder is kept, because it survives an update. */
function mainFile(script: string): string {
  return /[\\/]dist[\\/]cli[\\/]main\.js$/.test(script) ? script : (realOf(script) ?? script);
}

/** Homebrew and others keep Node in a folder with its version: the link in PATH survives an update. */
function lastingNode({ node, platform, path = "" }: OwnProgram): string {
  const separator = platform === "win32" ? ";" : ":";
  const name = platform === "win32" ? "node.exe" : "node";
  const real = realOf(node);
  const links = path
    .split(separator)
    // fnm creates a folder for each shell and removes it with the shell.
    .filter((folder) => /^(?:[/\\]|[A-Za-z]:)/.test(folder) && !folder.includes("fnm_multishells"))
    .map((folder) => join(folder, name));
  return links.find((link) => realOf(link) === real) ?? node;
}

/** Windows cannot start a .cmd file without a shell. */
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
