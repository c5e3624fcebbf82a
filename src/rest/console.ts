import type { IncomingMessage, ServerResponse } from "node:http";
import { asNexusError, NexusError } from "../errors/nexus-error.ts";
import { escapeHtml, htmlPage, pageHeaders } from "../gateway/edge/html-page.ts";
import type { Identification } from "./access/identification.ts";
import type { LoginCodes } from "./access/login-codes.ts";
import { isFromOwnPage } from "./access/own-origin.ts";
import { setCookie } from "./access/session-cookie.ts";
import type { Sessions } from "./access/sessions.ts";
import { readBody } from "./http/node-exchange.ts";
import { API_PATH } from "./openapi.ts";

export interface ConsoleOptions {
  codes: LoginCodes;
  sessions: Sessions;
  identification: Identification;
}

const HOME = "/console";
const LOGIN = "/console/login";
const FORM = "application/x-www-form-urlencoded";

/** The pages under `/console`: signing in, and a first page that says who has signed in. */
export class Console {
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
