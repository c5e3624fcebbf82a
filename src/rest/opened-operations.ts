import type { IncomingMessage, ServerResponse } from "node:http";
import { Hono } from "hono";
import { DEFAULT_TENANT } from "../auth/server-instance.ts";
import { NexusError, asNexusError } from "../errors/nexus-error.ts";
import { FailureLog } from "../gateway/operation/failure-log.ts";
import { KeyDoor } from "../team/key-door.ts";
import { toolTarget } from "../host/directory/access-target.ts";
import type { Host } from "../host/host.ts";
import { LoadedToolFiles } from "../operations/loaded-tool-files.ts";
import type { ExplainedServers } from "../operations/services.ts";
import { PublicationCompiler } from "../workshop/publish/publication-compiler.ts";
import { Identification } from "./access/identification.ts";
import type { LoginCodes } from "./access/login-codes.ts";
import { Sessions } from "./access/sessions.ts";
import { API_PATH, openApiDocument } from "./openapi.ts";
import type { EventHub } from "./events/event-hub.ts";
import type { OperatedGateway, OperationsOptions } from "./operations.ts";
import { escapeHtml, htmlPage, pageHeaders } from "../gateway/edge/html-page.ts";
import { isFromOwnPage } from "./access/own-origin.ts";
import { setCookie } from "./access/session-cookie.ts";
import { readBody, writeResponse } from "./http/node-exchange.ts";
import type { StoredAudit } from "../team/stored-audit.ts";
import type { Allowance } from "../gateway/operation/allowance.ts";
import type { RestServices, RestCall, RestOperation } from "./rest-operation.ts";
import { OperationRunner, recordChange } from "../operations/run-operation.ts";
import { ServedOperations } from "./http/served-operation.ts";
import { RepeatedRequests } from "./http/repeated-requests.ts";
import { REST_OPERATIONS } from "./rest-operations.ts";
import { entityTag, matchesTag } from "./http/entity-tag.ts";
import { problemResponse, problemOf } from "./http/problem.ts";

interface OpenedOptions extends OperationsOptions {
  gateway: OperatedGateway;
  events: EventHub;
  codes: LoginCodes;
}

/** The REST API and the console with what they need. */
export class OpenedOperations implements Disposable {
  readonly #api: RestApi;
  readonly #console: Console;
  readonly #stops: (() => void)[];

  /** Throws STORE_UNAVAILABLE where the database does not answer. */
  static async open(options: OpenedOptions): Promise<OpenedOperations> {
    const { store, logger } = options;
    if (options.door) return new OpenedOperations(options, options.door, () => {});
    const door = await KeyDoor.open({ store, needs: "keys", logger });
    return new OpenedOperations(options, door, () => door[Symbol.dispose]());
  }

  private constructor(options: OpenedOptions, door: KeyDoor, close: () => void) {
    const { store, gateway, events, codes, audit, allowance, ownSecrets, stateFolder, logger } = options;
    const sessions = new Sessions();
    const identification = new Identification(door, sessions);
    const failures = new FailureLog(logger);
    const secretsOf = async (tenant: string) => {
      await store.tenants.require(tenant);
      return (tenant === DEFAULT_TENANT && ownSecrets) || store.secrets(tenant);
    };
    const useServers = <T>(tenant: string, use: (servers: ExplainedServers) => Promise<T>) =>
      gateway.useHost(tenant, (host) => use(serversOf(host)));
    const [toolFiles, compiler] = [new LoadedToolFiles(), new PublicationCompiler()];
    const services = { store, gateway, useServers, secretsOf, toolFiles, compiler, stateFolder, logger };
    const report = (error: NexusError, method: string) => failures.report(error, { method });
    this.#api = new RestApi({ ...services, sessions, identification, events }, { audit, allowance, report });
    this.#console = new Console({ codes, sessions, identification });
    this.#stops = [
      door.onExpelled(
        ({ id }) => {
          sessions.end(({ principal }) => principal?.id === id);
          events.end(({ principal }) => principal.id === id);
        },
        () => [...sessions.principals(), ...events.principals()],
      ),
      door.onReplaced((replaced) => {
        sessions.end(({ principal }) => principal === replaced);
        events.end(({ principal }) => principal === replaced);
      }),
      sessions.onEnded((ended) => events.end((_actor, session) => session === ended)),
      close,
    ];
  }

  async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const isApi = req.url?.startsWith(API_PATH) === true;
    await (isApi ? this.#api.serve(req, res) : this.#console.serve(req, res));
  }

  [Symbol.dispose](): void {
    for (const stop of this.#stops) stop();
  }
}

function serversOf(host: Host): ExplainedServers {
  return {
    directory: host.directory,
    async findTool(server, name) {
      const isMeant = (tool: { name: string }) => tool.name === name;
      const { tools, searched } = host.offered(server);
      const known = [...tools, ...searched].find(isMeant);
      if (known) return toolTarget(server, known, searched);
      // Connects a server that was not used yet.
      const lease = await host.lease(server);
      try {
        const listed = await lease.client.listTools();
        const others = lease.client.searchedIn(listed);
        const found = [...listed, ...others].find(isMeant);
        return found && toolTarget(server, found, others);
      } finally {
        lease.release();
      }
    },
  };
}

interface ConsoleOptions {
  codes: LoginCodes;
  sessions: Sessions;
  identification: Identification;
}

const HOME = "/console";
const LOGIN = "/console/login";
const FORM = "application/x-www-form-urlencoded";

/** The pages under `/console`: signing in, and a first page that says who has signed in. */
class Console {
  readonly #options: ConsoleOptions;

  constructor(options: ConsoleOptions) {
    this.#options = options;
  }

  async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { method = "GET", url = "/" } = req;
    const { pathname, searchParams } = new URL(url, "http://gateway");
    if (pathname === LOGIN && method === "GET") return this.#useLink(req, res, searchParams.get("code"));
    if (pathname === LOGIN && method === "POST") return this.#useKey(req, res);
    if (pathname === HOME || pathname === `${HOME}/`) return this.#showHome(req, res);
    sendPage(req, res, 404, "<h1>Not found</h1>");
  }

  /** The link works once, so a request that only looks (HEAD) does not use it. */
  #useLink(req: IncomingMessage, res: ServerResponse, code: string | null): void {
    if (code === null) return sendPage(req, res, 200, formPage());
    if (!this.#options.codes.redeem(code)) return sendPage(req, res, 403, EXPIRED_PAGE);
    const { id } = this.#options.sessions.open();
    redirect(req, res, id);
  }

  async #useKey(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const isForm = req.headers["content-type"]?.split(";")[0]?.trim().toLowerCase() === FORM;
    if (!isForm || !isFromOwnPage("POST", req.headers)) return sendPage(req, res, 403, FOREIGN_PAGE);
    let key = "";
    try {
      key = new URLSearchParams(await readBody(req, "stranger")).get("key")?.trim() ?? "";
      const { principal } = await this.#options.identification.byKey(`Bearer ${key}`);
      redirect(req, res, this.#options.sessions.open(principal).id);
    } catch (thrown) {
      sendRefusal(req, res, thrown, key === "" ? NO_KEY : WRONG_KEY);
    }
  }

  async #showHome(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      const { actor } = await this.#options.identification.identify("GET", req.headers);
      const { principal, role, allTenants, keyId } = actor;
      const who = keyId === undefined ? "with the link of the terminal" : `with the key ${keyId}`;
      const what = allTenants ? "all tenants" : `the tenant ${principal.tenant}`;
      const body = `<h1>Nexus gateway</h1>
<p>You are signed in ${escapeHtml(who)}: role ${escapeHtml(role)}, ${escapeHtml(what)}.</p>
<p>The REST API is described in <a href="${API_PATH}/openapi.json">${API_PATH}/openapi.json</a>.</p>`;
      sendPage(req, res, 200, body);
    } catch (thrown) {
      sendRefusal(req, res, thrown);
    }
  }
}

/** Without valid credentials there is the form, with what was wrong about them; other failures are told. */
function sendRefusal(req: IncomingMessage, res: ServerResponse, thrown: unknown, problem?: string): void {
  const error = asNexusError(thrown);
  if (error.code === "AUTH_REQUIRED") return sendPage(req, res, 401, formPage(problem));
  if (!(thrown instanceof NexusError) || error.code === "INTERNAL") throw thrown;
  const body = `<h1>Nexus gateway</h1><p>${escapeHtml(error.message)}.</p>`;
  sendPage(req, res, error.code === "FORBIDDEN" ? 403 : error.code === "MESSAGE_TOO_LARGE" ? 413 : 503, body);
}

const NO_KEY = "Enter an API key.";
const WRONG_KEY =
  "This API key is not valid: it may be mistyped, expired, replaced or revoked. <code>nexus keys list</code> shows all keys.";

function formPage(problem?: string): string {
  return `<h1>Nexus gateway</h1>${problem === undefined ? "" : `\n<p role="alert"><strong>${problem}</strong></p>`}
<p>Open the link that <code>nexus serve</code> prints when it starts, or sign in with an API key.</p>
<form method="post" action="${LOGIN}"><label>API key <input type="password" name="key" autocomplete="off" required></label> <button>Sign in</button></form>`;
}

const EXPIRED_PAGE = `<h1>Nexus gateway</h1>
<p>This link was used, or it is older than five minutes. Restart the gateway for a new one, or <a href="${LOGIN}">sign in with a key</a>.</p>`;

const FOREIGN_PAGE = "<h1>Nexus gateway</h1><p>Pages of other origins cannot sign in.</p>";

function redirect({ headers }: IncomingMessage, res: ServerResponse, id: string): void {
  const where = { location: HOME, "set-cookie": setCookie(headers, id) };
  res.writeHead(303, { ...where, "cache-control": "no-store", "referrer-policy": "no-referrer" }).end();
}

function sendPage(req: IncomingMessage, res: ServerResponse, status: number, body: string): void {
  const html = htmlPage("Nexus gateway", body);
  if (!req.complete) {
    res.setHeader("connection", "close");
    req.resume();
  }
  // Where browsers send neither Origin nor Sec-Fetch-Site, the page's own address tells it apart.
  const headers = { ...pageHeaders({ formAction: "'self'" }), "referrer-policy": "same-origin" };
  res.writeHead(status, { ...headers, "content-length": Buffer.byteLength(html) });
  res.end(req.method === "HEAD" ? undefined : html);
}

/** What the router needs beside the request: the exchange of Node itself. */
interface Exchange {
  req: IncomingMessage;
  signal: AbortSignal;
}

type Router = Hono<{ Bindings: Exchange }>;

interface RestApiOptions {
  /** Where changes are recorded; undefined where they are not. */
  audit: Pick<StoredAudit, "recordIncident" | "requireReady"> | undefined;
  /** Counts requests against limits; undefined where nothing is limited. */
  allowance: Pick<Allowance, "take"> | undefined;
  report: (error: NexusError, operation: string) => NexusError;
}

/** The REST API: its operations behind a router. */
class RestApi {
  readonly #router: Router;

  constructor(services: RestServices, { audit, allowance, report }: RestApiOptions) {
    const runner = new OperationRunner<RestServices, RestCall>({
      services,
      surface: "rest",
      async admit(principal) {
        // In the same windows as requests of MCP.
        const refused = await allowance?.take(principal, 1);
        if (refused) throw refused.error;
      },
      requireRecordable: () => audit?.requireReady(),
      record: audit && (async (change) => recordChange(services.store, audit, change)),
    });
    const operations = new ServedOperations({
      services,
      runner,
      repeated: new RepeatedRequests(),
      readerOf: ({ http: { path } }) =>
        REST_OPERATIONS.find((each) => each.http.method === "GET" && each.http.path === path),
      report: (error, { id }) => report(error, id),
    });
    this.#router = routerOf(operations);
  }

  async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const left = new AbortController();
    res.once("close", () => left.abort());
    const { method = "GET", url = "/" } = req;
    const response = await this.#answer(req, method, url, left.signal);
    if (!req.complete) {
      // The rest of a refused request is not read, so the connection cannot be used again.
      res.setHeader("connection", "close");
      req.resume();
    }
    await writeResponse(res, response, method !== "HEAD");
  }

  async #answer(req: IncomingMessage, method: string, url: string, signal: AbortSignal): Promise<Response> {
    // The name of the host does not matter here.
    const address = `http://gateway${url}`;
    // A Request cannot have these methods.
    if (method === "TRACE" || method === "CONNECT") return notFound(method, new URL(address).pathname);
    // For HEAD the router would drop the body of GET, and a stream would wait for its reader for ever.
    const routed = method === "HEAD" ? "GET" : method;
    return this.#router.fetch(new Request(address, { method: routed }), { req, signal });
  }
}

function routerOf(operations: ServedOperations): Router {
  const router: Router = new Hono<{ Bindings: Exchange }>().basePath(API_PATH);
  const document = openApiDocument();
  const [text, tag] = [JSON.stringify(document), entityTag(document)];
  router.get("/openapi.json", ({ env: { req } }) => {
    const headers = { "content-type": "application/json", etag: tag, "cache-control": "no-cache" };
    const isKnown = matchesTag(req.headers["if-none-match"] ?? "", tag);
    return isKnown ? new Response(null, { status: 304, headers }) : new Response(text, { headers });
  });
  for (const operation of REST_OPERATIONS) {
    const { access, http } = operation;
    router.on(http.method, routeOf(operation), ({ env: { req, signal }, req: routed }) => {
      const body = () => readBody(req, access === "public" ? "stranger" : "known", http.maxBytes);
      return operations.serve(operation, {
        headers: req.headers,
        params: routed.param(),
        query: routed.query(),
        body,
        signal,
      });
    });
  }
  router.notFound(({ req: { method, path } }) => notFound(method, path));
  router.onError((error) => problemResponse(problemOf(asNexusError(error))));
  return router;
}

/** `/keys/{id}` as the router writes it. */
function routeOf({ http: { path } }: RestOperation): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

function notFound(method: string, path: string): Response {
  const allowed = REST_OPERATIONS.filter((each) => patternOf(each).test(path)).map(({ http }) => http.method);
  if (allowed.length === 0) {
    const hint = `GET ${API_PATH}/openapi.json describes every operation.`;
    return problemResponse({ status: 404, code: "NAME_UNKNOWN", detail: "There is no such resource", hint });
  }
  const allow = allowed.join(", ");
  const detail = `The method ${method} is not allowed here. Use ${allow}`;
  return problemResponse({ status: 405, code: "ARGUMENTS_INVALID", detail, headers: { allow } });
}

function patternOf({ http: { path } }: RestOperation): RegExp {
  return new RegExp(`^${API_PATH}${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}
