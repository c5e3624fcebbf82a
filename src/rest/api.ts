import type { IncomingMessage, ServerResponse } from "node:http";
import { Hono } from "hono";
import { asNexusError, type NexusError } from "../errors/nexus-error.ts";
import type { Principal } from "../server/core/principal.ts";
import { entityTag, matchesTag } from "./http/entity-tag.ts";
import { readBody, writeResponse } from "./http/node-exchange.ts";
import { OperationRun } from "./http/operation-run.ts";
import { problemOf, problemResponse } from "./http/problem.ts";
import type { RecordedChange } from "./http/recorded-change.ts";
import { RepeatedRequests } from "./http/repeated-requests.ts";
import { API_PATH, openApiDocument } from "./openapi.ts";
import type { ApiContext, ApiOperation } from "./resources/api-context.ts";
import { OPERATIONS } from "./resources/operations.ts";

/** What the router needs beside the request: the exchange of Node itself. */
interface Exchange {
  req: IncomingMessage;
  signal: AbortSignal;
}

type Router = Hono<{ Bindings: Exchange }>;

/** The REST API: its operations behind a router. */
export class RestApi {
  readonly #router: Router;

  constructor(api: ApiContext, report: (error: NexusError, operation: string) => NexusError) {
    const run = new OperationRun<ApiContext>({
      api,
      identify: (method, headers) => api.identification.identify(method, headers),
      admit: api.allowance && ((principal) => admit(api, principal)),
      repeated: new RepeatedRequests(),
      readerOf: ({ path }) => OPERATIONS.find((each) => each.method === "GET" && each.path === path),
      report: (error, { id }) => report(error, id),
      requireRecordable: () => api.audit?.requireReady(),
      record: api.audit && ((change) => recordChange(api, change)),
    });
    this.#router = routerOf(run);
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

/** In the same windows as requests of MCP. */
async function admit({ allowance }: ApiContext, principal: Principal): Promise<void> {
  const refused = await allowance?.take(principal, 1);
  if (refused) throw refused.error;
}

/** In the audit of the tenant that it is about, or of the actor where there is no such tenant, for example any more. */
async function recordChange({ store, audit }: ApiContext, change: RecordedChange): Promise<void> {
  const { actor, tenant: named, ...facts } = change;
  const { tenant: own } = actor.principal;
  const isOther = named !== undefined && named !== own && (await store.tenants.find(named)) !== undefined;
  const decision = change.outcome === "refused" ? "denied" : "allowed";
  await audit?.recordIncident({ ...facts, decision, tenant: isOther ? named : own, keyId: actor.keyId ?? null });
}

function routerOf(run: OperationRun<ApiContext>): Router {
  const router: Router = new Hono<{ Bindings: Exchange }>().basePath(API_PATH);
  const document = openApiDocument();
  const [text, tag] = [JSON.stringify(document), entityTag(document)];
  router.get("/openapi.json", ({ env: { req } }) => {
    const headers = { "content-type": "application/json", etag: tag, "cache-control": "no-cache" };
    const isKnown = matchesTag(req.headers["if-none-match"] ?? "", tag);
    return isKnown ? new Response(null, { status: 304, headers }) : new Response(text, { headers });
  });
  for (const operation of OPERATIONS) {
    router.on(operation.method, routeOf(operation), ({ env: { req, signal }, req: routed }) => {
      const body = () => readBody(req, operation.access === "public" ? "stranger" : "known", operation.maxBytes);
      return run.run(operation, { headers: req.headers, params: routed.param(), query: routed.query(), body, signal });
    });
  }
  router.notFound(({ req: { method, path } }) => notFound(method, path));
  router.onError((error) => problemResponse(problemOf(asNexusError(error))));
  return router;
}

/** `/keys/{id}` as the router writes it. */
function routeOf({ path }: ApiOperation): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

function notFound(method: string, path: string): Response {
  const allowed = OPERATIONS.filter((each) => patternOf(each).test(path)).map((each) => each.method);
  if (allowed.length === 0) {
    const hint = `GET ${API_PATH}/openapi.json describes every operation.`;
    return problemResponse({ status: 404, code: "NAME_UNKNOWN", detail: "There is no such resource", hint });
  }
  const allow = allowed.join(", ");
  const detail = `The method ${method} is not allowed here. Use ${allow}`;
  return problemResponse({ status: 405, code: "ARGUMENTS_INVALID", detail, headers: { allow } });
}

function patternOf({ path }: ApiOperation): RegExp {
  return new RegExp(`^${API_PATH}${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}
