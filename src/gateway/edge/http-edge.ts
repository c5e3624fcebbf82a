import type { IncomingMessage, ServerResponse, IncomingHttpHeaders } from "node:http";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import { majorServer, ruledServer, unpublishedMajor } from "../../host/directory/access-target.ts";
import { retryLater } from "../../server/core/busy-error.ts";
import { NO_ROOM } from "../../server/core/byte-budget.ts";
import { HttpListener, type HttpListenerOptions } from "../../server/http/http-listener.ts";
import {
  EXPELLED,
  type HttpRefusal,
  invalidRequest,
  overloaded,
  refuse,
  refuseUnread,
  sendJson,
  sendText,
  wrongMethod,
} from "../../server/http/http-refusal.ts";
import { McpEndpoint, type McpEndpointOptions } from "../../server/http/mcp-endpoint.ts";
import type { Traffic } from "../../server/http/traffic.ts";
import { type Authenticate, type Principal, principalKey } from "../../server/core/principal.ts";
import { rpcErrorOf } from "../../server/core/rpc-error.ts";
import { VIA_HEADER } from "../../transport/via-marks.ts";
import { callerErrorOf, dataFor, inCallerWords } from "../operation/caller-error.ts";
import type { FailureLog } from "../operation/failure-log.ts";
import type { EdgeTenant } from "./edge-tenant.ts";
import type { OperationsHandler } from "./operations-handler.ts";
import { HTTP_STATUSES } from "./http-statuses.ts";
import { EVERYTHING, type View } from "../names/view.ts";
import { readPages } from "../../client/conversation/lists.ts";
import { LATEST } from "../../protocol/revisions.ts";
import { correlationOf } from "../../server/core/request-meta.ts";
import type { GuardedCore } from "./guarded-core.ts";
import { VERSION } from "../../protocol/version.ts";
import { escapeHtml, htmlPage, pageHeaders } from "./html-page.ts";

interface HttpEdgeOptions extends McpEndpointOptions {
  /** Whose servers a caller uses. */
  tenants: { of: (principal: Principal) => EdgeTenant };
  authenticate: Authenticate;
  onRefused?: HttpListenerOptions["onRefused"];
  allowedHosts: readonly string[];
  allowedOrigins: readonly string[];
  readiness: () => Readiness;
  /** The servers that are starting; with a caller, only those that it may know of. */
  starting: (principal?: Principal) => readonly string[];
  seesMetrics: (principal: Principal) => boolean;
  /** The text of `/metrics` for one reader. */
  metrics: (principal: Principal) => string;
  failures: FailureLog;
  /** Serves `/api/v1` and `/console`; without it they do not exist. */
  operations?: OperationsHandler | undefined;
}

/** `starting`: its servers. `unavailable`: no call can be served, because what the gateway needs is away. */
type Readiness = "ready" | "starting" | "unavailable";

/** The gateway's HTTP server: MCP endpoints, front page, health, metrics and tool manifests. */
export class HttpEdge {
  readonly #options: HttpEdgeOptions;
  readonly #mcp: McpEndpoint;
  readonly #listener: HttpListener;

  constructor(options: HttpEdgeOptions) {
    const { failures } = options;
    this.#options = options;
    this.#mcp = new McpEndpoint(options);
    this.#listener = new HttpListener({
      ...options,
      words: {
        self: "gateway",
        allowHost: "--allow-host, or allowedHosts",
        allowOrigin: "--allow-origin, or allowedOrigins",
        port: "--port",
        address: "--host",
      },
      serve: (req, res) => this.#serve(req, res),
      // Without the query, which may hold what does not belong there, such as a key.
      report: (error, { method, url = "" }) =>
        inCallerWords(failures.report(error, { method: `${method} ${url.split("?")[0]}` })),
    });
  }

  get traffic(): Traffic {
    return this.#listener.traffic;
  }

  /** Resolves with the address in the form used in a URL. */
  listen(port: number, address: string): Promise<{ host: string; port: number }> {
    return this.#listener.listen(port, address);
  }

  /** Calls off everything modern that this principal has open. */
  expel(principal: Principal): void {
    this.#mcp.expel(principal);
  }

  /** The principals that have something modern open. */
  principals(): Principal[] {
    return this.#mcp.principals();
  }

  /** Calls off everything modern that was asked for with this very object. */
  endAskedBy(principal: Principal): void {
    this.#mcp.endAskedBy(principal);
  }

  /** Ends subscriptions, which have no end of their own; takes only what belongs to calls that run. */
  drain(): void {
    this.#listener.drain();
    this.#mcp.drain();
    this.#options.operations?.drain();
  }

  /** Resolves when everything that came in is answered, except subscriptions. */
  quiet(): Promise<void> {
    return this.#mcp.quiet();
  }

  /** Cancels what is left, ends all sessions, and closes every connection after its answers are written. */
  async close(): Promise<void> {
    this.drain();
    await Promise.all([this.#mcp.close(), this.#listener.close()]);
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const route = routeOf(req.url ?? "/");
    if (route.kind === "healthz") return sendJson(res, 200, { status: "ok" });
    if (route.kind === "readyz") return this.#tellReadiness(req, res);
    if (route.kind === "home" && wantsPage(req)) return this.#showPage(req, res);
    const { operations } = this.#options;
    if (route.kind === "operations" && operations) return this.#operate(operations, req, res);
    const admitted = this.#listener.admit(req, res);
    const principal = admitted instanceof Promise ? await admitted : admitted;
    if (!principal || res.destroyed) return;
    const tenant = this.#options.tenants.of(principal);
    // A program that reads metrics regularly must not keep a tenant open.
    if (tenant.enter && USES_SERVERS.has(route.kind)) {
      if (!(await keepOpen(tenant.enter, req, res))) return;
      if (this.#options.door?.admits(principal) === false) return refuseUnread(req, res, EXPELLED);
    }
    // The header is read only after authentication: only permitted callers are believed.
    const via = req.headers[VIA_HEADER];
    if (via !== undefined && !tenant.admitsVia(via)) return refuseUnread(req, res, CIRCLE);
    return this.#visit(route, req, res, { principal, endpoints: tenant.endpoints });
  }

  /** Wrong keys are recorded as at other addresses: in a header, or sent to sign in. */
  async #operate(operations: OperationsHandler, req: IncomingMessage, res: ServerResponse): Promise<void> {
    await operations.serve(req, res);
    const { headers, method } = req;
    const isAttempt = headers.authorization !== undefined || method === "POST";
    if (isAttempt && res.statusCode === 401) await this.#options.onRefused?.(headers)?.catch(() => {});
  }

  #visit(route: Route, req: IncomingMessage, res: ServerResponse, visit: Visit): Promise<void> | void {
    const { principal, endpoints } = visit;
    if (route.kind === "mcp") {
      const { view } = route;
      if (view.kind !== "all" && !endpoints.reaches(principal, view)) return this.#refuseHidden(req, res, view, visit);
      return this.#mcp.serve(req, res, { core: endpoints.of(view), principal });
    }
    if (route.kind === "sse") return this.#mcp.openSse(req, res, { core: endpoints.all, principal });
    if (route.kind === "messages") return this.#mcp.postSse(req, res, { core: endpoints.all, principal });
    if (route.kind !== "tools" && route.kind !== "metrics") {
      return refuseUnread(
        req,
        res,
        invalidRequest(`Not found: ${req.url}. The MCP endpoint is /mcp; tools are searched for at /search/mcp`, 404),
      );
    }
    if (req.method !== "GET") return refuseUnread(req, res, wrongMethod("GET"));
    if (route.kind === "tools") return this.#tellTools(req, res, route.view, visit);
    if (!this.#options.seesMetrics(principal)) return refuse(res, NOT_FOR_CALLERS);
    const text = this.#options.metrics(principal);
    res.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(text);
  }

  async #refuseHidden(req: IncomingMessage, res: ServerResponse, view: View, visit: Visit): Promise<void> {
    const { method = "", url = "", headers } = req;
    const target = view.kind === "set" ? view.name : (serverOf(view) ?? "");
    const attempt = { method: `${method} ${url.split("?")[0]}`, target, headers };
    // It is refused whether or not that can be recorded.
    const limited = await visit.endpoints.all.recordHidden(visit.principal, attempt).catch(() => undefined);
    refuseUnread(req, res, limited ? overLimit(limited) : noView(view, visit));
  }

  /** Without credentials, the page does not show the servers. */
  async #showPage(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const principal = await this.#findCaller(req);
    sendFrontPage(req, res, principal ? await this.#shownTo(principal) : "hidden");
  }

  /** Who calls an address that answers everybody. Wrong credentials are recorded. */
  #findCaller({ headers }: IncomingMessage): Promise<Principal | undefined> {
    const { authenticate, onRefused } = this.#options;
    const admit = async () => authenticate(headers);
    return admit().catch(async (error: unknown) => {
      const isRefused = headers.authorization !== undefined && asNexusError(error).code === "AUTH_REQUIRED";
      if (isRefused) await onRefused?.(headers)?.catch(() => {});
      return undefined;
    });
  }

  async #shownTo(principal: Principal): Promise<ShownServers> {
    const tenant = this.#options.tenants.of(principal);
    try {
      const leave = await tenant.enter?.();
      try {
        return tenant.servers().filter((id) => tenant.endpoints.sees(principal, id));
      } finally {
        leave?.();
      }
    } catch {
      return "unavailable";
    }
  }

  async #tellReadiness(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (this.#listener.isDraining) return sendJson(res, 503, { status: "draining" });
    const status = this.#options.readiness();
    const starting = await this.#startingFor(req);
    sendJson(res, status === "ready" ? 200 : 503, starting ? { status, starting } : { status });
  }

  /** How many servers are starting; which ones, is for callers that may know of them. */
  async #startingFor(req: IncomingMessage): Promise<{ count: number; servers?: readonly string[] } | undefined> {
    const { starting } = this.#options;
    const { length: count } = starting();
    if (count === 0) return undefined;
    const principal = await this.#findCaller(req);
    return principal ? { count, servers: starting(principal) } : { count };
  }

  async #tellTools(req: IncomingMessage, res: ServerResponse, view: View, visit: Visit): Promise<void> {
    const { endpoints, principal } = visit;
    const { unread } = this.#options;
    if (!endpoints.reaches(principal, view)) return this.#refuseHidden(req, res, view, visit);
    const left = new AbortController();
    res.once("close", () => left.abort(new NexusError("CANCELLED", "The caller closed its connection")));
    try {
      const { headers } = req;
      const tools = await toolManifest(endpoints.of(view), { principal, headers, signal: left.signal });
      const text = JSON.stringify(view.kind === "set" ? { set: view.name, tools } : { server: serverOf(view), tools });
      if (unread.mayWrite(res, principal, text.length)) sendText(res, 200, text);
      else refuse(res, overloaded(NO_ROOM));
    } catch (thrown) {
      const error = asNexusError(thrown);
      const { message } = callerErrorOf(error);
      const { retryAfterMs } = error.details;
      const later = retryAfterMs === undefined ? {} : { "retry-after": String(Math.ceil(retryAfterMs / 1000)) };
      const about = { ...dataFor(error.with({ server: serverOf(view) })), message };
      sendJson(res, HTTP_STATUSES[error.code], { error: about }, later);
    }
  }
}

/** Who asks, and what for: the endpoints of the caller's tenant. */
interface Visit {
  principal: Principal;
  endpoints: EdgeTenant["endpoints"];
}

const USES_SERVERS: ReadonlySet<Route["kind"]> = new Set(["mcp", "sse", "messages", "tools"]);

/** The tenant stays open until the answer is complete; false where it cannot be opened, and the caller was told. */
async function keepOpen(
  enter: NonNullable<EdgeTenant["enter"]>,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<boolean> {
  try {
    const leave = await enter();
    if (res.destroyed) leave();
    else res.once("close", leave);
    return !res.destroyed;
  } catch (error) {
    refuseUnread(req, res, { ...overloaded(""), error: rpcErrorOf(error) });
    return false;
  }
}

const NOT_FOR_CALLERS = invalidRequest("/metrics needs a key with the role operator or admin", 403);
const CIRCLE = invalidRequest("Loop detected: this request already passed through this gateway", 508);

/** The same for one that does not exist and one that the caller may not use. */
function noView(view: View, { principal, endpoints }: Visit): ReturnType<typeof invalidRequest> {
  const server = serverOf(view) ?? "";
  const unpublished = unpublishedMajor(server);
  if (unpublished !== undefined && endpoints.reaches(principal, { kind: "one", server: ruledServer(server) })) {
    return invalidRequest(unpublished, 404);
  }
  const what = view.kind === "set" ? `set "${view.name}"` : `server "${server}"`;
  return invalidRequest(`This gateway has no ${what}`, 404);
}

function overLimit(error: NexusError): HttpRefusal {
  const told = rpcErrorOf(error);
  const { status, seconds } = retryLater(told) ?? { status: 503, seconds: 1 };
  return { status, error: told, headers: { "retry-after": String(seconds) } };
}

function serverOf(view: View): string | undefined {
  return view.kind === "one" ? view.server : undefined;
}

/** What a path stands for. */
type Route =
  | { kind: "mcp"; view: View }
  | { kind: "tools"; view: View }
  | { kind: "home" | "sse" | "messages" | "healthz" | "readyz" | "metrics" | "operations" | "unknown" };

const PLAIN: Readonly<Record<string, Route>> = {
  "/": { kind: "home" },
  "/mcp": { kind: "mcp", view: EVERYTHING },
  "/search/mcp": { kind: "mcp", view: { ...EVERYTHING, search: true } },
  "/sse": { kind: "sse" },
  "/messages": { kind: "messages" },
  "/healthz": { kind: "healthz" },
  "/readyz": { kind: "readyz" },
  "/metrics": { kind: "metrics" },
};

const UNKNOWN: Route = { kind: "unknown" };
const OPERATIONS: Route = { kind: "operations" };
const OF_OPERATORS = /^\/(?:api\/v1|console)(?:\/|$)/;
const OF_VIEW = /^\/(servers|sets)\/([a-z][a-z0-9-]{0,31})\/(mcp|tools|search\/mcp)$/;
const OF_MAJOR = /^\/servers\/([a-z][a-z0-9-]{0,31})\/v(0|[1-9]\d{0,8})\/(mcp|tools|search\/mcp)$/;

/** `url` as in the request line. */
function routeOf(url: string): Route {
  const end = url.indexOf("?");
  const written = end === -1 ? url : url.slice(0, end);
  // Some clients add a slash to every URL.
  const path = written.length > 1 && written.endsWith("/") ? written.slice(0, -1) : written;
  const plain = Object.hasOwn(PLAIN, path) ? PLAIN[path] : undefined;
  if (plain) return plain;
  const [, of, name, what] = OF_VIEW.exec(path) ?? [];
  if (name === undefined) return OF_OPERATORS.test(path) ? OPERATIONS : majorRoute(path);
  const view: View = of === "sets" ? { kind: "set", name } : { kind: "one", server: name };
  return viewRoute(view, what);
}

function viewRoute(view: View, what: string | undefined): Route {
  if (what === "search/mcp") return { kind: "mcp", view: { ...view, search: true } };
  return { kind: what === "mcp" ? "mcp" : "tools", view };
}

/** A major version of a published server. */
function majorRoute(path: string): Route {
  const [, server, major, what] = OF_MAJOR.exec(path) ?? [];
  if (server === undefined || major === undefined) return UNKNOWN;
  return viewRoute({ kind: "one", server: majorServer(server, major) }, what);
}

interface ManifestReader {
  principal: Principal;
  headers: IncomingHttpHeaders;
  signal: AbortSignal;
}

const METHOD = "tools/list";

/** All tools of one server, as it describes them. It counts as one request: throws RATE_LIMITED. */
async function toolManifest(core: GuardedCore, reader: ManifestReader): Promise<unknown[]> {
  const { principal, headers, signal } = reader;
  const origin = { era: "modern", version: LATEST, client: undefined, headers } as const;
  const refused = await core.admit(principal, [{ jsonrpc: "2.0", id: 0, method: METHOD }], origin);
  if (refused) throw refused.error;
  const caller = {
    era: "modern",
    version: LATEST,
    owner: principalKey(principal),
    capabilities: {},
    logLevel: undefined,
    progressToken: undefined,
    client: undefined,
    trace: undefined,
    onBehalfOf: undefined,
    notify: () => {},
    ask: undefined,
  } as const;
  const { endpoint } = core;
  const { correlationId, traceId } = correlationOf(undefined, headers);
  return readPages(METHOD, "tools", (params = {}) =>
    core.handle({ endpoint, principal, method: METHOD, params, caller, correlationId, traceId, signal }),
  );
}

const HEADERS = { ...pageHeaders(), vary: "Accept" };

/** Whether a person looks at it in a browser: programs do not name HTML in `Accept`. */
function wantsPage({ method, headers: { accept = "" } }: IncomingMessage): boolean {
  return (method === "GET" || method === "HEAD") && accept.toLowerCase().includes("text/html");
}

/** The servers that a reader may see, or why there are none to show. */
type ShownServers = readonly string[] | keyof typeof NOT_SHOWN;

const NOT_SHOWN = {
  hidden: "Credentials are required to see its servers.",
  unavailable: "Its servers cannot be shown at the moment.",
};

/** What the gateway shows to a person who opens its address. */
function sendFrontPage(req: IncomingMessage, res: ServerResponse, servers: ShownServers): void {
  const html = frontPage(originOf(req), servers);
  res.writeHead(200, { ...HEADERS, "content-length": Buffer.byteLength(html) });
  res.end(req.method === "HEAD" ? undefined : html);
}

function frontPage(origin: string, servers: ShownServers): string {
  const url = `${origin}/mcp`;
  const list = typeof servers === "string" ? `<p>${NOT_SHOWN[servers]}</p>` : serverList(origin, servers);
  return htmlPage(
    "Nexus gateway",
    `<h1>Nexus gateway</h1>
<p>This is a gateway for the Model Context Protocol (Nexus ${escapeHtml(VERSION)}). It serves MCP clients and has no user interface for browsers.</p>
<h2>Addresses</h2>
<p>All servers: ${code(url)}</p>
<p>Clients of 2024-11-05 (HTTP+SSE): ${code(`${origin}/sse`)}</p>
${list}
<h2>To connect a client</h2>
<pre>${escapeHtml(`nexus mcp install claude-code --url ${url}`)}</pre>
<p>Use the name of another client, or add the address to the client's configuration:</p>
<pre>${escapeHtml(JSON.stringify({ mcpServers: { nexus: { type: "http", url } } }, undefined, 2))}</pre>
<h2>To try it</h2>
<pre>${escapeHtml(`nexus mcp tools --url ${url}`)}</pre>`,
  );
}

function serverList(origin: string, servers: readonly string[]): string {
  if (servers.length === 0) return "<p>It has no servers.</p>";
  const rows = servers.map((id) => `<li>${code(`${origin}/servers/${id}/mcp`)}</li>`);
  return `<p>Single servers:</p><ul>${rows.join("")}</ul>`;
}

/** The origin as the reader reached it; a proxy that ends TLS adds a header. */
function originOf({ headers }: IncomingMessage): string {
  const scheme = headers["x-forwarded-proto"] === "https" ? "https" : "http";
  return `${scheme}://${headers.host ?? "localhost"}`;
}

function code(text: string): string {
  return `<code>${escapeHtml(text)}</code>`;
}
