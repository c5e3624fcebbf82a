import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { realPath, isInside } from "../files/paths.ts";
import type { SecretStore } from "../auth/secrets.ts";
import { asNexusError, NexusError } from "../errors/nexus-error.ts";
import { defineServer, idOf, type FileContext } from "./define-server.ts";
import { understand } from "./read/dialect.ts";
import { findServers, type FoundServer, type FoundServers, type InputDefinition } from "./read/find-servers.ts";
import { candidates, type Candidate, type ConfigContext } from "./read/places.ts";
import { applyNetwork } from "./network-settings.ts";
import { servesItself } from "./nexus-entry.ts";
import { loadText, parseSource } from "./read/read-source.ts";
import type { Layer, ServerDefinition } from "./read/server-definition.ts";
import { nodeOf, plainValue } from "../source/source-node.ts";
import { fingerprintOf, type TrustStore } from "./trust/trust-store.ts";
import { SettingsSection } from "./settings-section.ts";
import { requireUniquePrefixes } from "./unique-prefixes.ts";
import type { ConfigWarning } from "./read/problem.ts";

export interface LoadOptions extends ConfigContext {
  /** Use only this file. The user named it, so it is trusted. */
  explicit?: string | undefined;
  trust: TrustStore;
  secrets?: SecretStore | undefined;
  /** Options of commands about these secrets, for hints: ` --tenant shop`. */
  secretOptions?: string | undefined;
  /** Answers `${input:id}` in a server's entry; undefined if there is no user to ask. */
  askInput?: ((input: InputDefinition, server: string) => Promise<string | undefined>) | undefined;
}

/** A file that exists. */
export interface ConfigFile {
  file: string;
  layer: Layer;
  /** The number of its servers, including hidden ones. */
  servers: number;
  trusted: boolean;
  /** The key for trusting the file in its current version; the user's own files have no fingerprint. */
  trustKey: string;
  fingerprint: string;
  /** Why the file could not be used. */
  problem?: NexusError | undefined;
}

export interface Configuration {
  /** One for each id. */
  servers: ServerDefinition[];
  warnings: ConfigWarning[];
  /** The existing files, the strongest first. */
  files: ConfigFile[];
  /** What the user's own files, or the file that was named, say about the gateway. */
  gateway?: SettingsSection | undefined;
}

/** Maximum number of names in the message about duplicate ids. */
const MAX_NAMED = 3;

/** Finds and reads all configuration. An invalid file affects its own servers, an invalid entry only itself. */
export async function loadConfiguration(options: LoadOptions): Promise<Configuration> {
  const places = options.explicit === undefined ? candidates(options) : [explicitly(options.explicit, options)];
  const [gateway, network] = [new SettingsSection("gateway"), new SettingsSection("network")];
  const configuration: Configuration = { servers: [], warnings: [], files: [], gateway };
  const servers = new Map<string, ServerDefinition>();
  const there = places.filter(({ file, layer }) => layer === "explicit" || existsSync(file));
  const foreign = new ForeignFolders(options);
  const users = there.filter(({ layer }) => layer === "user").map(({ file }) => realPath(file));
  for (const place of there) {
    // The home folder may be above the working folder under another name.
    if (place.layer !== "user" && users.includes(realPath(place.file))) continue;
    const read = await readPlace(place, { ...options, foreign, sections: [gateway, network] });
    if (!read) continue;
    configuration.files.push(read.file);
    if (place.layer === "ancestor" || place.layer === "project") foreign.add(place.folder, read.file.trusted);
    for (const warning of read.warnings) configuration.warnings.push(warning);
    for (const server of read.servers) {
      const stronger = servers.get(server.id);
      if (!stronger) servers.set(server.id, server);
      else if (stronger.trusted || !server.trusted) stronger.hides = [...stronger.hides, place.file];
      else {
        // A project's file must not disable the user's servers.
        servers.set(server.id, server);
        configuration.warnings.push(...wouldHide(stronger, place.file));
      }
    }
  }
  const all = (configuration.servers = [...servers.values()].sort((a, b) => (a.id < b.id ? -1 : 1)));
  // Without prefixes none is taken, because ids are unique.
  if (all.some(({ prefix }) => prefix !== undefined)) configuration.warnings.push(...requireUniquePrefixes(all));
  if (all.some(({ entry }) => entry && entry.reach.kind !== "stdio")) applyNetwork(all, network, options.home);
  return configuration;
}

export interface DefineOptions extends Omit<LoadOptions, "trust" | "explicit" | "secrets"> {
  secrets?: Pick<SecretStore, "get"> | undefined;
  /**
   * The entries came over the network: they start no program, read no file and no variable of this machine, and reach public
   * addresses only.
   */
  isRemote?: boolean | undefined;
  /** The working folder of a server whose entry has none; default: that of this process. */
  defaultCwd?: string | undefined;
}

/** Definitions of servers that a program passes in: an object by name, or a list of entries with an `id`. */
export async function defineServers(servers: unknown, options: DefineOptions): Promise<ServerDefinition[]> {
  if (typeof servers !== "object" || servers === null) throw noServers();
  const found = findServers(nodeOf({ servers }), "servers.json", { maxEntries: Infinity });
  const context = contextOf({ file: undefined, layer: "explicit", folder: options.cwd }, options, found);
  const limited = options.isRemote ? forRemote(context) : context;
  const { defaultCwd } = options;
  const { servers: defined } = await defineAll(found, { ...limited, defaultCwd, trusted: true });
  requireUniquePrefixes(defined);
  return defined;
}

/** Of what `${…}` may name, only secrets are left: the store decides whose. */
function forRemote(context: FileContext): FileContext {
  const { platform, secrets, secretOptions } = context.sources;
  const sources = { platform, secrets, secretOptions, variables: {}, folders: {}, inputs: [], onlySecrets: true };
  return { ...context, sources, isRemote: true, read: () => Promise.resolve(undefined) };
}

function wouldHide({ id, origin }: ServerDefinition, file: string): ConfigWarning[] {
  if (!origin) return [];
  const message = `Server "${id}": after this file is trusted, it hides the server in ${file}, which is used until then`;
  return [{ message, server: id, source: origin }];
}

interface ReadFile {
  file: ConfigFile;
  servers: ServerDefinition[];
  warnings: ConfigWarning[];
}

interface ReadOptions extends LoadOptions {
  foreign: ForeignFolders;
  /** What else is read of the files that count for it. */
  sections: readonly SettingsSection[];
}

async function readPlace(place: Candidate, options: ReadOptions): Promise<ReadFile | undefined> {
  const { file: path, layer } = place;
  const { foreign, sections } = options;
  const file: ConfigFile = {
    file: path,
    layer,
    servers: 0,
    trusted: layer === "user" || layer === "explicit",
    trustKey: trustKeyOf(place),
    fingerprint: "",
  };
  try {
    const text = await loadText(path);
    if (text === undefined) {
      if (layer === "explicit") throw missingFile(path);
      return undefined;
    }
    const root = await parseSource(text, path);
    const found = findServers(root, path);
    if (file.trusted) for (const section of sections) section.add(root, path);
    file.servers = found.servers.length;
    if (!file.trusted) {
      const { fingerprintOfFile } = await import("./trust/fingerprint.ts");
      file.fingerprint = await fingerprintOfFile(found, place, options);
      file.trusted = await options.trust.isTrusted(file.trustKey, file.fingerprint);
    }
    const context = contextOf(place, options, found);
    // Stronger files come first: the project's files are known when the user's files are read.
    if (layer === "user") {
      context.mayUse = (path, text) => foreign.mayUse(path, text);
      // Programs such as npx run what they find in their working folder.
      context.defaultCwd = foreign.findTrusted() ?? options.home;
    }
    return { file, ...(await defineAll(found, { ...context, trusted: file.trusted })) };
  } catch (error) {
    const problem = asNexusError(error);
    file.problem = problem.amended({ source: { ...problem.details.source, file: path, layer } });
    return { file, servers: [], warnings: [] };
  }
}

/** The folder is part of the trust key: the same servers, linked into another folder, would run there. */
export function trustKeyOf({ file, folder }: Omit<Candidate, "layer">): string {
  return join(realPath(folder), relative(folder, file));
}

async function defineAll(found: FoundServers, context: FileContext): Promise<Omit<ReadFile, "file">> {
  const servers: ServerDefinition[] = [];
  const warnings = [...found.warnings];
  const others = found.servers.filter((server) => {
    const isSelf =
      context.layer !== "explicit" && servesItself(plainValue(understand(server.node, server.section.dialect).node));
    if (isSelf && context.file !== undefined) warnings.push(leftOut(server, context.file));
    return !isSelf;
  });
  for (const [id, same] of byId(others)) {
    const [first] = same;
    if (!first) continue;
    const defined = await defineServer(first, context);
    if (same.length > 1) {
      defined.server.problem = ambiguous(id, same, context);
      delete defined.server.entry;
    }
    servers.push(defined.server);
    for (const warning of defined.warnings) warnings.push(warning);
  }
  return { servers, warnings };
}

/**
 * Leaves out the entry of Nexus itself: it is correct for other programs that share the file, but Nexus would start
 * itself.
 */
function leftOut(found: FoundServer, file: string): ConfigWarning {
  const id = idOf(found);
  const message = `Server "${id}" is skipped: it starts Nexus itself, which would start itself again`;
  return { message, server: id, source: { file, ...found.place } };
}

function byId(servers: readonly FoundServer[]): Map<string, FoundServer[]> {
  const groups = new Map<string, FoundServer[]>();
  for (const server of servers) {
    const id = idOf(server);
    const group = groups.get(id);
    if (group) group.push(server);
    else groups.set(id, [server]);
  }
  return groups;
}

function ambiguous(id: string, same: readonly FoundServer[], { file, layer }: FileContext): NexusError {
  const names = same.slice(0, MAX_NAMED).map(({ name = "", place }) => {
    return `${JSON.stringify(name)}${file === undefined ? "" : ` (line ${place.line})`}`;
  });
  if (same.length > MAX_NAMED) names.push(`${same.length - MAX_NAMED} more`);
  const last = same.at(-1)?.place;
  return new NexusError("CONFIG_INVALID", `Server "${id}": ${names.join(" and ")} have the same id`, {
    phase: "config",
    server: id,
    source: file === undefined || last === undefined ? undefined : { file, ...last, layer },
    hint: "Rename one of them. An id has only lower-case letters, digits and dashes; other characters become dashes.",
    mayHaveReached: false,
  });
}

type ContextPlace = Omit<Candidate, "file"> & { file: string | undefined };

function contextOf(place: ContextPlace, options: DefineOptions, found: FoundServers): FileContext {
  const { file, layer, folder } = place;
  const { home, platform, variables, secrets, secretOptions, askInput } = options;
  return {
    file,
    layer,
    trusted: false,
    home,
    // A user's file is resolved in the folder where Nexus was started, whose content may come from anyone.
    base: layer === "user" && file !== undefined ? dirname(file) : folder,
    rootsBase: folder,
    fileFolder: file === undefined ? folder : dirname(file),
    // A project's file refers to its folder, even if Nexus is started in a folder below it.
    defaultCwd: layer === "ancestor" || layer === "project" ? folder : undefined,
    sources: {
      variables,
      platform,
      folders: { workspaceFolder: folder, userHome: home },
      secrets,
      secretOptions,
      inputs: found.inputs,
      askInput,
    },
  };
}

export function explicitly(path: string, { cwd }: ConfigContext): Candidate {
  const file = resolve(cwd, path);
  return { file, layer: "explicit", folder: dirname(file) };
}

function noServers(): NexusError {
  return new NexusError("CONFIG_INVALID", "The servers are neither an object nor a list", {
    phase: "config",
    hint: `Use { files: { command: "node", args: ["server.js"] } }.`,
    mayHaveReached: false,
  });
}

export function missingFile(file: string): NexusError {
  return new NexusError("CONFIG_INVALID", "The configuration file does not exist", {
    phase: "config",
    source: { file },
    hint: "Check the path, and that you may read its folder.",
    mayHaveReached: false,
  });
}

/**
 * Folders whose content may come from others: the working folder and those above it in the same project. A file in them
 * that a user's own entry reads could name code to run, just like an entry of the project.
 */
class ForeignFolders {
  readonly #cwd: string;
  readonly #home: string;
  readonly #trust: TrustStore;
  /** Real paths of folders with configuration, and whether all of it is trusted. */
  readonly #known = new Map<string, boolean>();

  constructor({ cwd, home, trust }: Pick<ConfigContext, "cwd" | "home"> & { trust: TrustStore }) {
    this.#cwd = realPath(cwd);
    this.#home = realPath(home);
    this.#trust = trust;
  }

  /** Call this for a configuration file that was found in the folder. */
  add(folder: string, isTrusted: boolean): void {
    const path = realPath(folder);
    this.#known.set(path, (this.#known.get(path) ?? true) && isTrusted);
  }

  /** Whether a text may be used whose path depends on where Nexus is started. */
  async mayUse(path: string, text: string): Promise<boolean> {
    const real = realPath(path);
    const folder = this.#projectAround(real);
    if (folder === undefined || this.#known.get(folder) === true) return true;
    return this.#trust.isTrusted(real, fingerprintOf(text));
  }

  /**
   * The working folder if the user trusts it, that is, if all its configuration files are trusted. Below such a folder,
   * that folder, in which the project's own servers also run; not from inside another repository. With `--trust`, any
   * folder.
   */
  findTrusted(): string | undefined {
    if (this.#trust.trustsFolders) return this.#cwd;
    for (let folder = this.#cwd; !isInside(this.#home, folder); folder = dirname(folder)) {
      const isTrusted = this.#known.get(folder);
      if (isTrusted !== undefined) return isTrusted ? folder : undefined;
      if (existsSync(join(folder, ".git")) || dirname(folder) === folder) return undefined;
    }
    return undefined;
  }

  #projectAround(path: string): string | undefined {
    for (let folder = this.#cwd; ; folder = dirname(folder)) {
      // The home folder and the folders above it are never a project.
      if (isInside(this.#home, folder)) return undefined;
      const isProject = folder === this.#cwd || this.#known.has(folder) || existsSync(join(folder, ".git"));
      if (isProject && isInside(path, folder)) return folder;
      if (dirname(folder) === folder) return undefined;
    }
  }
}
