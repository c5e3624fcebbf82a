import { clientOptionsOf } from "../../client/client-settings.ts";
import { join, dirname } from "node:path";
import type { CredentialStorage } from "../../auth/oauth/stored-credential.ts";
import type { SecretStore } from "../../auth/secrets.ts";
import { boundMessage, secretFor } from "../../auth/secret-origins.ts";
import { Client } from "../../client/client.ts";
import { connectEntry, type ConnectOptions } from "../../client/connect/connect-entry.ts";
import type { Logger } from "../../text/logger.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import type { TrustStore } from "../../config/trust/trust-store.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { strictest, type PublicOnly } from "../../net/public-only.ts";
import type { Transport } from "../../transport/transport.ts";
import type { ApiReach, ResolvedEntry } from "../../transport/server-entry.ts";
import type { Era } from "../../protocol/revisions.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import { ChildLedger } from "./child-ledger.ts";
import { eraKey, type EraCache } from "./era-cache.ts";
import type { GatewayChain } from "./gateway-chain.ts";
import type { EntryCredentials } from "./entry-credentials.ts";
import { credentialStorage, secretStore } from "./load-options.ts";
import { StartGate, type Urgency } from "./start-gate.ts";
import { saysNothingAboutEra } from "../../errors/error-traits.ts";
import { promises as fs } from "node:fs";
import { Turns } from "../../async/turns.ts";

/** Opens tool files as servers; the workshop implements it. */
export type OpenApi = (reach: ApiReach, surroundings: ApiSurroundings) => Promise<Transport>;

export interface ApiSurroundings {
  surroundings: Surroundings;
  /** The store of recorded writes, and of secrets if there is no other. */
  stateFolder: string;
  logger: Logger;
  /** Whose server it is; default: the only tenant of a user. */
  tenant?: string | undefined;
  /** Default: the secrets of this user, in the state folder. */
  secrets?: SecretStore | undefined;
  /** The server's id, which identifies stored data; default: the name of the API. */
  server?: string | undefined;
  /** Which tool files may be opened; default: those that this user has accepted. */
  trust?: TrustStore | undefined;
  /** Additional trusted certificate authorities (PEM). */
  ca?: readonly string[] | undefined;
  /** Refuses internal addresses, also for an `upstream` on this machine; `allow` lists exceptions. */
  publicOnly?: PublicOnly | undefined;
  /** Called when the file of an open server cannot be served as it is now, and with undefined when it can. */
  onProblem?: ((problem: NexusError | undefined) => void) | undefined;
  /** Options that all connections to servers share. */
  shared?: Map<string, object> | undefined;
}

interface ConnectorOptions extends Omit<ApiSurroundings, "server" | "trust" | "onProblem" | "shared"> {
  /** Where the logins to servers are kept; default: in the state folder. */
  credentials?: CredentialStorage | undefined;
  /** What a person should do to log in to a server; default: a command of Nexus. */
  loginHint?: ((definition: ServerDefinition, scopes: readonly string[]) => string) | undefined;
  eras: EraCache;
  /** Maximum number of servers that start at the same time. */
  atOnce: number;
  openApi?: OpenApi | undefined;
  /** Which tool files may be opened. */
  trust: TrustStore;
  /** Called when the tool file of a running server cannot be served as it is now, and with undefined when it can. */
  onApiProblem?: ((server: string, problem: NexusError | undefined) => void) | undefined;
  /** Undefined if nothing is served to others. */
  chain?: GatewayChain | undefined;
}

/** Opens connections for a host: limits concurrent starts, uses remembered eras, and records child processes. */
export class ServerConnector {
  readonly #options: ConnectorOptions;
  readonly #gate: StartGate;
  readonly #ledger: ChildLedger;
  readonly #shared = new Map<string, object>();
  /** By server: all its connections write to the same log. */
  readonly #logs = new Map<string, ServerLog>();
  /** Loaded for the first server over HTTP. */
  #credentials: Promise<EntryCredentials> | undefined;

  constructor(options: ConnectorOptions) {
    this.#options = options;
    this.#gate = new StartGate(options.atOnce);
    this.#ledger = new ChildLedger(join(options.stateFolder, "children"), options.surroundings.platform);
  }

  /** Ends the processes that killed hosts left running. */
  sweep(): Promise<void> {
    return this.#ledger.sweep();
  }

  /** `wanted` is aborted when a caller waits for the connection. */
  async connect(
    definition: ServerDefinition,
    { wanted, ...options }: ConnectOptions & Pick<Urgency, "wanted">,
  ): Promise<Client> {
    const { id, entry, origin, written, transport } = definition;
    if (transport) return Client.open(transport, clientOptionsOf(this.#settingsFor(definition, options)));
    if (!entry)
      throw definition.problem ?? new NexusError("CONFIG_INVALID", `Server "${id}" has no entry`, { server: id });
    const { surroundings } = this.#options;
    const settings = await this.#withCredentials(definition, entry, this.#settingsFor(definition, options));
    const time = new ConnectingTime(options.connectTimeoutMs ?? entry.connectTimeoutMs);
    const open = (era: Era | undefined) =>
      this.#gate.through(() => connectEntry(entry, surroundings, { ...settings, era, connectBy: time.end() }), {
        signal: options.signal,
        wanted,
      });
    try {
      await this.#bindSecrets(definition);
      const client = await this.#openInEra(entry, open);
      // The command of a process can change after its start, for example by `exec` in a script.
      if (client.pid !== undefined) await this.#ledger.add(client.pid);
      return client;
    } catch (error) {
      if (!(error instanceof NexusError)) throw error;
      throw error.with({ source: origin }).amended(written ?? {});
    }
  }

  /** Whether somebody has logged in to a server that refused the last connection; undefined where that would not help. */
  async hasNewLogin(server: string): Promise<boolean | undefined> {
    return (await this.#credentials)?.hasNewLogin(server);
  }

  /** All connections to one server over HTTP share its credentials. */
  async #withCredentials(
    definition: ServerDefinition,
    entry: ResolvedEntry,
    settings: ConnectOptions,
  ): Promise<ConnectOptions> {
    const { reach } = entry;
    if (settings.auth || (reach.kind !== "http" && reach.kind !== "sse")) return settings;
    const { networkTrust } = await import("../../client/connect/http-transport-for.ts");
    const credentials = await (this.#credentials ??= this.#openCredentials());
    return { ...settings, auth: credentials.sourceFor(definition, reach, networkTrust(entry, settings)) };
  }

  async #openCredentials(): Promise<EntryCredentials> {
    const { EntryCredentials: Opened } = await import("./entry-credentials.ts");
    const { surroundings, stateFolder, tenant, loginHint, logger, credentials } = this.#options;
    const storage = credentials ?? credentialStorage(surroundings, stateFolder);
    return new Opened({ surroundings, storage, tenant, loginHint, logger, secrets: this.#secretStore() });
  }

  /** Binds secrets to the address to which they are sent first; they are sent to no other. */
  async #bindSecrets({ secretsToBind }: ServerDefinition): Promise<void> {
    if (!secretsToBind) return;
    const { logger } = this.#options;
    const { names, origin } = secretsToBind;
    const store = this.#secretStore();
    const onBound = (secret: string) => logger.warn(boundMessage(secret, origin));
    for (const name of names) await secretFor(store, { name, origin, mayBind: true, onBound });
  }

  #secretStore(): SecretStore {
    const { surroundings, stateFolder, secrets } = this.#options;
    return secrets ?? secretStore(surroundings, stateFolder);
  }

  /** Opens with the remembered era. If that may be outdated, forgets it and detects the era again. */
  async #openInEra(entry: ResolvedEntry, open: (era: Era | undefined) => Promise<Client>): Promise<Client> {
    const key = eraKey(entry);
    const remembered = await this.#tryEras((eras) => eras.find(key));
    // Over a pipe, detection tries modern first: it costs the same, and also notices a server that went back to
    // legacy.
    const assumed = remembered === "modern" && entry.reach.kind === "stdio" ? undefined : remembered;
    const client = await open(assumed).catch(async (error: unknown) => {
      if (!remembered || !mayBeAboutEra(error)) throw error;
      await this.#tryEras((eras) => eras.remember(key, undefined));
      // A slow start proves nothing: there is no time left, and the next connection detects the era.
      if (!assumed || isTimeout(error)) throw error;
      return open(undefined);
    });
    const { era, how, remember } = client.verdict;
    // A server that accepts legacy may also support modern by now, so that entry expires and is not renewed.
    const proven = how === "given" && era === "modern" ? era : remember;
    if (proven) await this.#tryEras((eras) => eras.remember(key, proven));
    return client;
  }

  /** The remembered era only saves time, so failures of the cache are ignored. */
  async #tryEras<T>(use: (eras: EraCache) => Promise<T>): Promise<T | undefined> {
    try {
      return await use(this.#options.eras);
    } catch (error) {
      this.#options.logger.warn(`the remembered eras of servers could not be read or written: ${messageOf(error)}`);
      return undefined;
    }
  }

  #settingsFor({ id, written, secrets }: ServerDefinition, options: ConnectOptions): ConnectOptions {
    const log = this.#logOf(id);
    const { openApi, chain, ca = [], publicOnly, onApiProblem } = this.#options;
    const onProblem = onApiProblem && ((problem: NexusError | undefined) => onApiProblem(id, problem));
    return {
      openApi:
        openApi &&
        ((reach, network) =>
          openApi(reach, { ...this.#options, server: id, onProblem, shared: this.#shared, ...network })),
      ...options,
      ca: [...ca, ...(options.ca ?? [])],
      publicOnly: publicOnly || options.publicOnly ? strictest(publicOnly, options.publicOnly) : undefined,
      server: id,
      via: chain && (() => chain.gateways()),
      target: written,
      hidden: secrets,
      logger: options.logger ?? this.#options.logger,
      onStderr: (text) => {
        log.write(text);
        options.onStderr?.(text);
      },
      onSpawn: (child) => {
        const { pid, closed } = child;
        const added = this.#ledger.add(pid);
        void closed.then(() => added).then(() => this.#ledger.remove(pid));
        options.onSpawn?.(child);
      },
    };
  }

  #logOf(id: string): ServerLog {
    const known = this.#logs.get(id) ?? new ServerLog(join(this.#options.stateFolder, "logs", `${id}.log`));
    this.#logs.set(id, known);
    return known;
  }
}

const DEFAULT_CONNECT_MS = 30_000;

/**
 * One time limit for all attempts of one connection. It begins with the first attempt: waiting in the queue is not the
 * server's fault.
 */
class ConnectingTime {
  readonly #totalMs: number;
  #end: number | undefined;

  constructor(totalMs = DEFAULT_CONNECT_MS) {
    this.#totalMs = totalMs;
  }

  end(): number {
    return (this.#end ??= performance.now() + this.#totalMs);
  }
}

function mayBeAboutEra(error: unknown): boolean {
  return error instanceof NexusError && !saysNothingAboutEra(error.code);
}

function isTimeout(error: unknown): boolean {
  return error instanceof NexusError && error.code === "TIMEOUT";
}

// Not "node:fs/promises": `promises` of "node:fs" is loaded on first use, which makes short commands faster.

const MAX_BYTES = 1024 * 1024;

/**
 * Writes a server's stderr to a file that only its owner can read, each line after the time at which it began; one older
 * file is kept.
 */
class ServerLog {
  readonly file: string;
  readonly #writing = new Turns();
  #waiting = "";
  /** Whether the last text ended within a line. */
  #isInLine = false;

  constructor(file: string) {
    this.file = file;
  }

  write(text: string): void {
    if (text === "") return;
    // Limits the memory for a server that writes too much: what cannot be written in time is cut at the front.
    const isWriting = this.#waiting !== "";
    this.#waiting = (this.#waiting + this.#withTimes(text)).slice(-MAX_BYTES);
    if (!isWriting) void this.#writing.run(() => this.#flush());
  }

  /** Resolves when everything is written. */
  settled(): Promise<void> {
    return this.#writing.ended();
  }

  #withTimes(text: string): string {
    const time = `${new Date().toISOString()} `;
    const first = this.#isInLine ? "" : time;
    this.#isInLine = !text.endsWith("\n");
    const lines = this.#isInLine ? text : text.slice(0, -1);
    return `${first}${lines.replaceAll("\n", `\n${time}`)}${this.#isInLine ? "" : "\n"}`;
  }

  async #flush(): Promise<void> {
    const text = this.#waiting;
    this.#waiting = "";
    await fs.mkdir(dirname(this.file), { recursive: true, mode: 0o700 });
    const size = await fs.stat(this.file).then(
      (found) => found.size,
      () => 0,
    );
    if (size + text.length > MAX_BYTES) await fs.rename(this.file, `${this.file}.1`).catch(() => {});
    await fs.appendFile(this.file, text, { mode: 0o600 });
  }
}
