import { AddressGuard } from "../net/address-guard.ts";
import { Network } from "../net/network.ts";
import { childEnvironment } from "../transport/child-environment.ts";
import { HttpTransport } from "../transport/http.ts";
import type { HttpReach, ResolvedEntry, StdioReach } from "../transport/server-entry.ts";
import { SseTransport } from "../transport/sse.ts";
import { StdioTransport, type SpawnedChild } from "../transport/stdio.ts";
import type { Surroundings } from "../transport/surroundings.ts";
import type { Transport } from "../transport/transport.ts";
import { Client } from "./client.ts";
import type { ClientOptions } from "./client-settings.ts";

export interface ConnectOptions extends ClientOptions {
  /** The longest message taken from the server: 10 MB. */
  maxMessageBytes?: number | undefined;
  /** Certificate authorities (PEM) trusted beside the well-known ones. */
  ca?: readonly string[] | undefined;
  /** Refuse to reach addresses inside: loopback, private networks, cloud metadata. `allow` names exceptions. */
  publicOnly?: boolean | { allow: readonly string[] } | undefined;
  /** Hears what a child process writes to stderr, as it comes. */
  onStderr?: ((text: string) => void) | undefined;
  /** Hears of a child process as soon as it runs. */
  onSpawn?: ((child: SpawnedChild) => void) | undefined;
}

const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** Connects to a server whose entry has been checked. What the options leave open, the entry says. */
export function connectEntry(
  entry: ResolvedEntry,
  surroundings: Surroundings,
  options: ConnectOptions,
): Promise<Client> {
  const settings: ConnectOptions = {
    ...options,
    server: options.server ?? entry.id,
    roots: options.roots ?? entry.roots,
    timeoutMs: options.timeoutMs ?? entry.timeoutMs,
    connectTimeoutMs: options.connectTimeoutMs ?? entry.connectTimeoutMs,
    retry: {
      ...options.retry,
      maxRetries: options.retry?.maxRetries ?? entry.maxRetries,
      backoffMs: options.retry?.backoffMs ?? entry.retryBackoffMs,
    },
  };
  return Client.open(transportFor(entry, surroundings, settings), settings);
}

function transportFor({ reach }: ResolvedEntry, surroundings: Surroundings, options: ConnectOptions): Transport {
  if (reach.kind === "stdio") return stdioTransport(reach, surroundings, options);
  return httpTransport(reach, surroundings, options);
}

function stdioTransport(reach: StdioReach, { variables, platform }: Surroundings, options: ConnectOptions): Transport {
  const { command, args, cwd, env, passthrough } = reach;
  return new StdioTransport({
    command,
    args,
    cwd,
    env: childEnvironment({ variables, platform, env, passthrough }),
    maxLineBytes: options.maxMessageBytes ?? MAX_MESSAGE_BYTES,
    platform,
    onStderr: options.onStderr,
    onSpawn: options.onSpawn,
  });
}

function httpTransport(
  { kind, url, headers }: HttpReach,
  surroundings: Surroundings,
  options: ConnectOptions,
): Transport {
  const { ca, publicOnly, connectTimeoutMs } = options;
  const network = new Network({
    proxy: surroundings.proxy,
    ca: ca?.length ? [...surroundings.extraCertificates, ...ca] : undefined,
    guard: publicOnly ? new AddressGuard(publicOnly === true ? {} : publicOnly) : undefined,
    connectTimeoutMs,
  });
  const Reach = kind === "sse" ? SseTransport : HttpTransport;
  const maxMessageBytes = options.maxMessageBytes ?? MAX_MESSAGE_BYTES;
  return new Reach({ url, headers, network, maxMessageBytes, release: () => network.close() });
}
