import { join } from "node:path";
import { boundMessage, secretFor } from "../../auth/secret-origins.ts";
import { Client } from "../../client/client.ts";
import { connectEntry, type ConnectOptions } from "../../client/connect/connect-entry.ts";
import type { Logger } from "../../text/logger.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import type { TrustStore } from "../../config/trust/trust-store.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import type { Transport } from "../../transport/transport.ts";
import type { ApiReach, ResolvedEntry } from "../../transport/server-entry.ts";
import type { Era } from "../../protocol/revisions.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import { ChildLedger } from "./child-ledger.ts";
import { eraKey, type EraCache } from "./era-cache.ts";
import type { GatewayChain } from "./gateway-chain.ts";
import { secretStore } from "./load-options.ts";
import { ServerLog } from "./server-log.ts";
import { StartGate, type Urgency } from "./start-gate.ts";
import { saysNothingAboutEra } from "../../errors/error-traits.ts";

/** Opens tool files as servers; the workshop implements it. */
export type OpenApi = (reach: ApiReach, surroundings: ApiSurroundings) => Promise<Transport>;

export interface ApiSurroundings {
  surroundings: Surroundings;
  /** The store of secrets and of recorded writes. */
  stateFolder: string;
  logger: Logger;
  /** The server's id, which identifies stored data; default: the name of the API. */
  server?: string | undefined;
  /** Which tool files may be opened; default: those that this user has accepted. */
  trust?: TrustStore | undefined;
  /** Options that all connections to servers share. */
  shared?: Map<string, object> | undefined;
}

export interface ConnectorOptions {
  surroundings: Surroundings;
  stateFolder: string;
  eras: EraCache;
  /** Servers that start at the same time. */
  atOnce: number;
  logger: Logger;
  openApi?: OpenApi | undefined;
  /** Which tool files may be opened. */
  trust: TrustStore;
  /** Absent where nothing is served to others. */
  chain?: GatewayChain | undefined;
}

/** Opens connections for a host: so many at a time, with what is remembered of a server, and written down. */
export class ServerConnector {
  readonly #options: ConnectorOptions;
  readonly #gate: StartGate;
  readonly #ledger: ChildLedger;
  readonly #shared = new Map<string, object>();
  /** By server: its connections write into the same one. */
  readonly #logs = new Map<string, ServerLog>();

  constructor(options: ConnectorOptions) {
    this.#options = options;
    this.#gate = new StartGate(options.atOnce);
    this.#ledger = new ChildLedger(join(options.stateFolder, "children"), options.surroundings.platform);
  }

  /** Ends what hosts that were killed left running. */
  sweep(): Promise<void> {
    return this.#ledger.sweep();
  }

  /** `wanted` fires when somebody waits for it. */
  async connect(
    definition: ServerDefinition,
    { wanted, ...options }: ConnectOptions & Pick<Urgency, "wanted">,
  ): Promise<Client> {
    const { id, entry, origin, written, transport } = definition;
    if (transport) return Client.open(transport, this.#settingsFor(definition, options));
    if (!entry)
      throw definition.problem ?? new NexusError("CONFIG_INVALID", `Server "${id}" has no entry`, { server: id });
    const { surroundings } = this.#options;
    const settings = this.#settingsFor(definition, options);
    const time = new ConnectingTime(options.connectTimeoutMs ?? entry.connectTimeoutMs);
    const open = (era: Era | undefined) =>
      this.#gate.through(() => connectEntry(entry, surroundings, { ...settings, era, connectBy: time.end() }), {
        signal: options.signal,
        wanted,
      });
    try {
      await this.#bindSecrets(definition);
      const client = await this.#openInEra(entry, open);
      // A command may have become another one since it was started, as scripts that `exec` do.
      if (client.pid !== undefined) await this.#ledger.add(client.pid);
      return client;
    } catch (error) {
      if (!(error instanceof NexusError)) throw error;
      throw error.with({ source: origin }).amended(written ?? {});
    }
  }

  /** What is sent for the first time is sent to no other address from then on. */
  async #bindSecrets({ secretsToBind }: ServerDefinition): Promise<void> {
    if (!secretsToBind) return;
    const { surroundings, stateFolder, logger } = this.#options;
    const { names, origin } = secretsToBind;
    const store = secretStore(surroundings, stateFolder);
    const onBound = (secret: string) => logger.warn(boundMessage(secret, origin));
    for (const name of names) await secretFor(store, { name, origin, mayBind: true, onBound });
  }

  /** With the era as remembered. Where that may no longer be true, it is forgotten and found out again. */
  async #openInEra(entry: ResolvedEntry, open: (era: Era | undefined) => Promise<Client>): Promise<Client> {
    const key = eraKey(entry);
    const remembered = await this.#tryEras((eras) => eras.find(key));
    // The probe of a pipe asks the modern way first: it costs the same, and also finds a server that has gone back.
    const assumed = remembered === "modern" && entry.reach.kind === "stdio" ? undefined : remembered;
    const client = await open(assumed).catch(async (error: unknown) => {
      if (!remembered || !mayBeAboutEra(error)) throw error;
      await this.#tryEras((eras) => eras.remember(key, undefined));
      // A slow start proves nothing: the process has had all its time, and the next connection asks without assuming.
      if (!assumed || isTimeout(error)) throw error;
      return open(undefined);
    });
    const { era, how, remember } = client.verdict;
    // That a server still speaks the old era does not prove that it has not learnt the new one: that verdict ages.
    const proven = how === "given" && era === "modern" ? era : remember;
    if (proven) await this.#tryEras((eras) => eras.remember(key, proven));
    return client;
  }

  /** What is remembered saves time; nothing depends on it. */
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
    const { openApi, chain } = this.#options;
    return {
      openApi: openApi && ((reach) => openApi(reach, { ...this.#options, server: id, shared: this.#shared })),
      ...options,
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

/** One time for all tries of one connection. It runs from the first of them: waiting in line is not the server's fault. */
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
