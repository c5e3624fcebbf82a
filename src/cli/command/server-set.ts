import { join } from "node:path";
import type { Client } from "../../client/client.ts";
import type { ConnectOptions } from "../../client/connect/connect-entry.ts";
import { type Logger, SILENT } from "../../text/logger.ts";
import { type Configuration, loadConfiguration, type LoadOptions } from "../../config/load.ts";
import { trustAuthorities } from "../../config/own-authorities.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { asNexusError, messageOf, NexusError } from "../../errors/nexus-error.ts";
import { visible } from "../../text/visible.ts";
import { LazyLedger } from "../../host/definitions/lazy-ledger.ts";
import { Pins } from "../../host/definitions/pins.ts";
import { eraKey } from "../../host/servers/era-cache.ts";
import type { SecretStore } from "../../auth/secrets.ts";
import type { TrustStore } from "../../config/trust/trust-store.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import type { Era } from "../../protocol/revisions.ts";
import { loadOptions, trustFor } from "../../host/servers/load-options.ts";
import { ServerDirectory } from "../../host/directory/server-directory.ts";
import { ServerConnector } from "../../host/servers/server-connector.ts";
import { scopeOptions } from "../../host/servers/scope-options.ts";
import { unableToRun } from "../../host/servers/unable-to-run.ts";
import { listedServers } from "../../host/directory/unknown-name.ts";
import type { PublishedReach } from "../../transport/server-entry.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import type { Flags } from "./command.ts";
import { wrongUsage } from "./command-line.ts";
import { UNATTENDED } from "./declared.ts";
import { configAgain, inPlaceAgain, inPlaceServer } from "./in-place.ts";
import type { Output } from "../output/output.ts";
import { verboseLogger } from "../output/verbose-logger.ts";
import type { PublishedFile, ServerSource, StoredServers } from "./server-source.ts";
import { type Sighting, Sightings } from "./sightings.ts";
import { concernsServer } from "../../errors/error-traits.ts";

export interface ServerSetOptions {
  /** The servers for which the user may be asked for a `${input:…}`; default: none. */
  asksFor?: (server: string) => boolean;
  /** Default: the tenant of the option --tenant. */
  tenant?: string;
  /** A server in place; default: that of the option --url. */
  url?: string;
}

interface ConnectManner {
  /** Whether warnings about the entry are printed; not for commands that report them themselves. */
  tellsWarnings?: boolean;
}

interface Setting {
  surroundings: Surroundings;
  source: ServerSource;
  flags: Flags;
  /** Of a command that uses servers; without them, what is published is left out. */
  words?: readonly string[];
  /** Options of the command, which may describe a server in place. */
  values: Readonly<Record<string, unknown>>;
  out: Output;
}

const AT_ONCE = 8;

/** The configured servers, or the one in place. Starts nothing until a command connects. */
export class ServerSet implements AsyncDisposable {
  readonly configuration: Configuration;
  /** The server on the command line; names need not contain its name. */
  readonly inPlace: ServerDefinition | undefined;
  /** Has the policy of the servers' entries; the command line has no rules of its own. */
  readonly directory = new ServerDirectory({}, { isPersonal: true });
  readonly sightings: Sightings;
  readonly #setting: Setting;
  #ledger: LazyLedger | undefined;
  #pins: Pins | undefined;
  readonly #connector: ServerConnector;
  /** The entries of servers that are not in a file, by id. */
  readonly stored: StoredServers["entries"] | undefined;
  readonly #clients = new Set<Client>();
  readonly #seen = new Map<ServerDefinition, Omit<Sighting, "at" | "key">>();
  readonly #logger: Logger;

  static async open(given: Setting, { asksFor, url }: ServerSetOptions = {}): Promise<ServerSet> {
    const setting = url === undefined ? given : { ...given, values: { ...given.values, url } };
    const { surroundings, source, flags, values, out } = setting;
    const { stateFolder, secrets, trust: trustStore } = source;
    const { trust, config } = flags;
    const askInput: LoadOptions["askInput"] = async (input, server) => {
      if (!asksFor?.(server) || !out.isInteractive) return undefined;
      const { askFor } = await import("../output/terminal-questions.ts");
      const what = `${server} needs ${input.description ?? input.id}`;
      return askFor(out, { text: what, hidden: input.password, fallback: input.default });
    };
    const load = loadOptions({ surroundings, stateFolder, trust, askInput, secrets, trustStore });
    const inPlace = await inPlaceServer(values, load);
    if (inPlace) await trustAuthorities(inPlace, load, config);
    if (inPlace && source.load) throw notOfTenant();
    if (inPlace) return new ServerSet({ servers: [inPlace], warnings: [], files: [] }, setting, { inPlace });
    if (source.load) {
      const { definitions, entries } = await source.load({ ...load, explicit: config });
      return new ServerSet({ servers: definitions, warnings: [], files: [] }, setting, { stored: entries });
    }
    const configuration = await loadConfiguration({ ...load, explicit: config });
    const problem = config === undefined ? undefined : configuration.files[0]?.problem;
    if (problem) throw problem;
    if (config !== undefined) return new ServerSet(configuration, setting);
    const logger = flags.verbose ? verboseLogger(out) : SILENT;
    return new ServerSet(await withPublished(configuration, setting, logger), setting);
  }

  private constructor(
    configuration: Configuration,
    setting: Setting,
    { inPlace, stored }: { inPlace?: ServerDefinition; stored?: StoredServers["entries"] } = {},
  ) {
    const { surroundings, source, flags, out } = setting;
    const { stateFolder, tenant, secrets, eras } = source;
    this.configuration = configuration;
    this.inPlace = inPlace;
    this.stored = stored;
    this.directory.replace(configuration.servers);
    this.#setting = setting;
    this.#logger = flags.verbose ? verboseLogger(out) : SILENT;
    this.sightings = new Sightings(join(stateFolder, "seen"));
    this.#connector = new ServerConnector({
      surroundings,
      stateFolder,
      trust: this.trust,
      eras,
      tenant,
      secrets,
      atOnce: AT_ONCE,
      logger: this.#logger,
      openApi: source.openApi,
      loginHint: ({ id }, scopes) => {
        const words = inPlace ? inPlaceAgain({ url: setting.values["url"] }) : this.wordsFor(id);
        return `Run "nexus mcp login${words}${scopeOptions(scopes)}".`;
      },
    });
  }

  /** Which definitions are held: those of pinned servers that were not accepted. */
  get pins(): Pins {
    const { source, flags, out } = this.#setting;
    this.#ledger ??= new LazyLedger(() => source.openLedger(), { keepsUnpinned: source.keepsDefinitions });
    return (this.#pins ??= new Pins({
      ledger: this.#ledger,
      pinOf: (server) => this.directory.find(server)?.pin,
      optionsAgain: `${source.optionsAgain}${configAgain(flags)}`,
      logger: verboseLogger(out),
    }));
  }

  get tenant(): string {
    return this.#setting.source.tenant;
  }

  /** Logs, and what is remembered of the servers. */
  get stateFolder(): string {
    return this.#setting.source.stateFolder;
  }

  get secrets(): SecretStore {
    return this.#setting.source.secrets;
  }

  /** Which tool files may be opened. */
  get trust(): TrustStore {
    const { surroundings, source, flags } = this.#setting;
    return trustFor({ surroundings, stateFolder: source.stateFolder, trust: flags.trust, trustStore: source.trust });
  }

  /** The tool file of a published server as it is reached. */
  findPublishedFile(reach: PublishedReach): Promise<PublishedFile | undefined> {
    return this.#setting.source.findPublishedFile?.(reach) ?? Promise.resolve(undefined);
  }

  /** Files that could not be used. */
  get fileProblems(): NexusError[] {
    return this.configuration.files.flatMap(({ problem }) => problem ?? []);
  }

  /** By its id, or by its name in the configuration file. */
  get(name: string): ServerDefinition {
    const found = this.directory.find(name);
    if (found) return found;
    // The server may be in the file that could not be read.
    const [problem] = this.fileProblems;
    throw (
      problem ?? this.directory.unknown(name, this.nothingStored ?? nothingConfigured(this.configuration.files.length))
    );
  }

  /** The servers of a command: the one in place, the named one, or all enabled ones. */
  pick(id: string | undefined): ServerDefinition[] {
    if (this.inPlace && id !== undefined) throw namedTwice(id);
    if (this.inPlace) return [this.inPlace];
    if (id !== undefined) return [this.get(id)];
    return this.configuration.servers.filter(({ enabled }) => enabled);
  }

  /** The server that the first word names, and the other words; a server in place is not named. */
  pickFirst(words: readonly string[]): { definition: ServerDefinition; rest: string[] } {
    if (this.inPlace) return { definition: this.inPlace, rest: [...words] };
    const [id, ...rest] = words;
    if (id === undefined)
      throw wrongUsage("The server is missing", "Name a configured server, or use --stdio or --url.");
    return { definition: this.get(id), rest };
  }

  /** The server of a command without other words. */
  pickOnly(words: readonly string[]): ServerDefinition {
    const { definition, rest } = this.pickFirst(words);
    if (this.inPlace && rest[0] !== undefined) throw namedTwice(rest[0]);
    return definition;
  }

  /** The options that select the same servers, for commands to copy: ` --url …`, ` --config FILE`, or nothing. */
  get optionsAgain(): string {
    const { values, flags, source } = this.#setting;
    if (this.inPlace) return inPlaceAgain(values);
    return `${source.optionsAgain}${configAgain(flags)}`;
  }

  /** The words for the same server after a command, to copy: ` ID`, ` --url …`, ` ID --config FILE`. */
  wordsFor(server: string): string {
    return `${this.inPlace ? "" : ` ${server}`}${this.optionsAgain}`;
  }

  /** Adds to an error what the command line knows: where the server is configured, and what to do. */
  async explained(thrown: unknown): Promise<unknown> {
    if (!(thrown instanceof NexusError) || !concernsServer(thrown.code)) return thrown;
    const { server } = thrown.details;
    const definition = server === undefined ? undefined : this.directory.find(server);
    const error = await this.#inOwnWords(thrown, definition ?? this.inPlace);
    const origin = definition?.origin;
    const more = error.with({ source: origin });
    if (error.code !== "PROTOCOL_VIOLATION") return more;
    const look = origin
      ? `"nexus mcp doctor ${server}" checks the server, "nexus mcp logs ${server}" shows its stderr.`
      : "";
    return more.with({ hint: `This is a bug in the server. Report it to its author. ${look}`.trim() });
  }

  /** The server of a tool's or prompt's full name: `server.tool`, `mcp:server.tool`, `mcp__server__tool`. */
  async getOwner(fullName: string, kind: "tool" | "prompt" = "tool"): Promise<ServerDefinition> {
    if (this.inPlace) return this.inPlace;
    const { servers } = this.configuration;
    const [found] = this.directory.findOwners(fullName);
    if (found) return found;
    const name = this.directory.withId(fullName);
    const [first = name] = name.replace(/^mcp:/, "").split(".");
    if (this.directory.find(name)) {
      throw wrongUsage(
        `"${name}" is a server; the name of the ${kind} is missing`,
        `Write ${name}.${kind.toUpperCase()}; "nexus mcp ${kind}s ${name}" lists them.`,
      );
    }
    if (first !== name || servers.length === 0) return this.get(first);
    const owners = await this.#lastSeenWith(name, kind);
    const example = `Write it as server.name, for example ${servers[0]?.id}.${name}. ${listedServers(servers.map(({ id }) => id))}`;
    throw new NexusError("NAME_UNKNOWN", `"${name}" does not contain the name of a server`, {
      hint: owners.length === 0 ? example : `Did you mean ${quoted(owners.map((id) => `${id}.${name}`))}?`,
      mayHaveReached: false,
    });
  }

  /** The servers that had a tool or prompt of this name at the last connection. */
  async #lastSeenWith(name: string, kind: "tool" | "prompt"): Promise<string[]> {
    const seen = await Promise.all(
      this.configuration.servers.map(async (definition) => {
        const sighting = await this.sightings.find(definition);
        return sighting?.[kind === "tool" ? "tools" : "prompts"]?.includes(name) ? [definition.id] : [];
      }),
    );
    return seen.flat();
  }

  /** Connects, and remembers the result. Closed with the set. */
  async connect(definition: ServerDefinition, given: ConnectOptions & ConnectManner = {}): Promise<Client> {
    const { tellsWarnings = true, ...options } = given;
    const { timeoutMs } = this.#setting.flags;
    if (tellsWarnings) this.#warn(definition);
    const refusal = unableToRun(definition);
    if (refusal) throw refusal;
    try {
      const client = await this.#connector.connect(definition, {
        logger: this.#logger,
        timeoutMs,
        connectTimeoutMs: timeoutMs,
        input: UNATTENDED,
        ...options,
      });
      this.#clients.add(client);
      const { era, protocolVersion, serverInfo } = client;
      this.saw(definition, { outcome: { kind: "ready", era, protocolVersion, serverInfo } });
      return client;
    } catch (thrown) {
      const error = await this.#inOwnWords(asNexusError(thrown), definition);
      const { code, message } = error;
      if (code !== "CANCELLED") this.saw(definition, { outcome: { kind: "failed", code, message } });
      throw error;
    }
  }

  /** Closes a connection that the command no longer needs. */
  async disconnect(client: Client): Promise<void> {
    this.#clients.delete(client);
    await client.close();
  }

  /** Forgets the era of a server: the next connection detects it. */
  async forgetEra({ entry }: ServerDefinition): Promise<void> {
    if (entry) await this.#setting.source.eras.remember(eraKey(entry), undefined);
  }

  /** The remembered era of a server. */
  async findEra({ entry }: ServerDefinition): Promise<Era | undefined> {
    return entry && this.#setting.source.eras.find(eraKey(entry));
  }

  /** Remembers what was seen of a configured server, for `servers` and for completion. */
  saw(definition: ServerDefinition, seen: Omit<Sighting, "at" | "key">): void {
    if (this.inPlace) return;
    const { id: server } = definition;
    const tools = seen.tools?.filter((name) => this.directory.policy.allows(undefined, { kind: "tool", server, name }));
    this.#seen.set(definition, { ...this.#seen.get(definition), ...seen, ...(tools ? { tools } : {}) });
  }

  /** Whether lists of a server that is not pinned are compared with what was accepted. */
  get comparesAll(): boolean {
    return this.#setting.source.keepsDefinitions && !this.inPlace;
  }

  /** Whether a list was the same when a command read it the last time. */
  async hasSeenList(definition: ServerDefinition, kind: ListKind, digest: string): Promise<boolean> {
    return (await this.sightings.find(definition))?.lists?.[kind] === digest;
  }

  /** Remembers a list that was compared. */
  async sawList(definition: ServerDefinition, kind: ListKind, digest: string): Promise<void> {
    const before = await this.sightings.find(definition);
    const lists = { ...before?.lists, ...this.#seen.get(definition)?.lists, [kind]: digest };
    this.saw(definition, { lists });
  }

  /** Ends the processes that killed hosts left running. */
  sweep(): Promise<void> {
    return this.#connector.sweep();
  }

  async close(): Promise<void> {
    await Promise.all([
      this.#ledger?.[Symbol.asyncDispose](),
      ...[...this.#clients].map((client) => client.close()),
      ...[...this.#seen].map(([definition, seen]) => this.sightings.note(definition, seen)),
    ]);
    await this.#setting.source[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** What to do if a tenant has no enabled server; undefined for servers of configuration files. */
  get nothingStored(): string | undefined {
    if (!this.stored) return undefined;
    const { tenant, optionsAgain } = this.#setting.source;
    const [first] = this.configuration.servers;
    if (first) return `All servers are disabled. Enable one: nexus mcp enable ${first.id}${optionsAgain}`;
    return `The tenant "${tenant}" has no servers. Add one: nexus mcp add NAME${optionsAgain} -- COMMAND …`;
  }

  /** Hints name keys of an entry; a server in place has options. */
  async #inOwnWords(error: NexusError, definition: ServerDefinition | undefined): Promise<NexusError> {
    const exact = withRefusedHeader(error, definition);
    return this.inPlace ? (await import("./in-place-hints.ts")).withOptionHints(exact) : exact;
  }

  #warn({ id }: ServerDefinition): void {
    for (const { server, message, source } of this.configuration.warnings) {
      if (server !== id) continue;
      const { out } = this.#setting;
      out.note(`${out.onStderr("yellow", "warning:")} ${visible(message)} (${source.file}:${source.line})`);
    }
  }
}

/**
 * The configuration with what is published in the user's own store, as a gateway would serve it. Opening a database takes
 * time, so a command about a configured server does without. Without the database, everything else still works.
 */
async function withPublished(
  configuration: Configuration,
  { source, words }: Setting,
  logger: Logger,
): Promise<Configuration> {
  if (!source.published || !words) return configuration;
  const directory = new ServerDirectory();
  directory.replace(configuration.servers);
  const [word] = words;
  if (word !== undefined && (directory.find(word) || directory.findOwners(word).length > 0)) return configuration;
  try {
    const published = await source.published({ isSought: word !== undefined });
    const others = published.filter(({ id }) => !directory.find(id));
    return { ...configuration, servers: [...configuration.servers, ...others] };
  } catch (error) {
    logger.warn(`what is published is not known: ${messageOf(error)}`);
    return configuration;
  }
}

function notOfTenant(): NexusError {
  return wrongUsage("--tenant cannot be used together with --stdio or --url", "Use one of them.");
}

function namedTwice(id: string): NexusError {
  return wrongUsage(`"${id}" cannot be used together with --stdio or --url`, "Remove the name, or --stdio and --url.");
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(" or ");
}

function nothingConfigured(files: number): string {
  const none = files === 0 ? "No configuration file was found." : "The configuration has no servers.";
  return `${none} Add one: nexus mcp add NAME -- COMMAND …`;
}

/** The same error, where the server refused the credentials that its entry sends: "add them" would be no help. */
function withRefusedHeader(error: NexusError, definition: ServerDefinition | undefined): NexusError {
  const { snippet: _example, ...details } = error.details;
  if (error.code !== "AUTH_REQUIRED" || details.status !== 401 || !sendsCredentials(definition)) return error;
  return new NexusError(error.code, "The server did not accept the credentials that were sent (HTTP 401)", {
    ...details,
    hint: `Check "Authorization" in the entry's "headers": it may be mistyped, expired or revoked.`,
  });
}

function sendsCredentials(definition: ServerDefinition | undefined): boolean {
  const reach = definition?.entry?.reach;
  if (reach?.kind !== "http") return false;
  return Object.keys(reach.headers ?? {}).some((name) => name.toLowerCase() === "authorization");
}
