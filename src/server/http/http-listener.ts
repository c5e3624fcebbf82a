import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { asNexusError, messageOf, NexusError } from "../../errors/nexus-error.ts";
import { asHost } from "../../text/loopback.ts";
import type { ServerLimits } from "../core/limits.ts";
import type { Authenticate, Principal } from "../core/principal.ts";
import { rpcErrorOf } from "../core/rpc-error.ts";
import { answerPage } from "./cross-origin.ts";
import { cannotListen } from "./cannot-listen.ts";
import { PLAIN_WORDS, refusalOf, type HttpWords } from "./foreign-request.ts";
import { invalidRequest, overloaded, refuse, refuseUnread, unauthorized } from "./http-refusal.ts";
import { OriginGuard } from "./origin-guard.ts";
import { PipelinedRequests } from "./pipelined-requests.ts";
import { answerBroken } from "./socket-failures.ts";
import { Traffic } from "./traffic.ts";

export interface HttpListenerOptions {
  limits: Pick<ServerLimits, "headerBytes" | "bodyMs" | "connections">;
  authenticate: Authenticate;
  allowedHosts: readonly string[];
  allowedOrigins: readonly string[];
  /** How the server speaks of itself and its options. */
  words?: HttpWords | undefined;
  /** Records a credential that was refused; the answer waits for what it returns. */
  onRefused?: ((headers: IncomingHttpHeaders) => Promise<void> | undefined) | undefined;
  /** Calls `admit` first for everything that is not public. */
  serve: (req: IncomingMessage, res: ServerResponse) => Promise<void>;
  /** Logs a failure that is a bug; returns it as the client reads it. */
  report: (error: NexusError, req: IncomingMessage) => NexusError;
}

/** Proxies keep connections for a minute; clients less, or as long as they are told. */
const KEEP_ALIVE_MS = 75_000;
/** How long answers may take to be written when the server closes. */
const FLUSH_MS = 1000;

/** An HTTP server: what may come in, who calls, and everything that is said before MCP is spoken. */
export class HttpListener {
  readonly traffic = new Traffic();
  readonly #options: HttpListenerOptions;
  readonly #server: Server;
  readonly #words: HttpWords;
  readonly #pipelined = new PipelinedRequests();
  #guard: OriginGuard | undefined;
  #isDraining = false;
  #closed: Promise<void> | undefined;

  constructor(options: HttpListenerOptions) {
    const { limits } = options;
    this.#options = options;
    this.#words = options.words ?? PLAIN_WORDS;
    this.#server = createServer(
      {
        maxHeaderSize: limits.headerBytes,
        // Longer than clients and proxies keep a connection that is not used: one that is closed here while a request is
        // on its way on it fails there, and nobody knows whether the request has arrived.
        keepAliveTimeout: KEEP_ALIVE_MS,
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

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Resolves with the address as it stands in a URL. */
  async listen(port: number, address: string): Promise<{ host: string; port: number }> {
    const words = this.#words;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (error) => reject(cannotListen(error, { port, address, words })));
      this.#server.listen({ port, host: address }, resolve);
    });
    const { port: bound } = this.#server.address() as AddressInfo;
    const { allowedHosts, allowedOrigins } = this.#options;
    this.#guard = new OriginGuard({ address, port: bound, allowedHosts, allowedOrigins });
    return { host: asHost(address), port: bound };
  }

  /**
   * Every answer is the last one of its connection from now on. New connections are still taken: what belongs to a call
   * that runs, such as its cancellation, comes on one.
   */
  drain(): void {
    this.#isDraining = true;
  }

  /** Takes no new connections. */
  stop(): void {
    this.drain();
    this.#closed ??= new Promise((resolve) => this.#server.close(() => resolve()));
  }

  /** Closes every connection once what was said on it is written. */
  async close(): Promise<void> {
    this.stop();
    // Answers to what was called off are on their way; whoever does not take them has to do without.
    const closingIdle = setInterval(() => this.#server.closeIdleConnections(), 10);
    const closingAll = setTimeout(() => this.#server.closeAllConnections(), FLUSH_MS);
    await this.#closed;
    clearInterval(closingIdle);
    clearTimeout(closingAll);
  }

  /**
   * Who calls; undefined where the caller was refused. Nothing of MCP can be told from that answer. A client that left
   * meanwhile is not to be served: what is opened for it would not hear that it is gone.
   */
  async admit(req: IncomingMessage, res: ServerResponse): Promise<Principal | undefined> {
    try {
      const principal: Principal | undefined = await this.#options.authenticate(req.headers);
      // Whoever writes it without types may return nothing, and the caller would wait for ever.
      if (!principal) throw new TypeError("authenticate returned no principal");
      return principal;
    } catch (thrown) {
      const { code, message } = asNexusError(thrown);
      if (code === "STORE_UNAVAILABLE") {
        refuseUnread(req, res, overloaded(`${message}. Retry later`));
        return undefined;
      }
      if (code !== "AUTH_REQUIRED" && code !== "FORBIDDEN") throw thrown;
      // It is refused whether or not that can be recorded.
      await this.#options.onRefused?.(req.headers)?.catch(() => {});
      refuseUnread(req, res, code === "FORBIDDEN" ? invalidRequest(message, 403) : unauthorized(message));
      return undefined;
    }
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      if (!res.socket && !(await this.#pipelined.turn(req, res))) return;
      if (this.#isDraining) res.shouldKeepAlive = false;
      await this.#route(req, res);
    } catch (error) {
      const reported = this.#options.report(new NexusError("INTERNAL", messageOf(error), { cause: error }), req);
      if (res.headersSent) res.destroy();
      else refuse(res, { status: 500, error: rpcErrorOf(reported) });
    }
  }

  #route(req: IncomingMessage, res: ServerResponse): Promise<void> | void {
    const { serve } = this.#options;
    const problem = this.#guard?.problemOf(req);
    if (problem) return refuseUnread(req, res, refusalOf(problem, this.#words));
    const { origin } = req.headers;
    if (this.#guard?.isNamed(origin) && answerPage(req, res, origin)) return;
    return serve(req, res);
  }
}
