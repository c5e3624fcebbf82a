import { setTimeout as pause } from "node:timers/promises";
import { within } from "../../async/within.ts";
import { untilAborted } from "../../async/unless-aborted.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import type { ErrorSource } from "../../errors/nexus-error.ts";
import { LazyLedger } from "../../host/definitions/lazy-ledger.ts";
import type { HostOptions } from "../../host/host-options.ts";
import { Host } from "../../host/host.ts";
import { loggerFrom, SILENT } from "../../text/logger.ts";
import { visible } from "../../text/visible.ts";
import { asksAnyone, type CommandContext } from "../command/command.ts";
import { ServerSet } from "../command/server-set.ts";
import type { Output } from "../output/output.ts";
import { verboseLogger } from "../output/verbose-logger.ts";
import { TenantState } from "../store/tenant-state.ts";
import { requireKnownServers, type ToolPatterns } from "./tool-patterns.ts";

/** How long a chat waits for slow servers; their tools come when they are ready. */
const STARTING_MS = 10_000;
/** How long the end of a chat waits for the database, where lists are compared that nobody has to wait for. */
const COMPARE_MS = 2_000;

/** The servers of a chat. */
export class ChatServers implements AsyncDisposable {
  readonly host: Host;
  /** Where the logs of the servers are. */
  readonly stateFolder: string;
  readonly #definitions: readonly ServerDefinition[];
  readonly #disconnected = new Set<string>();
  readonly #close: () => Promise<void>;

  constructor(
    host: Host,
    definitions: readonly ServerDefinition[],
    { stateFolder, close }: { stateFolder: string; close: () => Promise<void> },
  ) {
    this.host = host;
    this.#definitions = definitions;
    this.stateFolder = stateFolder;
    this.#close = close;
  }

  /** The ids of all servers, in the order of the configuration. */
  get ids(): readonly string[] {
    return this.#definitions.map(({ id }) => id);
  }

  /** The ids of servers that were disconnected by hand. */
  get disconnected(): readonly string[] {
    return this.ids.filter((id) => this.#disconnected.has(id));
  }

  /** Closes the connection of a server until it is connected again. */
  async disconnect(id: string): Promise<void> {
    this.#disconnected.add(id);
    await this.#apply();
  }

  /** Connects a server that was disconnected, that failed, or that starts on first use. */
  async connect(id: string): Promise<void> {
    if (this.#disconnected.delete(id)) await this.#apply();
    const server = this.host.find(id);
    if (server?.state.kind === "disabled") await this.host.toggle(id, true);
    else if (server?.state.kind !== "ready") await this.host.retry(id);
  }

  /** Resolves when every server is connected or has failed, or after a while. */
  async started(signal: AbortSignal): Promise<void> {
    const patience = new AbortController();
    const waiting = pause(STARTING_MS, undefined, { ref: false, signal: patience.signal }).catch(() => {});
    await Promise.race([this.host.ready(), waiting, untilAborted(signal)]);
    patience.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.host.close();
    await this.#close();
  }

  async #apply(): Promise<void> {
    await this.host.setServers(this.#definitions.filter(({ id }) => !this.#disconnected.has(id)));
  }
}

interface Wanted extends Pick<HostOptions, "policy" | "input"> {
  only?: readonly string[] | undefined;
  patterns: ToolPatterns;
}

/** The configured and published servers, as other commands see them. Those that do not start do not stop the chat. */
export async function openChatServers(context: CommandContext<object>, wanted: Wanted): Promise<ChatServers> {
  const { flags, out, surroundings, words, options } = context;
  const source = new TenantState(context);
  const values = { ...options };
  const servers = await ServerSet.open({ surroundings, source, flags, words, values, out }, asksAnyone);
  try {
    const { configuration } = servers;
    for (const { message, details } of servers.fileProblems) warn(out, message, details.source);
    for (const { message, source: place } of configuration.warnings) warn(out, message, place);
    const ids = configuration.servers.map(({ id }) => id);
    requireKnownServers(wanted.patterns, ids);
    const only = wanted.only?.map((name) => servers.get(name).id);
    const definitions = configuration.servers.filter(({ id }) => only?.includes(id) ?? true);
    const { tenant, stateFolder, secrets, trust: trustStore, eras: eraCache, openApi } = source;
    const ledger = new LazyLedger(() => source.openLedger(), { keepsUnpinned: source.keepsDefinitions });
    const host = await Host.start(
      {
        servers: {},
        tenant,
        stateFolder,
        secrets,
        trustStore,
        eraCache,
        openApi,
        definitions: ledger,
        trust: flags.trust,
        timeoutMs: flags.timeoutMs,
        policy: wanted.policy,
        input: wanted.input,
        logger: flags.verbose ? loggerFrom(verboseLogger(out), "debug") : SILENT,
      },
      surroundings,
    );
    await host.setServers(definitions).catch(async (error: unknown) => {
      await host.close();
      throw error;
    });
    const close = async () => {
      const comparing = Promise.all(definitions.map(async ({ id }) => host.pins.settled(id)));
      await within(comparing, COMPARE_MS);
      await ledger[Symbol.asyncDispose]();
      await servers.close();
    };
    return new ChatServers(host, definitions, { stateFolder, close });
  } catch (error) {
    await servers.close();
    throw error;
  }
}

function warn(out: Output, message: string, source: ErrorSource | undefined): void {
  const place = source ? ` (${[source.file, source.line].filter((part) => part !== undefined).join(":")})` : "";
  out.warn(`${visible(`${message}${place}`)}`);
}
