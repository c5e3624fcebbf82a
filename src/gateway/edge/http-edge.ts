import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { asNexusError, messageOf, NexusError } from "../../errors/nexus-error.ts";
import { asHost, OriginGuard } from "../../net/origin-guard.ts";
import type { GatewayChain } from "../../host/servers/gateway-chain.ts";
import { VIA_HEADER } from "../../transport/via-marks.ts";
import type { Core } from "../exchange.ts";
import type { FailureLog } from "../failure-log.ts";
import type { Limits } from "../limits.ts";
import { NO_ROOM, type ByteBudget } from "../byte-budget.ts";
import type { OpenStreams } from "../open-streams.ts";
import type { UnreadBytes } from "../unread-bytes.ts";
import type { Authenticate, Principal } from "../principal.ts";
import { dataFor, rpcErrorOf } from "../rpc-error.ts";
import { answerPage } from "./cross-origin.ts";
import { refusalOf } from "./foreign-request.ts";
import { sendFrontPage, wantsPage } from "./front-page.ts";
import { invalidRequest, overloaded, refuse, refuseUnread, sendJson, sendText, wrongMethod } from "./http-refusal.ts";
import { HTTP_STATUSES } from "./http-statuses.ts";
import type { LegacyEndpoint } from "./legacy-endpoint.ts";
import { McpEndpoint } from "./mcp-endpoint.ts";
import { EVERYTHING, routeOf, type Route } from "./routes.ts";
import { answerBroken, cannotListen } from "./socket-failures.ts";
import { toolManifest } from "./tool-manifest.ts";
import { Traffic } from "./traffic.ts";

export interface HttpEdgeOptions {
  core: Core;
  legacy: LegacyEndpoint;
  authenticate: Authenticate;
  limits: Limits;
  streams: OpenStreams;
  budget: ByteBudget;
  unread: UnreadBytes;
  allowedHosts: readonly string[];
  allowedOrigins: readonly string[];
  isReady: () => boolean;
  /** Ids of the servers that are switched on. */
  servers: () => readonly string[];
  /** The text of `/metrics` for one reader. */
  metrics: (principal: Principal) => string;
  failures: FailureLog;
  /** Notices requests that have come through this gateway before. */
  chain: GatewayChain;
}

/** How long answers may take to be written when the gateway closes. */
const FLUSH_MS = 1000;

/** The gateway's HTTP server: what may come in, where it goes, and everything that is said before MCP is spoken. */
export class HttpEdge {
  readonly traffic = new Traffic();
  readonly #options: HttpEdgeOptions;
  readonly #mcp: McpEndpoint;
  readonly #server: Server;
  #guard: OriginGuard | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: HttpEdgeOptions) {
    const { limits } = options;
    this.#options = options;
    this.#mcp = new McpEndpoint(options);
    this.#server = createServer(
      {
        maxHeaderSize: limits.headerBytes,
        requestTimeout: limits.bodyMs,
        headersTimeout: limits.bodyMs,
        connectionsCheckingInterval: Math.max(50, Math.min(limits.bodyMs / 2, 5000)),
      },
      (req, res) => void this.#serve(req, res),
    );
    this.#server.maxConnections = limits.connections;
    this.#server.on("connection", (socket) => this.traffic.add(socket));
    this.#server.on("clientError", answerBroken);
  }

  /** Resolves with the address as it stands in a URL. */
  async listen(port: number, address: string): Promise<{ host: string; port: number }> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (error) => reject(cannotListen(error, port, address)));
      this.#server.listen({ port, host: address }, resolve);
    });
    const { port: bound } = this.#server.address() as AddressInfo;
    const { allowedHosts, allowedOrigins } = this.#options;
    this.#guard = new OriginGuard({ address, port: bound, allowedHosts, allowedOrigins });
    return { host: asHost(address), port: bound };
  }

  /** Takes no new connections, and ends the streams that have no end of their own. */
  drain(): void {
    this.#closed ??= new Promise((resolve) => this.#server.close(() => resolve()));
    this.#mcp.drain();
  }

  /** Calls off what is left, and closes every connection once what was said on it is written. */
  async close(): Promise<void> {
    this.drain();
    this.#mcp.close();
    // Answers to what was called off are on their way; whoever does not take them has to do without.
    const closingIdle = setInterval(() => this.#server.closeIdleConnections(), 10);
    const closingAll = setTimeout(() => this.#server.closeAllConnections(), FLUSH_MS);
    await this.#closed;
    clearInterval(closingIdle);
    clearTimeout(closingAll);
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      if (this.#closed) res.shouldKeepAlive = false;
      await this.#route(req, res);
    } catch (error) {
      const failure = new NexusError("INTERNAL", messageOf(error), { cause: error });
      const reported = this.#options.failures.report(failure, { method: `${req.method} ${req.url}` });
      if (res.headersSent) res.destroy();
      else refuse(res, { status: 500, error: rpcErrorOf(reported) });
    }
  }

  async #route(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const problem = this.#guard?.problemOf(req);
    if (problem) return refuseUnread(req, res, refusalOf(problem));
    const { origin } = req.headers;
    if (this.#guard?.isNamed(origin) && answerPage(req, res, origin)) return;
    const route = routeOf(req.url ?? "/");
    if (route.kind === "healthz") return sendJson(res, 200, { status: "ok" });
    if (route.kind === "readyz") return this.#tellReadiness(res);
    if (route.kind === "home" && wantsPage(req)) return this.#showPage(req, res);
    const admitted = this.#admit(req, res);
    const principal = admitted instanceof Promise ? await admitted : admitted;
    // A client that left meanwhile is not served: what is opened for it would not hear that it is gone.
    if (!principal || res.destroyed) return;
    // Only those who may call are believed about where their requests come from.
    if (!this.#options.chain.admit(req.headers[VIA_HEADER])) return refuseUnread(req, res, CIRCLE);
    await this.#visit(route, req, res, principal);
  }

  async #visit(route: Route, req: IncomingMessage, res: ServerResponse, principal: Principal): Promise<void> {
    if (route.kind === "mcp") {
      const { view } = route;
      if (view.kind === "one" && !this.#options.core.sees(principal, view.server))
        return refuseUnread(req, res, noServer(view.server));
      return this.#mcp.serve(req, res, { view, principal });
    }
    if (route.kind === "sse") return this.#mcp.openSse(req, res, { view: EVERYTHING, principal });
    if (route.kind === "messages") return this.#mcp.postSse(req, res, { view: EVERYTHING, principal });
    if (route.kind !== "tools" && route.kind !== "metrics") {
      return refuseUnread(req, res, invalidRequest(`There is nothing at ${req.url}; MCP is at /mcp`, 404));
    }
    if (req.method !== "GET") return refuseUnread(req, res, wrongMethod("GET"));
    if (route.kind === "tools") return this.#tellTools(res, route.server, principal);
    const text = this.#options.metrics(principal);
    res.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(text);
  }

  /** Who calls; undefined where the caller was refused. Nothing of MCP can be told from that answer. */
  #admit(req: IncomingMessage, res: ServerResponse): Principal | undefined | Promise<Principal | undefined> {
    const turnAway = (thrown: unknown) => {
      const { code, message } = asNexusError(thrown);
      if (code !== "AUTH_REQUIRED" && code !== "FORBIDDEN") throw thrown;
      const refusal = invalidRequest(message, code === "FORBIDDEN" ? 403 : 401);
      refuseUnread(req, res, { ...refusal, ...(code === "FORBIDDEN" ? {} : { headers: CHALLENGE }) });
      return undefined;
    };
    try {
      const principal = this.#options.authenticate(req.headers);
      return principal instanceof Promise ? principal.catch(turnAway) : principal;
    } catch (thrown) {
      return turnAway(thrown);
    }
  }

  /** Without credentials the page has all but the servers. */
  async #showPage(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { authenticate, core, servers } = this.#options;
    const admit = async () => authenticate(req.headers);
    const principal = await admit().catch(() => undefined);
    sendFrontPage(req, res, principal ? servers().filter((id) => core.sees(principal, id)) : "hidden");
  }

  #tellReadiness(res: ServerResponse): void {
    if (this.#closed) return sendJson(res, 503, { status: "draining" });
    const isReady = this.#options.isReady();
    sendJson(res, isReady ? 200 : 503, { status: isReady ? "ready" : "starting" });
  }

  async #tellTools(res: ServerResponse, server: string, principal: Principal): Promise<void> {
    const { core, unread } = this.#options;
    if (!core.sees(principal, server)) return refuse(res, noServer(server));
    const left = new AbortController();
    res.once("close", () => left.abort(new NexusError("CANCELLED", "The caller closed its connection")));
    try {
      const text = JSON.stringify(await toolManifest({ core, principal, server, signal: left.signal }));
      if (unread.mayWrite(res, principal, text.length)) sendText(res, 200, text);
      else refuse(res, overloaded(NO_ROOM));
    } catch (thrown) {
      const error = asNexusError(thrown);
      const { message } = rpcErrorOf(error);
      sendJson(res, HTTP_STATUSES[error.code], { error: { ...dataFor(error.with({ server })), message } });
    }
  }
}

const CHALLENGE = { "www-authenticate": "Bearer" };

const CIRCLE = invalidRequest(
  "This request has come through this gateway before: gateways are each other's servers",
  508,
);

function noServer(server: string): ReturnType<typeof invalidRequest> {
  return invalidRequest(`There is no server "${server}" here`, 404);
}
