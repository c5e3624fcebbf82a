import { checkOptions, wrongOption, type OptionNames } from "../../errors/check-options.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { NexusError } from "../../errors/nexus-error.ts";
import { safeLogger, type Logger } from "../../text/logger.ts";
import { isLoopback } from "../../text/loopback.ts";
import { ByteBudget } from "../core/byte-budget.ts";
import type { Core, Servable } from "../core/core.ts";
import { servedCore } from "../core/served-core.ts";
import { SERVER_LIMITS, type ServerLimits } from "../core/limits.ts";
import { admitEverybody, type Authenticate } from "../core/principal.ts";
import { STDERR_LOGGER } from "../core/stderr-logger.ts";
import { SessionIds } from "../sessions/session-ids.ts";
import { HttpListener } from "./http-listener.ts";
import { invalidRequest, refuseUnread } from "./http-refusal.ts";
import { endpointParts, McpEndpoint } from "./mcp-endpoint.ts";

export interface ServeHttpOptions {
  /** Default: any free port. */
  port?: number | undefined;
  /** The address to listen on; default: 127.0.0.1. Addresses other than loopback require `authenticate`. */
  address?: string | undefined;
  /** Additional host names, as clients send them in the `Host` header. */
  allowedHosts?: readonly string[] | undefined;
  /** Origins of web pages that may call it. */
  allowedOrigins?: readonly string[] | undefined;
  /** Identifies the caller from the request headers; throws a NexusError AUTH_REQUIRED or FORBIDDEN. */
  authenticate?: Authenticate | undefined;
  limits?: Partial<ServerLimits> | undefined;
  /** A folder of this server alone, for the key of session ids: sessions of older clients then survive a restart. */
  stateFolder?: string | undefined;
  /** Hears what failed where clients are not told the reason; default: one line on stderr. */
  logger?: Logger | undefined;
}

/** A server that listens. */
export interface HttpServing extends AsyncDisposable {
  /** Where clients connect: `http://127.0.0.1:3000/mcp`. */
  readonly url: string;
  readonly port: number;
  /** Takes no more requests, cancels those that run, and ends all sessions. */
  close(): Promise<void>;
}

/** Serves clients of every revision over Streamable HTTP at `/mcp`, and over HTTP+SSE at `/sse`. Resolves when it listens. */
export async function serveHttp(server: Servable, options: ServeHttpOptions = {}): Promise<HttpServing> {
  const core = servedCore("serveHttp", server);
  requireUsable(options);
  const { port = 0, address = "127.0.0.1", authenticate, stateFolder } = options;
  if (!authenticate && !isLoopback(address)) throw needsAuthentication(address);
  const limits = { ...SERVER_LIMITS, ...options.limits };
  const logger = safeLogger(options.logger ?? STDERR_LOGGER);
  const ids = await SessionIds.open({ lifeMs: limits.sessionLifeMs, stateFolder, logger });
  const site = new McpSite(core, { ...options, limits, ids, logger });
  const bound = await site.listener.listen(port, address).catch(async (error: unknown) => {
    await site.close();
    throw error;
  });
  return {
    url: `http://${bound.host}:${bound.port}/mcp`,
    port: bound.port,
    close: () => site.close(),
    [Symbol.asyncDispose]: () => site.close(),
  };
}

/** One core at its two addresses. */
class McpSite {
  readonly listener: HttpListener;
  readonly #core: Core;
  readonly #mcp: McpEndpoint;
  #closing: Promise<void> | undefined;

  constructor(core: Core, options: ServeHttpOptions & { limits: ServerLimits; ids: SessionIds; logger: Logger }) {
    const { limits, ids, logger, authenticate = admitEverybody, allowedHosts = [], allowedOrigins = [] } = options;
    this.#core = core;
    this.#mcp = new McpEndpoint(endpointParts({ limits, budget: new ByteBudget(limits), ids, logger }));
    this.listener = new HttpListener({
      limits,
      authenticate,
      allowedHosts,
      allowedOrigins,
      serve: (req, res) => this.#serve(req, res),
      report: (error, { method, url }) => {
        logger.error(`${method} ${url} failed: ${error.message}`, { error });
        return error;
      },
    });
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.listener.stop();
    await Promise.all([this.#mcp.close(), this.listener.close()]);
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = /^[^?]*?(?=\/?(?:\?|$))/.exec(req.url ?? "")?.[0];
    if (path !== "/mcp" && path !== "/sse" && path !== "/messages") {
      return refuseUnread(req, res, invalidRequest(`Not found: ${req.url}. The MCP endpoint is /mcp`, 404));
    }
    const principal = await this.listener.admit(req, res);
    if (!principal || res.destroyed) return;
    const visitor = { core: this.#core, principal };
    if (path === "/mcp") return this.#mcp.serve(req, res, visitor);
    if (path === "/sse") return this.#mcp.openSse(req, res, visitor);
    return this.#mcp.postSse(req, res, visitor);
  }
}

const OPTIONS: OptionNames<ServeHttpOptions> = {
  port: true,
  address: true,
  allowedHosts: true,
  allowedOrigins: true,
  authenticate: true,
  limits: true,
  stateFolder: true,
  logger: true,
};

/** What other libraries call an option. */
const OTHER_NAMES = { host: "address", hostname: "address" } as const;

/** A misspelt option would be ignored, and the server would listen elsewhere or serve others than its owner thinks. */
function requireUsable(options: ServeHttpOptions): void {
  checkOptions("serveHttp", options, OPTIONS, OTHER_NAMES);
  const { port = 0, limits } = options;
  if (limits) checkOptions("limits", limits, SERVER_LIMITS);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return;
  throw wrongOption(
    `${typeof port === "number" ? port : JSON.stringify(port)} is not a port number`,
    "Use a number from 0 to 65535; 0 selects any free port.",
  );
}

function needsAuthentication(address: string): NexusError {
  return wrongOption(
    `The server does not listen on ${address} without authentication`,
    "Pass authenticate, or listen on 127.0.0.1 and let a proxy that authenticates reach it.",
  );
}
