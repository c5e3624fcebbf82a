import { realpathSync } from "node:fs";
import { join, relative, dirname, resolve } from "node:path";
import type { ClientId } from "../../config/import/clients.ts";
import type { CommandContext } from "../command/command.ts";
import { placesOf } from "../configure/configured-servers.ts";
import type { ServerEntry } from "../../transport/server-entry.ts";
import { entryForClient, type ClientEntry, obstacle } from "../../config/import/client-entry.ts";
import { projectFolderOf, pathOf, type ConfigContext } from "../../config/read/places.ts";
import { NEXUS } from "../../config/nexus-entry.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { secretIn } from "./entry-secrets.ts";
import { entryBoundTo } from "../../config/import/import-paths.ts";
import { toAbsolutePath } from "../../files/paths.ts";

const PATHS = ["cwd", "workdir", "envFile"];

/** Makes entries for another program that start this installation of Nexus. */
export function entryWriter(
  context: Omit<CommandContext, "options">,
  client: ClientId,
  { isOfProject = false, isSearched = false }: { isOfProject?: boolean | undefined; isSearched?: boolean } = {},
): ClientEntries {
  const { flags, surroundings } = context;
  const { platform, variables } = surroundings;
  const places = placesOf(context);
  const { execPath: node, argv } = process;
  const program = ownCommand(
    { node, script: argv[1] ?? "", platform, path: variables["PATH"] ?? variables["Path"] },
    { project: isOfProject ? places.cwd : undefined },
  );
  return new ClientEntries(client, { program, config: flags.config, places, isOfProject, isSearched });
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

/** How another program reaches a server: directly, through Nexus over stdio, or through a running gateway. */
export type ClientRoute = { kind: "own" } | { kind: "pipe" } | { kind: "gateway"; url: string };

/** An entry for another program's file. */
export interface NamedEntry extends ClientEntry {
  name: string;
  way: ClientRoute["kind"];
  /** Why the program does not reach the server directly; the end of a sentence. */
  reason?: string | undefined;
}

interface Situation {
  /** The command that starts Nexus. */
  program: ServerEntry;
  /** The file of --config. */
  config: string | undefined;
  places: ConfigContext;
  /** Whether the entry goes to a file of the project in the working folder. */
  isOfProject: boolean;
  /** Whether tools are searched for, in the gateway's search view. */
  isSearched: boolean;
}

/** Makes entries for another program. */
class ClientEntries {
  readonly #client: ClientId;
  readonly #situation: Situation;

  constructor(client: ClientId, situation: Situation) {
    this.#client = client;
    this.#situation = situation;
  }

  /** The entry for all of Nexus. Throws if the program cannot reach it that way. */
  nexus(way: Exclude<ClientRoute, { kind: "own" }>): NamedEntry {
    const entry = way.kind === "pipe" ? this.#pipe([]) : { url: this.#viewUrl(way.url) };
    return { name: NEXUS, way: way.kind, ...entryForClient(this.#client, entry) };
  }

  /** The entry for one server: direct if requested and possible, otherwise through Nexus over stdio. */
  server(definition: ServerDefinition, written: unknown, way: ClientRoute): NamedEntry {
    const { id } = definition;
    if (way.kind === "gateway") {
      const url = this.#viewUrl(gatewayAddress(way.url, id));
      return { name: id, way: "gateway", ...entryForClient(this.#client, { url }) };
    }
    const through = (reason?: string): NamedEntry => {
      return { name: id, way: "pipe", reason, ...entryForClient(this.#client, this.#pipe(["--server", id])) };
    };
    if (way.kind === "pipe") return through();
    if (this.#situation.isSearched) return through("its tools are searched for");
    try {
      return { name: id, way: "own", ...this.own(definition, written) };
    } catch (error) {
      if (error instanceof NexusError) return through(error.message);
      throw error;
    }
  }

  /** A server's entry in the format of the program; throws the reason if it would be a different server there. */
  own(definition: ServerDefinition, written: unknown): ClientEntry {
    const secret = secretIn(written);
    if (secret !== undefined) throw obstacle(secret);
    return entryForClient(this.#client, this.#bound(definition, written as ServerEntry));
  }

  /** The entry with paths that mean the same in another program. */
  #bound({ origin }: ServerDefinition, written: ServerEntry): ServerEntry {
    const { places, isOfProject } = this.#situation;
    const entry = withHome(written, places.home);
    if (!origin) return entry;
    const { file, layer } = origin;
    if (layer === "user") return startingAt(entry, dirname(file));
    const folder = layer === "explicit" ? dirname(file) : projectFolderOf(file, pathOf(places.platform));
    if (isOfProject && folder === places.cwd) return entry;
    return entryBoundTo(folder, places.home, { entry, runsThere: layer !== "explicit" });
  }

  #pipe(args: readonly string[]): ServerEntry {
    const { program, config, isSearched } = this.#situation;
    const file = config === undefined ? [] : ["--config", resolve(config)];
    const view = isSearched ? ["--view", "search"] : [];
    return { ...program, args: [...(program.args ?? []), "serve", "--stdio", ...file, ...args, ...view] };
  }

  #viewUrl(url: string): string {
    return this.#situation.isSearched ? url.replace(/(?<!\/search)\/mcp$/, "/search/mcp") : url;
  }
}

/** The URL of one server on a gateway. */
export function gatewayAddress(url: string, id: string): string {
  return url.replace(/(\/search)?\/mcp$/, `/servers/${id}$1/mcp`);
}

/** Other programs do not know `~`. */
function withHome(entry: ServerEntry, home: string): ServerEntry {
  const members = Object.entries(entry).map(([key, value]): [string, unknown] => {
    const isPath = PATHS.includes(key) && typeof value === "string" && value.startsWith("~");
    return [key, isPath ? toAbsolutePath(value, { home, base: home }) : value];
  });
  return Object.fromEntries(members);
}

function startingAt(entry: ServerEntry, folder: string): ServerEntry {
  const members = Object.entries(entry).map(([key, value]: [string, unknown]) => {
    const isPath = PATHS.includes(key) && typeof value === "string" && isRelative(value);
    return [key, isPath ? resolve(folder, value) : value];
  });
  return Object.fromEntries(members) as ServerEntry;
}

function isRelative(path: string): boolean {
  return path !== "" && !/^(?:~|\$\{|[/\\]|[A-Za-z]:)/.test(path);
}
