import type { IncomingMessage, ServerResponse } from "node:http";
import { Hono } from "hono";
import { asNexusError, type NexusError } from "../errors/nexus-error.ts";
import type { Allowance } from "../gateway/operation/allowance.ts";
import { recordChange, OperationRunner } from "../operations/run-operation.ts";
import type { StoredAudit } from "../team/stored-audit.ts";
import { entityTag, matchesTag } from "./http/entity-tag.ts";
import { readBody, writeResponse } from "./http/node-exchange.ts";
import { ServedOperations } from "./http/served-operation.ts";
import { problemOf, problemResponse } from "./http/problem.ts";
import { RepeatedRequests } from "./http/repeated-requests.ts";
import { API_PATH, openApiDocument } from "./openapi.ts";
import type { RestCall, RestOperation, RestServices } from "./rest-operation.ts";
import { REST_OPERATIONS } from "./rest-operations.ts";

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
export class RestApi {
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
