import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { unlessAborted } from "../../async/unless-aborted.ts";
import type { CancelSignal } from "../../async/cancellation.ts";
import type { LoginRedirect, RedirectSettings } from "../../auth/oauth/login-handler.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { isLoopback } from "../../text/loopback.ts";

export interface LoopbackOptions extends RedirectSettings {
  /** Whether the client was registered by hand, so that the path must be the usual one: `/callback`. */
  isKnown?: boolean | undefined;
  /** Shows the page of the authorization server to the user. */
  show: (page: URL) => Promise<void>;
}

const STYLE = "font:18px/1.5 system-ui,sans-serif;max-width:32em;margin:20vh auto;padding:0 1em";
/** The headers of every answer to the browser: the address contains a code, so nothing keeps it or learns it. */
const PAGE_HEADERS = {
  "cache-control": "no-store",
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  connection: "close",
} as const;
const HEADER_TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 32 * 1024;

/** Waits on this machine for the browser to be sent back. Only the answer with the expected state counts. */
export class LoopbackRedirect implements LoginRedirect {
  readonly uri: string;
  readonly #server: Server;
  readonly #show: LoopbackOptions["show"];
  #state: string | undefined;
  #onAnswer: (answer: URL) => void = () => {};

  /** Listens at the configured address, at one that was registered before and is free, or at a free port. */
  static async open(options: LoopbackOptions): Promise<LoopbackRedirect> {
    const { redirectUrl, callbackPort, registered } = options;
    if (redirectUrl !== undefined) return listenAt(ownAddress(redirectUrl), options);
    if (callbackPort !== undefined) return listenAt(new URL(`http://127.0.0.1:${callbackPort}/callback`), options);
    for (const known of registered.filter((uri) => isOwn(uri) && new URL(uri).port !== "")) {
      const reopened = await listenAt(new URL(known), options).catch(() => undefined);
      if (reopened) return reopened;
    }
    const path = options.isKnown ? "/callback" : `/callback/${randomBytes(16).toString("base64url")}`;
    return listenAt(new URL(`http://127.0.0.1:0${path}`), options);
  }

  constructor(server: Server, uri: URL, show: LoopbackOptions["show"]) {
    this.uri = uri.href;
    this.#server = server;
    this.#show = show;
    server.on("request", (request: IncomingMessage, response: ServerResponse) => this.#answer(request, response));
  }

  async visit(page: URL, signal?: CancelSignal): Promise<URL> {
    this.#state = page.searchParams.get("state") ?? undefined;
    const answered = new Promise<URL>((resolve) => {
      this.#onAnswer = resolve;
    });
    await this.#show(page);
    return unlessAborted(answered, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { method, url = "", headers } = request;
    const expected = new URL(this.uri);
    const answer = URL.canParse(url, this.uri) ? new URL(url, this.uri) : undefined;
    // A name that another page has pointed to this machine is not ours.
    const isHere = answer?.origin === expected.origin && headers.host === expected.host;
    if (!answer || !isHere || answer.pathname !== expected.pathname)
      return send(response, 404, "There is no such page.");
    if (method !== "GET") return send(response, 405, "This page is for the browser only.");
    if (this.#state === undefined || answer.searchParams.get("state") !== this.#state) {
      return send(response, 400, "This answer does not belong to the login in progress. Start the login again.");
    }
    this.#state = undefined;
    const isDone = answer.searchParams.has("code");
    const text = isDone ? "The login was received." : "The login was not completed.";
    response.once("close", () => this.#onAnswer(answer));
    send(response, 200, `${text} You can close this window and return to the terminal.`);
  }
}

async function listenAt(uri: URL, { show }: LoopbackOptions): Promise<LoopbackRedirect> {
  const server = createServer({ headersTimeout: HEADER_TIMEOUT_MS, maxHeaderSize: MAX_HEADER_BYTES });
  const host = uri.hostname === "[::1]" ? "::1" : "127.0.0.1";
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => reject(cannotListen(uri, cause)));
    server.listen({ host, port: uri.port === "" ? 80 : Number(uri.port), exclusive: true }, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const own = new URL(uri);
  own.port = String(port);
  return new LoopbackRedirect(server, own, show);
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, PAGE_HEADERS).end(redirectPage(text));
}

function isOwn(uri: string): boolean {
  if (!URL.canParse(uri)) return false;
  const { protocol, hostname } = new URL(uri);
  return protocol === "http:" && isLoopback(hostname);
}

function ownAddress(redirectUrl: string): URL {
  if (isOwn(redirectUrl)) return new URL(redirectUrl);
  throw new NexusError("CONFIG_INVALID", `"redirectUrl" ${redirectUrl} is not an http address of this machine`, {
    phase: "config",
    hint: "Use http://127.0.0.1:PORT/callback, or log in with --no-browser and paste the address that the browser shows.",
    mayHaveReached: false,
  });
}

function cannotListen(uri: URL, cause: Error): NexusError {
  const isTaken = (cause as NodeJS.ErrnoException).code === "EADDRINUSE";
  const problem = isTaken ? "is in use by another program" : `cannot be opened: ${messageOf(cause)}`;
  return new NexusError("BUSY", `The port ${uri.port || 80}, at which the login ends, ${problem}`, {
    phase: "start",
    hint: `End that program, change "callbackPort" or "redirectUrl" in the entry's "oauth", or use --no-browser.`,
    cause,
    mayHaveReached: false,
  });
}

/** A page of one sentence, without scripts. The text is ours. */
function redirectPage(text: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Nexus</title><body style="${STYLE}"><p>${text}</p></body></html>\n`;
}
