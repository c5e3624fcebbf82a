import { createInterface } from "node:readline";
import { randomBytes, randomInt } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { spawn } from "node:child_process";
import type { OAuthSettings } from "../../auth/oauth/oauth-settings.ts";
import type { StoredCredential } from "../../auth/oauth/stored-credential.ts";
import { openOAuth } from "../../client/connect/credentials-for.ts";
import { networkTrust } from "../../client/connect/http-transport-for.ts";
import { asNexusError, NexusError, messageOf } from "../../errors/nexus-error.ts";
import { durationText } from "../../text/duration.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import type { Output } from "../output/output.ts";
import type { LoginTarget } from "./login-target.ts";
import { abortSignalOf, type CancelSignal } from "../../async/cancellation.ts";
import type { DeviceCode, LoginHandler, RedirectSettings, LoginRedirect } from "../../auth/oauth/login-handler.ts";
import { visible } from "../../text/visible.ts";
import { askFor } from "../output/terminal-questions.ts";
import { browserCommand, type BrowserMachine } from "./open-browser.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";
import { isLoopback } from "../../text/loopback.ts";

interface LoginOptions {
  out: Output;
  surroundings: Surroundings;
  signal: AbortSignal;
  timeoutMs?: number | undefined;
  usesBrowser?: boolean | undefined;
  /** Instead of what the entry says. */
  settings?: OAuthSettings | undefined;
}

const TIMEOUT_MS = 5 * 60_000;

/** Lets the user log in to a server, and keeps the credential. */
export async function logIn(target: LoginTarget, options: LoginOptions): Promise<StoredCredential> {
  const { id, entry, reach, storage, guard } = target;
  const { out, surroundings, signal, timeoutMs = TIMEOUT_MS, usesBrowser = true, settings } = options;
  const { oauth } = reach;
  const known = oauth ? (oauth.clientId ?? oauth.clientMetadataUrl) : undefined;
  const isKnown = known !== undefined;
  await removeDamaged(target);
  const credentials = await openOAuth(reach, {
    surroundings,
    trust: networkTrust(entry, {}),
    storage,
    settings,
    guard,
    login: terminalLogin({ out, machine: surroundings, server: id, usesBrowser, isKnown }),
  });
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), timeoutMs);
  try {
    return await credentials.login(AbortSignal.any([signal, limit.signal]));
  } catch (error) {
    if (limit.signal.aborted && !signal.aborted) throw notInTime(id, timeoutMs);
    throw asNexusError(error).with({ server: id });
  } finally {
    clearTimeout(timer);
  }
}

/** A kept login that can no longer be read is replaced. */
async function removeDamaged({ reach, storage }: LoginTarget): Promise<void> {
  try {
    await storage.load(reach.url);
  } catch (error) {
    if (asNexusError(error).code !== "AUTH_REQUIRED") throw error;
    await storage.remove(reach.url);
  }
}

function notInTime(server: string, timeoutMs: number): NexusError {
  return new NexusError("TIMEOUT", `The login to "${server}" was not completed within ${durationText(timeoutMs)}`, {
    server,
    hint: "Start it again. To allow more time, add --timeout 15m.",
    mayHaveReached: false,
  });
}

interface TerminalLoginOptions {
  out: Output;
  machine: BrowserMachine;
  /** The server's name, for messages. */
  server: string;
  /** False: the browser is on another machine, and the user brings the address back. */
  usesBrowser: boolean;
  /** Whether the client was registered by hand, so that its redirect address is known there. */
  isKnown: boolean;
}

/** Lets the user of the command line log in. */
function terminalLogin(options: TerminalLoginOptions): LoginHandler {
  const { usesBrowser, isKnown } = options;
  return {
    openRedirect: async (settings) => {
      if (usesBrowser) return LoopbackRedirect.open({ ...settings, isKnown, show: (page) => showPage(page, options) });
      return pasted(options, { ...settings, isKnown });
    },
    showDeviceCode: (code) => showDeviceCode(code, options),
  };
}

async function showPage(page: URL, { out, machine, server }: TerminalLoginOptions): Promise<void> {
  tell(out, `Log in to ${server} at ${page.host}. If no browser opens, open this page on this machine:`, page);
  if (!(await openBrowser(page, machine))) {
    out.note("No browser was found here. With a browser on another machine, use --no-browser.");
  }
  out.note("Waiting for the browser. Press Ctrl-C to stop.");
}

function pasted(
  { out, server }: TerminalLoginOptions,
  settings: RedirectSettings & { isKnown: boolean },
): PastedRedirect {
  let lines: InputLines | undefined;
  const redirect: PastedRedirect = new PastedRedirect({
    ...settings,
    show: (page) => {
      tell(out, `Log in to ${server} at ${page.host}. Open this page in a browser, on any machine:`, page);
      out.note(`After the login, the browser goes to ${redirect.uri} and probably shows an error.`);
      out.note("Copy the whole address from the browser, and paste it here.");
    },
    read: async (signal) => {
      if (out.isInteractive) return askFor(out, { text: "Address", signal: signal && abortSignalOf(signal) });
      lines ??= new InputLines();
      return lines.next(signal);
    },
    complain: (problem) => out.note(problem),
    close: () => lines?.[Symbol.dispose](),
  });
  return redirect;
}

function showDeviceCode(code: DeviceCode, { out, server }: TerminalLoginOptions): void {
  const { verificationUri, verificationUriComplete, userCode, expiresAt } = code;
  const left = durationText(Math.max(expiresAt - Date.now(), 0));
  if (out.json) return out.log("info", `Log in to ${server}: open the page and enter the code`, { ...code });
  out.note(
    `Log in to ${server}: open this page on any device, and enter the code ${out.onStderr("bold", visible(userCode))}`,
  );
  out.note(`  ${visible(verificationUri)}`);
  if (verificationUriComplete !== undefined) {
    out.note("With the code filled in:");
    out.note(`  ${visible(verificationUriComplete)}`);
  }
  out.note(`The code is valid for ${left}. Waiting for the login. Press Ctrl-C to stop.`);
}

/** For programs, on stderr: they may show the page to their user. */
function tell(out: Output, message: string, page: URL): void {
  if (out.json) return out.log("info", message, { url: page.href });
  out.note(message);
  out.note(`  ${page.href}`);
}

/** The lines of standard input, one at a time. */
class InputLines implements Disposable {
  readonly #reader = createInterface({ input: process.stdin, terminal: false });
  readonly #lines = this.#reader[Symbol.asyncIterator]();

  /** Undefined at the end of the input. */
  async next(signal: CancelSignal | undefined): Promise<string | undefined> {
    const { value, done } = await unlessAborted(this.#lines.next(), signal);
    return done ? undefined : value;
  }

  [Symbol.dispose](): void {
    this.#reader.close();
    // An open input would keep the program running.
    process.stdin.destroy();
  }
}

export interface PastedOptions extends RedirectSettings {
  /** Whether the client was registered by hand, so that the path must be the usual one: `/callback`. */
  isKnown?: boolean | undefined;
  show: (page: URL) => void;
  /** Reads one line of the user; undefined at the end of the input. */
  read: (signal: CancelSignal | undefined) => Promise<string | undefined>;
  /** Says why a line is not the address. */
  complain: (problem: string) => void;
  close?: (() => void) | undefined;
}

/** Ports that no service has by default. */
const [FIRST_PORT, END_PORT] = [49_152, 65_536];

/** A login with a browser on any machine: the user brings the address back by hand, and nothing listens. */
export class PastedRedirect implements LoginRedirect {
  readonly uri: string;
  readonly #options: PastedOptions;

  constructor(options: PastedOptions) {
    this.#options = options;
    this.uri = addressOf(options);
  }

  async visit(page: URL, signal?: CancelSignal): Promise<URL> {
    const { show, read, complain } = this.#options;
    show(page);
    let problem = "Nothing was entered.";
    for (let line = await read(signal); line !== undefined; line = await read(signal)) {
      if (line.trim() === "") continue;
      const answer = answerIn(line.trim(), { uri: this.uri, state: page.searchParams.get("state") });
      if (answer instanceof URL) return answer;
      problem = answer.problem;
      complain(problem);
    }
    throw new NexusError("AUTH_REQUIRED", problem, {
      hint: "Start the login again, and enter the whole address that the browser shows after it.",
      mayHaveReached: false,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#options.close?.();
  }
}

function addressOf({ redirectUrl, callbackPort, registered, isKnown }: PastedOptions): string {
  if (redirectUrl !== undefined) return new URL(redirectUrl).href;
  if (callbackPort !== undefined) return `http://127.0.0.1:${callbackPort}/callback`;
  const [before] = registered;
  if (before !== undefined) return before;
  const path = isKnown ? "/callback" : `/callback/${randomBytes(16).toString("base64url")}`;
  return `http://127.0.0.1:${randomInt(FIRST_PORT, END_PORT)}${path}`;
}

/** The redirect in a line: the whole address, or only its query (`code=…&state=…`). */
function answerIn(line: string, { uri, state }: { uri: string; state: string | null }): URL | { problem: string } {
  const isQuery = /^\??\w+=[^\s&]*(?:&\w+=[^\s&]*)*$/.test(line);
  const text = isQuery ? `${uri}?${line.replace(/^\?/, "")}` : line;
  if (!URL.canParse(text)) return { problem: `This is not an address. It begins with ${uri}` };
  const answer = new URL(text);
  const expected = new URL(uri);
  if (answer.origin !== expected.origin || answer.pathname !== expected.pathname) {
    return { problem: `This is another address. The one that is needed begins with ${uri}` };
  }
  if (answer.searchParams.get("state") !== state) {
    return { problem: `This address is from another login: its "state" is not the expected one.` };
  }
  return answer;
}

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

/** Shows a page in the user's browser. False if there is none here, or it could not be started. */
async function openBrowser(page: URL, machine: BrowserMachine): Promise<boolean> {
  const command = browserCommand(page, machine);
  if (!command) return false;
  return new Promise((resolve) => {
    // Without a shell, because the address comes from a stranger. It outlives this program.
    const child = spawn(command.program, command.args, {
      env: machine.variables,
      stdio: "ignore",
      detached: true,
      shell: false,
      windowsHide: true,
    });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
