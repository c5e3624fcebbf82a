import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { isIP, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { asNexusError, messageOf, NexusError, type ErrorDetails } from "../../errors/nexus-error.ts";
import { asHost, isLoopback } from "../../text/loopback.ts";
import type { ServerLimits } from "../core/limits.ts";
import type { Authenticate, Principal } from "../core/principal.ts";
import { rpcErrorOf } from "../core/rpc-error.ts";
import { invalidRequest, overloaded, refuse, refuseUnread, unauthorized, type HttpRefusal } from "./http-refusal.ts";
import { Traffic } from "./traffic.ts";
import { INVALID_REQUEST, PARSE_ERROR } from "../../protocol/json-rpc.ts";

/** For programs that use the library. */
const PLAIN_WORDS: HttpWords = {
  self: "server",
  allowHost: "allowedHosts",
  allowOrigin: "allowedOrigins",
  port: "port:",
  address: "address:",
};

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
  admit(req: IncomingMessage, res: ServerResponse): Principal | undefined | Promise<Principal | undefined> {
    try {
      const found = this.#options.authenticate(req.headers);
      // Promises of any make.
      if (!found || !("then" in found)) return known(found);
      return Promise.resolve(found)
        .then(known)
        .catch((error: unknown) => this.#refuseCaller(error, req, res));
    } catch (error) {
      return this.#refuseCaller(error, req, res);
    }
  }

  async #refuseCaller(thrown: unknown, req: IncomingMessage, res: ServerResponse): Promise<undefined> {
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
    if (origin !== undefined && this.#guard?.isNamed(origin)) {
      if (answerPage(req, res, origin)) return;
    } else if (origin !== undefined && isPreflight(req)) {
      return refuseUnread(req, res, refusalOf({ reason: "origin", value: origin }, this.#words));
    }
    return serve(req, res);
  }
}

/** Whoever writes `authenticate` without types may return nothing, and the caller would wait for ever. */
function known(principal: Principal | undefined): Principal {
  if (!principal) throw new TypeError("authenticate returned no principal");
  return principal;
}

interface OriginGuardOptions {
  address: string;
  port: number;
  /** Names under which the server is reached, with a port or for any. */
  allowedHosts?: readonly string[];
  /** Origins of web pages that may call, as browsers write them. */
  allowedOrigins?: readonly string[];
}

/** Why a request must not be served, and the header's value that shows it. */
export interface ForeignRequest {
  reason: "repeated header" | "host" | "origin" | "site";
  value: string;
}

/** What a `Host` header or an allowed host names. */
interface HostName {
  name: string;
  /** Undefined where none is written. */
  port: number | undefined;
}

/** Headers of which Node keeps the first and drops the rest: a proxy in front may have looked at another one. */
const SINGLE = ["host", "authorization"];

/** What a browser says of requests that no other site caused. */
const OWN_SITES: ReadonlySet<unknown> = new Set(["same-origin", "none"]);

/**
 * Decides which requests are served at all. Pages of other sites reach a local server through names that point to it, or
 * by sending requests to it directly; both show in headers that pages cannot choose.
 */
export class OriginGuard {
  /** As clients usually write them, so that most requests need no parsing. */
  readonly #usualHosts: ReadonlySet<string>;
  readonly #hosts: readonly HostName[];
  readonly #origins: ReadonlySet<string>;
  /** Whether it listens on all addresses of the machine. */
  readonly #isEverywhere: boolean;

  constructor({ address, port, allowedHosts = [], allowedOrigins = [] }: OriginGuardOptions) {
    const own = asHost(address);
    this.#isEverywhere = address === "0.0.0.0" || address === "::";
    this.#usualHosts = new Set(["127.0.0.1", "localhost", "[::1]", own].map((name) => `${name}:${port}`));
    this.#hosts = [{ name: own, port }, ...allowedHosts.map(allowedHost)];
    this.#origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()));
  }

  /** Undefined for a request that may be served. */
  problemOf({ headers, rawHeaders }: Pick<IncomingMessage, "headers" | "rawHeaders">): ForeignRequest | undefined {
    const { host = "", origin } = headers;
    const repeated = findRepeated(rawHeaders);
    if (repeated !== undefined) return { reason: "repeated header", value: repeated };
    if (!this.#usualHosts.has(host) && !this.#isOwn(host)) return { reason: "host", value: host };
    if (origin !== undefined) return this.#mayCall(origin) ? undefined : { reason: "origin", value: origin };
    // Browsers send no Origin with a plain GET: an image or a link of any page would be served.
    const site = headers["sec-fetch-site"];
    return site === undefined || OWN_SITES.has(site) ? undefined : { reason: "site", value: site };
  }

  /** Whether the pages of an origin were allowed by name. Those of this machine may call, but get no help from browsers. */
  isNamed(origin: string): boolean {
    return this.#origins.has(origin.toLowerCase());
  }

  #isOwn(host: string): boolean {
    const wanted = parseHost(host);
    if (!wanted) return false;
    // A forwarded port is another one than ours (ssh, containers). A page of another site cannot choose the name, which is
    // what tells it apart: a name of its own that points here is in Host as it stands in the page's URL.
    if (this.#isEverywhere && isAddress(wanted.name)) return true;
    return isLoopback(wanted.name) || this.#hosts.some((own) => isReachedAs(own, wanted));
  }

  #mayCall(origin: string): boolean {
    if (this.#origins.has(origin.toLowerCase())) return true;
    const [, host] = /^https?:\/\/(.*)$/i.exec(origin) ?? [];
    const parsed = host === undefined ? undefined : parseHost(host);
    return parsed !== undefined && isLoopback(parsed.name);
  }
}

/** A name or an address, and at most one port; undefined for anything else. */
function parseHost(text: string): HostName | undefined {
  const [, name, port] = /^(\[[\da-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  return name === undefined
    ? undefined
    : { name: name.toLowerCase(), port: port === undefined ? undefined : Number(port) };
}

/** Nobody can point an address to another machine, as a name can be. */
function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0;
}

function allowedHost(text: string): HostName {
  const host = parseHost(text);
  if (host) return host;
  throw new NexusError("CONFIG_INVALID", `${JSON.stringify(text)} is not a host name`, {
    phase: "config",
    hint: "Write an allowed host as clients send it in the Host header: mcp.example, or mcp.example:8443.",
    mayHaveReached: false,
  });
}

/** An allowed name without a port is reached by any; clients leave out the port that is usual. */
function isReachedAs(own: HostName, { name, port = 80 }: HostName): boolean {
  return own.name === name && (own.port === undefined || own.port === port);
}

/** One of `SINGLE` that comes more than once. Names and values alternate in `rawHeaders`. */
function findRepeated(rawHeaders: readonly string[]): string | undefined {
  for (const name of SINGLE) {
    let count = 0;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const each = rawHeaders[at];
      if (each?.length === name.length && each.toLowerCase() === name) count++;
    }
    if (count > 1) return name;
  }
  return undefined;
}

/** Nearly no client sends any; who sends more is disconnected. */
const MAX_WAITING = 32;

/**
 * Requests that were sent before the answers to earlier ones on the same connection were there. They wait: answers leave in
 * order anyway, and the number of connections bounds what runs at the same time only if each runs one.
 */
class PipelinedRequests {
  readonly #waiting = new WeakMap<Socket, number>();

  /** Resolves when the earlier ones are answered; false where there are too many. Never resolves for a client that left. */
  async turn({ socket }: IncomingMessage, res: ServerResponse): Promise<boolean> {
    const before = this.#waiting.get(socket) ?? 0;
    if (before >= MAX_WAITING) {
      socket.destroy();
      return false;
    }
    this.#waiting.set(socket, before + 1);
    // A response gets the connection when it is its turn.
    await once(res, "socket");
    this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1);
    return true;
  }
}

/** Of an answer, what pages may read beside its body. */
const EXPOSED = "Mcp-Session-Id, Mcp-Protocol-Version, Retry-After, WWW-Authenticate";
/** How long a browser need not ask again, in seconds. */
const REMEMBER_SECONDS = "600";

/**
 * Lets the pages of an origin read the answer, and answers the question that browsers ask before they send one. True where
 * that was all. Only for origins that were allowed by name.
 */
function answerPage(req: IncomingMessage, res: ServerResponse, origin: string): boolean {
  res.setHeader("access-control-allow-origin", origin);
  res.setHeader("access-control-expose-headers", EXPOSED);
  res.setHeader("vary", "Origin");
  if (!isPreflight(req)) return false;
  res.writeHead(204, {
    "access-control-allow-methods": "GET, POST, DELETE",
    // Any: tools name headers of their own.
    "access-control-allow-headers": req.headers["access-control-request-headers"] ?? "",
    "access-control-max-age": REMEMBER_SECONDS,
  });
  res.end();
  return true;
}

/** Whether a browser asks if a page may send a request. */
function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
}

/** Why a server cannot listen, and what to do. */
function cannotListen(
  error: NodeJS.ErrnoException,
  { port, address, words }: { port: number; address: string; words: HttpWords },
): NexusError {
  const details: ErrorDetails = { phase: "start", cause: error };
  const code = error.code ?? "";
  if (code === "EADDRINUSE") {
    const other = `${words.port} ${port < 65_535 ? port + 1 : port - 1}`;
    return new NexusError("CONFIG_INVALID", `Port ${port} of ${address} is already in use`, {
      ...details,
      likelyCause: `Another program listens on this port, perhaps another ${words.self}.`,
      hint: `Choose another port with ${other}, or use ${words.port} 0 for any free port.`,
    });
  }
  if (code === "EACCES") {
    return new NexusError("PERMISSION_DENIED", `No permission to listen on port ${port} of ${address}`, {
      ...details,
      hint: `Ports below 1024 are reserved. Choose a higher port, such as ${words.port} 8080.`,
    });
  }
  if (["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN", "EINVAL"].includes(code)) {
    return new NexusError("CONFIG_INVALID", `${address} is not an address of this machine`, {
      ...details,
      hint: `Use ${words.address} 127.0.0.1 to listen for programs of this machine.`,
    });
  }
  return new NexusError("CONFIG_INVALID", `Cannot listen on ${address}, port ${port}: ${error.message}`, details);
}

/** Answers what never became a request: headers that are too long or no HTTP, or a body that never ended. */
function answerBroken({ code }: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || code === "ECONNRESET" || isAnswering(socket)) return void socket.destroy();
  const [status, error] = describe(code ?? "");
  const body = JSON.stringify({ jsonrpc: "2.0", error });
  const head = [
    `HTTP/1.1 ${status}`,
    "connection: close",
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}

/** Whether an answer has begun: what is written now would become part of it. */
function isAnswering(socket: Duplex & { _httpMessage?: { headersSent?: boolean } | null }): boolean {
  return socket._httpMessage?.headersSent === true;
}

function describe(code: string): [status: string, error: { code: number; message: string }] {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return ["408 Request Timeout", { code: INVALID_REQUEST, message: "The request did not arrive in time" }];
  }
  if (code === "HPE_HEADER_OVERFLOW") {
    const message = "The request headers are too large";
    return ["431 Request Header Fields Too Large", { code: INVALID_REQUEST, message }];
  }
  return ["400 Bad Request", { code: PARSE_ERROR, message: "This is not a valid HTTP request" }];
}

/** What the server is called, and how its options are written. */
interface HttpWords {
  self: string;
  allowHost: string;
  allowOrigin: string;
  /** Followed by a value. */
  port: string;
  /** Followed by a value. */
  address: string;
}

/** How a request is answered that must not be served. */
function refusalOf({ reason, value }: ForeignRequest, words: HttpWords): HttpRefusal {
  const { self, allowHost, allowOrigin } = words;
  const shown = JSON.stringify(value);
  switch (reason) {
    case "repeated header":
      return invalidRequest(`The request has more than one ${value} header`);
    case "host":
      return invalidRequest(`Host ${shown} is not an allowed name of this ${self}. Allow it with ${allowHost}`, 403);
    case "origin":
      return invalidRequest(`Pages of ${shown} may not call this ${self}. Allow them with ${allowOrigin}`, 403);
    case "site":
      return invalidRequest(`Pages of other sites may not call this ${self} (Sec-Fetch-Site: ${value})`, 403);
  }
}
