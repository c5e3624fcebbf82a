import { setTimeout as pause } from "node:timers/promises";
import { NexusError } from "../errors/nexus-error.ts";
import type { Host } from "../host/host.ts";
import { Assembly, type GatewayOptions } from "./assembly.ts";
import { isLoopback } from "../text/loopback.ts";
import { HttpEdge } from "./edge/http-edge.ts";
import { LegacyHttp } from "../server/http/legacy-http.ts";
import { OpenStreams } from "../server/core/open-streams.ts";
import { UnreadBytes } from "../server/core/unread-bytes.ts";
import { admitEverybody, type Authenticate, type Principal } from "../server/core/principal.ts";
import { SessionIds } from "../server/sessions/session-ids.ts";

export type ServeOptions = GatewayOptions & {
  /** 3210; 0 is any that is free. */
  port?: number | undefined;
  /** Where it listens: 127.0.0.1. Any other than this machine's own needs `authenticate`. */
  address?: string | undefined;
  /** Further names it is reached by, as clients write them in `Host`. */
  allowedHosts?: readonly string[] | undefined;
  /** Origins of web pages that may call it. */
  allowedOrigins?: readonly string[] | undefined;
  /** Tells who calls; without it everybody is the same one. */
  authenticate?: Authenticate | undefined;
  /** Where the key of session ids is kept, so that sessions of older clients survive a restart. Without it they do not. */
  stateFolder?: string | undefined;
};

export const DEFAULT_PORT = 3210;
const DEFAULT_ADDRESS = "127.0.0.1";

/** A host served to many clients of every revision over HTTP. */
export class Gateway implements AsyncDisposable {
  /** Where all servers are: `http://127.0.0.1:3210/mcp`. */
  readonly url: string;
  readonly port: number;
  readonly #assembly: Assembly;
  readonly #edge: HttpEdge;
  readonly #legacy: LegacyHttp;
  #closing: Promise<void> | undefined;

  /** Resolves when it listens; `ready()` waits for the servers. Where it cannot listen, the host is closed. */
  static async open(options: ServeOptions): Promise<Gateway> {
    const { port = DEFAULT_PORT, address = DEFAULT_ADDRESS, authenticate } = options;
    if (!authenticate && !isLoopback(address)) {
      if (!options.surroundings) await options.host.close();
      throw needsAuthentication(address);
    }
    const assembly = await Assembly.open(options);
    const { stateFolder } = options;
    const { logger, limits } = assembly;
    const ids = await SessionIds.open({ lifeMs: limits.sessionLifeMs, stateFolder, logger });
    const parts = partsOf(assembly, options, ids);
    try {
      return new Gateway(assembly, parts, await parts.edge.listen(port, address));
    } catch (error) {
      await Promise.all([parts.legacy.close(), parts.edge.close()]);
      await assembly.close();
      throw error;
    }
  }

  private constructor(assembly: Assembly, { edge, legacy }: Parts, { host, port }: { host: string; port: number }) {
    this.#assembly = assembly;
    this.#edge = edge;
    this.#legacy = legacy;
    this.port = port;
    this.url = `http://${host}:${port}/mcp`;
  }

  get host(): Host {
    return this.#assembly.host;
  }

  /** Every server that starts by itself is connected, or has failed. */
  ready(): Promise<void> {
    return this.host.ready();
  }

  /**
   * Ends the sessions of a principal, such as one whose credentials were revoked: their ids are refused from now on. Clients of
   * 2026-07-28 have no session, and are not concerned.
   */
  endSessions(principal: Principal): Promise<void> {
    return this.#legacy.endSessions(principal);
  }

  /** Takes no more calls, lets those that run finish within a limit, calls off the rest, ends the servers. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const { gate, limits } = this.#assembly;
    this.#edge.drain();
    const giveUp = new AbortController();
    const patience = pause(limits.drainMs, undefined, { signal: giveUp.signal }).catch(() => {});
    await Promise.race([gate.close(), patience]);
    giveUp.abort();
    await Promise.all([this.#legacy.close(), this.#edge.close()]);
    await this.#assembly.close();
  }
}

interface Parts {
  edge: HttpEdge;
  legacy: LegacyHttp;
}

function partsOf(assembly: Assembly, options: ServeOptions, ids: SessionIds): Parts {
  const { endpoints, budget, limits, logger, failures, host, metrics, gate, calls } = assembly;
  const { keepAliveMs, streamMs } = limits;
  let isReady = false;
  void host.ready().then(() => (isReady = true));
  const streams = new OpenStreams(limits);
  const unread = new UnreadBytes(budget);
  const legacy = new LegacyHttp({
    self: "gateway",
    ids,
    maxSessions: limits.sessions,
    share: limits.share,
    streams,
    unread,
    idleMs: limits.sessionIdleMs,
    keepAliveMs,
    streamMs,
    unreadBytes: limits.bufferedBytes,
    batch: limits,
    logger,
  });
  const edge: HttpEdge = new HttpEdge({
    endpoints,
    legacy,
    limits,
    failures,
    chain: host.chain,
    streams,
    budget,
    unread,
    authenticate: options.authenticate ?? admitEverybody,
    allowedHosts: options.allowedHosts ?? [],
    allowedOrigins: options.allowedOrigins ?? [],
    isReady: () => isReady,
    servers: () => host.servers().flatMap(({ id, state }) => (state.kind === "disabled" ? [] : [id])),
    metrics: (principal) =>
      metrics.render({
        shows: (server) => endpoints.sees(principal, server),
        inFlight: gate.running,
        queued: gate.queued,
        parked: calls.parked,
        sessions: legacy.sessions,
        streams: streams.size,
        connections: edge.traffic.connections,
        bufferedBytes: budget.used,
        receivedBytes: edge.traffic.receivedBytes,
        sentBytes: edge.traffic.sentBytes,
        servers: host.servers().map(({ id, state }) => ({ id, state: state.kind })),
      }),
  });
  return { edge, legacy };
}

function needsAuthentication(address: string): NexusError {
  const why = "everyone in the network could use every server";
  return new NexusError(
    "CONFIG_INVALID",
    `The gateway refuses to listen on ${address} without authentication: ${why}`,
    {
      phase: "config",
      hint: "Remove --host to listen on 127.0.0.1. For remote access, use a tunnel or a proxy with authentication.",
      mayHaveReached: false,
    },
  );
}
