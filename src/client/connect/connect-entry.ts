import type { OptionNames } from "../../errors/check-options.ts";
import type { OAuthOptions } from "../../auth/oauth/oauth-options.ts";
import { HiddenValues } from "../../masking/hidden-values.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { PublicOnly } from "../../net/public-only.ts";
import { childEnvironment } from "../../process/child-environment.ts";
import type { CredentialSource } from "../../transport/credential-source.ts";
import { markOf } from "../../transport/via-marks.ts";
import type { ApiReach, ResolvedEntry, StdioReach } from "../../transport/server-entry.ts";
import { StdioTransport, type SpawnedChild } from "../../transport/stdio.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import type { Transport } from "../../transport/transport.ts";
import { valuesToHide } from "../../transport/values-to-hide.ts";
import { Client } from "../client.ts";
import { CLIENT_OPTIONS, clientOptionsOf, type ClientOptions } from "../client-settings.ts";

export interface ConnectOptions extends ClientOptions {
  /** Maximum size of a message from the server; default: 10 MB. */
  maxMessageBytes?: number | undefined;
  /** Additional trusted certificate authorities (PEM). */
  ca?: readonly string[] | undefined;
  /** Refuses internal addresses: loopback, private networks, cloud metadata. `allow` lists exceptions. */
  publicOnly?: PublicOnly | undefined;
  /**
   * For a server over HTTP: authorizes its requests, with OAuth or with a source of the program. Not used where the entry
   * has an `Authorization` header.
   */
  auth?: OAuthOptions | CredentialSource | undefined;
  /** Called with everything that a child process writes to stderr. */
  onStderr?: ((text: string) => void) | undefined;
  /** Called when a child process has started. */
  onSpawn?: ((child: SpawnedChild) => void) | undefined;
  /** For a tool file: accept the approval in its lock from any person. */
  trust?: boolean | undefined;
  /** Opens a tool file as a server in this process. */
  openApi?: ((reach: ApiReach, trust: NetworkTrust) => Promise<Transport>) | undefined;
  /** The gateways that forwarded this, outermost first. */
  via?: (() => readonly string[]) | undefined;
  /** The command or URL to show in errors, because the entry may contain resolved secrets. */
  target?: Transport["target"] | undefined;
}

export const CONNECT_OPTIONS: OptionNames<ConnectOptions> = {
  ...CLIENT_OPTIONS,
  maxMessageBytes: true,
  ca: true,
  publicOnly: true,
  auth: true,
  onStderr: true,
  onSpawn: true,
  trust: true,
  openApi: true,
  via: true,
  target: true,
};

/** Which certificates and addresses are trusted on the way to a server. */
export interface NetworkTrust {
  /** Additional trusted certificate authorities (PEM). */
  ca: readonly string[];
  /** Refuses internal addresses; undefined where it does not. */
  publicOnly: PublicOnly | undefined;
}

const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
/** Connecting includes the login, and a person needs time for it. */
const LOGIN_MS = 5 * 60_000;

/** Connects to a server whose entry has been checked. The entry has the values that the options do not set. */
export async function connectEntry(
  entry: ResolvedEntry,
  surroundings: Surroundings,
  options: ConnectOptions,
): Promise<Client> {
  const settings: ConnectOptions = {
    ...options,
    hidden: new HiddenValues(valuesToHide(entry, surroundings)).with(options.hidden),
    server: options.server ?? entry.id,
    roots: options.roots ?? entry.roots,
    timeoutMs: options.timeoutMs ?? entry.timeoutMs,
    connectTimeoutMs: options.connectTimeoutMs ?? entry.connectTimeoutMs ?? loginTime(options),
    retry: {
      ...options.retry,
      maxRetries: options.retry?.maxRetries ?? entry.maxRetries,
      backoffMs: options.retry?.backoffMs ?? entry.retryBackoffMs,
    },
  };
  // Servers from tool files speak the newest revision, so no detection is needed.
  const era = entry.reach.kind === "api" ? "modern" : settings.era;
  return Client.open(named(await transportFor(entry, surroundings, settings), settings.target), {
    ...clientOptionsOf(settings),
    era,
  });
}

function loginTime({ auth }: ConnectOptions): number | undefined {
  return auth && "login" in auth && auth.login ? LOGIN_MS : undefined;
}

function named(transport: Transport, target: Transport["target"] | undefined): Transport {
  if (!target) return transport;
  if (transport.fallback) named(transport.fallback, target);
  return Object.assign(transport, { target });
}

async function transportFor(
  entry: ResolvedEntry,
  surroundings: Surroundings,
  options: ConnectOptions,
): Promise<Transport> {
  const { id, reach } = entry;
  const maxMessageBytes = options.maxMessageBytes ?? MAX_MESSAGE_BYTES;
  if (reach.kind === "stdio") return stdioTransport(reach, surroundings, { ...options, maxMessageBytes });
  const { httpTransportFor, networkTrust } = await import("./http-transport-for.ts");
  const trust = networkTrust(entry, options);
  if (reach.kind === "api") return options.openApi?.(reach, trust) ?? Promise.reject(noWorkshop(id));
  return httpTransportFor(reach, surroundings, { ...options, ...trust, maxMessageBytes });
}

function noWorkshop(server: string): NexusError {
  return new NexusError("CONFIG_INVALID", `Server "${server}" is a tool file, and the option "openApi" is missing`, {
    phase: "config",
    server,
    hint: `Pass "openApi" from "nexus-mcp/workshop" to connect().`,
    mayHaveReached: false,
  });
}

function stdioTransport(
  reach: StdioReach,
  { variables, platform }: Surroundings,
  { maxMessageBytes, hidden, onStderr, onSpawn, via }: ConnectOptions & { maxMessageBytes: number },
): Transport {
  const { command, args, cwd, env, passthrough } = reach;
  return new StdioTransport({
    command,
    args,
    cwd,
    env: childEnvironment({ variables, platform, env, passthrough }),
    mark: markOf(reach, variables, via?.() ?? []),
    maxLineBytes: maxMessageBytes,
    platform,
    variables,
    hidden,
    onStderr,
    onSpawn,
  });
}
